"""sample_apps/notes: the vocabulary that its command writes, and the notes."""

import json
from pathlib import Path

from tests.toolchain.sample_package import NOTES

FOLDER = Path(__file__).parents[2] / NOTES.folder


def test_notes_have_titles_of_their_own() -> None:
    """The apps show them by title."""
    notes = json.loads((FOLDER / "notes.json").read_text(encoding="utf-8"))
    assert all(set(each) == {"title", "text"} and all(each.values()) for each in notes)
    assert len({each["title"] for each in notes}) == len(notes) == 40
