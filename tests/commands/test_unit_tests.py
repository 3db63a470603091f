"""Unit tests start no program: `tests/unit/conftest.py` fails one that does, also one whose fixture does."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = """
import subprocess

import pytest

@pytest.fixture(scope="module")
def made():
    subprocess.run(["true"], check=True)

def test_by_a_fixture(made):
    pass

def test_by_itself():
    subprocess.run(["true"], check=True)

def test_none():
    pass
"""


def test_a_unit_test_that_starts_a_program_fails(tmp_path: Path) -> None:
    (tmp_path / "test_starting.py").write_text(TESTS, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n0",
        "-rA",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.unit.conftest",
    ]
    done = subprocess.run(
        [*command, "--rootdir", tmp_path, tmp_path], cwd=ROOT, capture_output=True, text=True, check=False
    )
    said = "a unit test starts a program or a server: subprocess.Popen (['true'],)"
    assert done.stdout.splitlines().count(said) == 2, done.stdout
    failed = [line.split(" ")[1].rpartition("::")[2] for line in done.stdout.splitlines() if line.startswith("ERROR ")]
    assert failed == ["test_by_a_fixture", "test_by_itself"]
