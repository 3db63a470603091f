"""Programs that convert and run models on an emulated arm64 processor."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import onnx

from packager.compile import session
from packager.compile.canonical import flatbuffer_classes
from packager.engines.environments.arm64 import Arm64
from packager.files.processes import commands
from tests.cases.onnx_text import onnx_model

FLOAT32 = "(float[1,64] x) => (float[1,32] y) { a = MatMul (x, w) y = Relu (a) }"

ENTRIES = {"session.save_model_format": "ORT", "session.qdqisint8allowed": "1", "session.disable_prepacking": "1"}


def saved(folder: Path, graph: str, element: type[numpy.floating[Any]]) -> Path:
    weights = numpy.linspace(-1, 1, 64 * 32).reshape(64, 32).astype(element)
    onnx.save(onnx_model(graph, weights={"w": weights}), folder / "model.onnx")
    return folder / "model.onnx"


def convert(model: Path, output: Path, environment: Arm64 | None, **changes: object) -> Mapping[str, Any]:
    """Answer of the program that saves sessions, run here or in `environment`."""
    job = {
        "graph": str(model),
        "data_folder": "",
        "output": str(output),
        "entries": ENTRIES,
        "level": "all",
        "disabled_optimizers": ["NchwcTransformer"],
        "provider": "CPUExecutionProvider",
        **changes,
    }
    return commands.run_job(
        [Path(session.__file__)],
        job,
        output.parent,
        crash="ONNX Runtime crashed",
        hint="another model",
        environment=environment.variables() if environment else {},
        command=environment.command() if environment else (),
    )


def content(path: Path) -> tuple[Counter[str], set[int]]:
    """Operators of an ORT-format file, and the element types of its weights."""
    fbs = flatbuffer_classes()
    graph = fbs.InferenceSession.InferenceSession.GetRootAsInferenceSession(path.read_bytes(), 0).Model().Graph()
    operators = Counter(graph.Nodes(index).OpType().decode() for index in range(graph.NodesLength()))
    return operators, {graph.Initializers(index).DataType() for index in range(graph.InitializersLength())}
