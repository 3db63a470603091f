"""`tests/left_out.py`: files without a test that is asked for are not imported; all others are."""

from pathlib import Path

import pytest

from tests.left_out import marks_of_all, pytest_ignore_collect


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
