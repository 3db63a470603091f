"""The tokens with the largest sum of scores (arXiv:1804.10959), of all pieces of a text at once.

Viterbi's algorithm goes from character to character. Where no token of the vocabulary covers both sides of a
boundary, the best tokens before it and behind it are independent: these stretches take their steps together.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packager.contract.tokenization import chains, units
from packager.contract.tokenization.definition import Unigram
from packager.contract.tokenization.pages import END, number_of
from packager.contract.tokenization.stages import Flat, Points, ahead, before, chosen, flat, if_any, kept_only
from packager.contract.tokenization.tries import all_matches, trie
from packager.core.signature import ElementType
from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy

PENALTY = 10.0
"""by which an unknown character's score is below the lowest one: kUnkPenalty of SentencePiece"""
BLOCK = 32
"""steps whose results are kept together"""
MOST_BITS = 40
"""of scores behind the point, for sums in integers"""
LARGEST = 2**10
"""score, for sums in integers"""
LAST = 2**62
"""beyond all positions"""
NEVER = -(2**60)
"""the score of what cannot be"""


@dataclass(frozen=True, kw_only=True)
class _Lattice:
    """Tokens by the character that they end with. Names of values."""

    numbers: str
    """int32 [longest, n]: 1 + the token of length 1, 2 and so on; 0 for none"""
    scores: str
    """[n, longest], int64, float or double: of the longest token first"""
    cuts: str
    """bool [n]: whether no token covers this position and the one before"""
    real: ElementType
    never: str
    """one score of what cannot be"""


@dataclass(frozen=True, kw_only=True)
class _Stretches:
    """Names of values, int64 [stretches]."""

    starts: str
    sizes: str


def write(writer: Writer, model: Unigram, text: Points) -> Flat:
    """The tokens of the pieces of `text`."""
    is_text = writer.node("Less", text.points, END)
    lattice = _lattice(writer, model, text, is_text)
    length = _lengths(writer, lattice, _stretches(writer, lattice, is_text))
    size = writer.node("Squeeze", writer.node("Shape", text.points))
    places = writer.node("Range", 0, size, 1)
    earlier = writer.node("Where", is_text, writer.node("Sub", places, length), places)
    last = writer.node("And", is_text, ahead(writer, lattice.cuts))
    reached = chains.reached_anywhere(writer, earlier, writer.cast(last, ElementType.INT32))
    is_end = writer.node("And", is_text, writer.cast(reached, ElementType.BOOL))
    row = writer.node("Mul", writer.node("Max", writer.node("Sub", length, 1), 0), size)
    number = writer.node("Gather", writer.flattened(lattice.numbers), writer.node("Add", row, places))
    number = writer.node("Sub", writer.cast(number, ElementType.INT64), 1)
    first = writer.node("Where", is_end, writer.node("Add", earlier, 1), places)
    return _tokens(writer, model, text, is_end, number, first)


def _lattice(writer: Writer, model: Unigram, text: Points, is_text: str) -> _Lattice:
    known = trie(
        [(token, number) for number, (token, _) in enumerate(model.vocabulary) if token and number not in model.hidden]
    )
    symbol = number_of(writer, text.points, known.symbols)
    begins = writer.node("Not", writer.node("And", is_text, before(writer, is_text)))
    found = all_matches(writer, known, symbol)
    scores, real = _scores(model)
    table = writer.constant(scores)
    # the first row has single characters: unknown ones have the score at the end
    single = writer.node("Slice", found.numbers, [0], [1], [0])
    is_unknown = writer.node("Not", writer.cast(single, ElementType.BOOL))
    single = writer.node("Where", is_unknown, writer.int32(len(scores) - 1), single)
    longer = writer.node("Slice", found.numbers, [1], [LAST], [0])
    scored = writer.node("Gather", table, writer.node("Concat", single, longer, axis=0))
    cuts = begins
    if real == ElementType.INT64:
        cuts = writer.node("Or", begins, writer.node("Not", _crossed(writer, found.length)))
    return _Lattice(
        numbers=found.numbers,
        scores=writer.node("Transpose", writer.node("Slice", scored, [-1], [-LAST], [0], [-1]), perm=[1, 0]),
        cuts=cuts,
        real=real,
        never=writer.constant(scores[:1]),
    )


