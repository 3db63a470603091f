"""Reads compiled Java classes (JVMS 4): their public declarations and their references."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass

SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""size of the constant pool's entries, by their kind"""
WIDE = (5, 6)
"""long and double, which count twice"""
TEXT = 1
MEMBER_REFERENCES = (9, 10, 11)
PUBLIC, PROTECTED, SYNTHETIC = 0x0001, 0x0004, 0x1000


@dataclass(frozen=True, order=True)
class Member:
    """A method or field, as classes that use it name it."""

    owner: str
    """`com/example/Place`"""
    name: str
    descriptor: str


@dataclass(frozen=True)
class ClassFile:
    name: str
    declared: frozenset[Member]
    """methods and fields that other classes may use"""
    referred: frozenset[Member]
    """methods and fields that it uses, its own among them"""


@dataclass(frozen=True)
class Constants:
    """The constant pool of a class."""

    content: bytes
    texts: Mapping[int, str]
    places: Mapping[int, tuple[int, int]]
    """kind and place of all other entries"""
    end: int

    def shorts(self, at: int, count: int) -> tuple[int, ...]:
        return struct.unpack_from(f">{count}H", self.content, at)

    def name(self, index: int) -> str:
        """Of the class at `index`."""
        return self.texts[self.shorts(self.places[index][1], 1)[0]]

    def member(self, at: int) -> Member:
        owner, described = self.shorts(at, 2)
        name, descriptor = self.shorts(self.places[described][1], 2)
        return Member(self.name(owner), self.texts[name], self.texts[descriptor])


def read(content: bytes) -> ClassFile:
    """Contents of a `.class` file."""
    pool = _constants(content)
    _, this, _, interfaces = pool.shorts(pool.end, 4)
    name = pool.name(this)
    fields, at = _declared(pool, name, pool.end + 8 + 2 * interfaces)
    methods, _ = _declared(pool, name, at)
    referred = {pool.member(at) for kind, at in pool.places.values() if kind in MEMBER_REFERENCES}
    return ClassFile(name, frozenset(fields | methods), frozenset(referred))


def _constants(content: bytes) -> Constants:
    texts: dict[int, str] = {}
    places: dict[int, tuple[int, int]] = {}
    at, index, count = 10, 1, struct.unpack_from(">H", content, 8)[0]
    while index < count:
        kind = content[at]
        if kind == TEXT:
            length = struct.unpack_from(">H", content, at + 1)[0]
            texts[index] = content[at + 3 : at + 3 + length].decode("utf-8", "replace")
            at += 3 + length
        else:
            places[index] = (kind, at + 1)
            at += 1 + SIZES[kind]
        index += 2 if kind in WIDE else 1
    return Constants(content, texts, places, at)


def _declared(pool: Constants, owner: str, at: int) -> tuple[set[Member], int]:
    """The fields or methods listed from `at` on, and where the list ends."""
    found = set()
    [count] = pool.shorts(at, 1)
    at += 2
    for _ in range(count):
        flags, name, descriptor, attributes = pool.shorts(at, 4)
        at += 8
        for _ in range(attributes):
            at += 6 + struct.unpack_from(">I", pool.content, at + 2)[0]
        if flags & (PUBLIC | PROTECTED) and not flags & SYNTHETIC:
            found.add(Member(owner, pool.texts[name], pool.texts[descriptor]))
    return found, at
