"""Tries as double arrays, which a graph walks with two look-ups per character (Aoe, 1989, doi:10.1109/32.31365)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from packager.core.signature import ElementType
from packager.graph.writer import Writer
from packager.tokenization.packing import LARGEST_WINDOW, room
from packager.tokenization.stages import any_of

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
    deepest: "numpy.ndarray"
    """int32 [states]: number of the longest word on the way here; -1 for none"""
    length: "numpy.ndarray"
    """int8 or int32 [states]: its length; 0 for none"""
    symbols: Mapping[int, int]
    """symbols of code points, from 1 on"""
    longest: int
    """code points of the longest word"""

    @property
    def dead(self) -> int:
        """A state that no symbol leads from, above all others."""
        return len(self.base) - 1


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

    nodes = _nodes(trees)
    alphabet, symbols = numpy.unique(nodes.points[nodes.roots :], return_inverse=True)
    symbols = numpy.concatenate([numpy.zeros(nodes.roots, numpy.int64), symbols.reshape(-1) + 1])
    size = 2 * (len(symbols) + len(alphabet) + LARGEST_WINDOW) + nodes.roots  # more than first fit needs
    base, check = numpy.zeros(size, numpy.int32), numpy.full(size, -1, numpy.int32)
    is_free = numpy.ones(size, bool)
    check[: nodes.roots], is_free[: nodes.roots] = -2, False
    states = numpy.arange(len(symbols))
    free, lowest = nodes.roots, nodes.roots + len(alphabet)
    for begin, end in pairwise(nodes.levels):
        # children of one parent stand side by side; many of them find room before few do
        parents, first, counts = numpy.unique(nodes.parents[begin:end], return_index=True, return_counts=True)
        order = numpy.argsort(-counts, kind="stable")
        families = (each[order[counts[order] > 1]].tolist() for each in (parents, first + begin, counts))
        for parent, start, count in zip(*families, strict=True):
            while not is_free[free]:
                free += 1
            wanted = symbols[start : start + count]
            base[states[parent]] = room(is_free, free, wanted)
            places = base[states[parent]] + wanted
            states[start : start + count], check[places], is_free[places] = places, states[parent], False
        alone = (first + begin)[counts == 1]
        places = numpy.nonzero(is_free[lowest:])[0][: len(alone)] + lowest
        parent = states[nodes.parents[alone]]
        base[parent], check[places], states[alone], is_free[places] = places - symbols[alone], parent, places, False
    number = numpy.full(size, -1, numpy.int32)
    number[states] = nodes.numbers
    used = int(numpy.nonzero(check != -1)[0].max()) + len(alphabet) + 2
    known = {int(point): index + 1 for index, point in enumerate(alphabet)}
    deepest, length = (numpy.zeros(used, each.dtype) for each in _on_the_way(nodes))
    deepest[states], length[states] = _on_the_way(nodes)
    return Trie(
        base=base[:used],
        check=check[:used],
        number=number[:used],
        deepest=deepest,
        length=length,
        symbols=known,
        longest=len(nodes.levels) - 1,
    )


def _on_the_way(nodes: "_Nodes") -> "tuple[numpy.ndarray, numpy.ndarray]":
    """Number and length of the longest word on the way to each node, -1 and 0 for none."""
    import numpy

    deepest = nodes.numbers.copy()
    deepest[: nodes.roots] = -1
    length = numpy.zeros(len(deepest), numpy.int8 if len(nodes.levels) < 128 else numpy.int32)
    for depth, (begin, end) in enumerate(pairwise(nodes.levels), 1):
        here, parents = slice(begin, end), nodes.parents[begin:end]
        is_word = nodes.numbers[here] >= 0
        deepest[here] = numpy.where(is_word, nodes.numbers[here], deepest[parents])
        length[here] = numpy.where(is_word, depth, length[parents])
    return deepest, length


@dataclass(frozen=True, kw_only=True)
class _Nodes:
    """Nodes in the order of their depth: first the roots. [nodes]"""

    roots: int
    points: "numpy.ndarray"
    """code point that leads to each"""
    parents: "numpy.ndarray"
    numbers: "numpy.ndarray"
    """number of the word that ends there; -1 for none"""
    levels: tuple[int, ...]
    """where each depth from 1 on begins, and the last one ends"""


def _nodes(trees: Iterable[Iterable[tuple[str, int]]]) -> _Nodes:
    """Breadth first, so that a node's children have neighbouring indexes."""
    import numpy

    roots = [sorted(dict(words).items()) for words in trees]
    points, parents, levels = [0] * len(roots), [-1] * len(roots), [len(roots)]
    numbers = [dict(words).get("", -1) for words in roots]
    waiting = [(root, word, number) for root, words in enumerate(roots) for word, number in words if word]
    depth = 0
    while waiting:
        following: list[tuple[int, str, int]] = []
        for parent, word, number in waiting:  # sorted: words with the same beginning follow each other
            point = ord(word[depth])
            if len(points) == levels[-1] or parents[-1] != parent or points[-1] != point:
                points.append(point)
                parents.append(parent)
                numbers.append(-1)
            if len(word) == depth + 1:
                numbers[-1] = number
            else:
                following.append((len(points) - 1, word, number))
        levels.append(len(points))
        waiting, depth = following, depth + 1
    return _Nodes(
        roots=len(roots),
        points=numpy.array(points, numpy.int64),
        parents=numpy.array(parents, numpy.int64),
        numbers=numpy.array(numbers, numpy.int32),
        levels=tuple(levels),
    )


