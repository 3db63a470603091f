"""Opens models so that they compute the same on every x86 processor, bit for bit."""

import mmap
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.engines.session import branches
from packager.engines.session.exact import blocks, products, softmax
from packager.engines.session.exact.processor import saturates
from packager.graph import traversal

if TYPE_CHECKING:
    from onnx import ModelProto

UNFIT = ["NchwcTransformer"]
"""Optimizers whose results depend on the processor."""
QUANTIZED = (b"QuantizeLinear", *(name.encode() for name in products.PRODUCTS))
"""Byte strings in every model that multiplies 8-bit numbers, or may once it is optimized."""
DATA_FOLDER = "session.model_external_initializers_file_folder_path"
WRITTEN_DATA = "weights.bin"
WRITING = {
    "session.save_model_format": "ONNX",
    "session.optimized_model_external_initializers_file_name": WRITTEN_DATA,
    "session.optimized_model_external_initializers_min_size_in_bytes": "1024",
    "session.disable_prepacking": "1",
}

NewOptions = Callable[[], Any]
"""Makes onnxruntime.SessionOptions, the same ones each time."""


def opened(model: bytes | Path, data_folder: str, new_options: NewOptions) -> Any:
    """A session of a serialized ModelProto or of a file, in ORT format if its name ends in .ort.

    External data lie in `data_folder`, or beside the file if that is empty. Raises ONNX Runtime's exceptions.
    """
    if isinstance(model, bytes):
        return _opened_onnx(model, data_folder, new_options)
    if model.suffix == ".ort":
        return _opened_ort(model, new_options)
    return _opened_onnx(model.read_bytes(), data_folder or str(model.parent), new_options)


def _opened_onnx(content: bytes, data_folder: str, new_options: NewOptions) -> Any:
    options = new_options()
    is_optimized = _is_optimized(options)
    if softmax.SIGN in content:
        proto = _parsed(content)
        softmax.widened(proto, is_optimized=is_optimized)
        content = proto.SerializeToString()
    if not _needs_rewriting(lambda name: name in content):
        return _session(content, options, data_folder)
    if not is_optimized:
        return _rewritten(content, Path(data_folder), new_options)
    with _scratch() as scratch:
        written = _written(content, options, data_folder, Path(scratch))
        return _rewritten(written, Path(scratch), new_options)


def _opened_ort(path: Path, new_options: NewOptions) -> Any:
    """Its operators are final, except for recorded fusions: the rewrite applies to the graph that would run."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        is_final = not _needs_rewriting(lambda name: content.find(name) >= 0)
        has_softmax = content.find(softmax.SIGN) >= 0
    if is_final and not has_softmax:
        return _session(str(path), new_options(), "")
    with _scratch() as scratch:
        proto = _parsed(_written(str(path), new_options(), "", Path(scratch)))
        branches.restore_ends(proto, path)
        traversal.name_graphs(proto)
        if has_softmax:
            softmax.widened(proto, is_optimized=False)
        return _rewritten(proto.SerializeToString(), Path(scratch), new_options)


def _scratch() -> "tempfile.TemporaryDirectory[str]":
    """A folder for a session's weights. Windows keeps those that a session has mapped: they stay in the user's folder
    for temporary files."""
    return tempfile.TemporaryDirectory(prefix="mobpack-", ignore_cleanup_errors=True)


def _needs_rewriting(has: Callable[[bytes], bool]) -> bool:
    """Whether a model may contain operators to rewrite once it is optimized; `has` searches its bytes."""
    if has(blocks.SIGN) or (has(b"DequantizeLinear") and has(b"MatMul")):  # the second become the first
        return True
    return any(map(has, QUANTIZED)) and saturates()


def _rewritten(content: bytes, data_folder: Path, new_options: NewOptions) -> Any:
    """A session of the graph as it is, except for its products."""
    proto = _parsed(content)
    changes = [blocks.ordered(proto), saturates() and products.unsaturated(proto, data_folder)]
    if any(changes):
        content = proto.SerializeToString()
    return _session(content, _final(new_options()), str(data_folder))


def _written(model: bytes | str, options: Any, data_folder: str, folder: Path) -> bytes:
    """The graph as a session with `options` would run it, with its weights in a file in `folder`."""
    path = folder / "final.onnx"
    options.optimized_model_filepath = str(path)
    for key, value in WRITING.items():
        options.add_session_config_entry(key, value)
    _session(model, options, data_folder)
    return path.read_bytes()


def _session(model: bytes | str, options: Any, data_folder: str) -> Any:
    import onnxruntime

    if data_folder:
        options.add_session_config_entry(DATA_FOLDER, data_folder)
    return onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"], disabled_optimizers=UNFIT, enable_fallback=0
    )


def _is_optimized(options: Any) -> bool:
    import onnxruntime

    return bool(options.graph_optimization_level != onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)


def _final(options: Any) -> Any:
    """`options` for a graph that must not be changed any more."""
    import onnxruntime

    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def _parsed(content: bytes) -> "ModelProto":
    """The model with functions inlined: a function has no types, and no weights."""
    from onnx import ModelProto, inliner

    proto: ModelProto = ModelProto.FromString(content)
    if not proto.functions:
        return proto
    branches.move_constants(proto)
    return inliner.inline_local_functions(proto)
