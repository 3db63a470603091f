"""Mirrors that serve something else than what is pinned: it is refused, and none of its code runs."""

import os
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from unittest.mock import patch

from benchmarks.abuse.command import Place
from benchmarks.abuse.result import Result
from packager.core.errors import ToolError
from packager.files.processes import downloads

PACKAGE = "mobpack-abused==1.0.0"
SOURCES = "mobpack_abused-1.0.0.tar.gz"
WHEEL = "a wheel"
OTHER = "0" * 64
"""sha256 of no file that is served"""
RUNNING = "open({!r}, 'w').close()\n"
BACKEND = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
METADATA = "Metadata-Version: 2.1\nName: mobpack-abused\nVersion: 1.0.0\n"


def attack(place: Place) -> Iterator[Result]:
    exceptions = []
    for number, (name, contents) in enumerate(OFFERS.items()):
        folder = place.folder / f"mirror-{number}"
        folder.mkdir()
        ran = folder / "ran.txt"
        file, content = contents(ran)
        (folder / file).write_bytes(content)
        served = sha256(content).hexdigest()
        for pinned in (OTHER, served):
            if fault := fault_of(folder, ran, pinned, is_right=name == WHEEL and pinned == served):
                exceptions.append(f"{name}: {fault}")
    yield Result(attack="mirrors that serve other packages", tries=2 * len(OFFERS), exceptions=tuple(exceptions))


def fault_of(folder: Path, ran: Path, pinned: str, *, is_right: bool) -> str:
    with mirrored(folder, pinned):
        try:
            downloads.fetch("abused")
        except ToolError:
            is_taken = False
        else:
            is_taken = True
    if ran.exists():
        return "its code has run"
    return "" if is_taken == is_right else f"was {'taken' if is_taken else 'refused'}"


@contextmanager
def mirrored(folder: Path, pinned: str) -> Iterator[None]:
    """Meanwhile pip knows nothing but `folder`, and a file of the package there is pinned."""
    entry = {"client": "pip", "package": PACKAGE, "sha256": pinned}
    variables = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    with (
        patch.dict(downloads.pins()["files"], {"abused": entry}),
        patch.dict(os.environ, variables),
        patch.object(downloads, "FETCH_ATTEMPTS", 1),
    ):
        yield


def sources(ran: Path) -> tuple[str, bytes]:
    """A package as sources, whose build backend runs."""
    project = f'{BACKEND}[project]\nname = "mobpack-abused"\nversion = "1.0.0"\n'
    texts = {"pyproject.toml": project, "backend.py": RUNNING.format(str(ran)), "PKG-INFO": METADATA}
    return SOURCES, packed(texts)


def old_sources(ran: Path) -> tuple[str, bytes]:
    """A package as sources, with a setup.py."""
    return SOURCES, packed({"setup.py": RUNNING.format(str(ran)), "PKG-INFO": METADATA})


def packed(texts: dict[str, str]) -> bytes:
    content = BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(f"mobpack_abused-1.0.0/{name}")
            member.size = len(text)
            archive.addfile(member, BytesIO(text.encode()))
    return content.getvalue()


def wheel(ran: Path) -> tuple[str, bytes]:
    content = BytesIO()
    inside = "mobpack_abused-1.0.0.dist-info"
    texts = {
        "abused.pth": f"import pathlib; pathlib.Path({str(ran)!r}).touch()\n",
        f"{inside}/METADATA": METADATA,
        f"{inside}/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
        f"{inside}/RECORD": "",
    }
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in texts.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return "mobpack_abused-1.0.0-py3-none-any.whl", content.getvalue()


OFFERS = {"sources": sources, "sources with a setup.py": old_sources, WHEEL: wheel}