def inside(writer: Writer, places: str, group: str, last: str) -> tuple[str, str]:
    """`places`, int64 [n], as far as they exist, and whether each exists and lies in the `group` of its index.

    `last` is n - 1."""
    there = writer.node("Min", places, last)
    is_same = writer.node("Equal", writer.node("Gather", group, there), group)
    return there, writer.node("And", is_same, writer.node("Equal", places, there))


def longest_match(writer: Writer, trie: Trie, symbol: str, root: str, is_alive: str, group: str | None = None) -> Match:
    """The longest word that begins at each position, and stays in its group.

    `symbol` and `root` are int32, `is_alive` bool, whether a word may begin; words stay within positions of one
    `group` (int64), if there are groups. All have one dimension. 0 is the symbol of no word. Walks from all positions
    at once, one symbol per step, while any goes on.
    """
    walk = _Walk.of(writer, trie, symbol)
    end = None if group is None else _ends(writer, group, walk)

    def step(inner: Writer, depth: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        state, alive, symbol = carried
        after, is_known = walk.step(inner, state, symbol)
        if end is not None:
            ahead = inner.node("Add", walk.places, depth)
            is_known = inner.node("And", is_known, inner.node("LessOrEqual", ahead, end))
        alive = inner.node("And", alive, is_known)
        return any_of(inner, alive), [inner.node("Where", alive, after, state), alive, _ahead(inner, symbol)]

    carried = [(root, ElementType.INT32), (is_alive, ElementType.BOOL), (symbol, ElementType.INT32)]
    state, _, _ = writer.loop(trie.longest, carried, step)
    length = writer.node("Gather", writer.constant(trie.length), state)
    return Match(
        number=writer.node("Gather", writer.constant(trie.deepest), state),
        length=writer.cast(length, ElementType.INT32),
    )


def _ends(writer: Writer, group: str, walk: "_Walk") -> str:
    """int64 [n]: the last position of each one's group."""
    none = writer.node("Range", 0, writer.node("Add", writer.node("Squeeze", writer.node("Shape", group)), 1), 1)
    none = writer.node("Sub", none, none)
    ends = writer.node("ScatterElements", none, group, walk.places, axis=0, reduction="max")
    return writer.node("Gather", ends, group)


@dataclass(frozen=True, kw_only=True)
class Matches:
    """Names of values."""

    numbers: str
    """int32 [longest, n]: the words of length 1, 2 and so on that end at each position; -1 for none"""
    length: str
    """int64 [n]: length of the longest word that begins at each position; 0 for none"""


def all_matches(writer: Writer, trie: Trie, symbol: str) -> Matches:
    """As `longest_match`, all words of the first tree that `symbol`, int32 [n], spells; 0 is the symbol of no word."""
    walk = _Walk.of(writer, trie, symbol)

    def step(inner: Writer, _: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        state, symbol = carried
        after, is_known = walk.step(inner, state, symbol)
        state = inner.node("Where", is_known, after, inner.int32(trie.dead))
        goes_on = inner.node("Less", inner.node("ReduceMin", state, keepdims=0), inner.int32(trie.dead))
        return goes_on, [state, _ahead(inner, symbol), inner.node("Identity", state)]

    root = writer.node("Sub", symbol, symbol)
    integer = ElementType.INT32
    carried = [(root, integer), (symbol, integer)]
    _, _, states = writer.loop(max(trie.longest, 1), carried, step, scanned=[integer])
    words = writer.node("Gather", writer.constant(trie.number), states)
    size = writer.node("Squeeze", writer.node("Shape", writer.node("Gather", words, 0, axis=1)))
    depths = writer.node("Unsqueeze", writer.flattened(writer.node("Range", 0, size, 1)), [1])
    is_word = writer.node("GreaterOrEqual", words, writer.int32(0))
    lengths = writer.node("Where", is_word, writer.node("Add", depths, 1), 0)
    begins = writer.node("Sub", walk.places, depths)
    none = writer.node("Less", begins, 0)
    ending = writer.node("GatherElements", words, writer.node("Max", begins, 0), axis=1)
    return Matches(
        numbers=writer.node("Where", none, writer.int32(-1), ending),
        length=writer.node("ReduceMax", lengths, [0], keepdims=0),
    )


@dataclass(frozen=True, kw_only=True)
class _Walk:
    """A walk through a trie from all positions at once. Names of values."""

    base: str
    check: str
    places: str
    """int64 [n]: 0, 1, and so on"""

    @classmethod
    def of(cls, writer: Writer, trie: Trie, symbol: str) -> "_Walk":
        base, check = (writer.constant(each) for each in (trie.base, trie.check))
        places = writer.node("Range", 0, writer.node("Squeeze", writer.node("Shape", symbol)), 1)
        return cls(base=base, check=check, places=places)

    def step(self, writer: Writer, state: str, symbol: str) -> tuple[str, str]:
        """The states that symbols, int32 [n], lead to, and whether each of them is one."""
        after = writer.node("Add", writer.node("Gather", self.base, state), symbol)
        return after, writer.node("Equal", writer.node("Gather", self.check, after), state)


def _ahead(writer: Writer, symbol: str) -> str:
    """int32 [n]: the symbol after each position; 0 for the last."""
    return writer.node("Pad", symbol, [-1, 1])
