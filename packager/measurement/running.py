"""Runs graphs, in the processes that measure: one thread for each run, so that numbers never depend on how many."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from packager.errors import ConfigError, ModelError
from packager.ortformat.refusals import is_refusal

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNSATURATED = {"session.x64quantprecision": "1"}
"""Without it AVX2 saturates 8-bit products, which ARM does not (onnxruntime issue 16472)."""
FLOATS = ("tensor(float)", "tensor(float16)", "tensor(double)")
SEED = 0


def opened(graph: bytes, data_folder: str) -> Any:
    """A session of `graph`. Raises ModelError when ONNX Runtime refuses it.

    What keeps AVX2 from saturating fails on graphs that share weights. Those are opened without where the processor
    does not saturate anyway; where it does, they run node by node as they are written.
    """
    import onnxruntime

    onnxruntime.set_seed(SEED)  # for operators that draw random numbers: the same ones in every session
    with suppress(ModelError):
        return _session(graph, data_folder, UNSATURATED)
    return _session(graph, data_folder, {}, is_optimized=not saturates())


def _session(graph: bytes, data_folder: str, entries: Mapping[str, str], *, is_optimized: bool = True) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if not is_optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", data_folder)
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        if not is_refusal(error):
            raise
        raise ModelError(
            f"ONNX Runtime refuses the graph: {in_one_line(error)}", hint="check that the model itself runs"
        ) from error


@cache
def saturates() -> bool:
    """Whether ONNX Runtime loses part of the largest 8-bit products on this processor."""
    import numpy
    from onnx import TensorProto, helper

    node = helper.make_node("MatMulInteger", ["a", "b"], ["y"])
    inputs = [
        helper.make_tensor_value_info("a", TensorProto.UINT8, [1, 64]),
        helper.make_tensor_value_info("b", TensorProto.INT8, [64, 1]),
    ]
    output = helper.make_tensor_value_info("y", TensorProto.INT32, [1, 1])
    opsets = [helper.make_opsetid("", 10)]
    model = helper.make_model(helper.make_graph([node], "g", inputs, [output]), ir_version=8, opset_imports=opsets)
    largest = {"a": numpy.full((1, 64), 255, numpy.uint8), "b": numpy.full((64, 1), 127, numpy.int8)}
    (found,) = _session(model.SerializeToString(), "", {}).run(None, largest)
    return bool(found[0, 0] != 64 * 255 * 127)


def run(session: Any, names: Sequence[str], inputs: "Mapping[str, NDArray[Any]]") -> "list[NDArray[Any]]":
    """The outputs `names`. Raises ModelError when ONNX Runtime refuses to run."""
    feeds = {name: as_runtime_wants(array) for name, array in inputs.items()}
    try:
        return list(session.run(list(names), feeds))
    except Exception as error:
        if not is_refusal(error):
            raise
        raise ModelError(
            f"ONNX Runtime cannot run the graph: {in_one_line(error)}", hint="check that the model runs on the samples"
        ) from error


def read(reader: str, description: Mapping[str, Any], count: int) -> "Iterator[dict[str, NDArray[Any]]]":
    """The samples of `reader`. Raises ConfigError when they are not `count`."""
    module, function = reader.split(":")
    found = 0
    for sample in getattr(import_module(module), function)(description):
        found += 1
        yield sample
    if found != count:
        raise ConfigError(
            f"{found} samples could be read, {count} were expected",
            hint="leave the samples alone while they are read, and run again",
        )


def as_runtime_wants(array: "NDArray[Any]") -> "NDArray[Any]":
    return array.astype(object) if array.dtype.kind == "U" else array


def in_one_line(error: Exception) -> str:
    return " ".join(str(error).replace("[ONNXRuntimeError] :", "").split())
