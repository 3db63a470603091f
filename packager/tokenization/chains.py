"""Finds the positions that a chain of jumps reaches, without a step per jump: pointer doubling (JaJa, 1992)."""

from packager.core.signature import ElementType
from packager.graph.writer import Writer


def reached(writer: Writer, jumps: str, starts: str, doublings: int) -> tuple[str, str]:
    """Positions that chains of at most 2 ^ `doublings` jumps reach from `starts`, and the ends of these chains.

    `jumps` is int64 [n]: the position after each, which is its own for an end. `starts` and the first result are int32
    [n], 1 or 0; the second is int64 [n].
    """
    for _ in range(doublings):
        starts = writer.node("ScatterElements", starts, jumps, starts, axis=0, reduction="max")
        jumps = writer.node("Gather", jumps, jumps)
    return starts, jumps


def reached_anywhere(writer: Writer, jumps: str, starts: str) -> str:
    """As `reached`, for chains of any length."""
    size = writer.node("Squeeze", writer.node("Shape", jumps))
    real = writer.node("Log", writer.cast(size, ElementType.FLOAT))
    # two doublings in a step: half of the binary logarithm, rounded up
    steps = writer.cast(writer.node("Add", writer.node("Mul", real, 0.72135), 1.0), ElementType.INT64)

    def step(inner: Writer, _: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        jumps, starts = carried
        found, further = reached(inner, jumps, starts, 2)
        return inner.cast(1, ElementType.BOOL), [further, found]

    kept = [(jumps, ElementType.INT64), (starts, ElementType.INT32)]
    return writer.loop(steps, kept, step)[1]
