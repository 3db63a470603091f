"""Tries as double arrays, which a graph walks with two look-ups per character (Aoe, 1989, doi:10.1109/32.31365)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from packager.contract.tokenization.packing import LARGEST_WINDOW, room
from packager.contract.tokenization.stages import any_of
from packager.core.signature import ElementType
from packager.graph.writer import Writer

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
    states = _states(nodes, symbols, size)
    children, parents = states[nodes.roots :], states[nodes.parents[nodes.roots :]]
    base, check = numpy.zeros(size, numpy.int32), numpy.full(size, -1, numpy.int32)
    base[parents] = children - symbols[nodes.roots :]
    check[children], check[: nodes.roots] = parents, -2
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


def _states(nodes: "_Nodes", symbols: "numpy.ndarray", size: int) -> "numpy.ndarray":
    """int64 [nodes]: the state of each, below `size`.

    Children of one parent have room for all of their symbols. Only children follow their parents where places are free:
    a walk stays among few bytes.
    """
    import numpy

    is_free = numpy.ones(size, bool)
    is_free[: nodes.roots] = False
    states, is_only = numpy.arange(len(symbols)), numpy.zeros(len(symbols), bool)
    lowest = nodes.roots
    latest: dict[bytes, int] = {}  # symbols of children -> where their first one lies: these never find room below
    for begin, end in pairwise(nodes.levels):
        first, counts = numpy.unique(nodes.parents[begin:end], return_index=True, return_counts=True)[1:]
        first += begin
        is_only[first[counts == 1]] = True
        order = numpy.argsort(-counts, kind="stable")  # many children of one parent find room before few do
        families = order[counts[order] > 1]
        for start, count in zip(first[families].tolist(), counts[families].tolist(), strict=True):
            while not is_free[lowest]:
                lowest += 1
            wanted = symbols[start : start + count]
            key = wanted.tobytes()
            places = room(is_free, max(lowest, latest.get(key, 0)), wanted) + wanted
            states[start : start + count], is_free[places] = places, False
            latest[key] = int(places[0])
    only = _in_walks(nodes, is_only, states)
    least = nodes.roots + int(symbols.max(initial=0))
    states[only] = least + numpy.nonzero(is_free[least:])[0][: len(only)]
    return states


def _in_walks(nodes: "_Nodes", is_only: "numpy.ndarray", states: "numpy.ndarray") -> "numpy.ndarray":
    """int64: the nodes with `is_only`, bool [nodes]. Those of one walk follow each other, walks in the order of the
    `states` from which they begin."""
    import numpy

    heads = numpy.arange(len(is_only))
    for begin, end in pairwise(nodes.levels):
        parents = nodes.parents[begin:end]
        heads[begin:end] = numpy.where(is_only[begin:end] & is_only[parents], heads[parents], heads[begin:end])
    only = numpy.nonzero(is_only)[0]
    heads = heads[only]
    return only[numpy.lexsort((only, heads, states[nodes.parents[heads]]))]


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
    """[nodes]: in the order of their depth, first the roots"""

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
    counts = [sum(1 for word, _ in words if word) for words in roots]
    texts = [word for words in roots for word, _ in words if word]
    ids = numpy.array([number for words in roots for word, number in words if word], numpy.int32)
    lengths = numpy.fromiter(map(len, texts), numpy.int64, len(texts))
    characters = numpy.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4").astype(numpy.int64)

    points, parents, levels = [numpy.zeros(len(roots), numpy.int64)], [numpy.full(len(roots), -1)], [len(roots)]
    numbers = [numpy.array([dict(words).get("", -1) for words in roots], numpy.int32)]
    begins = lengths.cumsum() - lengths
    waiting, above = numpy.arange(len(texts)), numpy.arange(len(roots)).repeat(counts)
    while len(waiting):
        point = characters[begins[waiting] + len(levels) - 1]
        # sorted: words with the same beginning follow each other
        is_new = numpy.append(True, (point[1:] != point[:-1]) | (above[1:] != above[:-1]))
        node = is_new.cumsum() - 1
        is_last = lengths[waiting] == len(levels)
        number = numpy.full(node[-1] + 1, -1, numpy.int32)
        number[node[is_last]] = ids[waiting[is_last]]
        points.append(point[is_new])
        parents.append(above[is_new])
        numbers.append(number)
        waiting, above = waiting[~is_last], levels[-1] + node[~is_last]
        levels.append(levels[-1] + len(number))
    return _Nodes(
        roots=len(roots),
        points=numpy.concatenate(points),
        parents=numpy.concatenate(parents),
        numbers=numpy.concatenate(numbers),
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
    walk = _Walk.of(writer, trie)
    places, end = _ends(writer, group) if group else ("", "")

    def step(inner: Writer, depth: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        state, alive, symbol = carried
        after, is_known = walk.step(inner, state, symbol)
        if end:
            ahead = inner.node("Add", places, depth)
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


def _ends(writer: Writer, group: str) -> tuple[str, str]:
    """int64 [n]: all positions, and the last one of each one's group."""
    size = writer.node("Squeeze", writer.node("Shape", group))
    places = writer.node("Range", 0, size, 1)
    none = writer.node("Range", 0, writer.node("Add", size, 1), 1)
    none = writer.node("Sub", none, none)
    ends = writer.node("ScatterElements", none, group, places, axis=0, reduction="max")
    return places, writer.node("Gather", ends, group)


