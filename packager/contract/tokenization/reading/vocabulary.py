"""Reads BERT's `vocab.txt`: one token per line."""

from pathlib import Path

from packager.contract.tokenization.definition import Added, Padding, Tokenizer, WordPiece
from packager.contract.tokenization.reading import normalizers, processors, splitters
from packager.core.errors import ConfigError

SPECIAL = ("[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]")


def read(path: Path, content: str) -> Tokenizer:
    """BERT's defaults for a vocabulary with one token per line: uncased if no token but special ones has capitals."""
    tokens = [line.rstrip("\r") for line in content.removesuffix("\n").split("\n")]
    vocabulary: dict[str, int] = {}
    for number, token in enumerate(tokens):
        vocabulary.setdefault(token, number)
    for token in SPECIAL[:3]:
        if token not in vocabulary:
            raise ConfigError(
                f"{path}: no vocabulary of BERT: '{token}' is missing", hint="use the tokenizer.json beside it"
            )
    words = [token for token in tokens if not (token.startswith("[") and token.endswith("]"))]
    lowers = not any(each.isascii() and each != each.lower() for each in words)
    single, pair = processors.bert(vocabulary["[CLS]"], vocabulary["[SEP]"])
    return Tokenizer(
        added=({token: Added(id=vocabulary[token]) for token in SPECIAL if token in vocabulary}, {}),
        normalization=tuple(normalizers.bert(cleans=True, splits_chinese=True, strips_accents=lowers, lowers=lowers)),
        splitting=splitters.bert(),
        model=WordPiece(vocabulary=vocabulary, unknown="[UNK]", prefix="##", longest_word=100),
        trimming=None,
        single=single,
        pair=pair,
        truncation=None,
        padding=Padding(id=vocabulary.get("[PAD]", 0)),
    )
