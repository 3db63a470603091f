"""Reads arrays in .npy format piece by piece."""

import math
import tokenize
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from packager.core.errors import ConfigError
from packager.files.zips import DAMAGE
from packager.samples.sample import MAX_BYTES

if TYPE_CHECKING:
    import numpy

KINDS = "fiubU"
"""kinds of dtypes that inputs can have: floats, integers, booleans, texts"""

MAX_COLUMN_MAJOR_BYTES = 1 << 28
"""limit for stacks in column-major order, whose samples are scattered over the file: they are read as a whole"""


HEADER_DAMAGE = (*DAMAGE, SyntaxError, tokenize.TokenError, TypeError, MemoryError)
"""Headers are Python literals, and numpy tries to repair those of Python 2."""

HINT = "save it with numpy.savez(file, input_name=array)"


@dataclass(frozen=True, kw_only=True)
class Npy:
    """An array in a file, with its header."""

    stream: IO[bytes]
    where: str
    start: int
    """offset of the values, in bytes"""
    shape: tuple[int, ...]
    dtype: "numpy.dtype[numpy.generic]"
    is_column_major: bool

    @property
    def size_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def whole(self) -> "numpy.ndarray":
        """The whole array."""
        array = self._read(0, self.shape[::-1] if self.is_column_major else self.shape)
        return array.T if self.is_column_major else array

    def pieces(self) -> "Callable[[int], numpy.ndarray]":
        """Function that reads `array[number]`. Read in order: going back in a compressed file rereads it from its
        start."""
        import numpy

        if not self.is_column_major:
            return lambda number: self._read(number, self.shape[1:])
        if self.size_bytes > MAX_COLUMN_MAJOR_BYTES:
            raise ConfigError(
                f"{self.where}: {self.size_bytes >> 20} MiB in column-major order, in which samples are scattered",
                hint="save numpy.ascontiguousarray(array)",
            )
        stack = self.whole()
        return lambda number: numpy.asarray(stack[number])

    def _read(self, number: int, shape: tuple[int, ...]) -> "numpy.ndarray":
        """The array of `shape` at position `number`."""
        import numpy

        count = math.prod(shape)
        size_bytes = count * self.dtype.itemsize
        if size_bytes > MAX_BYTES:
            raise ConfigError(
                f"{self.where}: one sample takes {size_bytes >> 20} MiB, more than the {MAX_BYTES >> 20} allowed",
                hint="stack samples along a new first axis: they are read one at a time",
            )
        with damage_reported(self.where):
            self.stream.seek(self.start + number * size_bytes)
            content = self.stream.read(size_bytes)
        if len(content) != size_bytes:
            raise ConfigError(f"{self.where}: the file ends too early", hint=HINT)
        return numpy.frombuffer(content, self.dtype, count).reshape(shape) if count else numpy.empty(shape, self.dtype)


def opened(stream: IO[bytes], where: str, size_bytes: int) -> Npy:
    """The array in `stream`, which has `size_bytes`. Raises ConfigError for anything but an array of numbers or texts.

    The header must agree with the size. Objects, which are pickles, are never loaded.
    """
    import numpy.lib.format as npy

    with damage_reported(where, HEADER_DAMAGE):
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, is_column_major, dtype = read(stream)
        start = stream.tell()
    if dtype.kind not in KINDS:
        words = "pickled Python objects" if dtype.hasobject else str(dtype)[:50]
        raise ConfigError(f"{where}: contains {words}, which no input accepts", hint="save plain arrays of numbers")
    array = Npy(stream=stream, where=where, start=start, shape=shape, dtype=dtype, is_column_major=is_column_major)
    if any(size < 0 for size in shape) or array.size_bytes != size_bytes - start:
        raise ConfigError(
            f"{where}: the header declares {array.size_bytes} bytes, but the file has {size_bytes - start}", hint=HINT
        )
    return array


@contextmanager
def damage_reported(where: str, damage: tuple[type[Exception], ...] = DAMAGE) -> Iterator[None]:
    """Converts errors from a damaged file to a ConfigError that names it."""
    try:
        yield
    except damage as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise ConfigError(f"{where}: cannot be read ({reason})", hint=HINT) from error
