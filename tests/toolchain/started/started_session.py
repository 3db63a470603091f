"""Runs a model as programs in emulated environments do: forks of a process that has imported this have left behind what
ONNX Runtime and NumPy do once, and what qemu translates for it."""

import io
from pathlib import Path

import numpy
import onnxruntime

RELU = bytes.fromhex(
    "08083a330a0c0a0178120179220452656c751201675a0f0a0178120a0a08"
    "080112040a020801620f0a0179120a0a08080112040a02080142040a00100d"
)
"""y = Relu(x) on float[1], as a ModelProto"""


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def start() -> None:
    """A fork would lack other threads than this one."""
    before = threads()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(RELU, options, providers=["CPUExecutionProvider"], enable_fallback=0)
    content = io.BytesIO()
    numpy.savez(content, x=numpy.zeros(1, numpy.float32))
    content.seek(0)
    with numpy.load(content) as arrays:
        (result,) = session.run(None, {name: arrays[name] for name in arrays.files})
    numpy.save(io.BytesIO(), result)
    assert threads() == before, "ONNX Runtime has started threads"


start()