@dataclass(frozen=True, kw_only=True)
class Matches:
    """Names of values."""

    numbers: str
    """int32 [longest, n]: 1 + the number of the words of length 1, 2 and so on that end at each position; 0 for none"""
    length: str
    """int64 [n]: length of the longest word that begins at each position; 0 for none"""


def all_matches(writer: Writer, trie: Trie, symbol: str) -> Matches:
    """Like `longest_match`: words of the first tree that `symbol`, int32 [n], spells; 0 is the symbol of no word."""
    walk = _Walk.of(writer, trie)

    def one(inner: Writer, state: str, symbol: str) -> str:
        after, is_known = walk.step(inner, state, symbol)
        return inner.node("Where", is_known, after, inner.int32(trie.dead))

    def two(inner: Writer, _: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        state, symbol = carried
        following = _ahead(inner, symbol)
        first = one(inner, state, symbol)
        second = one(inner, first, following)
        goes_on = inner.node("Less", inner.node("ReduceMin", second, keepdims=0), inner.int32(trie.dead))
        both = inner.node("Concat", *(inner.node("Unsqueeze", each, [0]) for each in (first, second)), axis=0)
        return goes_on, [second, _ahead(inner, following), both]

    integer = ElementType.INT32
    padded = writer.node("Pad", symbol, [0, 1])
    carried = [(writer.node("Sub", padded, padded), integer), (padded, integer)]
    _, _, pairs = writer.loop((max(trie.longest, 1) + 1) // 2, carried, two, scanned=[integer])
    count = writer.node("Mul", writer.node("Shape", pairs, end=1), 2)
    size = writer.node("Shape", symbol)
    states = writer.node("Reshape", pairs, writer.node("Concat", count, writer.node("Add", size, 1), axis=0))
    words = writer.node("Gather", writer.constant(trie.number + 1), states)
    return Matches(numbers=_ending(writer, words, count, size), length=_longest(writer, words, count, size))


def _ending(writer: Writer, words: str, count: str, size: str) -> str:
    """[count, size]: `words`, [count, size + 1], by the position of their last symbol instead of their first.

    With a column less, row r begins r places later. Before it are ends of rows: no word is so near the end of the text.
    """
    same = writer.node("Slice", writer.flattened(words), [0], writer.node("Mul", count, size), [0])
    return writer.node("Reshape", same, writer.node("Concat", count, size, axis=0), allowzero=1)


def _longest(writer: Writer, words: str, count: str, size: str) -> str:
    """int64 [size]: the length of the longest of `words`, [count, size + 1], at each position; 0 for none."""
    rows = writer.node("Range", 1, writer.node("Add", writer.node("Squeeze", count), 1), 1)
    lengths = writer.cast(writer.node("Unsqueeze", rows, [1]), ElementType.INT32)
    found = writer.node("Mul", writer.node("Min", words, writer.int32(1)), lengths)
    found = writer.node("ReduceMax", found, [0], keepdims=0)
    return writer.cast(writer.node("Slice", found, [0], size, [0]), ElementType.INT64)


@dataclass(frozen=True, kw_only=True)
class _Walk:
    """A walk through a trie from all positions at once. Names of values."""

    base: str
    check: str

    @classmethod
    def of(cls, writer: Writer, trie: Trie) -> "_Walk":
        return cls(base=writer.constant(trie.base), check=writer.constant(trie.check))

    def step(self, writer: Writer, state: str, symbol: str) -> tuple[str, str]:
        """The states that symbols, int32 [n], lead to, and whether each of them is one."""
        after = writer.node("Add", writer.node("Gather", self.base, state), symbol)
        return after, writer.node("Equal", writer.node("Gather", self.check, after), state)


def _ahead(writer: Writer, symbol: str) -> str:
    """int32 [n]: the symbol after each position; 0 for the last."""
    return writer.node("Pad", symbol, [-1, 1])
