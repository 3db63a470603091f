"""The machine that measures: its processor, and the form in which graphs for phones run on it."""

import platform
from pathlib import Path

from packager.graph.rewriting.draft import Draft
from packager.quantizers import REWRITES

X86 = ("x86_64", "AMD64", "i686")


def as_measured(graph: bytes, data_folder: Path) -> bytes:
    """`graph` in the form to measure on this machine, with identical values.

    ONNX Runtime has few kernels for int8 activations on x86 and computes the rest in float; re-encoded as uint8 they
    are fused as on ARM, and mostly give exactly ARM's numbers. Graphs without int8 activations stay unchanged, and on
    ARM all do.
    """
    if platform.machine() not in X86:
        return graph
    import onnx

    proto = onnx.ModelProto.FromString(graph)
    if all(node.op_type != "QuantizeLinear" for node in proto.graph.node):
        return graph
    draft = Draft(proto=proto, data_folder=data_folder, weights=None)
    REWRITES["unsigned"]().quantize(draft)
    return draft.finish()


def in_words() -> str:
    """This machine's processor, as far as it matters for timings."""
    return f"{platform.machine()}, 1 thread"


def is_arm64() -> bool:
    return platform.machine() in ("aarch64", "arm64")
