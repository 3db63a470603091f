"""Tokenizers of Hugging Face's library from files of other formats, as that library's users convert them."""

import base64
import gzip
import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from packager.contract.tokenization.byte_level import CHARACTERS

CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
    r"\s+(?!\S)|\s+"
)
QWEN = CL100K.replace("{1,3}", "")
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def tiktoken(path: Path, pattern: str) -> Tokenizer:
    """Ranks of tiktoken: one line for each token, its bytes in base64 and its rank."""
    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    return ranked({base64.b64decode(token): int(rank) for token, rank in lines}, pattern)


def tekken(path: Path) -> Tokenizer:
    """Mistral's Tekken: the ranks of its default vocabulary, after the special tokens."""
    content = json.loads(path.read_text(encoding="utf-8"))
    config = content["config"]
    specials = config["default_num_special_tokens"]
    ranks = {base64.b64decode(each["token_bytes"]): each["rank"] for each in content["vocab"]}
    size = config["default_vocab_size"] - specials
    return ranked({token: rank for token, rank in ranks.items() if rank < size}, config["pattern"], first=specials)


def ranked(ranks: Mapping[bytes, int], pattern: str, *, first: int = 0) -> Tokenizer:
    """A token is made of the two that its bytes merge to by lower ranks; ids are ranks from `first` on."""
    merges = [tuple(map(_written, _parts(ranks, token))) for token in sorted(ranks, key=ranks.__getitem__) if token[1:]]
    vocabulary = {_written(token): first + rank for token, rank in ranks.items()}
    made = Tokenizer(models.BPE(vocabulary, [each for each in merges if len(each) == 2]))
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not pattern)
    split = [pre_tokenizers.Split(Regex(pattern), "isolated")] if pattern else []
    made.pre_tokenizer = pre_tokenizers.Sequence([*split, level])
    made.add_special_tokens([AddedToken("<|endoftext|>", special=True, normalized=False)])
    return made


def _written(token: bytes) -> str:
    return "".join(CHARACTERS[each] for each in token)


def _parts(ranks: Mapping[bytes, int], token: bytes) -> list[bytes]:
    """The parts that are left when only tokens of lower ranks are made: two, for a token that was trained."""
    parts = [token[place : place + 1] for place in range(len(token))]
    while True:
        joined = [ranks.get(left + right, ranks[token]) for left, right in pairwise(parts)]
        if not joined or min(joined) >= ranks[token]:
            return parts
        place = joined.index(min(joined))
        parts[place : place + 2] = [parts[place] + parts[place + 1]]


def roberta(path: Path) -> Tokenizer:
    """GPT-2's ranks with RoBERTa's template and its blank before texts."""
    made = tiktoken(path, "")
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    made.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in ("<s>", "</s>")])
    ids = made.get_vocab()
    made.post_processor = processors.RobertaProcessing(
        ("</s>", ids["</s>"]), ("<s>", ids["<s>"]), add_prefix_space=True
    )
    return made


def clip(path: Path) -> Tokenizer:
    """CLIP's merges (lines 2 to 48,895 of its file), as its converter in transformers writes them."""
    lines = gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")
    merges = [(first, second) for first, second in map(str.split, lines[1 : 49152 - 256 - 2 + 1])]
    characters = [*(chr(each) for each in _printable()), *(each for each in CHARACTERS if ord(each) >= 256)]
    tokens = [*characters, *(f"{each}</w>" for each in characters), *("".join(pair) for pair in merges)]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    end = "<|endoftext|>"
    made = Tokenizer(models.BPE(vocabulary, merges, end_of_word_suffix="</w>", unk_token=end, fuse_unk=False))
    made.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(CLIP), "removed", invert=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    made.post_processor = processors.RobertaProcessing(
        (end, vocabulary[end]), (tokens[-2], vocabulary[tokens[-2]]), add_prefix_space=False, trim_offsets=False
    )
    made.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in tokens[-2:]])
    return made


def _printable() -> Iterable[int]:
    return (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))


def plain(made: Tokenizer) -> Tokenizer:
    """`made` without truncation and padding."""
    made.no_truncation()
    made.no_padding()
    return made


def saved(made: Tokenizer, path: Path, **parts: Any) -> Path:
    path.write_text(json.dumps({**json.loads(made.to_str()), **parts}, ensure_ascii=False), encoding="utf-8")
    return path
