"""Bodies of multipart/form-data, read in chunks from files (RFC 7578)."""

import hashlib
import io
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from packager.distribution.publishing.release import digest, size_of


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of a form."""

    name: str
    content: bytes | Path
    media_type: str = "application/octet-stream"
    file_name: str = ""

    def head(self, boundary: str) -> bytes:
        file = f'; filename="{self.file_name}"' if self.file_name else ""
        lines = [
            f"--{boundary}",
            f'Content-Disposition: form-data; name="{self.name}"{file}',
            f"Content-Type: {self.media_type}",
            "Content-Transfer-Encoding: binary",
        ]
        return "\r\n".join([*lines, "", ""]).encode()


@dataclass(frozen=True, kw_only=True)
class Form:
    """Parts in their order. The boundary is made of their digests, so that no part contains it."""

    parts: Sequence[Part]

    @property
    def boundary(self) -> str:
        digests = "".join(digest(each.content, "sha256") for each in self.parts)
        return f"mobpack-{hashlib.sha256(digests.encode()).hexdigest()[:40]}"

    @property
    def media_type(self) -> str:
        return f'multipart/form-data; boundary="{self.boundary}"'

    @property
    def end(self) -> bytes:
        return f"--{self.boundary}--\r\n".encode()

    def size_bytes(self) -> int:
        boundary = self.boundary
        return sum(len(each.head(boundary)) + size_of(each.content) + 2 for each in self.parts) + len(self.end)

    def opened(self) -> IO[bytes]:
        """The body, to be read once and closed."""
        pieces: list[bytes | Path] = []
        boundary = self.boundary
        for part in self.parts:
            pieces += [part.head(boundary), part.content, b"\r\n"]
        return cast("IO[bytes]", _Joined([*pieces, self.end]))


class _Joined(io.RawIOBase):
    """Several contents, one after the other."""

    def __init__(self, pieces: Sequence[bytes | Path]) -> None:
        super().__init__()
        self._files = ExitStack()
        self._waiting = [
            io.BytesIO(each) if isinstance(each, bytes) else self._files.enter_context(each.open("rb"))
            for each in pieces
        ]

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while self._waiting:
            if found := self._waiting[0].read(size):
                return found
            self._waiting.pop(0)
        return b""

    def close(self) -> None:
        self._files.close()
        super().close()
