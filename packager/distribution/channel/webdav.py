"""Writes to WebDAV as other stores do: a file appears complete, and is created for one of two publishers.

WebDAV has no upload on a condition that all servers keep, but its MOVE has (RFC 4918, section 10.6, `Overwrite: F`): a
file is uploaded under another name, and moved to its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

PART = ".part"
"""End of the name of a file that is not yet in place; pruning removes what an interruption leaves among the blobs."""


@dataclass(frozen=True, kw_only=True)
class Moving:
    """A file system of webdav4 whose files are moved into place."""

    files: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.files, name)

    def pipe_file(self, path: str, content: bytes, *, mode: str = "overwrite") -> None:
        """Writes a file. Raises FileExistsError for the mode `create` if there is one."""
        self._moved(path, lambda part: self.files.pipe_file(part, content), overwrite=mode != "create")

    def put_file(self, local: str, path: str) -> None:
        self._moved(path, lambda part: self.files.put_file(local, part), overwrite=True)

    def _moved(self, path: str, upload: Callable[[str], None], *, overwrite: bool) -> None:
        from webdav4.client import ResourceAlreadyExists

        part = f"{path}.{uuid4().hex}{PART}"
        upload(part)
        try:
            self.files.client.move(part, path, overwrite=overwrite)
        except ResourceAlreadyExists as error:
            self.files.rm_file(part)
            raise FileExistsError(path) from error


def is_webdav(files: Any) -> bool:
    """Whether a file system of fsspec is webdav4's."""
    protocol = files.protocol
    return "webdav" in ((protocol,) if isinstance(protocol, str) else protocol)
