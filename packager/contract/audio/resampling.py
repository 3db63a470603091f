"""Recordings of any rate at a model's own: what torchaudio.functional.resample defines, as ONNX nodes.

`y[j] = sum over i of x[i] h(i / source - j / target)` with `h(t) = c / source sinc(c t) cos(pi c t / 12) ** 2` where
`|c t| < 6`, else 0, and `c = 0.99 min(source, target)`: sinc_interp_hann, lowpass_filter_width 6, rolloff 0.99. There
are `ceil(n target / source)` of them. Samples outside the recording are 0.

The samples are made in groups. All groups whose place between two samples of the recording is the same share their
weights: the places are counted in integers, so they are exact however long the recording is.

A Writer for it hides: see `hidden`.
"""

from dataclasses import dataclass
from math import pi

from packager.contract.audio import hidden
from packager.core.signature import ElementType
from packager.graph.writer import Writer

WIDTH = 6
"""zero crossings of the filter on either side"""
ROLLOFF_PERCENT = 99
GROUP = 32
"""samples per group, at most: more would be multiplied by zero, fewer waste memory"""
TINY = 1e-30
"""value for `x` near 0, where `sin(x) / x` is 1"""


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """The two rates in lowest terms, and derived values: names of int64 values with one element."""

    source: str
    target: str
    is_same: str
    """bool: whether the rates are equal"""
    reach: str
    """samples of the recording on either side that contribute"""


