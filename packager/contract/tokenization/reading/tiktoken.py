"""Reads ranks of tiktoken: one token per line, its bytes in base64, and its rank.

Which expression splits texts is not in the file: it follows from the name of the encoding, as in tiktoken's
`openai_public` and in the models that publish such files.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from pathlib import Path

from packager.contract.tokenization import byte_level, patterns
from packager.contract.tokenization.definition import BytePairs, Padding, Split, Tokenizer
from packager.contract.tokenization.normalizing.steps import Forms, Step
from packager.contract.tokenization.pairs import Merge
from packager.contract.tokenization.reading.models import MOST_TOKENS
from packager.contract.tokenization.reading.processors import Processor
from packager.contract.tokenization.reading.splitters import GPT2
from packager.core.errors import ConfigError, nearest

ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
BLANKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"
CL100K = rf"{ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{BLANKS}"
CAPITALS, SMALL = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{CAPITALS}*{SMALL}+{ENDINGS}?|[^\r\n\p{{L}}\p{{N}}]?{CAPITALS}+{SMALL}*{ENDINGS}?"
    rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{BLANKS}"
)
ENCODINGS = {
    "gpt2": GPT2,
    "r50k_base": GPT2,
    "p50k_base": GPT2,
    "p50k_edit": GPT2,
    "multilingual": GPT2,
    "cl100k_base": CL100K,
    "o200k_base": O200K,
    "o200k_harmony": O200K,
    "qwen": CL100K.replace("{1,3}", ""),
}
"""expressions by the name of the file; `gpt2` and `multilingual` are Whisper's, too"""
NORMALIZATION: Mapping[str, tuple[Step, ...]] = {"qwen": (Forms(is_compatible=False, composes=True),)}


def read(path: Path, content: str) -> Tokenizer:
    """The tokenizer of a file whose name is that of its encoding, such as `cl100k_base.tiktoken`.

    Special tokens are not in the file, and not found in texts, as by tiktoken's `encode_ordinary`. Raises ConfigError.
    """
    if path.stem not in ENCODINGS:
        raise ConfigError(
            f"{path}: '{path.stem}' is not a known encoding, and the file does not say how texts are split",
            hint=f"{nearest(path.stem, ENCODINGS)}; or use the model's tokenizer.json",
        )
    ranks = dict(_ranks(path, content))
    processor = Processor()
    return Tokenizer(
        added=({}, {}),
        normalization=NORMALIZATION.get(path.stem, ()),
        splitting=(Split(pattern=patterns.parsed(ENCODINGS[path.stem]), behavior="Isolated"),),
        model=BytePairs(
            vocabulary={"".join(byte_level.CHARACTERS[byte] for byte in token): rank for token, rank in ranks.items()},
            merges=dict(_merges(ranks)),
            is_bytes=True,
            takes_whole=True,
        ),
        trimming=None,
        single=processor.single,
        pair=processor.pair,
        truncation=None,
        padding=Padding(),
    )


def _ranks(path: Path, content: str) -> Iterator[tuple[bytes, int]]:
    for number, line in enumerate(content.splitlines(), 1):
        if line.startswith("= "):  # Whisper's: the rank of no bytes, which no text has
            continue
        token, _, rank = line.partition(" ")
        try:
            made = base64.b64decode(token, validate=True), int(rank)
        except (binascii.Error, ValueError) as error:
            raise ConfigError(
                f"{path}:{number}: not a token in base64 and its rank", hint="download the file again"
            ) from error
        if not made[0] or not 0 <= made[1] < MOST_TOKENS:
            raise ConfigError(f"{path}:{number}: no token with a rank below {MOST_TOKENS}", hint="download it again")
        yield made


def _merges(ranks: Mapping[bytes, int]) -> Iterator[tuple[tuple[int, int], Merge]]:
    """Every pair of tokens that is one, with its rank: any of them may be what a piece has become."""
    for token, rank in ranks.items():
        for size in range(1, len(token)):
            first, second = ranks.get(token[:size]), ranks.get(token[size:])
            if first is not None and second is not None:
                yield (first, second), Merge(rank=rank, product=rank)
