"""Chooses the next token, as Hugging Face's transformers do: penalty, temperature, top-k, top-p, in this order."""

from dataclasses import dataclass

from packager.contract.generation import randomness
from packager.core.signature import ElementType
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Sampling:
    temperature: float
    top_k: int
    """0 for all tokens"""
    top_p: float


def penalized(writer: Writer, logits: str, tokens: str, penalty: float) -> str:
    """`logits`, float [size], with those of `tokens`, int64 [n], divided by `penalty`, or multiplied if negative
    (arXiv:1909.05858, section 4.1)."""
    found = writer.node("Gather", logits, tokens)
    factor = writer.floats(penalty)
    is_negative = writer.node("Less", found, writer.floats(0.0))
    changed = writer.node("Where", is_negative, writer.node("Mul", found, factor), writer.node("Div", found, factor))
    return writer.node("ScatterElements", logits, tokens, changed, axis=0)


def best(writer: Writer, logits: str) -> str:
    """int64 [1]: the token with the largest logit, the first one of equals."""
    return writer.node("ArgMax", logits, axis=0, keepdims=1)


def sampled(writer: Writer, logits: str, size: int, sampling: Sampling, *, seed: str, number: str) -> str:
    """int64 [1]: a random one of `size` tokens: the first whose share, with those of likelier ones, is above a random
    number."""
    scaled = writer.node("Div", logits, writer.floats(sampling.temperature))
    kept = min(sampling.top_k or size, size)
    values, tokens = writer.nodes("TopK", 2, scaled, [kept], axis=0)
    shares = writer.node("Softmax", values, axis=0)
    before = writer.node("CumSum", shares, 0, exclusive=1)
    is_kept = writer.cast(writer.node("Less", before, writer.floats(sampling.top_p)), ElementType.FLOAT)
    shares = writer.node("Mul", shares, is_kept)
    up_to = writer.node("CumSum", shares, 0)
    total = writer.node("ReduceSum", shares, [0], keepdims=1)
    wanted = writer.node("Mul", randomness.uniform(writer, seed, number), total)
    passed = writer.cast(writer.node("LessOrEqual", up_to, wanted), ElementType.INT64)
    place = writer.node("ReduceSum", passed, [0], keepdims=1)
    last = writer.node("Sub", writer.node("ReduceSum", writer.cast(is_kept, ElementType.INT64), [0], keepdims=1), 1)
    return writer.node("Gather", tokens, writer.node("Min", place, last))
