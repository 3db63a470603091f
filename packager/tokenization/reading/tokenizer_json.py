"""Reads `tokenizer.json` of Hugging Face: the sources of that library, tokenizers, describe its format."""

from collections.abc import Mapping

from packager.core.errors import ConfigError
from packager.tokenization.definition import Padding, Tokenizer, Truncation
from packager.tokenization.reading import models, normalizers, processors, splitters
from packager.tokenization.reading.part import Part


def read(whole: Part) -> Tokenizer:
    model = whole.part("model")
    assert model is not None
    splitting, is_bytes = splitters.read(whole.part("pre_tokenizer"))
    made = models.read(model, is_bytes=is_bytes)
    normalization = tuple(normalizers.read(whole.part("normalizer")))
    processor = processors.read(whole.part("post_processor"))
    return Tokenizer(
        added=_added(whole, normalizes=bool(normalization)),
        normalization=normalization,
        splitting=splitting,
        model=made,
        trimming=processor.trimming,
        single=processor.single,
        pair=processor.pair,
        truncation=_truncation(whole.part("truncation")),
        padding=_padding(whole.part("padding")),
    )


def _added(whole: Part, *, normalizes: bool) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Tokens that are found in the text itself, and those that are found in the normalized text."""
    groups: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for token in whole.parts("added_tokens"):
        content = token.get("content", str)
        is_normalized = token.get("normalized", bool, False)
        if not content:
            raise ConfigError(f"{token.place}: an added token is empty", hint="remove it")
        for key in ("single_word", "lstrip", "rstrip"):
            if token.get(key, bool, False):
                raise token.unsupported(f"{content!r} with {key}")
        if is_normalized and normalizes:
            raise token.unsupported(f"{content!r} with normalized, beside a normalizer,")
        groups[is_normalized][content] = token.get("id", int)
    return groups


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
