"""Tries as double arrays, which a graph walks with two look-ups per character (Aoe, 1989, doi:10.1109/32.31365)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from packager.core.signature import ElementType
from packager.graph.writer import Writer
from packager.tokenization.packing import LARGEST_WINDOW, room

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


def longest_match(writer: Writer, trie: Trie, symbol: str, root: str, is_alive: str, group: str) -> Match:
    """The longest word that begins at each position, and stays in its group.

    `symbol` and `root` are int32, `is_alive` bool, whether a word may begin; words stay within positions of one
    `group` (int64). All have one dimension. Walks from all positions at once, one symbol per step, while any goes on.
    """
    walk = _Walk.of(writer, trie, symbol, group)
    none = writer.node("Range", 0, writer.node("Add", walk.last, 2), 1)
    none = writer.node("Sub", none, none)
    ends = writer.node("ScatterElements", none, group, walk.places, axis=0, reduction="max")
    end = writer.node("Gather", ends, group)

    def step(inner: Writer, depth: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        state, alive = carried
        ahead = inner.node("Add", walk.places, depth)
        is_same = inner.node("LessOrEqual", ahead, end)
        taken = inner.node("Gather", symbol, inner.node("Min", ahead, walk.last))
        after = inner.node("Add", inner.node("Gather", walk.base, state), taken)
        is_known = inner.node("Equal", inner.node("Gather", walk.check, after), state)
        alive = inner.node("And", inner.node("And", alive, is_same), is_known)
        return any_of(inner, alive), [inner.node("Where", alive, after, state), alive]

    carried = [(root, ElementType.INT32), (is_alive, ElementType.BOOL)]
    state, _ = writer.loop(trie.longest, carried, step)
    length = writer.node("Gather", writer.constant(trie.length), state)
    return Match(
        number=writer.node("Gather", writer.constant(trie.deepest), state),
        length=writer.cast(length, ElementType.INT32),
    )


@dataclass(frozen=True, kw_only=True)
class Matches:
    """Names of values."""

    numbers: str
    """int32 [longest, n]: the words of length 1, 2 and so on that end at each position; -1 for none"""
    length: str
    """int64 [n]: length of the longest word that begins at each position; 0 for none"""


def all_matches(writer: Writer, trie: Trie, symbol: str, is_alive: str, group: str) -> Matches:
    """As `longest_match`, all words of the first tree."""
    walk = _Walk.of(writer, trie, symbol, group)
    number = writer.constant(trie.number)
    root = writer.node("Sub", symbol, symbol)

    def step(inner: Writer, depth: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        state, alive, length = carried
        state, alive, found, is_word = walk.step(inner, number, depth, state, alive)
        found = inner.node("Where", is_word, found, inner.int32(-1))
        begin = inner.node("Sub", walk.places, depth)
        is_there = inner.node("GreaterOrEqual", begin, 0)
        ending = inner.node("Gather", found, inner.node("Max", begin, 0))
        ending = inner.node("Where", is_there, ending, inner.int32(-1))
        return any_of(inner, alive), [state, alive, inner.node("Where", is_word, _size(inner, depth), length), ending]

    integer = ElementType.INT32
    carried = [(root, integer), (is_alive, ElementType.BOOL), (root, integer)]
    _, _, length, numbers = writer.loop(max(trie.longest, 1), carried, step, scanned=[integer])
    return Matches(numbers=numbers, length=writer.cast(length, ElementType.INT64))


@dataclass(frozen=True, kw_only=True)
class _Walk:
    """A walk through a trie from all positions at once. Names of values."""

    base: str
    check: str
    symbol: str
    group: str
    places: str
    """int64 [n]: 0, 1, and so on"""
    last: str

    @classmethod
    def of(cls, writer: Writer, trie: Trie, symbol: str, group: str) -> "_Walk":
        base, check = (writer.constant(each) for each in (trie.base, trie.check))
        size = writer.node("Squeeze", writer.node("Shape", symbol))
        places, last = writer.node("Range", 0, size, 1), writer.node("Sub", size, 1)
        return cls(base=base, check=check, symbol=symbol, group=group, places=places, last=last)

    def step(self, writer: Writer, number: str, depth: str, state: str, alive: str) -> tuple[str, str, str, str]:
        """The states after one more symbol, which walks go on, the words found, and whether there are any."""
        ahead = writer.node("Add", self.places, depth)
        there, is_same = inside(writer, ahead, self.group, self.last)
        after = writer.node("Add", writer.node("Gather", self.base, state), writer.node("Gather", self.symbol, there))
        is_known = writer.node("Equal", writer.node("Gather", self.check, after), state)
        goes_on = writer.node("And", writer.node("And", alive, is_same), is_known)
        state = writer.node("Where", goes_on, after, state)
        found = writer.node("Gather", number, state)
        is_word = writer.node("And", goes_on, writer.node("GreaterOrEqual", found, writer.int32(0)))
        return state, goes_on, found, is_word


def any_of(writer: Writer, flags: str) -> str:
    """bool: whether any of `flags` is true."""
    return writer.cast(writer.node("ReduceMax", writer.cast(flags, ElementType.INT32), keepdims=0), ElementType.BOOL)


def _size(writer: Writer, depth: str) -> str:
    return writer.node("Add", writer.cast(depth, ElementType.INT32), writer.int32(1))
