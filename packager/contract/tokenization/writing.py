"""Writes a tokenizer into a graph."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packager.contract.tokenization import (
    added,
    batches,
    byte_pairs,
    cutting,
    normalizing,
    splitting,
    stages,
    templates,
    trimming,
    unicode,
    unigram,
    wordpiece,
    words,
)
from packager.contract.tokenization.batches import Batch
from packager.contract.tokenization.definition import (
    BytePairs,
    Chunks,
    CodePoints,
    Scripts,
    Slot,
    Template,
    Tokenizer,
    Truncation,
    Unigram,
    WordPiece,
    Words,
)
from packager.contract.tokenization.pages import END
from packager.contract.tokenization.stages import Flat, Points
from packager.contract.tokenization.templates import Rows
from packager.core.contract import BETWEEN
from packager.core.errors import ConfigError
from packager.core.signature import ElementType
from packager.graph.writer import OPSET, Writer

if TYPE_CHECKING:
    from onnx import ModelProto


@dataclass(frozen=True, kw_only=True)
class TokenLimits:
    """Numbers of tokens, those of the template included."""

    longest: int | None = None
    """longer texts are truncated; default: as the tokenizer's file says"""
    length: int | None = None
    """shorter texts are padded as well"""


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """Names of values in the graph, int64 [tokens]."""

    ids: str
    mask: str
    """1 for tokens, 0 for padding"""
    types: str
    """number of the text's role in a pair: 0 or 1"""
    starts: str
    """first code point that a token comes from, in its own text; 0 for tokens of the template and padding"""
    ends: str
    """code point after the last one"""
    of_text: str
    """1 for tokens of a text, 0 for those of the template and padding"""
    flat: str
    """as in Writer, [1]"""


def write(writer: Writer, tokenizer: Tokenizer, texts: Sequence[str], limits: TokenLimits) -> Tokens:
    """The tokens of `texts`, one or two names of int32 [code points], as one sequence.

    Lone surrogates count as U+FFFD. Raises ConfigError for limits without room.
    """
    truncation = _truncation(tokenizer, limits)
    writer = _hiding(writer, texts[0])
    rows = _rows(writer, tokenizer, texts, truncation)
    mask = templates.mask_of(writer, rows.ids)
    made = Tokens(
        ids=rows.ids,
        mask=mask,
        types=rows.roles,
        starts=rows.starts,
        ends=rows.ends,
        of_text=rows.of_text,
        flat=writer.flat,
    )
    if limits.length is None:
        return made
    padding = tokenizer.padding

    def padded(value: str, number: int) -> str:
        assert limits.length is not None
        return templates.padded(writer, value, limits.length, padding, number)

    return replace(
        made,
        ids=padded(rows.ids, padding.id),
        mask=padded(mask, 0),
        types=padded(rows.roles, padding.role),
        starts=padded(rows.starts, 0),
        ends=padded(rows.ends, 0),
        of_text=padded(rows.of_text, 0),
    )


def write_batch(writer: Writer, tokenizer: Tokenizer, texts: Sequence[str], limits: TokenLimits) -> Batch:
    """The tokens of several texts, a row for each, padded to the longest.

    `texts` are one or two names of int32 [code points], with BETWEEN between two texts. Of two lists, one text alone
    goes with each of the other list. All texts go through the tokenizer together. Raises ConfigError as `write` does.
    """
    truncation = _truncation(tokenizer, limits)
    template = _template(tokenizer, len(texts), truncation)
    writer = _hiding(writer, texts[0])
    lists = batches.lists(writer, [_batch_points(writer, text) for text in texts])
    flat = _tokens(writer, tokenizer, lists.points)
    rows = batches.rows(writer, flat, lists, lambda inner, each: templates.filled(inner, each, template, truncation))
    return batches.padded(writer, rows, limits.length, tokenizer.padding)


def whole(tokenizer: Tokenizer) -> Tokenizer:
    """`tokenizer` for texts that have the tokens of its template already: it adds none, and cuts nothing off."""
    return replace(tokenizer, single=(Slot(text=0, role=0),), truncation=None)


