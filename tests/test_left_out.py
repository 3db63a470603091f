"""`tests/left_out.py`: files without a test that is asked for are not imported, all others are; unit tests start
nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.left_out import marks_of_all, pytest_ignore_collect

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pytestmark = pytest.mark.swift\n", {"swift"}),
        ("pytestmark = [pytest.mark.by_content(of=[IOS]), pytest.mark.swift]\n", {"by_content", "swift"}),
        (
            "pytestmark = [\n    pytest.mark.by_content(of=[IOS]),\n    pytest.mark.swift,\n]\nx = 1\n",
            {"by_content", "swift"},
        ),
        ("pytestmark = pytest.mark.tool\n\n@pytest.mark.swift\ndef test_it(): ...\n", {"tool"}),
        ("on_mac = pytest.mark.swift\n    pytestmark = pytest.mark.swift\n", set()),
    ],
)
def test_marks_of_a_module_are_found_in_its_text(text: str, found: set[str]) -> None:
    assert marks_of_all(text) == found


@pytest.mark.parametrize(
    ("expression", "is_left_out"),
    [
        ("not (swift or tool)", True),
        ("not (tool)", False),
        ("not (tool) and swift", False),
        ("swift or not (tool or swift)", False),
        ("", False),
    ],
)
def test_a_file_is_left_out_where_no_test_of_it_can_be_asked_for(
    expression: str, is_left_out: bool, tmp_path: Path, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "test_swift.py"
    file.write_text("pytestmark = pytest.mark.swift\n", encoding="utf-8", newline="\n")
    monkeypatch.setattr(pytestconfig.option, "markexpr", expression)
    assert pytest_ignore_collect(file, pytestconfig) is (True if is_left_out else None)
    assert pytest_ignore_collect(tmp_path, pytestconfig) is None


TESTS = """
import os, socket, subprocess
import pytest

def test_quiet(tmp_path):
    (tmp_path / "a").touch()
    subprocess.run(["ldconfig", "-p"], capture_output=True)

def test_program():
    subprocess.run(["true"])

def test_fork():
    if not os.fork():
        os._exit(0)

def test_server():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))

@pytest.mark.programs
def test_marked():
    raise AssertionError
"""


@pytest.mark.programs
def test_a_unit_test_that_starts_a_program_or_a_server_fails(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = programs\n")
    options = ["-q", "-rA", "-p", "no:cacheprovider", "-p", "tests.left_out", "-m", "not (programs)"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-c", tmp_path / "pytest.ini", tmp_path / "test_some.py"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    summary = done.stdout.partition("short test summary")[2]
    failed = {line.split("::")[1].split()[0] for line in summary.splitlines() if line.startswith("ERROR")}
    assert failed == {"test_program", "test_fork", "test_server"}, done.stdout
    assert "4 passed, 1 deselected, 3 errors" in done.stdout
