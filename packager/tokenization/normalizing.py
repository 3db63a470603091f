"""Normalizers that change one code point at a time, and what they make of each."""

from collections.abc import Callable, Iterable, Mapping
from functools import reduce

from packager.tokenization import unicode

Map = Mapping[int, tuple[int, ...]]
"""code points that become others, or none; all others stay"""


def composed(maps: Iterable[Map]) -> Map:
    """One map that does what `maps` do one after the other."""
    return reduce(_then, maps, {})


def _then(first: Map, second: Map) -> Map:
    changed = {point: tuple(_each(points, second)) for point, points in first.items()}
    return {**{point: made for point, made in second.items() if point not in first}, **changed}


def _each(points: Iterable[int], made: Map) -> Iterable[int]:
    for point in points:
        yield from made.get(point, (point,))


def removing(points: Iterable[int]) -> Map:
    return dict.fromkeys(points, ())


def bert(*, cleans: bool, splits_chinese: bool, strips_accents: bool, lowers: bool) -> list[Map]:
    """BertNormalizer: removes control characters, puts blanks around Chinese characters, removes accents, lowers."""
    space = (ord(" "),)
    steps: list[tuple[bool, Callable[[], Map]]] = [
        (
            cleans,
            lambda: {
                **removing(unicode.members("bert-removed")),
                **dict.fromkeys(unicode.members("bert-space"), space),
            },
        ),
        (splits_chinese, lambda: {point: (*space, point, *space) for point in unicode.members("bert-chinese")}),
        (strips_accents, lambda: unicode.decompositions(compatible=False)),
        (strips_accents, lambda: removing(unicode.members("bert-accent"))),
        (lowers, unicode.lowercase),
    ]
    return [step() for is_wanted, step in steps if is_wanted]
