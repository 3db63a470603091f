"""Reads `tokenizer.json` of Hugging Face: the sources of that library, tokenizers, describe its format."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as Set_

from packager.contract.tokenization import matching
from packager.contract.tokenization.definition import Added, Padding, Tokenizer, Truncation
from packager.contract.tokenization.normalizing import maps
from packager.contract.tokenization.normalizing.steps import Charsmap, Each, Forms, Prepend, Replace, Step, Strip
from packager.contract.tokenization.patterns import Set
from packager.contract.tokenization.reading import models, normalizers, processors, splitters
from packager.contract.tokenization.reading.part import Part
from packager.core.errors import ConfigError


def read(whole: Part) -> Tokenizer:
    model = whole.part("model")
    assert model is not None
    splitting, is_bytes = splitters.read(whole.part("pre_tokenizer"))
    made = models.read(model, is_bytes=is_bytes)
    normalization = tuple(normalizers.read(whole.part("normalizer")))
    processor = processors.read(whole.part("post_processor"))
    return Tokenizer(
        added=_added(whole, normalization),
        normalization=normalization,
        splitting=splitting,
        model=made,
        trimming=processor.trimming,
        single=processor.single,
        pair=processor.pair,
        truncation=_truncation(whole.part("truncation")),
        padding=_padding(whole.part("padding")),
    )


def _added(whole: Part, normalization: Sequence[Step]) -> tuple[Mapping[str, Added], Mapping[str, Added]]:
    """Tokens that are found in the text itself, and those that are found in the normalized text."""
    groups: tuple[dict[str, Added], dict[str, Added]] = ({}, {})
    for token in whole.parts("added_tokens"):
        content = token.get("content", str)
        is_normalized = token.get("normalized", bool, False)
        if not content:
            raise ConfigError(f"{token.place}: an added token is empty", hint="remove it")
        made = Added(
            id=token.get("id", int),
            strips_left=token.get("lstrip", bool, False),
            strips_right=token.get("rstrip", bool, False),
            is_word=token.get("single_word", bool, False),
        )
        found = _normalized(content, normalization) if is_normalized else content
        if not found:
            raise token.unsupported(f"{content!r}, which is normalized by these steps,")
        groups[is_normalized][found] = made
    return groups


def _normalized(content: str, steps: Sequence[Step]) -> str:
    """`content` as the steps leave it; empty where that is not known."""
    for step in steps:
        if not content.isascii():
            return ""
        points = {*map(ord, content)}
        match step:
            case Each(map=made):
                content = "".join(map(chr, maps.each(map(ord, content), made)))
            case Prepend(content=before):
                content = before + content
            case Strip():
                content = content.strip()
            case Forms():
                continue
            case Replace(pattern=pattern) if any(_has(each, points) for each in matching.sets(pattern)):
                return ""
            case Charsmap(texts=texts) if any(chr(point) in texts for point in points):
                return ""
    return content


def _has(found: Set, points: Set_[int]) -> bool:
    return any((point in found.points) != found.is_negated for point in points)


def _truncation(part: Part | None) -> Truncation | None:
    if part is None:
        return None
    return Truncation(
        longest=part.get("max_length", int),
        strategy=part.get("strategy", str, "LongestFirst"),
        from_left=part.get("direction", str, "Right") == "Left",
    )


def _padding(part: Part | None) -> Padding:
    if part is None:
        return Padding()
    return Padding(
        id=part.get("pad_id", int, 0),
        role=part.get("pad_type_id", int, 0),
        at_left=part.get("direction", str, "Right") == "Left",
    )
