"""Writes a tokenizer into a graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packager.core.signature import ElementType
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Numbers of tokens, special ones included."""

    longest: int | None = None
    """longer texts are truncated"""
    length: int | None = None
    """shorter texts are padded as well"""


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """Names of values in the graph, int64 [tokens] each."""

    ids: str
    mask: str
    """1 for tokens, 0 for padding"""
    types: str
    """number of the text's role in a pair: 0 or 1"""


def write(writer: Writer, tokenizer: Path, texts: Sequence[str], limits: Limits) -> Tokens:
    text = writer.node("Concat", *texts, axis=0) if len(texts) > 1 else texts[0]
    points = writer.node("Mod", writer.cast(text, ElementType.INT64), 256)
    ids = writer.node("Concat", [1], points, [2], axis=0)
    if limits.length:
        padded = writer.node("Pad", ids, [0, limits.length])
        ids = writer.node("Slice", padded, [0], [limits.length], [0])
    mask = writer.cast(writer.node("Greater", ids, 0), ElementType.INT64)
    return Tokens(ids=ids, mask=mask, types=writer.node("Mul", ids, 0))