def _scores(model: Unigram) -> tuple["numpy.ndarray", ElementType]:
    """Scores by number + 1, with that of nothing before them and that of an unknown character behind; and their type.

    As integers if all are exact then, as those of SentencePiece are, which has 32-bit floats: 64-bit floats, which
    tokenizers has, add them without rounding, too. Otherwise as floats, added in the library's order.
    """
    import numpy

    scores = [score for _, score in model.vocabulary]
    scores.append(model.unknown_score)
    if model.is_single:
        return numpy.array([NEVER, *scores], numpy.float32), ElementType.FLOAT
    bits = max(score.as_integer_ratio()[1].bit_length() - 1 for score in scores)
    if bits <= MOST_BITS and max(map(abs, scores)) < LARGEST:
        return numpy.array([NEVER, *(int(score * 2**bits) for score in scores)], numpy.int64), ElementType.INT64
    return numpy.array([NEVER, *scores], numpy.float64), ElementType.DOUBLE


def _crossed(writer: Writer, length: str) -> str:
    """bool [n]: whether a token covers each position and the one before; `length`, int64 [n], of the longest token that
    begins at each."""
    size = writer.node("Squeeze", writer.node("Shape", length))
    places = writer.node("Range", 0, size, 1)
    is_long = writer.cast(writer.node("Greater", length, 1), ElementType.INT64)
    nothing = writer.node("Concat", writer.node("Mul", length, 0), [0], axis=0)
    opened = writer.node("ScatterElements", nothing, writer.node("Add", places, 1), is_long, axis=0, reduction="add")
    ends = writer.node("Min", writer.node("Add", places, writer.node("Max", length, 1)), size)
    closed = writer.node("Sub", 0, is_long)
    changes = writer.node("ScatterElements", opened, ends, closed, axis=0, reduction="add")
    covered = writer.node("Greater", writer.node("CumSum", changes, 0), 0)
    return writer.node("Slice", covered, [0], [-1], [0])


def _stretches(writer: Writer, lattice: _Lattice, is_text: str) -> _Stretches:
    size = writer.node("Shape", is_text)
    stops = writer.node("Concat", writer.positions(lattice.cuts), size, axis=0)
    starts = writer.node("Slice", stops, [0], [-1], [0])
    sizes = writer.node("Sub", writer.node("Slice", stops, [1], [2**62], [0]), starts)
    is_wanted = writer.node("Gather", is_text, starts)
    starts, sizes = (writer.node("Compress", each, is_wanted, axis=0) for each in (starts, sizes))
    return _Stretches(starts=starts, sizes=sizes)


