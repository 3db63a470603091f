"""Sessions of engines other than ONNX Runtime that read ONNX by themselves."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.parsing import Json
from packager.engines.environments.wheels import Wheels
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import Runnable, Session
from packager.graph.traversal import all_graphs
from packager.graph.weights.whole import write_beside

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

PROGRAM = Path(__file__).parents[1] / "session" / "engine_child.py"


def cannot_read(model: Runnable) -> str:
    return "it opens only ONNX graphs" if model.path.suffix == ".ort" else ""


def opened(
    engine: Path, environment: Wheels, model: Runnable, folder: Path, extra: Mapping[str, object] | None = None
) -> Session:
    """A session of `model` in the Python file `engine`, which `environment` runs.

    Raises like `Runner.open`.
    """
    job = {**described(model, folder), "engine": str(engine), "threads": model.threads or 0, **(extra or {})}
    return served(job, environment, folder)


def served(job: Mapping[str, object], environment: Wheels, folder: Path) -> Session:
    return ProcessSession(host(environment), job, folder)


def host(environment: Wheels) -> Host:
    return Host(
        program=PROGRAM,
        command=environment.command(),
        environment=environment.variables(),
        owner=environment.NAME,
        is_disposable=True,
    )


def described(model: Runnable, folder: Path) -> Json:
    """The graph in a file below `folder`, with its external data beside it, and its inputs and outputs."""
    from onnx import load_model_from_string, shape_inference

    proto = load_model_from_string(model.path.read_bytes())
    initializers = {each.name for each in proto.graph.initializer}
    if any(not each.type.tensor_type.elem_type for each in proto.graph.output):  # inner values, in a bisection
        proto = shape_inference.infer_shapes(proto)
    return {
        "model": str(placed(proto, model, folder)),
        "inputs": [specified(each) for each in proto.graph.input if each.name not in initializers],
        "outputs": [specified(each) for each in proto.graph.output],
    }


def placed(proto: "ModelProto", model: Runnable, folder: Path) -> Path:
    """A file with the graph, and its weights in it or beside it: engines read them from nowhere else."""
    beside = folder / "engine"
    beside.mkdir(exist_ok=True)
    for graph in all_graphs(proto):
        graph.ClearField("value_info")  # facts about inner values
        for value in [*graph.input, *graph.output]:
            for size in value.type.tensor_type.shape.dim:
                size.ClearField("dim_param")  # tract refuses a size for a symbol
    return write_beside(proto, model.data_folder or model.path.parent, beside / "model.onnx")[0]


def specified(value: "ValueInfoProto") -> Mapping[str, object]:
    """Name, numpy's name of the type, and sizes. Sequences and maps have no type here."""
    from onnx import TensorProto
    from onnx.helper import tensor_dtype_to_np_dtype

    if not value.type.tensor_type.elem_type:
        return {"name": value.name, "type": "", "shape": []}
    tensor = value.type.tensor_type
    is_text = tensor.elem_type == TensorProto.STRING
    sizes = [size.dim_value if size.HasField("dim_value") else None for size in tensor.shape.dim]
    kind = "str" if is_text else str(tensor_dtype_to_np_dtype(tensor.elem_type))
    return {"name": value.name, "type": kind, "shape": sizes}