def alone(tokenizer: Tokenizer, *, is_pair: bool = False) -> "ModelProto":
    """A model of the tokenizer alone, without truncation and padding: `text` (and `pair`) int32 [characters] -> `ids`,
    `types` int64 [tokens], `offsets` int64 [tokens, 2] in code points of the text."""
    from onnx import TensorProto, helper, numpy_helper

    writer = Writer(scope="tokenizer")
    names = ("text", "pair") if is_pair else ("text",)
    rows = _rows(_hiding(writer, "text"), tokenizer, names, None)
    made = {"ids": rows.ids, "types": rows.roles, "offsets": templates.offsets(writer, rows)}
    nodes = [*writer.written.nodes, *(helper.make_node("Identity", [value], [name]) for name, value in made.items())]
    shapes: dict[str, list[str | int | None]] = {"offsets": ["tokens", 2]}
    graph = helper.make_graph(
        nodes,
        "tokenizer",
        [helper.make_tensor_value_info(name, TensorProto.INT32, [f"{name} characters"]) for name in names],
        [helper.make_tensor_value_info(name, TensorProto.INT64, shapes.get(name, ["tokens"])) for name in made],
        [numpy_helper.from_array(array, name) for name, array in writer.written.constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)


def _truncation(tokenizer: Tokenizer, limits: TokenLimits) -> Truncation | None:
    known = tokenizer.truncation
    wanted = [each for each in (limits.longest or (known and known.longest), limits.length) if each]
    if not wanted:
        return None
    return replace(known or Truncation(longest=0, strategy="LongestFirst", from_left=False), longest=min(wanted))


def _template(tokenizer: Tokenizer, texts: int, truncation: Truncation | None) -> Template:
    if truncation and truncation.strategy == "OnlySecond" and texts == 1:
        raise ConfigError("the tokenizer truncates only second texts", hint="use two names, or another tokenizer")
    return tokenizer.single if texts == 1 else tokenizer.pair


def _rows(writer: Writer, tokenizer: Tokenizer, texts: Sequence[str], truncation: Truncation | None) -> Rows:
    template = _template(tokenizer, len(texts), truncation)
    text = _points(writer, texts)
    return templates.write(writer, _tokens(writer, tokenizer, text), template, truncation, trimming.blanks(tokenizer))


def _tokens(writer: Writer, tokenizer: Tokenizer, text: Points) -> Flat:
    model = tokenizer.model
    in_text, in_normalized = tokenizer.added
    text = added.split(writer, text, in_text)
    if isinstance(model, WordPiece) and (characters := wordpiece.fused(tokenizer, model)):
        text = added.split(writer, text, in_normalized)
        return wordpiece.write(writer, model, characters, text)
    for step in tokenizer.normalization:
        text = normalizing.write(writer, text, step)
    text = added.split(writer, text, in_normalized)
    for splitter in tokenizer.splitting:
        if isinstance(splitter, Scripts | Chunks):
            text = cutting.write(writer, text, splitter)
        else:
            text = splitting.write(writer, text, splitter)
    match model:
        case WordPiece():
            return wordpiece.write(writer, model, wordpiece.PLAIN, text)
        case BytePairs():
            return byte_pairs.write(writer, model, text)
        case Words():
            found = words.write(writer, text, model.vocabulary, model.unknown)
            return stages.flat(writer, words.fused(writer, found, model.unknown) if model.fuses_unknown else found)
        case Unigram():
            return unigram.write(writer, model, text)
        case CodePoints():
            return stages.flat(writer, stages.numbered(writer, text))


def _hiding(writer: Writer, text: str) -> Writer:
    """A Writer whose values have a rank that is only known when the model runs.

    No provider of a phone takes nodes with such inputs. Code points and sums of scores are no numbers for 16 bits, nor
    for the 32 bits of Core ML's integers, and every node that a provider takes cuts the graph into more pieces.
    """
    before = writer.node("Pad", text, [1, 0], writer.int32(-1))
    first = writer.node("Slice", before, [0], [1], [0])  # of a length that follows from the text's
    return replace(writer, flat=writer.cast(first, ElementType.INT64))


def _present(writer: Writer, points: str) -> str:
    """`points` without negative ones, which are empty places."""
    return writer.node("Compress", points, writer.node("GreaterOrEqual", points, 0), axis=0)


def _scalars(writer: Writer, points: str) -> str:
    """`points` with U+FFFD for surrogates."""
    is_surrogate = writer.node(
        "Equal",
        writer.node("Div", points, len(unicode.SURROGATES)),
        unicode.SURROGATES.start // len(unicode.SURROGATES),
    )
    return writer.node("Where", is_surrogate, unicode.REPLACEMENT, writer.node("Min", points, unicode.LAST))


def _points(writer: Writer, texts: Sequence[str]) -> Points:
    """END, the code points of a text, END, and so on."""
    points, places = [writer.integers(END)], [writer.integers(0)]
    for text in texts:
        value = _present(writer, writer.flattened(writer.cast(text, ElementType.INT64)))
        size = writer.node("Squeeze", writer.node("Shape", value))
        points += [_scalars(writer, value), writer.integers(END)]
        places += [writer.node("Range", 0, size, 1), writer.integers(0)]
    starts = writer.node("Concat", *places, axis=0)
    return Points(points=writer.node("Concat", *points, axis=0), starts=starts, ends=writer.node("Add", starts, 1))


def _batch_points(writer: Writer, text: str) -> str:
    """int64 [code points]: those of several texts, with END between two of them."""
    value = writer.flattened(writer.cast(text, ElementType.INT64))
    is_kept = writer.node("Or", writer.node("GreaterOrEqual", value, 0), writer.node("Equal", value, BETWEEN))
    value = writer.node("Compress", value, is_kept, axis=0)
    return writer.node("Where", writer.node("Equal", value, BETWEEN), END, _scalars(writer, value))
