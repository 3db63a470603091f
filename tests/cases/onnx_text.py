"""Small ONNX models for tests, written as text, and large weights added to them."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy
import numpy.typing
import onnx
import onnx.numpy_helper
import onnx.parser

from packager import models
from packager.compile.compile import compile_variant
from packager.core.values import Compiled, Model, baseline
from packager.files.store import Store
from packager.graph.rewriting.draft import draft_of
from packager.quantizers import Quantizer

if TYPE_CHECKING:
    import onnxruntime

STANDARD = {"": 17}


def onnx_model(
    graph: str,
    *,
    weights: Mapping[str, numpy.typing.NDArray[numpy.generic]] | None = None,
    opsets: Mapping[str, int] = STANDARD,
    ir_version: int = 8,
    functions: str = "",
) -> onnx.ModelProto:
    """The model with `graph`, in ONNX text without its name: `(float[2] x) => (float[2] y) { y = Relu (x) }`.

    `weights` become initializers with raw data behind those of the text; `functions` is text behind the graph.
    """
    imports = ", ".join(f'"{domain}" : {version}' for domain, version in opsets.items())
    model = onnx.parser.parse_model(f"<ir_version: {ir_version}, opset_import: [{imports}]> g {graph} {functions}")
    for name, array in (weights or {}).items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.ascontiguousarray(array), name))
    return model


def saved(path: Path, model: onnx.ModelProto) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString(deterministic=True))
    return path


def weight(*shape: int, seed: int = 0) -> numpy.typing.NDArray[numpy.generic]:
    """Normal float32 numbers, the same each time."""
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32)


def linear(*, columns: int = 64, seed: int = 0) -> onnx.ModelProto:
    """y = x @ w + b, with one weight large enough to stay in its file."""
    return onnx_model(
        "(float[1, 64] x) => (float[1, c] y) { xw = MatMul (x, w) y = Add (xw, b) }".replace("c]", f"{columns}]"),
        weights={"w": weight(64, columns, seed=seed), "b": weight(columns, seed=seed + 1)},
    )


def loaded(folder: Path, model: onnx.ModelProto, name: str = "m") -> Model:
    return models.hashed(models.load(saved(folder / f"{name}.onnx", model), name))


def compiled(folder: Path, model: onnx.ModelProto, name: str = "m") -> Compiled:
    """`model`, converted as a build does; the store lies in `folder`."""
    described = loaded(folder, model, name)
    variant = baseline(described, "fp32")
    return compile_variant(variant, Store(folder / "store"))


def quantized_by(quantizer: Quantizer, graph: bytes, folder: Path) -> bytes:
    """The serialized `graph` quantized by `quantizer`; its external data are relative to `folder`."""
    draft = draft_of(graph, folder)
    quantizer.quantize(draft)
    return draft.finish()


def session(model: bytes | Path, *, is_optimized: bool = True) -> "onnxruntime.InferenceSession":
    """A session of one thread: more would wait busily for their share of small work. One that is not optimized computes
    the nodes between QuantizeLinear and DequantizeLinear in floats: 8-bit products saturate on some processors."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if not is_optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
