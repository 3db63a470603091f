"""Tries as double arrays, which a graph walks with two look-ups per character (Aoe, 1989, doi:10.1109/32.31365)."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.core.signature import ElementType
from packager.graph.writer import Writer
from packager.tokenization.packing import WINDOW, room

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, kw_only=True)
class Trie:
    """State `s` goes with symbol `c` to `base[s] + c`, if `check` is `s` there. State r is the root of tree r."""

    base: "numpy.ndarray"
    """int32 [states]"""
    check: "numpy.ndarray"
    """int32 [states]; -1 for none"""
    number: "numpy.ndarray"
    """int32 [states]: number of the word that ends here; -1 for none"""
    symbols: Mapping[int, int]
    """symbols of code points, from 1 on"""
    longest: int
    """code points of the longest word"""


@dataclass(frozen=True, kw_only=True)
class Match:
    """Names of values, one for each position."""

    number: str
    """int32: the longest word that begins here; -1 for none"""
    length: str
    """int32: its length; 0 for none"""


def trie(*trees: Iterable[tuple[str, int]]) -> Trie:
    """The words of each tree, with their numbers."""
    import numpy

    children, numbers, longest = _nodes(trees)
    alphabet = sorted({point for each in children for point in each})
    symbols = {point: index + 1 for index, point in enumerate(alphabet)}
    size = 2 * (len(children) + len(alphabet) + WINDOW) + len(trees)  # more than first fit needs
    base, check, number = (
        numpy.zeros(size, numpy.int32),
        numpy.full(size, -1, numpy.int32),
        numpy.full(size, -1, numpy.int32),
    )
    check[: len(trees)] = -2
    states = {root: root for root in range(len(trees))}
    free = len(trees)
    waiting = deque(range(len(trees)))
    while waiting:
        node = waiting.popleft()
        wanted = sorted((symbols[point], child) for point, child in children[node].items())
        if not wanted:
            continue
        while check[free] != -1:
            free += 1
        first = room(check, free, numpy.array([symbol for symbol, _ in wanted]))
        base[states[node]] = first
        for symbol, child in wanted:
            check[first + symbol] = states[node]
            number[first + symbol] = numbers[child]
            states[child] = first + symbol
            waiting.append(child)
    used = int(numpy.nonzero(check != -1)[0].max()) + len(alphabet) + 2
    return Trie(base=base[:used], check=check[:used], number=number[:used], symbols=symbols, longest=longest)


def _nodes(trees: Iterable[Iterable[tuple[str, int]]]) -> tuple[list[dict[int, int]], list[int], int]:
    trees = [list(words) for words in trees]
    children: list[dict[int, int]] = [{} for _ in trees]
    numbers = [-1] * len(trees)
    for root, words in enumerate(trees):
        for word, number in words:
            node = root
            for point in map(ord, word):
                if point not in children[node]:
                    children[node][point] = len(children)
                    children.append({})
                    numbers.append(-1)
                node = children[node][point]
            numbers[node] = number
    return children, numbers, max((len(word) for words in trees for word, _ in words), default=0)


def inside(writer: Writer, places: str, group: str, last: str) -> tuple[str, str]:
    """`places`, int64 [n], as far as they exist, and whether each exists and lies in the `group` of its index.

    `last` is n - 1."""
    there = writer.node("Min", places, last)
    is_same = writer.node("Equal", writer.node("Gather", group, there), group)
    return there, writer.node("And", is_same, writer.node("Equal", places, there))


def longest_match(writer: Writer, trie: Trie, symbol: str, root: str, is_alive: str, group: str) -> Match:
    """The longest word that begins at each position, and stays in its group.

    `symbol` and `root` are int32, `is_alive` bool, whether a word may begin; words stay within positions of one
    `group` (int64). All have one dimension. Walks from all positions at once, one symbol per step, while any goes on.
    """
    base, check, number = (writer.constant(each) for each in (trie.base, trie.check, trie.number))
    size = writer.node("Squeeze", writer.node("Shape", symbol))
    last = writer.node("Sub", size, 1)
    places = writer.node("Range", 0, size, 1)
    zero = writer.node("Sub", symbol, symbol)
    none = writer.node("Sub", zero, writer.int32(1))

    def step(inner: Writer, depth: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        state, alive, best, length = carried
        ahead = inner.node("Add", places, depth)
        there, is_same = inside(inner, ahead, group, last)
        after = inner.node("Add", inner.node("Gather", base, state), inner.node("Gather", symbol, there))
        is_known = inner.node("Equal", inner.node("Gather", check, after), state)
        goes_on = inner.node("And", inner.node("And", alive, is_same), is_known)
        state = inner.node("Where", goes_on, after, state)
        found = inner.node("Gather", number, state)
        is_word = inner.node("And", goes_on, inner.node("GreaterOrEqual", found, inner.int32(0)))
        so_far = inner.node("Add", inner.cast(depth, ElementType.INT32), inner.int32(1))
        any_on = inner.cast(
            inner.node("ReduceMax", inner.cast(goes_on, ElementType.INT32), keepdims=0), ElementType.BOOL
        )
        return any_on, [
            state,
            goes_on,
            inner.node("Where", is_word, found, best),
            inner.node("Where", is_word, so_far, length),
        ]

    integer = ElementType.INT32
    carried = [(root, integer), (is_alive, ElementType.BOOL), (none, integer), (zero, integer)]
    _, _, found, length = writer.loop(trie.longest, carried, step)
    return Match(number=found, length=length)