def _lengths(writer: Writer, lattice: _Lattice, stretches: _Stretches) -> str:
    """int64 [n]: the length of the best token that ends at each position."""
    longest = writer.node("Shape", writer.node("Gather", lattice.numbers, 0, axis=1))
    last = writer.node("Sub", writer.node("Squeeze", writer.node("Shape", lattice.scores, end=1)), 1)
    nothing = writer.node("Mul", writer.node("Range", 0, writer.node("Add", last, 1), 1), 0)
    count = writer.node("Shape", stretches.starts)
    window = writer.node("Expand", lattice.never, writer.node("Concat", count, longest, axis=0))
    # the last column is the score before a stretch
    width = writer.node("Squeeze", longest)
    is_last = writer.node("Equal", writer.node("Range", 1, writer.node("Add", width, 1), 1), width)
    window = writer.node("Where", is_last, writer.cast([0], lattice.real), window)
    integer = ElementType.INT64

    def block(inner: Writer, number: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        made, starts, sizes, window = carried
        offset = inner.node("Mul", number, BLOCK)
        base = inner.node("Add", starts, offset)
        largest = inner.node("ReduceMax", inner.node("Concat", sizes, [0], axis=0), keepdims=0)
        # at least one: ONNX Runtime warns of scans without any
        steps = inner.node("Max", inner.node("Min", inner.node("Sub", largest, offset), BLOCK), 1)
        step = inner.node("Unsqueeze", inner.node("Range", 0, steps, 1), [1])
        place = inner.node("Add", step, base)
        window, best = _steps(inner, lattice, inner.node("Min", place, last), window, steps)
        lengths = inner.node("Sub", longest, best)
        is_inside = inner.node("Less", inner.node("Add", step, offset), sizes)
        flags = inner.flattened(is_inside)
        place, lengths = (inner.node("Compress", inner.flattened(each), flags, axis=0) for each in (place, lengths))
        made = inner.node("ScatterElements", made, place, lengths, axis=0)
        end = inner.node("Add", offset, BLOCK)
        goes_on = inner.node("Greater", sizes, end)
        return inner.node("Greater", largest, end), [
            made,
            *(inner.node("Compress", each, goes_on, axis=0) for each in (starts, sizes, window)),
        ]

    kept = [(nothing, integer), (stretches.starts, integer), (stretches.sizes, integer), (window, lattice.real)]
    return writer.loop("", kept, block)[0]


def _steps(writer: Writer, lattice: _Lattice, places: str, window: str, steps: str) -> tuple[str, str]:
    """One character of every stretch after the other, at `places` [steps, stretches]: the scores so far, and which of
    the tokens are best, [steps, stretches, 1]. `window` has the scores before each token, of the longest first."""

    def step(inner: Writer, number: str, carried: tuple[str, ...]) -> tuple[str, list[str]]:
        (window,) = carried
        place = inner.node("Gather", places, number)
        sums = inner.node("Add", window, inner.node("Gather", lattice.scores, place))
        # of equal ones the first, and so the longest, which tokenizers meets first
        score, best = inner.nodes("TopK", 2, sums, [1], axis=1)
        window = inner.node("Concat", inner.node("Slice", window, [1], [LAST], [1]), score, axis=1)
        return inner.cast(1, ElementType.BOOL), [window, best]

    window, best = writer.loop(steps, [(window, lattice.real)], step, scanned=[ElementType.INT64])
    return window, best


def _tokens(writer: Writer, model: Unigram, text: Points, is_end: str, number: str, first: str) -> Flat:
    is_unknown = writer.node("And", is_end, writer.node("Less", number, 0))
    border = writer.node("GreaterOrEqual", text.points, END)
    point = writer.node("Where", border, text.points, writer.node("Add", number, END + 1))
    made = Points(points=point, starts=writer.node("Gather", text.starts, first), ends=text.ends)
    kept = writer.node("Or", border, is_end)

    def with_unknown(inner: Writer) -> Points:
        return _with_unknown(inner, model, replace(made, points=text.points), _Ends(point, kept, is_unknown))

    return flat(writer, if_any(writer, is_unknown, with_unknown, lambda inner: kept_only(inner, made, kept)))


@dataclass(frozen=True)
class _Ends:
    """Ends of tokens, and borders. Names of values, [n]."""

    points: str
    """int64: the token that ends at each position"""
    kept: str
    """bool: whether one does"""
    is_unknown: str
    """bool: whether it is an unknown character"""


def _with_unknown(writer: Writer, model: Unigram, text: Points, found: _Ends) -> Points:
    """The tokens in a text with unknown characters; those side by side are one part of it. `text` has the first start
    of each token."""
    is_unknown = found.is_unknown
    kept = writer.node("And", found.kept, writer.node("Not", is_unknown))
    is_first = writer.node("Not", writer.node("And", is_unknown, before(writer, is_unknown)))
    is_last = writer.node("Not", writer.node("And", is_unknown, ahead(writer, is_unknown)))
    run = writer.node("Sub", writer.node("CumSum", writer.cast(is_first, ElementType.INT64), 0), 1)
    starts = writer.node("Gather", writer.node("Compress", text.starts, is_first, axis=0), run)
    ends = writer.node("Compress", text.ends, is_last, axis=0)
    number_of_run = writer.node("CumSum", writer.cast(is_last, ElementType.INT64), 0, exclusive=1)
    made = Points(points=text.points, starts=starts, ends=writer.node("Gather", ends, number_of_run))
    if model.falls_back:
        vocabulary = {token: id_ for id_, (token, _) in enumerate(model.vocabulary)}
        columns = [
            (writer.node("Add", value, END + 1), flag)
            for value, flag in units.byte_columns(writer, vocabulary, text.points, is_unknown)
        ]
    else:
        columns = [(writer.integer(END + 1 + model.unknown), writer.node("And", is_unknown, is_last))]
    return chosen(writer, made, [*columns, (found.points, kept)])
