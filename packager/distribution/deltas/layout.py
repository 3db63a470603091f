"""The format of deltas: its header, its numbers, its instructions, and the values in planes of bytes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from packager.core.errors import ToolError

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    Bytes = numpy.typing.NDArray[numpy.uint8]
    Values = numpy.typing.NDArray[numpy.unsignedinteger]

MAGIC = b"MPDELTA"
VERSION = 1
HASH_BYTES = 32
END, COPY, INSERT, ADD, ADD_SPARSE = range(5)
"""First byte of each instruction."""
WIDTHS = (1, 2, 4, 8)
"""Bytes of a value."""
GAP_WIDTHS = (1, 2, 3)
"""Bytes of a gap: a span has less than 2**24 values."""
SPAN_BYTES = 1 << 20
"""Maximum length of what one instruction adds to: a patcher holds a span of the source and its differences."""
CHANGED_VALUES = 1 << 18
"""Maximum number of values that one instruction changes one by one."""
VARINT_BYTES = 9
"""Maximum length of a number: 63 bits."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """The source and the result of a delta. Hashes are in hexadecimal digits."""

    source_size: int
    source_sha256: str
    result_size: int
    result_sha256: str

    def encoded(self) -> bytes:
        hashes = bytes.fromhex(self.source_sha256) + bytes.fromhex(self.result_sha256)
        return MAGIC + bytes([VERSION]) + hashes + varint(self.source_size) + varint(self.result_size)


def header(delta: IO[bytes]) -> Header:
    """Reads the header at the position of `delta`, and no byte more. Raises ToolError if there is none."""

    def read(count: int) -> bytes:
        found = delta.read(count)
        if len(found) != count:
            raise damaged("it ends inside its header")
        return found

    if delta.read(len(MAGIC)) != MAGIC:
        raise ToolError("this is not a delta: it does not begin with MPDELTA", hint="give a file of `mobpack delta`")
    version = read(1)[0]
    if version != VERSION:
        raise ToolError(f"the delta has format {version}, known is {VERSION}", hint="update mobpack")
    source, result = read(HASH_BYTES).hex(), read(HASH_BYTES).hex()
    sizes = (read_varint(read), read_varint(read))
    return Header(source_size=sizes[0], source_sha256=source, result_size=sizes[1], result_sha256=result)


def damaged(what: str) -> ToolError:
    return ToolError(f"the delta is damaged: {what}", hint="download it again, or the whole file in its place")


def varint(number: int) -> bytes:
    """`number`, from 0 to 2**63 - 1: 7 bits a byte, the lowest first; all bytes but the last have bit 7 set."""
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    result.append(number)
    return bytes(result)


def read_varint(read: Callable[[int], bytes]) -> int:
    """The number that `read` gives byte by byte. Raises ToolError if it has more than 63 bits."""
    result = 0
    for index in range(VARINT_BYTES):
        byte = read(1)[0]
        result |= (byte & 127) << 7 * index
        if byte < 128:
            return result
    raise damaged("a number has more than 63 bits")


def folded(number: int) -> int:
    """Zigzag: 0, -1, 1, -2 ... as 0, 1, 2, 3 ..."""
    return number << 1 if number >= 0 else ~(number << 1)


def unfolded(number: int) -> int:
    return number >> 1 ^ -(number & 1)


def planes(values: "Values", width: int) -> list[bytes]:
    """`width` planes: the lowest byte of all values, then the next."""
    import numpy

    table = numpy.ascontiguousarray(values).view(numpy.uint8).reshape(len(values), -1)
    return [table[:, index].tobytes() for index in range(width)]


def differences(old: "Bytes", new: "Bytes", width: int) -> "Values":
    """`new` minus `old` as little-endian integers of `width` bytes, modulo 2**(8 * width), in zigzag."""
    import numpy

    unsigned, signed = numpy.dtype(f"<u{width}"), numpy.dtype(f"<i{width}")
    difference = (new.view(unsigned) - old.view(unsigned)).view(signed)
    return ((difference << 1) ^ (difference >> (8 * width - 1))).view(unsigned)  # type: ignore[no-any-return]


def added(old: "Bytes", folded_differences: "Values", width: int) -> bytes:
    """The inverse of `differences`."""
    import numpy

    unsigned = numpy.dtype(f"<u{width}")
    one = unsigned.type(1)
    sign = unsigned.type(0) - (folded_differences & one)
    result: Values = old.view(unsigned) + ((folded_differences >> one) ^ sign)
    return result.tobytes()


def from_planes(content: bytes, count: int, width: int, wide: int) -> "Values":
    """`count` values of `width` planes, as little-endian integers of `wide` bytes."""
    import numpy

    table = numpy.zeros((count, wide), numpy.uint8)
    table[:, :width] = numpy.frombuffer(content, numpy.uint8).reshape(width, count).T
    return table.reshape(-1).view(f"<u{wide}")
