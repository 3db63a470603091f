"""Programs of a few lines, and a registry with one pinned file."""

import hashlib
import sys
import time
from pathlib import Path

import pytest

from packager.files.processes import downloads

CONTENT = b"a pinned file"

PINNED = {"client": "npm", "package": "thing@1.0.0", "sha256": hashlib.sha256(CONTENT).hexdigest()}


def script(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder whose `npm` and `python` are used; a cache of its own; one pinned file named `thing`; no waiting."""
    folder = tmp_path / "bin"
    script(folder, "python", "exit 9")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setitem(downloads.pins()["files"], "thing", dict(PINNED))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    return folder


def serve(folder: Path, content: str = CONTENT.decode()) -> None:
    """`npm pack` that writes `content` and a line to calls.txt."""
    script(folder, "npm", f'echo "$@" >> {folder}/calls.txt\nprintf "{content}" > "$4/thing-1.0.0.tgz"')
