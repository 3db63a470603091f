"""Reads `tokenizer.json` of Hugging Face: the sources of that library, tokenizers, describe its format."""

from packager.core.errors import ConfigError
from packager.tokenization.definition import Padding, Split, Splitter, Tokenizer, Truncation, WordPiece
from packager.tokenization.patterns import Set
from packager.tokenization.reading import models, normalizers, processors, splitters
from packager.tokenization.reading.part import Part


def read(whole: Part) -> Tokenizer:
    model = whole.part("model")
    assert model is not None
    splitting, is_bytes = splitters.read(whole.part("pre_tokenizer"))
    made = models.read(model, is_bytes=is_bytes)
    if isinstance(made, WordPiece):
        _refuse_splitting(whole, splitting)
    processor = processors.read(whole.part("post_processor"))
    return Tokenizer(
        added={token.get("content", str): _added(token) for token in whole.parts("added_tokens")},
        normalization=tuple(normalizers.read(whole.part("normalizer"))),
        splitting=splitting,
        model=made,
        trimming=processor.trimming,
        single=processor.single,
        pair=processor.pair,
        truncation=_truncation(whole.part("truncation")),
        padding=_padding(whole.part("padding")),
    )


def _refuse_splitting(whole: Part, splitting: tuple[Splitter, ...]) -> None:
    """Raises ConfigError for splitters that look at more than one character: words are found without them."""
    if not splitting:
        raise whole.unsupported("WordPiece without a pre_tokenizer")
    for splitter in splitting:
        match splitter:
            case Split(pattern=Set(is_negated=False), behavior="Removed" | "Isolated", is_inverted=False):
                continue
        raise whole.unsupported("WordPiece with such a pre_tokenizer")


def _added(token: Part) -> int:
    for key in ("single_word", "lstrip", "rstrip", "normalized"):
        if token.get(key, bool, False):
            raise token.unsupported(f"{token.get('content', str)!r} with {key}")
    if not token.get("content", str):
        raise ConfigError(f"{token.place}: an added token is empty", hint="remove it")
    return int(token.get("id", int))


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
