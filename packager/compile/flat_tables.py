"""Reads tables of FlatBuffers: in a third of the time of the package `flatbuffers`, which looks every field up anew.

Format: https://flatbuffers.dev/internals. A table begins with the distance to the list of its fields, which tables with
the same fields share; of each field, that list has the distance from the table's begin, or 0 for an absent one.
"""

import struct
from collections.abc import Iterator
from mmap import mmap

BYTE, INT, OFFSET, LONG, FLOAT = (struct.Struct(f"<{each}") for each in "biIqf")
LENGTH = OFFSET
LISTS = struct.Struct("<HH")
"""Sizes of a list of fields and of its tables, before the list."""


class Content:
    """Bytes with tables, and the lists of fields that were read in them."""

    def __init__(self, mapped: mmap) -> None:
        self.mapped = mapped
        self.fields: dict[int, tuple[int, ...]] = {}

    def root(self) -> "FlatTable":
        return FlatTable(self, OFFSET.unpack_from(self.mapped, 0)[0])

    def fields_at(self, position: int) -> tuple[int, ...]:
        found = self.fields.get(position)
        if found is None:
            count = LISTS.unpack_from(self.mapped, position)[0] // 2 - 2
            found = struct.unpack_from(f"<{count}H", self.mapped, position + LISTS.size)
            self.fields[position] = found
        return found


class FlatTable:
    """Fields of a table by their index in the schema, from 0."""

    __slots__ = ("_content", "_fields", "_position")

    def __init__(self, content: Content, position: int) -> None:
        self._content, self._position = content, position
        self._fields = content.fields_at(position - INT.unpack_from(content.mapped, position)[0])

    def number(self, field: int, form: struct.Struct) -> int:
        """A whole number; 0 if the field is absent."""
        position = self._place(field)
        return int(form.unpack_from(self._content.mapped, position)[0]) if position else 0

    def real(self, field: int) -> float:
        position = self._place(field)
        return float(FLOAT.unpack_from(self._content.mapped, position)[0]) if position else 0.0

    def text(self, field: int) -> str:
        position = self._place(field)
        return self._text(position) if position else ""

    def table(self, field: int) -> "FlatTable | None":
        position = self._place(field)
        return FlatTable(self._content, self._followed(position)) if position else None

    def tables(self, field: int) -> "Iterator[FlatTable]":
        for position in self._places(field):
            yield FlatTable(self._content, self._followed(position))

    def texts(self, field: int) -> tuple[str, ...]:
        return tuple(map(self._text, self._places(field)))

    def numbers(self, field: int, form: struct.Struct) -> "tuple[int | float, ...]":
        start, count = self._vector(field)
        return struct.unpack_from(f"<{count}{form.format[1:]}", self._content.mapped, start) if count else ()

    def size(self, field: int) -> int:
        """The number of elements of a vector."""
        return self._vector(field)[1]

    def content(self, field: int) -> bytes:
        """A vector of bytes."""
        start, count = self._vector(field)
        return self._content.mapped[start : start + count]

    def _place(self, field: int) -> int:
        fields = self._fields
        return self._position + fields[field] if field < len(fields) and fields[field] else 0

    def _followed(self, position: int) -> int:
        return position + int(OFFSET.unpack_from(self._content.mapped, position)[0])

    def _vector(self, field: int) -> tuple[int, int]:
        """Begin and number of the elements of a vector."""
        position = self._place(field)
        if not position:
            return 0, 0
        start = self._followed(position)
        return start + LENGTH.size, LENGTH.unpack_from(self._content.mapped, start)[0]

    def _places(self, field: int) -> range:
        start, count = self._vector(field)
        return range(start, start + count * OFFSET.size, OFFSET.size)

    def _text(self, position: int) -> str:
        start = self._followed(position)
        length = LENGTH.unpack_from(self._content.mapped, start)[0]
        return self._content.mapped[start + LENGTH.size : start + LENGTH.size + length].decode()
