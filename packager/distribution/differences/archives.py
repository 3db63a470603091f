"""Reads the texts in a package, and the sizes and hashes of its other files; an archive may come from anybody."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from packager.core import user_files
from packager.core.errors import ToolError
from packager.files.zips import DAMAGE, ZipLink, package_entries

MAX_TEXT_BYTES = 32 << 20
"""largest text that is read: labels are part of descriptions"""
TEXTS = ("Package.swift", ".yaml", ".json", ".gradle", ".podspec", ".xml")
LICENSE = "LICENSE"


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Files of a package, by path."""

    place: Path
    size_bytes: int
    names: tuple[str, ...]
    texts: Mapping[str, str]
    """those whose names say that they are text"""
    licenses: Mapping[str, str]
    """licence files -> sha256"""


def contents(path: Path, *, sha256: str = "") -> Contents:
    """The files in a zip or a .tgz.

    Raises ToolError if it cannot be read, is damaged, expands to too much, or is not the one with `sha256`.
    """
    hint = "build the package again, or get it again from where it was published"
    try:
        with user_files.opened(path) as file:
            if sha256 and hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                raise ToolError(f"{path} is not the file that manifest.json describes", hint=hint)
            file.seek(0)
            return _contents(path, file)
    except DAMAGE as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ToolError(f"cannot read {path}: {reason}", hint=hint) from error


def _contents(path: Path, file: IO[bytes]) -> Contents:
    names: list[str] = []
    texts: dict[str, str] = {}
    licenses: dict[str, str] = {}
    for name, size_bytes, content in package_entries(file, path.name):
        names.append(name)
        is_license = name.rpartition("/")[2].startswith(LICENSE)
        if isinstance(content, ZipLink) or not (name.endswith(TEXTS) or is_license):
            continue
        if size_bytes > MAX_TEXT_BYTES:
            raise ValueError(f"'{name}' is larger than {MAX_TEXT_BYTES >> 20} MiB")
        data = content.read(size_bytes)
        if is_license:
            licenses[name] = hashlib.sha256(data).hexdigest()
        else:
            texts[name] = data.decode("utf-8-sig")
    size = path.stat().st_size
    return Contents(place=path, size_bytes=size, names=tuple(sorted(names)), texts=texts, licenses=licenses)
