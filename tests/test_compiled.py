"""`tests/compiled.py`: what workers import is compiled before they start."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

from tests.compiled import in_processes

ROOT = Path(__file__).parents[1]


@pytest.mark.processes
def test_modules_are_compiled_where_workers_write_none(tmp_path: Path) -> None:
    """The test as pytest rewrites it, others as Python compiles them."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8", newline="\n")
    test, helper, broken = (tmp_path / "tests" / f"{name}.py" for name in ("test_it", "helper", "broken"))
    test.parent.mkdir()
    test.write_text("def test_it():\n    assert 1 + 1 == 2\n", encoding="utf-8", newline="\n")
    helper.write_text("NUMBER = 7\n", encoding="utf-8", newline="\n")
    broken.write_text("def\n", encoding="utf-8", newline="\n")
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-p", "tests.compiled", "-q"]
    for options, is_compiled in ((["-n0"], False), (["-n2"], True)):
        done = subprocess.run([*command, *options], cwd=tmp_path, env=variables, capture_output=True, text=True)
        assert "1 passed" in done.stdout, done.stdout + done.stderr
        written = rewrite.get_cache_dir(test) / f"test_it{rewrite.PYC_TAIL}"
        assert (rewrite._read_pyc(test, written) is not None) == is_compiled
        assert Path(importlib.util.cache_from_source(str(helper))).is_file() == is_compiled
    assert not Path(importlib.util.cache_from_source(str(broken))).exists()


def test_work_is_shared_and_one_that_fails_keeps_nobody(tmp_path: Path) -> None:
    def work(number: int) -> object:
        return (tmp_path / str(number)).write_text(str(os.getpid())) if number else 1 / number

    in_processes(2, [lambda number=number: work(number) for number in (0, 1, 2, 3)])  # type: ignore[misc]
    done = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert done.keys() == {"1", "3"}
    assert set(done.values()).isdisjoint({str(os.getpid())})
