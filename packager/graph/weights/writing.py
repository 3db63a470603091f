"""Writes a data file of weights: streams new ones, and has the kernel copy old ones."""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from packager.graph.weights.places import ALIGNMENT_BYTES, Place, chunks_of, missing

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

NOT_HERE = frozenset({errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM})
"""Errors of copy_file_range(2) on disks that do not support it."""


@dataclass
class WeightFile:
    """A data file that grows at its end. It is created by the first write. Failed writes raise OSError."""

    path: Path
    size_bytes: int = 0
    copied: dict[Place, Place] = field(default_factory=dict)
    """source -> copy: tensors that share their bytes keep sharing them"""

    def append(self, chunks: "Iterable[ReadableBuffer]") -> Place:
        """Writes `chunks`, one after the other, at the next aligned offset."""
        with self._end() as file:
            offset = file.tell()
            file.writelines(chunks)
            end = file.tell()
        return self._grown(offset, end)

    def copy(self, source: Place) -> Place:
        """Copies the bytes at `source`, once. Raises ModelError if there are fewer."""
        if source not in self.copied:
            with self._end() as file:
                offset = file.tell()
                copy_bytes(source, file)
                end = file.tell()
            self.copied[source] = self._grown(offset, end)
        return self.copied[source]

    @contextmanager
    def _end(self) -> Iterator[IO[bytes]]:
        """The file, open where the next tensor starts; overwrites the remains of a failed write."""
        with self.path.open("r+b" if self.size_bytes else "wb") as file:
            file.truncate(self.size_bytes)
            file.seek(self.size_bytes)
            file.write(bytes(-self.size_bytes % ALIGNMENT_BYTES))
            yield file

    def _grown(self, offset: int, end: int) -> Place:
        self.size_bytes = end
        return Place(self.path, offset, end - offset)


def copy_bytes(source: Place, destination: IO[bytes]) -> None:
    """Copies the bytes at `source` to the position of `destination`, inside the kernel if possible.

    Raises ModelError if there are fewer.
    """
    done = _copy_in_kernel(source, destination)
    if done < source.length:
        destination.writelines(chunks_of(Place(source.path, source.offset + done, source.length - done)))


def _copy_in_kernel(source: Place, destination: IO[bytes]) -> int:
    """Number of bytes copied: all, or none if the disks do not support it."""
    if not hasattr(os, "copy_file_range"):
        return 0
    destination.flush()
    output, done = destination.fileno(), 0
    with source.path.open("rb", buffering=0) as file:
        try:
            while done < source.length:
                count = os.copy_file_range(file.fileno(), output, source.length - done, source.offset + done)
                if not count:
                    raise missing(source.path, source.length - done)
                done += count
        except OSError as error:
            if error.errno not in NOT_HERE:
                raise
    return done
