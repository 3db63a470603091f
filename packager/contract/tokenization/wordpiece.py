"""Words as the longest known pieces (arXiv:1609.08144), all words of a text at once."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.contract.tokenization import chains, unicode
from packager.contract.tokenization.definition import Cutter, Split, Splitter, Tokenizer, WordPiece
from packager.contract.tokenization.normalizing import forms
from packager.contract.tokenization.normalizing.maps import Map, composed
from packager.contract.tokenization.normalizing.steps import Each, Forms, Step
from packager.contract.tokenization.pages import END, filled, look_up
from packager.contract.tokenization.patterns import Set
from packager.contract.tokenization.stages import Flat, Points, before, is_token
from packager.contract.tokenization.tries import Trie, inside, longest_match, trie
from packager.core.signature import ElementType
from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy

IN_WORD, SPACE, ALONE, BOUNDARY = range(4)
"""classes of code points"""
DECOMPOSED = ord("\u00e9")
"""changes in each normalizer that decomposes letters, and in no other: it has an accent, and no capital"""


@dataclass(frozen=True, kw_only=True)
class WordPieceCharacters:
    """Normalization and splitting, one code point at a time."""

    maps: Map
    spaces: frozenset[int]
    """normalized code points that separate words, and belong to none"""
    alone: frozenset[int]
    """normalized code points that are words of their own"""
    marks: frozenset[int] = frozenset()
    """combining marks that stay, which decomposition puts into another order"""


PLAIN = WordPieceCharacters(maps={}, spaces=frozenset(), alone=frozenset())
"""of texts that are normalized and split already"""


def fused(tokenizer: Tokenizer, model: WordPiece) -> WordPieceCharacters | None:
    """Normalization and splitting as one look-up per code point; None if they look at more than one at a time."""
    maps = [_map(step) for step in tokenizer.normalization]
    known = [each for each in maps if each is not None]
    is_apart = all(map(_is_apart, tokenizer.splitting))
    if not tokenizer.splitting or not is_apart or len(known) < len(maps) or (known and any(tokenizer.added[1:])):
        return None
    characters = _characters(tokenizer, composed(known))
    return None if _reorders(model, characters) else characters


def _map(step: Step) -> Map | None:
    match step:
        case Each(map=made):
            return made
        case Forms(composes=False):
            return unicode.decompositions(compatible=step.is_compatible)
    return None


def _is_apart(splitter: Splitter | Cutter) -> bool:
    match splitter:
        case Split(pattern=Set(is_negated=False), behavior="Removed" | "Isolated", is_inverted=False):
            return True
    return False


def write(writer: Writer, model: WordPiece, characters: WordPieceCharacters, text: Points) -> Flat:
    """Normalizes, splits and tokenizes `text` in one look-up per code point."""
    if characters.marks:
        text = forms.reordered(writer, text, characters.marks)
    pieces = trie(*_trees(model))
    table = _classes(characters, pieces)
    packed = look_up(writer, text.points, table)
    width = table.shape[1]
    kept = writer.flattened(packed)
    places = writer.positions(kept)
    packed = writer.node("Sub", writer.node("Gather", kept, places), writer.int32(1))
    source = writer.node("Div", places, width) if width > 1 else places
    kind = writer.node("Mod", packed, writer.int32(4))
    symbol = writer.node("Div", packed, writer.int32(4))
    return _words(writer, model, pieces, kind, symbol, source, text)


def _characters(tokenizer: Tokenizer, maps: Map) -> WordPieceCharacters:
    spaces: frozenset[int] = frozenset()
    alone: frozenset[int] = frozenset()
    for splitter in tokenizer.splitting:
        match splitter:
            case Split(pattern=Set(points), behavior="Removed"):
                spaces |= points - alone
            case Split(pattern=Set(points)):
                alone |= points - spaces
    marks = frozenset(each for each in unicode.combining_classes() if maps.get(each) != ())
    return WordPieceCharacters(
        maps=maps, spaces=spaces, alone=alone, marks=marks if DECOMPOSED in maps else frozenset()
    )


def _reorders(model: WordPiece, characters: WordPieceCharacters) -> bool:
    """Whether the vocabulary has marks that Unicode sorts, which one look-up per code point cannot."""
    kinds = unicode.combining_classes()
    maps = characters.maps
    symbols = {ord(each) for piece in model.vocabulary for each in piece}
    kept = {kinds[point] for point in symbols if point in kinds and maps.get(point) != ()}
    return len(kept) > 1 and DECOMPOSED in maps


def _trees(model: WordPiece) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Pieces that begin a word, and those that continue one."""
    size = len(model.prefix)
    begin = list(model.vocabulary.items())
    continued = [
        (piece[size:], number) for piece, number in begin if piece.startswith(model.prefix) and len(piece) > size
    ]
    return begin, continued


