"""onnx: ONNX files of old versions, raised by ONNX's own converter of versions."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from packager.core.errors import ModelError
from packager.engines.environments.framework import Framework
from packager.importers.importer import Arrays, Converted, ImportSource, Input, dimensions

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

OPSETS = (18, 13)
"""opsets to raise to; the later one only where the first fails"""
IR_VERSION = 8
"""that of opset 18"""


@dataclass(frozen=True, kw_only=True)
class Onnx:
    NAME: ClassVar[str] = "onnx"
    FRAMEWORK: ClassVar[str] = "ONNX"
    SOURCES: ClassVar[str] = "`.onnx` of old versions"
    ENVIRONMENT: ClassVar[Framework | None] = None
    RUNS_CODE: ClassVar[bool] = False

    def reads(self, source: ImportSource) -> bool:
        return source.path.suffix == ".onnx"

    def load(self, source: ImportSource) -> "OldModel":
        import onnx
        from google.protobuf.message import DecodeError

        from packager.graph.rewriting.order import sort_nodes
        from packager.models.ends import complete
        from packager.models.repairing import repair

        try:
            proto = onnx.load(source.path)
        except DecodeError as error:
            raise ModelError(f"{source.text}: not an ONNX model", hint="it is damaged, or has a wrong name") from error
        if not proto.graph.node:
            raise ModelError(f"{source.text}: not an ONNX model (no graph in it)", hint="give an .onnx file")
        repair(proto, source.path)
        sort_nodes(proto)
        complete(proto, source.path, {})
        return OldModel(proto=proto, path=source.path)


@dataclass(frozen=True, kw_only=True)
class OldModel:
    proto: "ModelProto"
    path: Path

    @property
    def made_with(self) -> str:
        return str(self._evaluator()[0])

    @property
    def inputs(self) -> tuple[Input, ...]:
        constants = {each.name for each in self.proto.graph.initializer}
        return tuple(_input(each) for each in self.proto.graph.input if each.name not in constants)

    def run(self, inputs: Arrays) -> Arrays:
        names = [each.name for each in self.proto.graph.output]
        return dict(zip(names, self._evaluator()[1](names, dict(inputs)), strict=True))

    def convert(self, path: Path) -> Converted:
        import onnx

        raised = self._raised()
        constants = {each.name for each in raised.graph.initializer}
        fed = [each for each in raised.graph.input if each.name not in constants]
        del raised.graph.input[:]
        raised.graph.input.extend(fed)
        raised.ir_version = max(raised.ir_version, IR_VERSION)
        onnx.save_model(raised, path)
        return Converted(converter=f"onnx {onnx.__version__}")

    def _evaluator(self) -> tuple[str, Callable[..., Any]]:
        """Name of what runs the file as it is, and a function that does: ONNX Runtime, or ONNX's own reference for
        operators that are too old for it."""
        import onnx
        import onnxruntime
        from onnx.reference import ReferenceEvaluator

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(str(self.path), options, providers=["CPUExecutionProvider"])
        except Exception:  # its errors have no class in common
            return f"ONNX {onnx.__version__} (reference)", ReferenceEvaluator(self.proto).run
        return f"ONNX Runtime {onnxruntime.__version__}", session.run

    def _raised(self) -> "ModelProto":
        """Raises ModelError if neither opset can be reached."""
        from packager.models.raising import opset_of, raised

        reasons = []
        for opset in OPSETS if opset_of(self.proto) else ():
            try:
                return raised(self.proto, opset)
            except ModelError as error:
                reasons.append(error.message)
        if not reasons:
            return self.proto
        raise ModelError(
            reasons[0], hint="export it again with opset 18; or build it as it is, which mobpack can from opset 7 on"
        )


def _input(value: "ValueInfoProto") -> Input:
    from onnx.helper import tensor_dtype_to_np_dtype

    tensor = value.type.tensor_type
    if not tensor.elem_type or not tensor.HasField("shape"):
        raise ModelError(f"input '{value.name}' is not a tensor with a shape", hint="export the model again")
    sizes = [each.dim_value if each.dim_value > 0 else None for each in tensor.shape.dim]
    named = dimensions(value.name, sizes)
    own = [each.dim_param for each in tensor.shape.dim]
    shape = tuple(given if given else size for given, size in zip(own, named, strict=True))
    return Input(name=value.name, dtype=tensor_dtype_to_np_dtype(tensor.elem_type).name, shape=shape)
