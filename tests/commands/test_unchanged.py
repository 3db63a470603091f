"""Builds that end at once: when they may, and every change of an input is noticed."""

import json
import os
import subprocess
from pathlib import Path

from tests.cases.caches import empty_cache
from tests.cases.onnx_text import linear, saved
from tests.cases.unchanged import flip
from tests.toolchain import command


def test_the_command_says_the_same_again_without_a_step(tmp_path: Path) -> None:
    saved(tmp_path / "net.onnx", linear())
    environment = {**os.environ, "XDG_CACHE_HOME": str(empty_cache(tmp_path / ".cache"))}

    def build(*more: str) -> subprocess.CompletedProcess[str]:
        done = command.run("build", "net.onnx", "-t", "ios", *more, folder=tmp_path, environment=environment)
        assert done.returncode == 0, done.stderr
        return done

    first, second = build(), build()
    assert second.stdout == first.stdout
    assert "load net.onnx" in first.stderr
    assert "✓" not in second.stderr
    assert "nothing has changed" in second.stderr
    warnings = [line for line in first.stderr.splitlines() if line.startswith("warning: ")]
    assert [line for line in second.stderr.splitlines() if line.startswith("warning: ")] == warnings
    assert json.loads(build("--json").stdout)["manifest"]["mobpack"]

    archive = next((tmp_path / "dist/swift").glob("*.zip"))
    whole = archive.read_bytes()
    flip(archive)
    assert "load net.onnx" in build().stderr
    assert archive.read_bytes() == whole
    assert "nothing has changed" in build().stderr
    assert "load net.onnx" in build("--verify").stderr
