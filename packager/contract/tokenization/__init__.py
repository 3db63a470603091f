"""Tokenizers as ONNX nodes: code points in, token ids out, in standard operators."""

from packager.contract.tokenization.batches import Batch
from packager.contract.tokenization.reading import read, read_decoder
from packager.contract.tokenization.writing import TokenLimits, Tokens, alone, whole, write, write_batch

__all__ = ["Batch", "TokenLimits", "Tokens", "alone", "read", "read_decoder", "whole", "write", "write_batch"]
