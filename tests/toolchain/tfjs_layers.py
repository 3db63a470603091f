"""Models of TensorFlow.js in the format "layers" as ONNX: those whose layers convolve, add, join and enlarge."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

OPS = {"Add": "Add", "Concatenate": "Concat", "Activation": "Relu", "UpSampling2D": "Resize", "Conv2D": "Conv"}


def onnx_of(folder: Path, *, height: int, width: int, factor: int) -> onnx.ModelProto:
    """The model of `folder`/model.json: `picture` float[1, 3, height, width] -> `larger`, `factor` times as large."""
    described = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    layers = described["modelTopology"]["model_config"]["config"]["layers"]
    weights = _weights(folder, described["weightsManifest"])
    nodes = [_node(each, weights) for each in layers[1:]]
    nodes.append(helper.make_node("Identity", [layers[-1]["name"]], ["larger"]))
    graph = helper.make_graph(
        nodes,
        "layers",
        [helper.make_tensor_value_info(layers[0]["name"], onnx.TensorProto.FLOAT, [1, 3, height, width])],
        [helper.make_tensor_value_info("larger", onnx.TensorProto.FLOAT, [1, 3, factor * height, factor * width])],
        [
            *(numpy_helper.from_array(array, name) for name, array in weights.items()),
            numpy_helper.from_array(np.array([1, 1, factor, factor], np.float32), "factors"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


def _weights(folder: Path, manifest: list[dict[str, Any]]) -> Mapping[str, NDArray[np.float32]]:
    """By name; kernels as ONNX has them: [out, in, rows, columns]."""
    found = {}
    for group in manifest:
        data = b"".join((folder / path).read_bytes() for path in group["paths"])
        start = 0
        for each in group["weights"]:
            count = int(np.prod(each["shape"]))
            array = np.frombuffer(data, np.float32, count, start).reshape(each["shape"])
            found[each["name"]] = np.ascontiguousarray(array.transpose(3, 2, 0, 1) if array.ndim == 4 else array)
            start += 4 * count
    return found


def _node(layer: dict[str, Any], weights: Mapping[str, NDArray[np.float32]]) -> onnx.NodeProto:
    name, keys, kind = layer["name"], layer["config"], layer["class_name"]
    inputs = [given for given, *_ in layer["inbound_nodes"][0]]
    attributes: dict[str, Any] = {}
    if kind == "Conv2D":
        assert (keys["activation"], keys["strides"], keys["dilation_rate"]) == ("linear", [1, 1], [1, 1]), name
        attributes = {"auto_pad": "SAME_UPPER" if keys["padding"] == "same" else "VALID"}
        inputs += [f"{name}/kernel", f"{name}/bias"]
        assert inputs[1] in weights, name
    elif kind == "Concatenate":
        attributes = {"axis": 1}
    elif kind == "UpSampling2D":
        assert keys["interpolation"] == "nearest", name
        attributes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        inputs += ["", "factors"]
    else:
        assert kind == "Add" or keys["activation"] == "relu", name
    return helper.make_node(OPS[kind], inputs, [name], name=name, **attributes)
