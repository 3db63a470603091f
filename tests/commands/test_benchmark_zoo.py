"""The zoo: models as models.toml describes them, builds measured from outside, and the page."""

import sys
from pathlib import Path

import pytest

from benchmarks.zoo import building
from tests.cases.onnx_text import onnx_model, saved


def test_a_command_is_watched_and_ended_at_the_limit(tmp_path: Path) -> None:
    child = "import time; kept = bytearray(200_000_000); time.sleep(60)"
    command = [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"]
    for limit_s in (2, 10, 40):
        seen = building.watch(command, tmp_path, {}, limit_s=limit_s)
        assert seen.exit_code is None
        if seen.peak_bytes > 200_000_000:  # on a busy machine it takes a while to start
            break
    assert seen.peak_bytes > 200_000_000
    assert building.state_of(seen, "") == "over the limit"


def test_the_time_of_the_kotlin_compiler_is_told_apart(tmp_path: Path) -> None:
    inner = "import time; end = time.monotonic() + 1\nwhile time.monotonic() < end: pass"
    compiler = ["-c", inner, building.KOTLIN.decode()]
    outer = f"import subprocess, sys, time; time.sleep(0.5); subprocess.run([sys.executable, *{compiler!r}])"
    for _ in range(5):
        seen = building.watch([sys.executable, "-c", outer], tmp_path, {}, limit_s=60)
        assert seen.exit_code == 0
        if 0.5 < seen.kotlin_wall_s < seen.wall_s - 0.2:  # unless whoever watches has slept too long
            break
    else:
        pytest.fail(f"{seen.kotlin_wall_s} s of {seen.wall_s} s")
    assert 0 < seen.kotlin_cpu_s < seen.cpu_s


def test_a_refusal_is_kept_in_its_words(tmp_path: Path) -> None:
    graph = "(float[4] x) => (float[4] y) { y = acme.Magic (x) }"
    model = saved(tmp_path / "net.onnx", onnx_model(graph, opsets={"": 17, "acme": 1}))
    (tmp_path / "scratch").mkdir()
    made = building.result("net", "0", "1", model, tmp_path / "scratch", limit_s=300)
    assert (made.state, made.watched.exit_code) == ("refused", 3)
    assert "acme::Magic" in made.message
