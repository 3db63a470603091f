"""Runs quantizers on small models: the result, its outputs, and their error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from packager.core.quantized import FloatLayer, Range
from packager.engines.session import exact
from packager.graph.rewriting.draft import Draft, draft_of
from packager.graph.weights.writing import WeightFile
from packager.quantizers import Calibration, Quantizer, StaticQdq
from tests.cases import onnx_text

Array = NDArray[Any]
Inputs = Mapping[str, Array]

CALIBRATION = Calibration(samples="not read")
LEVELS = onnxruntime.GraphOptimizationLevel


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A quantizer's result for a model."""

    original: onnx.ModelProto
    model: onnx.ModelProto
    left: tuple[FloatLayer, ...]

    @property
    def operators(self) -> list[str]:
        return [node.op_type for node in self.model.graph.node]

    @property
    def constants(self) -> dict[str, Array]:
        return {tensor.name: numpy_helper.to_array(tensor) for tensor in self.model.graph.initializer}

    @property
    def reasons(self) -> dict[str, str]:
        return {each.name: each.reason for each in self.left}

    def node(self, operator: str) -> onnx.NodeProto:
        """The only node."""
        found: list[onnx.NodeProto] = [each for each in self.model.graph.node if each.op_type == operator]
        (node,) = found
        return node

    def decibels(self, inputs: Inputs, *, is_optimized: bool = True) -> float:
        """Signal to noise of all float outputs together."""
        pairs = zip(
            run(self.original, inputs).values(),
            run(self.model, inputs, is_optimized=is_optimized).values(),
            strict=True,
        )
        return decibels([(a, b) for a, b in pairs if a.dtype.kind == "f"])


def decibels(pairs: Sequence[tuple[Array, Array]]) -> float:
    signal = sum(float((a.astype(float) ** 2).sum()) for a, _ in pairs)
    noise = sum(float(((a.astype(float) - b) ** 2).sum()) for a, b in pairs)
    return 200.0 if noise == 0 else float(10 * numpy.log10(max(signal, 1e-30) / noise))


def inferred(model: onnx.ModelProto) -> onnx.ModelProto:
    """With the types of all values, as a model is after loading."""
    return onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)


def session(model: onnx.ModelProto, *, is_optimized: bool = True) -> onnxruntime.InferenceSession:
    """A session as parity opens one: the same numbers on every processor."""

    def options() -> onnxruntime.SessionOptions:
        made = onnxruntime.SessionOptions()
        made.intra_op_num_threads = 1
        made.log_severity_level = 4
        made.graph_optimization_level = LEVELS.ORT_ENABLE_ALL if is_optimized else LEVELS.ORT_DISABLE_ALL
        return made

    return exact.opened(model.SerializeToString(), "", options)


def run(model: onnx.ModelProto, inputs: Inputs, *, is_optimized: bool = True) -> dict[str, Array]:
    loaded = session(model, is_optimized=is_optimized)
    names = [each.name for each in loaded.get_outputs()]
    return dict(zip(names, map(numpy.asarray, loaded.run(names, dict(inputs))), strict=True))


def run_inside(model: onnx.ModelProto, inputs: Inputs) -> dict[str, Array]:
    """Every value of the main graph, node by node."""
    tapped = onnx.ModelProto()
    tapped.CopyFrom(model)
    known = {value.name for value in tapped.graph.output}
    for node in model.graph.node:
        tapped.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in node.output if name)
    unique = {value.name: value for value in tapped.graph.output if value.name not in known}
    del tapped.graph.output[len(known) :]
    tapped.graph.output.extend(unique.values())
    return dict(inputs) | run(tapped, inputs, is_optimized=False)


def measured(model: onnx.ModelProto, values: Sequence[str], samples: Sequence[Inputs]) -> dict[str, Range]:
    found = [run_inside(model, sample) for sample in samples]
    return {
        name: Range(
            low=min(float(each[name].min()) for each in found), high=max(float(each[name].max()) for each in found)
        )
        for name in values
    }


def static(**settings: Any) -> StaticQdq:
    return StaticQdq(calibration=CALIBRATION, **settings)


def drafted(model: onnx.ModelProto, quantizer: Quantizer, samples: Sequence[Inputs] = (), *, threads: int = 1) -> Draft:
    """A draft of `model`, with all ranges that `quantizer` needs."""
    draft = replace(draft_of(inferred(model).SerializeToString(), Path()), threads=threads)
    if isinstance(quantizer, StaticQdq):
        names = quantizer.measures(draft_of(draft.proto.SerializeToString(), Path()))
        draft.ranges = measured(model, names, samples)
    return draft


def outcome(
    model: onnx.ModelProto, quantizer: Quantizer, samples: Sequence[Inputs] = (), *, threads: int = 1
) -> Outcome:
    """Quantize `model`: the result passes ONNX's checker and keeps inputs and outputs."""
    draft = drafted(model, quantizer, samples, threads=threads)
    quantizer.quantize(draft)
    made = onnx.load_from_string(draft.finish())
    onnx.checker.check_model(made, full_check=True)
    known = {name for node in made.graph.node for name in node.output} | {each.name for each in made.graph.initializer}
    assert {value.name for value in made.graph.value_info} <= known
    constants = {tensor.name for tensor in model.graph.initializer}
    assert list(made.graph.output) == list(model.graph.output)
    assert [value for value in made.graph.input if value.name not in constants] == [
        value for value in model.graph.input if value.name not in constants
    ]
    return Outcome(original=model, model=made, left=tuple(draft.left))


def outcome_in_files(
    model: onnx.ModelProto, quantizer: Quantizer, samples: Sequence[Inputs], folder: Path, *, threads: int = 1
) -> tuple[bytes, bytes]:
    """Graph and weights, the latter in a file."""
    folder.mkdir(parents=True)
    draft = drafted(model, quantizer, samples, threads=threads)
    draft.weights = WeightFile(folder / "weights.bin")
    quantizer.quantize(draft)
    graph = draft.finish()
    weights = folder / "weights.bin"
    return graph, weights.read_bytes() if weights.exists() else b""


def weight(*shape: int, seed: int = 0) -> Array:
    """Normal numbers of float32, the same each time, to compute with."""
    return onnx_text.weight(*shape, seed=seed)


def samples_for(model: onnx.ModelProto, count: int = 3, seed: int = 0) -> list[dict[str, Array]]:
    """Normal numbers for float inputs, 0 and 1 for others."""
    generator = numpy.random.default_rng(seed)
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in constants]

    def one(value: onnx.ValueInfoProto) -> Array:
        kind = value.type.tensor_type
        shape = [dimension.dim_value or 2 for dimension in kind.shape.dim]
        if kind.elem_type in (TensorProto.FLOAT, TensorProto.FLOAT16):
            return generator.standard_normal(shape).astype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
        return generator.integers(0, 2, shape).astype(helper.tensor_dtype_to_np_dtype(kind.elem_type))

    return [{value.name: one(value) for value in inputs} for _ in range(count)]
