"""Projects of npm packages for tests: locked by hash, and installed whole or not at all."""

import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.toolchain import node

PROJECTS = sorted(path.name for path in node.PROJECTS.iterdir())


def locked(name: str, file: str = "package-lock.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((node.PROJECTS / name / file).read_text(encoding="utf-8"))
    return found


def places(value: object) -> list[str]:
    """Every string below `resolved`: the places that packages were fetched from."""
    if isinstance(value, Mapping):
        own = [str(value["resolved"])] if "resolved" in value else []
        return own + [each for part in value.values() for each in places(part)]
    return []


def lock_of(folder: Path, packages: Mapping[str, Mapping[str, Any]]) -> Path:
    """The lock of a project in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = {"name": "small", "dependencies": {path.removeprefix("node_modules/"): "*" for path in packages}}
    lock = {"name": "small", "lockfileVersion": 3, "packages": {"": asked, **packages}}
    (folder / "package.json").write_text(json.dumps(asked), encoding="utf-8")
    (folder / "package-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    return folder / "package-lock.json"


def archive_of(files: Mapping[str, str], kind: int = tarfile.PAX_FORMAT, entry_type: bytes = tarfile.REGTYPE) -> bytes:
    """An archive of entries with these contents; a name that ends with `.sh` is that of a program."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", format=kind) as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.size = entry_type, 0o755 if name.endswith(".sh") else 0o644, len(text)
            entry.linkname = "package/other" if entry_type == tarfile.SYMTYPE else ""
            archive.addfile(entry, io.BytesIO(text.encode()))
    return made.getvalue()
