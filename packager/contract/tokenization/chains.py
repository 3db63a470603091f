"""Finds the positions that a chain of jumps reaches, without a step per jump: pointer doubling (JaJa, 1992)."""

from packager.contract.tokenization.stages import any_of
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
    """Like `reached`, for chains of any length. The more of their positions `starts` has, the fewer steps are taken."""

    def step(inner: Writer, _: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        further, found = carried
        found, further = reached(inner, further, found, 1)
        return _is_open(inner, jumps, found), [further, found]

    kept = [(jumps, ElementType.INT64), (starts, ElementType.INT32)]
    return writer.loop("", kept, step, begins=_is_open(writer, jumps, starts))[1]


def _is_open(writer: Writer, jumps: str, found: str) -> str:
    """bool: whether a jump leads from a position in `found`, int32 [n], to one that is not."""
    after = writer.node("Gather", found, jumps)
    return any_of(writer, writer.node("Less", after, found))
