"""Random numbers in a graph, the same on every platform: Philox 4x32-10, a generator without a state.

J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011). Numbers are
32 bits in int64, multiplied in halves, so that no product overflows: ONNX Runtime multiplies no unsigned integers.
"""

from packager.core.signature import ElementType
from packager.graph.writer import Writer

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
INCREMENTS = (0x9E3779B9, 0xBB67AE85)
"""of the key, after each round"""
ROUNDS = 10
WORD, HALF = 2**32, 2**16
EXACT = 2**24
"""A float holds all whole numbers below."""


def uniform(writer: Writer, seed: str, number: str) -> str:
    """float [1]: the random number with this `number`, from 0 up to 1, exclusive. Both are int64 [1]."""
    low = writer.node("Mod", seed, WORD)
    high = writer.node("Mod", writer.node("Div", writer.node("Sub", seed, low), WORD), WORD)
    key = writer.node("Concat", low, high, axis=0)
    counter = writer.node("Concat", number, [0], axis=0)
    even, _ = philox(writer, counter, writer.integers(0, 0), key)
    word = writer.node("Slice", even, [0], [1], [0])
    exact = writer.cast(writer.node("Div", word, WORD // EXACT), ElementType.FLOAT)
    return writer.node("Mul", exact, writer.floats(1 / EXACT))


def philox(writer: Writer, even: str, odd: str, key: str) -> tuple[str, str]:
    """The words 0 and 2 of the generator's block, and the words 1 and 3, of those of a counter; all are int64 [2]."""

    def step(inner: Writer, number: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        even, odd, key = carried
        high, low = _product(inner, even)
        mixed = inner.node("BitwiseXor", inner.node("BitwiseXor", _swapped(inner, high), odd), key)
        further = inner.node("Mod", inner.node("Add", key, inner.integers(*INCREMENTS)), WORD)
        return inner.node("Less", number, ROUNDS), [mixed, _swapped(inner, low), further]

    carried = [(value, ElementType.INT64) for value in (even, odd, key)]
    even, odd, _ = writer.loop(ROUNDS, carried, step)
    return even, odd


def _product(writer: Writer, words: str) -> tuple[str, str]:
    """The upper and the lower 32 bits of `words` times MULTIPLIERS."""
    lower = writer.node("Mul", words, writer.integers(*(each % HALF for each in MULTIPLIERS)))
    upper = writer.node("Mul", words, writer.integers(*(each // HALF for each in MULTIPLIERS)))
    middle = writer.node("Add", upper, writer.node("Div", lower, HALF))
    low = writer.node(
        "Add", writer.node("Mul", writer.node("Mod", middle, HALF), HALF), writer.node("Mod", lower, HALF)
    )
    return writer.node("Div", middle, HALF), low


def _swapped(writer: Writer, pair: str) -> str:
    return writer.node("Gather", pair, [1, 0])
