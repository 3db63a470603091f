"""An ONNX model of an old version, and a request to import it."""

from pathlib import Path

import onnx
import onnx.helper

from packager.workflows.importing import ImportRequest
from tests.cases.onnx_text import onnx_model, weight

OLD = """(float[1, 3, 8, 8] x) => (float[1, 4, 1, 1] y) {
    c = Conv <pads = [1, 1, 1, 1]> (x, w)
    r = Relu (c)
    g = GlobalAveragePool (r)
    y = Softmax <axis = 1> (g)
}"""


def old_model(folder: Path) -> Path:
    """Opset 7 and IR 3, with its weights among the inputs."""
    proto = onnx_model(OLD, weights={"w": weight(4, 3, 3, 3)}, opsets={"": 7})
    proto.ir_version = 3
    proto.graph.input.append(onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, [4, 3, 3, 3]))
    path = folder / "old.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def request(folder: Path, source: str, **more: object) -> ImportRequest:
    return ImportRequest(source=source, folder=folder, output=folder / "made" / "model.onnx", **more)  # type: ignore[arg-type]
