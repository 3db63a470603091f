"""Reads the splitter of a `tokenizer.json`, which it calls pre_tokenizer."""

from collections.abc import Iterator

from packager.tokenization import patterns, unicode
from packager.tokenization.definition import Prefix, Split, Splitter
from packager.tokenization.patterns import Pattern, Set
from packager.tokenization.reading.part import Part

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""ByteLevel's own expression: that of GPT-2's encoder.py"""
BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")


def read(part: Part | None) -> tuple[tuple[Splitter, ...], bool]:
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


def _splitters(part: Part) -> Iterator[Splitter]:
    match part.type:
        case "BertPreTokenizer":
            yield from bert()
        case "WhitespaceSplit":
            yield Split(pattern=Set(unicode.members("white")), behavior="Removed")
        case "Whitespace":
            yield Split(pattern=patterns.parsed(r"\w+|[^\w\s]+"), behavior="Removed", is_inverted=True)
        case "Punctuation":
            yield Split(pattern=Set(unicode.members("punctuation")), behavior=_behavior(part, "Isolated"))
        case "Digits":
            behavior = "Isolated" if part.get("individual_digits", bool, False) else "Contiguous"
            yield Split(pattern=Set(unicode.members("digit")), behavior=behavior)
        case "Split":
            is_inverted = part.get("invert", bool, False)
            yield Split(pattern=_pattern(part), behavior=_behavior(part), is_inverted=is_inverted)
        case "ByteLevel":
            if part.get("add_prefix_space", bool, True):
                yield Prefix()
            if part.get("use_regex", bool, True):
                yield Split(pattern=patterns.parsed(GPT2), behavior="Isolated")
        case _:
            raise part.unsupported()


def _behavior(part: Part, *default: str) -> str:
    found = part.get("behavior", str, *default)
    if found not in BEHAVIORS:
        raise part.unsupported(f"the behavior {found!r}")
    return str(found)


def _pattern(part: Part) -> Pattern:
    pattern = part.part("pattern")
    if pattern and (text := pattern.get("String", str, "")):
        return patterns.literal(text)
    if pattern and (expression := pattern.get("Regex", str, "")):
        return patterns.parsed(expression)
    raise part.unsupported("a split without a pattern")
