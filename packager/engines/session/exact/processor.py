"""Measures whether the processor loses part of 8-bit products, as ONNX Runtime computes them on it."""

from functools import cache

LONG = 64
"""Length of the product that is measured: enough for whole vectors of any processor."""
PRODUCT = bytes.fromhex(
    "08083a5c0a180a01610a0162120179220d4d61744d756c496e74656765721201705a130a0161120e0a0c080212080a02"
    "08010a0208405a130a0162120e0a0c080312080a0208400a02080162130a0179120e0a0c080612080a0208010a020801"
    "42040a00100a"
)
"""y = MatMulInteger(a, b) of uint8[1, 64] and int8[64, 1], as a ModelProto; written out, because importing onnx takes
longer than everything else here."""


@cache
def saturates() -> bool:
    """Whether products of uint8 by int8 saturate, as they do with AVX2 and AVX-512 without VNNI.

    The sums of two products have 16 bits there (vpmaddubsw, github.com/microsoft/onnxruntime/issues/16472). Products of
    any other two 8-bit types are exact on every processor. For processes that load ONNX Runtime anyway.
    """
    import numpy
    import onnxruntime

    largest = {"a": numpy.full((1, LONG), 255, numpy.uint8), "b": numpy.full((LONG, 1), 127, numpy.int8)}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(PRODUCT, options, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, largest)
    return bool(found[0, 0] != LONG * 255 * 127)