@dataclass(frozen=True, kw_only=True)
class Resampled:
    """Samples at the model's rate."""

    value: str
    """double, one dimension"""
    count: str
    """int64, one element: number of samples"""
    ahead: str
    """int64, one element: number of zeros before them; empty for none"""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The groups of samples: `rounds` times all `phases`."""

    size: int
    """samples per group"""
    first: str
    """first sample of the first group"""
    phases: str
    rounds: str


def resample(
    writer: Writer, mono: str, rate: str, to: int, *, length: int | None, from_end: bool = False, place: str = ""
) -> Resampled:
    """`mono`, a one-dimensional double, at the rate `to`; at most `length` samples, the last ones if `from_end`.

    If `rate` equals `to`, or is not a rate at all, the samples are those of `mono`, bit for bit. `place`, that of
    AudioInput, may begin later and leaves out samples on both sides.
    """
    ratio = _ratio(writer, rate, to)
    frames = hidden.size(writer, mono)
    total = _divided_up(writer, writer.node("Mul", frames, ratio.target), ratio.source)
    count = total if length is None else writer.node("Min", total, [length])
    first = writer.node("Sub", total, count) if from_end else writer.integers(0)
    late = ""
    if place:
        late, first, behind = (
            writer.node("Add", writer.node("Slice", place, [at], [at + 1]), writer.nothing) for at in range(3)
        )
        count = writer.node("Max", writer.node("Sub", writer.node("Sub", count, first), behind), [0])
    computed = writer.node("Where", ratio.is_same, [0], count)
    copied = writer.node("Sub", count, computed)
    made = _made(writer, mono, ratio, _grid(writer, ratio, first, computed, to), late)
    start = writer.node("Add", first, late) if late else first
    parts = (
        writer.node("Slice", writer.cast(made, ElementType.DOUBLE), [0], computed),
        writer.node("Slice", mono, start, writer.node("Add", start, copied)),
    )
    return Resampled(value=writer.node("Concat", *parts, axis=0), count=count, ahead=first if place else "")


def _ratio(writer: Writer, rate: str, to: int) -> Ratio:
    rate = writer.node("Add", rate, writer.nothing)
    rate = writer.node("Where", writer.node("Greater", rate, [0]), rate, [to])
    common = _common_divisor(writer, rate, to)
    source = writer.node("Div", rate, common)
    target = writer.node("Div", [to], common)
    widest = writer.node("Mul", source, [100 * WIDTH])
    narrow = writer.node("Mul", writer.node("Min", source, target), [ROLLOFF_PERCENT])
    return Ratio(
        source=source,
        target=target,
        is_same=writer.node("Equal", rate, [to]),
        reach=_divided_up(writer, widest, narrow),
    )


def _common_divisor(writer: Writer, value: str, known: int) -> str:
    """The greatest common divisor of `value` and `known`, whose few divisors are tried."""
    divisors = [each for each in range(1, known + 1) if known % each == 0]
    fits = writer.node("Equal", writer.node("Mod", writer.node("Unsqueeze", value, [1]), divisors), [0])
    return writer.node("ReduceMax", writer.node("Where", fits, divisors, [1]), [1], keepdims=0)


def _divided_up(writer: Writer, value: str, by: str) -> str:
    """The quotient of positive numbers, rounded up."""
    return writer.node("Div", writer.node("Sub", writer.node("Add", value, by), [1]), by)


def _grid(writer: Writer, ratio: Ratio, first: str, count: str, to: int) -> Grid:
    size = max(each for each in range(1, GROUP + 1) if to % each == 0)
    groups = _divided_up(writer, count, writer.integers(size))
    shared = _common_divisor(writer, ratio.target, size)
    phases = writer.node("Min", writer.node("Div", ratio.target, shared), writer.node("Max", groups, [1]))
    return Grid(size=size, first=first, phases=phases, rounds=_divided_up(writer, groups, phases))


def _made(writer: Writer, mono: str, ratio: Ratio, grid: Grid, late: str) -> str:
    """float: the concatenated samples of all groups."""
    ahead = writer.node("Mul", hidden.counted(writer, grid.phases), [grid.size])
    ticks = writer.node("Mul", writer.node("Add", ahead, grid.first), ratio.source)
    ticks = writer.node("Add", ticks, late) if late else ticks
    starts = writer.node("Div", ticks, ratio.target)  # the sample of the recording at or after which a group lies
    phases = writer.node("Mod", ticks, ratio.target)  # its distance to the group, in units of `target`
    width = _width(writer, ratio, grid)
    weights = _weights(writer, ratio, grid, phases, hidden.counted(writer, width))
    windows = _windows(writer, mono, starts, ratio, grid, width)
    products = writer.node("Einsum", windows, weights, equation="prt,pts->rps")  # [rounds, phases, size]
    return writer.node("Reshape", products, [-1])


def _width(writer: Writer, ratio: Ratio, grid: Grid) -> str:
    """Number of samples of the recording per group: its taps."""
    span = writer.node("Div", writer.node("Mul", ratio.source, [grid.size]), ratio.target)
    both = writer.node("Mul", ratio.reach, [2])
    return writer.node("Add", writer.node("Add", span, both), [2])


def _windows(writer: Writer, mono: str, starts: str, ratio: Ratio, grid: Grid, width: str) -> str:
    """float [phases, rounds, taps]: the samples of the recording for each group."""
    made = writer.node("Mul", grid.phases, [grid.size])
    step = writer.node("Div", writer.node("Mul", made, ratio.source), ratio.target)
    rounds = writer.node("Mul", hidden.counted(writer, grid.rounds), step)
    # With `reach` samples prepended, the first tap of a group is at its own position in the recording.
    places = writer.node("Add", writer.node("Unsqueeze", rounds, [1]), hidden.counted(writer, width))
    places = writer.node("Add", writer.node("Unsqueeze", starts, [1, 2]), places)
    highest = writer.node("Slice", starts, [-1], [1 << 62])
    end = writer.node("Add", writer.node("Mul", grid.rounds, step), width)
    behind = writer.node("Sub", writer.node("Add", highest, end), hidden.size(writer, mono))
    pads = writer.node("Concat", ratio.reach, writer.node("Max", behind, [0]), axis=0)
    padded = writer.cast(writer.node("Pad", mono, pads), ElementType.FLOAT)
    shape = writer.node("Concat", grid.phases, grid.rounds, width, axis=0)
    return writer.node("Reshape", hidden.picked(writer, padded, places), shape, allowzero=1)


def _weights(writer: Writer, ratio: Ratio, grid: Grid, phases: str, taps: str) -> str:
    """h for every pair of an output sample and a sample of the recording: float [phases, taps, size], computed as
    doubles."""
    behind = writer.node("Mul", writer.node("Sub", taps, ratio.reach), ratio.target)
    made = writer.node("Mul", ratio.source, list(range(grid.size)))
    between = writer.node("Sub", writer.node("Unsqueeze", behind, [1]), made)
    place = _double(writer, writer.node("Sub", between, writer.node("Unsqueeze", phases, [1, 2])))
    wider = _double(writer, writer.node("Max", ratio.source, ratio.target))
    step = writer.node("Div", writer.double(ROLLOFF_PERCENT / 100), wider)
    time = writer.node("Clip", writer.node("Mul", place, step), writer.double(-WIDTH), writer.double(WIDTH))
    narrow = _double(writer, writer.node("Min", ratio.source, ratio.target))
    cutoff = writer.node("Mul", narrow, writer.double(ROLLOFF_PERCENT / 100))
    gain = writer.node("Div", cutoff, _double(writer, ratio.source))
    return writer.cast(writer.node("Mul", _filter(writer, time), gain), ElementType.FLOAT)


def _filter(writer: Writer, time: str) -> str:
    """`sinc(time) cos(pi time / 12) ** 2`."""
    angle = writer.node("Mul", time, writer.double(pi))
    angle = writer.node("Where", writer.node("Equal", time, writer.double(0)), writer.double(TINY), angle)
    wave = writer.node("Div", writer.node("Sin", angle), angle)
    window = writer.node("Cos", writer.node("Mul", time, writer.double(pi / WIDTH / 2)))
    return writer.node("Mul", wave, writer.node("Mul", window, window))


def _double(writer: Writer, value: str) -> str:
    return writer.cast(value, ElementType.DOUBLE)
