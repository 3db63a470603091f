"""One ONNX file of a graph and its weights: the bytes that onnx would write with everything in memory."""

import io
import os
import tracemalloc
from pathlib import Path

import numpy
import onnx
import onnx.checker
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import load_external_data_for_model

from packager.core.errors import ModelError
from packager.graph import traversal
from packager.graph.weights import whole
from packager.graph.weights.places import Place, refer
from packager.graph.weights.whole import write_beside, write_whole
from packager.graph.weights.writing import WeightFile
from tests.cases.onnx_text import linear, onnx_model, weight


def moved_out(tensor: TensorProto, data: WeightFile) -> None:
    refer(tensor, data.append([tensor.raw_data]))


def everywhere(folder: Path) -> onnx.ModelProto:
    """A model with external data in its graph, in a branch, in a Constant node and in a function; and some inside."""
    branch = helper.make_graph(
        [helper.make_node("Identity", ["inner"], ["out"])],
        "branch",
        [],
        [helper.make_tensor_value_info("out", 1, [4, 200])],
        [numpy_helper.from_array(weight(4, 200, seed=1), "inner")],
    )
    model = onnx_model(
        "(float[4, 64] x, bool c) => (float[4, 200] y) { p = MatMul (x, w) q = Add (p, b) r = Add (q, k)"
        " s = Add (r, t) u = own.Plus (s) y = Add (u, v) }",
        weights={"w": weight(64, 200), "b": weight(200), "empty": weight(0, 3)},
        opsets={"": 17, "own": 1},
        functions='<domain: "own", opset_import: ["" : 17]> Plus (a) => (z) { f = Constant () z = Add (a, f) }',
    )
    model.graph.initializer[0].doc_string = "behind raw_data"
    constant = helper.make_node("Constant", [], ["k"], value=numpy_helper.from_array(weight(4, 200, seed=2), "value"))
    choice = helper.make_node("If", ["c"], ["v"], then_branch=branch, else_branch=branch)
    fixed = helper.make_node("Constant", [], ["t"], value=numpy_helper.from_array(weight(200, seed=4)))
    for node in (constant, fixed, choice):
        model.graph.node.insert(0, node)
    inner = helper.make_attribute("value", numpy_helper.from_array(weight(200, seed=3)))
    model.functions[0].node[0].attribute.append(inner)
    data = WeightFile(folder / "w.data")
    for tensor in (model.graph.initializer[0], model.graph.initializer[2], constant_of(model, "k"), inner_of(model)):
        moved_out(tensor, data)
    for graph in list(traversal.all_graphs(model))[1:]:
        moved_out(graph.initializer[0], data)
    return model


def constant_of(model: onnx.ModelProto, name: str) -> TensorProto:
    (node,) = (node for node in model.graph.node if name in node.output)
    tensor: TensorProto = node.attribute[0].t
    return tensor


def inner_of(model: onnx.ModelProto) -> TensorProto:
    tensor: TensorProto = model.functions[0].node[0].attribute[0].t
    return tensor


