"""Reads tokenizers without a vocabulary, of which there is only a `tokenizer_config.json`: its class in transformers
says what its tokens are. Bytes for ByT5 (arXiv:2105.13626), code points for CANINE (arXiv:2103.06874).
"""

from collections.abc import Callable, Mapping

from packager.contract.tokenization import byte_level
from packager.contract.tokenization.definition import (
    Added,
    BytePairs,
    CodePoints,
    Model,
    Padding,
    Slot,
    Special,
    Tokenizer,
)
from packager.contract.tokenization.reading.part import Part
from packager.core.errors import ConfigError

CLASS = "tokenizer_class"
PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"
SPECIAL = (PAD, END, UNKNOWN)
"""of ByT5, in the order of their ids, before those of bytes"""
EXTRA = 125
"""sentinels of ByT5 if the file does not say how many"""
CLS, SEP, MASK = 0xE000, 0xE001, 0xE003
"""of CANINE: private use"""


def read(file: Part) -> Tokenizer:
    """Raises ConfigError for another class, which has a file of its own."""
    name = file.get(CLASS, str).removesuffix("Fast")
    if name not in READERS:
        raise ConfigError(
            f"{file.place}: {name} has more than its tokenizer_config.json",
            hint=f"use the tokenizer.json beside it; this file is enough for {' and '.join(READERS)}",
        )
    return READERS[name](file)


def _byt5(file: Part) -> Tokenizer:
    """A byte is a token, and the text ends with `</s>`: only once if it has it."""
    bytes_ = {byte_level.CHARACTERS[byte]: len(SPECIAL) + byte for byte in range(256)}
    end = Special(id=SPECIAL.index(END), role=0, is_once=True)
    return _whole(
        added=_added(file) or _usual(file.get("extra_ids", int, EXTRA)),
        model=BytePairs(vocabulary=bytes_, merges={}, is_bytes=True),
        single=(Slot(text=0, role=0), end),
        pair=(Slot(text=0, role=0), end, Slot(text=1, role=0), end),
        pad=SPECIAL.index(PAD),
    )


def _usual(count: int) -> Mapping[str, Added]:
    """ByT5's special tokens, and `count` sentinels."""
    special = {token: Added(id=number, strips_left=True, strips_right=True) for number, token in enumerate(SPECIAL)}
    return special | {f"<extra_id_{each}>": Added(id=len(SPECIAL) + 256 + each) for each in range(count)}


def _canine(file: Part) -> Tokenizer:
    """A code point is a token, and its own id."""
    first, last = Special(id=CLS, role=0), Special(id=SEP, role=0)
    single = (first, Slot(text=0, role=0), last)
    return _whole(
        added=_added(file) or {chr(MASK): Added(id=MASK, strips_left=True)},
        model=CodePoints(),
        single=single,
        pair=(*single, Slot(text=1, role=0), last),
        pad=0,
    )


def _added(file: Part) -> Mapping[str, Added]:
    """Tokens that the file lists by their ids, as those have that transformers has saved."""
    made = {}
    for key, value in file.get("added_tokens_decoder", dict, {}).items():
        token = Part(f"{file.place}: added_tokens_decoder {key}", value if isinstance(value, dict) else {})
        content = token.get("content", str)
        if not content or not key.isdecimal():
            raise ConfigError(f"{token.place}: not a token with its id", hint="save the tokenizer again")
        made[content] = Added(
            id=int(key),
            strips_left=token.get("lstrip", bool, False),
            strips_right=token.get("rstrip", bool, False),
            is_word=token.get("single_word", bool, False),
        )
    return made


def _whole(
    *,
    added: Mapping[str, Added],
    model: Model,
    single: tuple[Special | Slot, ...],
    pair: tuple[Special | Slot, ...],
    pad: int,
) -> Tokenizer:
    return Tokenizer(
        added=(added, {}),
        normalization=(),
        splitting=(),
        model=model,
        trimming=None,
        single=single,
        pair=pair,
        truncation=None,
        padding=Padding(id=pad),
    )


READERS: Mapping[str, Callable[[Part], Tokenizer]] = {"ByT5Tokenizer": _byt5, "CanineTokenizer": _canine}
