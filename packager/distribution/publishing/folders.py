"""A folder in the place of a registry, to rehearse: it answers as an address does, and nobody else sees it."""

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit
from urllib.request import url2pathname

from packager.core.errors import ConfigError
from packager.distribution.publishing.http import HttpAnswer
from packager.distribution.publishing.registry import State
from packager.distribution.publishing.release import digest
from packager.files.atomic import atomic_file
from packager.files.hashes import sha256_of

FILE = "file:"
HOST = re.compile(r"localhost|[^.:]+[.:].*")


def folder_of(address: str) -> Path | None:
    """The absolute path of a folder: that of `file:...`, or a path; None for an address of a server, also without its
    https://."""
    if address.startswith(FILE):
        parts = urlsplit(address)
        if parts.netloc not in ("", "localhost"):
            raise ConfigError(f"{address} names a folder of another machine", hint="write it as file:///FOLDER")
        return Path(url2pathname(parts.path)).absolute()
    path = Path(address).expanduser()
    is_host = not path.is_absolute() and HOST.fullmatch(address.partition("/")[0]) and not path.is_dir()
    return None if not address or "://" in address or is_host else path.absolute()


@dataclass(frozen=True, kw_only=True)
class FolderRegistry:
    """Files below a folder, with the methods of `Http`. Addresses are paths."""

    def get(self, address: str) -> HttpAnswer:
        path = Path(address)
        if not path.is_file():
            return HttpAnswer(status=HTTPStatus.NOT_FOUND, headers={}, body=b"")
        return HttpAnswer(status=HTTPStatus.OK, headers={}, body=path.read_bytes())

    def compare(self, address: str, content: bytes | Path) -> State:
        path = Path(address)
        if not path.is_file():
            return State.ABSENT
        return State.SAME if sha256_of(path) == digest(content, "sha256") else State.OTHER

    def send(
        self, method: str, address: str, body: Callable[[], IO[bytes]], *, size_bytes: int, headers: Mapping[str, str]
    ) -> HttpAnswer:
        """Writes the file, whole or not at all. Raises ToolError."""
        with body() as content, atomic_file(Path(address)) as file:
            shutil.copyfileobj(content, file)
        return HttpAnswer(status=HTTPStatus.CREATED, headers={}, body=b"")
