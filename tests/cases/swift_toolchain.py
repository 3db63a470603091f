"""Swift packages build and pass tests on Linux, and their sources compile for iOS; mistakes in them are found."""

from pathlib import Path


def source(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
