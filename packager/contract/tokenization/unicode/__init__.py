"""Sets and maps of Unicode, as Hugging Face's tokenizers has them.

Its parts use libraries of several Unicode versions: the tables were asked of tokenizers itself, by
`python -m tests.toolchain.unicode_tables`.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

HERE = Path(__file__)

LAST = 0x10FFFF
SURROGATES = range(0xD800, 0xE000)
REPLACEMENT = 0xFFFD
HANGUL, HANGUL_COUNT = 0xAC00, 11172
"""syllables, which decompose by a formula: The Unicode Standard, 3.12"""


@cache
def members(name: str) -> frozenset[int]:
    """Code points of a set in `sets.txt` or `graphemes.txt`."""
    return _sets()[name]


@cache
def category(name: str) -> frozenset[int]:
    """Code points of a general category (`L`, `Lu`), a script, `space`, `word` or `hex`, as Oniguruma has them. Raises
    KeyError."""
    found = [points for each, points in _categories().items() if name == each or (len(each) == 2 and name == each[0])]
    if not found:
        raise KeyError(name)
    return frozenset().union(*found)


@cache
def decompositions(*, compatible: bool) -> Mapping[int, tuple[int, ...]]:
    """Canonical decompositions of code points, or compatible ones, in canonical order; Hangul included."""
    found = {**_map(HERE.with_name("nfd.txt")), **(_map(HERE.with_name("nfkd.txt")) if compatible else {})}
    return {**found, **{HANGUL + index: tuple(_syllable(index)) for index in range(HANGUL_COUNT)}}


@cache
def compositions() -> Mapping[tuple[int, int], int]:
    """Primary composites of two code points (The Unicode Standard, 3.11, D114), without those of Hangul."""
    rows = ([int(each, 16) for each in line.split()] for line in _lines(HERE.with_name("nfc.txt")))
    return {(first, second): made for first, second, made in rows}


def syllables() -> Iterator[tuple[tuple[int, int], int]]:
    """Compositions of Hangul: The Unicode Standard, 3.12."""
    for index in range(HANGUL_COUNT):
        lead, vowel, *trail = _syllable(index)
        yield ((HANGUL + index // 28 * 28, trail[0]) if trail else (lead, vowel)), HANGUL + index


@cache
def lowercase() -> Mapping[int, tuple[int, ...]]:
    return _map(HERE.with_name("lowercase.txt"))


@cache
def combining_classes() -> Mapping[int, int]:
    """Canonical combining classes of marks, numbered in their order from 1; others have none."""
    return {point: int(number) for number, points in _entries(HERE.with_name("combining.txt")) for point in points}


def _syllable(index: int) -> Iterator[int]:
    yield 0x1100 + index // 588
    yield 0x1161 + index % 588 // 28
    if index % 28:
        yield 0x11A7 + index % 28


@cache
def _sets() -> Mapping[str, frozenset[int]]:
    files = (HERE.with_name("sets.txt"), HERE.with_name("graphemes.txt"))
    return {name: frozenset(points) for file in files for name, points in _entries(file)}


@cache
def scripts() -> tuple[frozenset[int], ...]:
    """Code points of each script, as the splitter `UnicodeScripts` has them: not those that belong to every one."""
    return tuple(frozenset(points) for _, points in _entries(HERE.with_name("scripts.txt")))


@cache
def _categories() -> Mapping[str, frozenset[int]]:
    return {name: frozenset(points) for name, points in _entries(HERE.with_name("categories.txt"))}


def _entries(file: Path) -> Iterator[tuple[str, list[int]]]:
    for line in _lines(file):
        name, _, ranges = line.partition(":")
        pairs = (each.partition("-") for each in ranges.split())
        yield name, [point for first, _, last in pairs for point in range(int(first, 16), int(last or first, 16) + 1)]


def _map(file: Path) -> Mapping[int, tuple[int, ...]]:
    rows = ([int(each, 16) for each in line.split()] for line in _lines(file))
    return {row[0]: tuple(row[1:]) for row in rows}


def _lines(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]
