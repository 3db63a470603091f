"""A static framework, written for a test."""

from pathlib import Path
from typing import Any

from tests.cases import xcframework_cases as cases

Entry = dict[str, Any]


def made(folder: Path, *slices: tuple[Entry, bytes], plist: dict[str, str] = cases.PLIST) -> Path:
    """An .xcframework of frameworks, or of files that `LibraryPath` names, with the given code."""
    root = folder / "onnxruntime.xcframework"
    for entry, content in slices:
        library = root / entry["LibraryIdentifier"] / entry["LibraryPath"]
        if library.suffix == ".framework":
            cases.write_framework(library, content, plist)
        else:
            library.parent.mkdir(parents=True)
            library.write_bytes(content)
    cases.write_plist(root, *(entry for entry, _ in slices))
    return root
