"""`tests/workers.py`: tests run in forks of the process that has collected them, and all that they did is told."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workers import WORKER

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.processes

FILES = {
    "test_one.py": """
import os, pytest
PARENT = os.getppid()

@pytest.fixture(scope="module")
def process(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    yield os.getpid(), folder
    print("the fixture has ended")

def test_first(process):
    assert process[0] == os.getpid()
    assert os.getppid() != PARENT

@pytest.mark.parametrize("number", range(3))
def test_numbers(process, number):
    assert process[0] == os.getpid()

def test_fails(process):
    print("said by one")
    assert process[1].parent.name == os.environ["PYTEST_XDIST_WORKER"]
    assert 1 == 2
""",
    "test_two.py": """
import pytest

def test_fails_too():
    print("said by two")
    assert "two" == "three"

@pytest.mark.skip(reason="never")
def test_skipped(): ...

@pytest.fixture
def broken():
    raise ValueError("no")

def test_broken(broken): ...
""",
    "test_three.py": """
import os, signal

def test_passes(): ...

def test_ends_its_worker():
    os.kill(os.getpid(), signal.SIGKILL)

def test_goes_on(): ...
""",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8", newline="\n")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="\n")
    return tmp_path


def run(tree: Path, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "tests.workers", "-p", "no:cacheprovider", *options]
    known = {name: value for name, value in os.environ.items() if name not in (WORKER, "PYTEST_ADDOPTS")}
    variables = {**known, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tree, env=variables, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def counts(output: str) -> dict[str, int]:
    last = next(line for line in reversed(output.splitlines()) if " in " in line and line.startswith("="))
    return {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", last.rpartition(" in ")[0])}


def test_all_tests_run_and_a_worker_that_ends_has_failed_one_alone(tree: Path) -> None:
    said = run(tree, "--workers=2")
    assert counts(said) == {"failed": 3, "passed": 6, "skipped": 1, "error": 1}, said
    assert re.search(r"fork\d ended with -9 while it ran this test", said)
    assert sorted(re.findall(r"Captured stdout call -+\n(.*)\n", said)) == ["said by one", "said by two"]
    assert "ValueError: no" in said
    assert said.count("the fixture has ended") == 1


def test_the_first_failure_ends_the_run_if_asked(tree: Path) -> None:
    said = run(tree, "--workers=1", "-x")
    assert counts(said)["failed"] == 1, said
    assert "stopping after 1 failures" in said


def test_without_the_option_nothing_is_forked(tree: Path) -> None:
    (tree / "test_three.py").unlink()
    said = run(tree)
    assert "PYTEST_XDIST_WORKER" in said
    assert "assert os.getppid() != PARENT" in said
