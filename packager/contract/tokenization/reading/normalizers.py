"""Reads the normalizer of a `tokenizer.json`."""

from collections.abc import Iterator
from functools import cache

from packager.contract.tokenization import unicode
from packager.contract.tokenization.normalizing import maps
from packager.contract.tokenization.normalizing.steps import Charsmap, Each, Forms, Prepend, Replace, Step, Strip
from packager.contract.tokenization.patterns import Pattern, Set, literal, parsed
from packager.contract.tokenization.reading import charsmaps
from packager.contract.tokenization.reading.part import Part


def read(part: Part | None) -> Iterator[Step]:
    if part is None:
        return
    match part.type:
        case "Sequence":
            for each in part.parts("normalizers"):
                yield from read(each)
        case "BertNormalizer":
            lowers = part.get("lowercase", bool, True)
            yield from bert(
                cleans=part.get("clean_text", bool, True),
                splits_chinese=part.get("handle_chinese_chars", bool, True),
                strips_accents=part.get("strip_accents", bool, lowers),
                lowers=lowers,
            )
        case "Lowercase":
            yield Each(map=unicode.lowercase())
        case "StripAccents":
            yield _removing("combining")
        case "Nmt":
            yield _cleaning("nmt")
        case "NFD" | "NFKD" | "NFC" | "NFKC":
            yield Forms(is_compatible="K" in part.type, composes=part.type.endswith("C"))
        case "Replace":
            yield _replace(part)
        case "Prepend":
            yield Prepend(content=part.get("prepend", str))
        case "Strip":
            left, right = part.get("strip_left", bool, True), part.get("strip_right", bool, True)
            yield Strip(left=left, right=right, points=unicode.members("white"))
        case "Precompiled":
            yield Charsmap(texts=charsmaps.from_base64(part), in_graphemes=True)
        case _:
            raise part.unsupported()


def bert(*, cleans: bool, splits_chinese: bool, strips_accents: bool, lowers: bool) -> Iterator[Step]:
    """BertNormalizer: removes control characters, puts blanks around Chinese characters, removes accents, lowers."""
    if cleans:
        yield _cleaning("bert")
    if splits_chinese:
        yield _splitting_chinese()
    if strips_accents:
        yield Forms(is_compatible=False, composes=False)
        yield _removing("bert-accent")
    if lowers:
        yield Each(map=unicode.lowercase())


@cache
def _splitting_chinese() -> Each:
    space = ord(" ")
    return Each(map={point: (space, point, space) for point in unicode.members("bert-chinese")})


@cache
def _removing(name: str) -> Each:
    return Each(map=maps.removing(unicode.members(name)))


@cache
def _cleaning(name: str) -> Each:
    """Removes control characters, and makes blanks spaces."""
    spaces = dict.fromkeys(unicode.members(f"{name}-space"), (ord(" "),))
    return Each(map={**maps.removing(unicode.members(f"{name}-removed")), **spaces})


def _replace(part: Part) -> Step:
    found, content = pattern(part, "a replacement"), part.get("content", str)
    match found:
        case Set(is_negated=False, points=points):
            return Each(map=dict.fromkeys(points, tuple(map(ord, content))))
    return Replace(pattern=found, content=content)


def pattern(part: Part, words: str) -> Pattern:
    """The pattern of a part: a text or a regular expression. Raises ConfigError; `words` name the part."""
    found = part.part("pattern")
    if found and (text := found.get("String", str, "")):
        return literal(text)
    if found and (expression := found.get("Regex", str, "")):
        return parsed(expression)
    raise part.unsupported(f"{words} without a pattern")