def in_memory(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    """`model`, its external data read by onnx itself; its loader does not look into functions."""
    loaded: onnx.ModelProto = onnx.ModelProto.FromString(model.SerializeToString())
    load_external_data_for_model(loaded, str(folder))
    (function,) = (onnx.ModelProto(graph=onnx.GraphProto(node=each.node)) for each in loaded.functions[:1])
    load_external_data_for_model(function, str(folder))
    loaded.functions[0].node[0].CopyFrom(function.graph.node[0])
    for graph in traversal.all_graphs(loaded):
        for tensor in graph.initializer:
            tensor.ClearField("data_location")
    for tensor in (constant_of(loaded, "k"), inner_of(loaded)):
        tensor.ClearField("data_location")
    return loaded


def written(model: onnx.ModelProto, folder: Path) -> bytes:
    path = folder / "whole.onnx"
    with path.open("wb") as file:
        write_whole(model, folder, file)
    return path.read_bytes()


def test_the_file_has_the_bytes_that_checker_and_runtime_take(tmp_path: Path) -> None:
    model = everywhere(tmp_path)
    before = model.SerializeToString(deterministic=True)
    content = written(model, tmp_path)
    expected = in_memory(model, tmp_path)
    assert content == expected.SerializeToString(deterministic=True) == written(model, tmp_path)
    assert onnx.load(tmp_path / "whole.onnx") == expected
    assert model.SerializeToString(deterministic=True) == before
    assert len(before) < len(content)
    written(model, tmp_path)
    onnx.checker.check_model(tmp_path / "whole.onnx", full_check=True)
    session = onnxruntime.InferenceSession(tmp_path / "whole.onnx", providers=["CPUExecutionProvider"])
    x = weight(4, 64, seed=9)
    added = (weight(200), weight(4, 200, seed=1), weight(4, 200, seed=2), weight(200, seed=3), weight(200, seed=4))
    expected = numpy.matmul(x, weight(64, 200)) + sum(numpy.asarray(each, numpy.float64) for each in added)
    (y,) = session.run(None, {"x": x, "c": numpy.array(True)})
    assert numpy.allclose(y, expected, atol=1e-4)
    file = io.BytesIO()
    write_whole(linear(), tmp_path, file)
    assert file.getvalue() == linear().SerializeToString(deterministic=True)


def test_two_gibibytes_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    model = onnx_model("(float[1] x) => (float[1] y) { y = Identity (x) }")
    for index in range(3):
        tensor = model.graph.initializer.add(name=f"w{index}", data_type=1, dims=[1 << 28])
        refer(tensor, Place(tmp_path / "absent.data", 0, 1 << 30))
    file = io.BytesIO()
    with pytest.raises(ModelError, match="the model with its weights has 3,221,2") as error:
        write_whole(model, tmp_path, file)
    assert error.value.hint == "write the weights to a file beside it"
    assert file.getvalue() == b""


@pytest.mark.parametrize("spare", [0, -1])
def test_the_limit_is_that_of_protobuf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spare: int) -> None:
    model = everywhere(tmp_path)
    size_bytes = len(written(model, tmp_path))
    monkeypatch.setattr(whole, "LARGEST_BYTES", size_bytes + spare)
    if spare:
        with pytest.raises(ModelError, match="2 GiB"):
            written(model, tmp_path)
    else:
        assert len(written(model, tmp_path)) == size_bytes


def test_weights_beside_the_graph_are_those_of_the_main_graph(tmp_path: Path) -> None:
    model = everywhere(tmp_path)
    (tmp_path / "out").mkdir()
    files = write_beside(model, tmp_path, tmp_path / "out" / "m.onnx")
    assert [file.name for file in files] == ["m.onnx", "m.onnx.data"]
    beside = onnx.load(files[0], load_external_data=False)
    outside = [
        tensor.name for graph in traversal.all_graphs(beside) for tensor in graph.initializer if tensor.external_data
    ]
    assert outside == ["w", "empty"]
    loaded = onnx.load(files[0])
    for tensor in loaded.graph.initializer:
        tensor.ClearField("data_location")
    assert loaded == in_memory(model, tmp_path)
    onnx.checker.check_model(files[0], full_check=True)


def test_nothing_lies_beside_a_model_that_has_all_inside(tmp_path: Path) -> None:
    assert write_beside(linear(), tmp_path, tmp_path / "m.onnx") == (tmp_path / "m.onnx",)
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]


def test_weights_never_are_in_memory(tmp_path: Path) -> None:
    model = onnx_model("(float[1] x) => (float[1] y) { y = Identity (x) }")
    tensor = model.graph.initializer.add(name="w", data_type=1, dims=[5_000_000])
    (tmp_path / "w.data").touch()
    os.truncate(tmp_path / "w.data", 20_000_000)
    refer(tensor, Place(tmp_path / "w.data", 0, 20_000_000))
    tracemalloc.start()
    try:
        with (tmp_path / "whole.onnx").open("wb") as file:
            write_whole(model, tmp_path, file)
        write_beside(model, tmp_path, tmp_path / "m.onnx")
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
    sizes = [(tmp_path / name).stat().st_size for name in ("whole.onnx", "m.onnx.data")]
    assert min(sizes) == 20_000_000 < sizes[0] < 20_001_000
