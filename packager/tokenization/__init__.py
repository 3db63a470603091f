"""Tokenizers as ONNX nodes: code points in, token ids out, in standard operators."""

from packager.tokenization.batches import Batch
from packager.tokenization.reading import read, read_decoder
from packager.tokenization.writing import Limits, Tokens, alone, write, write_batch

__all__ = ["Batch", "Limits", "Tokens", "alone", "read", "read_decoder", "write", "write_batch"]