def _classes(characters: WordPieceCharacters, pieces: Trie) -> "numpy.ndarray":
    """int32 [END + 1, width]: of each code point the symbols that it becomes, with their classes, packed into numbers
    from 1 on."""
    known = dict.fromkeys(pieces.symbols, IN_WORD)
    known |= dict.fromkeys(characters.alone, ALONE) | dict.fromkeys(characters.spaces, SPACE)
    rows = {point: [_packed(pieces.symbols.get(point, 0), kind)] for point, kind in known.items()}
    usual, end = _packed(0, IN_WORD), _packed(0, BOUNDARY)
    normalized = filled(rows, usual, end).reshape(-1)
    return filled(characters.maps, usual, end, normalized)


def _packed(symbol: int, kind: int) -> int:
    return symbol * 4 + kind + 1


def _words(writer: Writer, model: WordPiece, pieces: Trie, kind: str, symbol: str, source: str, text: Points) -> Flat:
    """`kind` and `symbol` are int32, `source` int64: the position of `text`."""
    in_word = writer.node("Equal", kind, writer.int32(IN_WORD))
    is_space = writer.node("Equal", kind, writer.int32(SPACE))
    is_end = writer.node("Equal", kind, writer.int32(BOUNDARY))
    goes_on = writer.node("And", in_word, before(writer, in_word))
    begins = writer.node("Not", writer.node("Or", goes_on, writer.node("Or", is_space, is_end)))
    group = writer.node("CumSum", writer.cast(writer.node("Not", goes_on), ElementType.INT64), 0)
    first, one, zero = writer.cast(begins, ElementType.INT32), writer.int32(1), writer.int32(0)
    can_match = writer.node("Or", goes_on, begins)
    match = longest_match(writer, pieces, symbol, writer.node("Sub", one, first), can_match, group)
    count = writer.node("Shape", kind)
    after, is_dead = _jumps(writer, match.length, group, count)
    nobody = writer.node("Concat", first, writer.int32([0, 0]), axis=0)
    reach, ends = chains.reached(writer, after, nobody, (model.longest_word - 1).bit_length())
    is_reached = writer.cast(writer.node("Slice", reach, [0], count), ElementType.BOOL)
    fails = writer.node("And", begins, writer.node("Equal", writer.node("Slice", ends, [0], count), is_dead))
    empty = writer.node("Expand", zero, writer.node("Add", count, 2))
    sizes = writer.node(
        "ScatterElements", empty, group, writer.cast(can_match, ElementType.INT32), axis=0, reduction="add"
    )
    too_long = writer.node("Greater", sizes, writer.int32(model.longest_word))
    failed = writer.node(
        "ScatterElements", empty, group, writer.cast(fails, ElementType.INT32), axis=0, reduction="max"
    )
    is_bad = writer.node("Gather", writer.node("Or", too_long, writer.cast(failed, ElementType.BOOL)), group)
    is_piece = writer.node("And", is_reached, writer.node("Not", is_bad))
    points = writer.node("Gather", text.points, source)
    is_added = is_token(writer, points)
    begins_token = writer.node("Or", writer.node("Or", is_piece, writer.node("And", begins, is_bad)), is_added)
    unknown = writer.int32(model.vocabulary[model.unknown])
    found = writer.cast(writer.node("Where", is_bad, unknown, match.number), ElementType.INT64)
    ids = writer.node("Where", is_added, writer.node("Sub", points, END + 1), found)
    size = writer.node(
        "Where", is_added, one, writer.node("Where", is_bad, writer.node("Gather", sizes, group), match.length)
    )
    return _tokens(writer, ids, size, begins_token, writer.node("Equal", points, END), source, text)


def _jumps(writer: Writer, length: str, group: str, count: str) -> tuple[str, str]:
    """The position after the match at each, and two more: the end of a word, and, returned as well, a dead end."""
    size = writer.node("Squeeze", count)
    last = writer.node("Sub", size, 1)
    length = writer.cast(length, ElementType.INT64)
    after = writer.node("Add", writer.node("Range", 0, size, 1), length)
    _, is_inside = inside(writer, after, group, last)
    dead = writer.node("Add", size, 1)
    after = writer.node("Where", is_inside, after, size)
    after = writer.node("Where", writer.node("Greater", length, 0), after, dead)
    return writer.node("Concat", after, count, writer.node("Add", count, 1), axis=0), dead


def _tokens(writer: Writer, ids: str, size: str, is_token: str, is_end: str, source: str, text: Points) -> Flat:
    number = writer.node("Sub", writer.node("CumSum", writer.cast(is_end, ElementType.INT64), 0), 1)
    places = writer.positions(is_token)
    sizes = writer.cast(writer.node("Gather", size, places), ElementType.INT64)
    last = writer.node("Sub", writer.node("Add", places, sizes), 1)
    return Flat(
        ids=writer.node("Gather", ids, places),
        texts=writer.node("Gather", number, places),
        starts=writer.node("Gather", text.starts, writer.node("Gather", source, places)),
        ends=writer.node("Gather", text.ends, writer.node("Gather", source, last)),
    )
