"""Reads the splitter of a `tokenizer.json`, which it calls pre_tokenizer."""

from collections.abc import Iterator

from packager.contract.tokenization import patterns, unicode
from packager.contract.tokenization.definition import Chunks, Cutter, Prefix, Scripts, Split, Splitter
from packager.contract.tokenization.normalizing.steps import Each
from packager.contract.tokenization.patterns import Alternation, Repeat, Set
from packager.contract.tokenization.reading.normalizers import pattern
from packager.contract.tokenization.reading.part import Part

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""ByteLevel's own expression: that of GPT-2's own encoder"""
BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")


def read(part: Part | None) -> tuple[tuple[Splitter | Cutter, ...], bool]:
    """The splitters of a file, and whether pieces become bytes after them."""
    parts = list(_flat(part)) if part else []
    made = [each for part in parts for each in _splitters(part)]
    levels = [part for part in parts if part.type == "ByteLevel"]
    if levels and parts[-1:] != levels:
        raise levels[0].unsupported("ByteLevel before other splitters")
    return tuple(made), bool(levels)


def bert() -> tuple[Split, Split]:
    """BERT's: words between blanks, without punctuation."""
    white = Split(pattern=Set(unicode.members("white")), behavior="Removed")
    return white, Split(pattern=Set(unicode.members("bert-split")), behavior="Isolated")


def _flat(part: Part) -> Iterator[Part]:
    if part.type != "Sequence":
        yield part
        return
    for each in part.parts("pretokenizers"):
        yield from _flat(each)


def _splitters(part: Part) -> Iterator[Splitter | Cutter]:
    match part.type:
        case "BertPreTokenizer":
            yield from bert()
        case "WhitespaceSplit":
            yield Split(pattern=Set(unicode.members("white")), behavior="Removed")
        case "Whitespace":
            yield Split(pattern=_words(), behavior="Removed", is_inverted=True)
        case "Punctuation":
            yield Split(pattern=Set(unicode.members("punctuation")), behavior=_behavior(part, "Isolated"))
        case "Digits":
            behavior = "Isolated" if part.get("individual_digits", bool, False) else "Contiguous"
            yield Split(pattern=Set(unicode.members("digit")), behavior=behavior)
        case "Metaspace":
            yield from _metaspace(part)
        case "UnicodeScripts":
            yield Scripts()
        case "FixedLength" if part.get("length", int, 5) > 0:
            yield Chunks(length=part.get("length", int, 5))
        case "CharDelimiterSplit":
            yield Split(pattern=patterns.literal(part.get("delimiter", str)), behavior="Removed")
        case "Split":
            is_inverted = part.get("invert", bool, False)
            yield Split(pattern=pattern(part, "a split"), behavior=_behavior(part), is_inverted=is_inverted)
        case "ByteLevel":
            if part.get("add_prefix_space", bool, True):
                yield Prefix()
            if part.get("use_regex", bool, True):
                yield Split(pattern=patterns.parsed(GPT2), behavior="Isolated")
        case _:
            raise part.unsupported()


def _words() -> Alternation:
    r"""`\w+|[^\w\s]+`, of which Rust has another idea than Oniguruma: joiners are part of a word, fractions are not."""
    word, white = unicode.members("word"), unicode.members("white")
    return Alternation(tuple(Repeat(each, 1, None) for each in (Set(word), Set(word | white, is_negated=True))))


def _metaspace(part: Part) -> Iterator[Splitter]:
    """SentencePiece's: a visible character in place of blanks, which words begin with."""
    (point,) = map(ord, part.get("replacement", str, "\u2581"))
    yield Each(map={ord(" "): (point,)})
    default = "always" if part.get("add_prefix_space", bool, True) else "never"
    scheme = part.get("prepend_scheme", str, default)
    if scheme not in ("always", "first", "never"):
        raise part.unsupported(f"the prepend_scheme {scheme!r}")
    if scheme != "never":
        yield Prefix(point=point, only_first=scheme == "first")
    if part.get("split", bool, True):
        yield Split(pattern=Set(frozenset({point})), behavior="MergedWithNext")


def _behavior(part: Part, *default: str) -> str:
    found = part.get("behavior", str, *default)
    if found not in BEHAVIORS:
        raise part.unsupported(f"the behavior {found!r}")
    return str(found)
