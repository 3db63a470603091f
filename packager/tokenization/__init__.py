"""Tokenizers as ONNX nodes: code points in, token ids out, in standard operators."""

from packager.tokenization.reading import read, read_decoder
from packager.tokenization.writing import Limits, Tokens, alone, write

__all__ = ["Limits", "Tokens", "alone", "read", "read_decoder", "write"]
