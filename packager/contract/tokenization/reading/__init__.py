"""Reads files of tokenizers. A part that mobpack does not know is refused by name."""

from pathlib import Path

from packager.contract.tokenization.decoder import Decoding
from packager.contract.tokenization.definition import Tokenizer
from packager.contract.tokenization.reading import (
    configured,
    decoders,
    sentencepiece,
    tiktoken,
    tokenizer_json,
    vocabulary,
)
from packager.contract.tokenization.reading.part import Part
from packager.core import user_files
from packager.core.errors import ConfigError

LIMIT_BYTES = 64 * 2**20
KINDS = "tokenizer.json, BERT's vocab.txt, a .model of SentencePiece, tiktoken's ranks, or ByT5's tokenizer_config.json"


def read(path: Path) -> Tokenizer:
    """The tokenizer of a file. Raises ConfigError for another file, or one with a part that is not supported."""
    content = _content(path)
    if path.suffix == ".json":
        text = _text(path, content)
        if config := Part.having(path, text, configured.CLASS):
            return configured.read(config)
        return tokenizer_json.read(Part.whole(path, text))
    if path.suffix == ".txt":
        return vocabulary.read(path, _text(path, content))
    if path.suffix == ".tiktoken":
        return tiktoken.read(path, _text(path, content))
    if path.suffix == ".model":
        return sentencepiece.read(path, content)
    raise ConfigError(f"{path}: not a known tokenizer file", hint=f"use {KINDS}")


def read_decoder(path: Path) -> Decoding:
    """The texts that tokens of a file add. Raises ConfigError as `read` does, for its decoder alone: a model may be
    known from its tokens to its text only."""
    content = _content(path)
    if path.suffix != ".json":
        raise ConfigError(f"{path}: a file without a decoder", hint="use tokenizer.json of Hugging Face")
    return decoders.read(Part.whole(path, _text(path, content)))


def _content(path: Path) -> bytes:
    try:
        return user_files.read(path, limit_bytes=LIMIT_BYTES)
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file", hint="paths are relative to mobpack.toml") from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", hint=f"use {KINDS}") from error


def _text(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8", hint=f"use {KINDS}") from error
