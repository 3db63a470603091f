"""Completes types and shapes that a model leaves out at its ends: ONNX Runtime finds them when it loads the model."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ModelError
from packager.core.values import data_folder
from packager.files.processes import commands
from packager.graph.names import all_names, free_name
from packager.models.shapes import Shapes, infer_shapes

if TYPE_CHECKING:
    from onnx import ModelProto, TypeProto, ValueInfoProto

SAVE = Path(__file__).parents[1] / "compile" / "session.py"


def complete(proto: "ModelProto", path: Path, given: Shapes) -> tuple[str, ...]:
    """Completes the inputs of `proto`, read from `path`, with the shapes that the user has `given`, and outputs with
    those that follow from the graph; returns what was done, in phrases. Raises ModelError that names the value."""
    _complete_inputs(proto, path, given)
    return _completed_outputs(proto, path)


def _complete_inputs(proto: "ModelProto", path: Path, given: Shapes) -> None:
    constants = {tensor.name: tensor for tensor in proto.graph.initializer}
    for value in proto.graph.input:
        if _is_whole(value):
            continue
        size = given.get(value.name)
        if value.name in constants:
            value.CopyFrom(_typed(value.name, constants[value.name].data_type, constants[value.name].dims))
        elif value.type.tensor_type.elem_type and size is not None:
            sizes = (size,) if isinstance(size, int) else size
            value.CopyFrom(_typed(value.name, value.type.tensor_type.elem_type, sizes))
        else:
            what = "shape" if value.type.tensor_type.elem_type else "type"
            raise ModelError(
                f"{path}: input '{value.name}' has no {what}",
                hint=f"give the shape: --shape {value.name}=1x3x224x224, for example"
                if what == "shape"
                else "export the model again",
            )


def _completed_outputs(proto: "ModelProto", path: Path) -> tuple[str, ...]:
    missing = [value for value in proto.graph.output if not _is_whole(value)]
    if not missing:
        return ()
    known = _types(infer_shapes(proto))
    if unknown := [value.name for value in missing if value.name not in known]:
        known = {**known, **_types_of_runtime(proto, path, unknown)}
    for value in missing:
        if value.name not in known:
            raise ModelError(
                f"{path}: output '{value.name}' has no shape, and none follows from the graph",
                hint="declare its number of dimensions when you export the model: apps need it",
            )
        value.type.CopyFrom(known[value.name])
    names = ", ".join(f"'{value.name}'" for value in missing)
    return (f"the shape of output {names} is that of its operator",)


def _types(proto: "ModelProto") -> "Mapping[str, TypeProto]":
    """The whole types of the main graph's values, by name."""
    graph = proto.graph
    constants = (_typed(tensor.name, tensor.data_type, tensor.dims) for tensor in graph.initializer)
    values = (*graph.value_info, *graph.input, *graph.output, *constants)
    return {value.name: value.type for value in values if _is_whole(value)}


def _types_of_runtime(proto: "ModelProto", path: Path, names: Sequence[str]) -> "Mapping[str, TypeProto]":
    """The whole types that ONNX Runtime infers for values of the main graph, as far as it does: it knows operators that
    ONNX does not. It saves what the model declares, so the values get other names as outputs."""
    import onnx

    asked = type(proto)()
    asked.CopyFrom(proto)
    del asked.graph.output[:]
    taken = all_names(proto)
    made = {free_name(f"{name}_typed", taken): name for name in names}
    for copy, name in made.items():
        asked.graph.node.add(op_type="Identity", input=[name], output=[copy])
        asked.graph.output.add(name=copy)
    with tempfile.TemporaryDirectory(prefix="mobpack-") as folder:
        graph, output = Path(folder) / "graph.onnx", Path(folder) / "saved.onnx"
        graph.write_bytes(asked.SerializeToString())
        job = {
            "graph": str(graph),
            "data_folder": str(data_folder(path)),
            "output": str(output),
            "entries": {},
            "level": "basic",
            "disabled_optimizers": [],
            "provider": "CPUExecutionProvider",
        }
        answer = commands.run_job(
            [SAVE], job, Path(folder), crash=f"{path}: ONNX Runtime crashed while loading it", hint="export it again"
        )
        saved = proto if "error" in answer else onnx.load(output, load_external_data=False)
    return {made[value.name]: value.type for value in saved.graph.output if value.name in made and _is_whole(value)}


def _is_whole(value: "ValueInfoProto") -> bool:
    """Whether the type is known, and the number of dimensions, too."""
    kind = value.type.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        tensor = getattr(value.type, kind)
        return bool(tensor.elem_type) and tensor.HasField("shape")
    return kind is not None


def _typed(name: str, element: int, sizes: "Sequence[int | None]") -> "ValueInfoProto":
    from onnx import helper

    return helper.make_tensor_value_info(name, element, list(sizes))
