"""ONNX with its weights in files beside it: the same numbers, bounded memory, the same bytes every time."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray

from packager import models
from packager.compile import external
from packager.compile.external import write_external
from packager.core.decision import Inside
from packager.core.errors import ModelError
from packager.graph.weights.places import ALIGNMENT_BYTES
from packager.models import data_folder
from packager.models.skeleton import read_skeleton
from tests.cases.onnx_text import linear, loaded, onnx_model, saved, weight


def written(folder: Path, model: onnx.ModelProto, inside: Inside = "nothing") -> tuple[Path, tuple[Path, ...]]:
    """The files that a build makes of `model`."""
    described = loaded(folder / "source", model)
    out = folder / "out"
    out.mkdir(parents=True)
    return write_external(described.graph, data_folder(described.path), out, "model", inside=inside)


def references(path: Path) -> dict[str, dict[str, str]]:
    """Tensor -> its external reference."""
    graph = onnx.load(path, load_external_data=False).graph
    return {
        tensor.name: {entry.key: entry.value for entry in tensor.external_data}
        for tensor in graph.initializer
        if tensor.data_location == tensor.EXTERNAL
    }


def run(path: Path, x: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0])


def test_large_weights_leave_the_graph_and_the_numbers_stay(tmp_path: Path) -> None:
    path, data = written(tmp_path, linear(columns=300))
    assert [file.name for file in (path, *data)] == ["model.onnx", "model-1.weights"]
    assert set(references(path)) == {"w", "b"}
    assert path.stat().st_size < 1000
    x = weight(1, 64, seed=9)
    assert np.array_equal(run(path, x), run(tmp_path / "source" / "m.onnx", x))


def test_small_tensors_stay_in_the_graph(tmp_path: Path) -> None:
    path, _ = written(tmp_path, linear(columns=64))
    assert set(references(path)) == {"w"}


def test_parameters_of_quantized_operators_stay_in_the_graph_where_asked(tmp_path: Path) -> None:
    model = onnx_model(
        "(float[300, 4] x) => (float[300, 4] y) { f = DequantizeLinear <axis = 0> (w, s, z) y = Add (x, f) }",
        weights={"w": np.ones((300, 4), np.int8), "s": np.full(300, 0.5, np.float32), "z": np.zeros(300, np.int8)},
    )
    assert set(references(written(tmp_path / "out", model)[0])) == {"w", "s"}
    assert set(references(written(tmp_path / "in", model, inside="parameters")[0])) == {"w"}


def test_tensors_lie_at_cache_lines_and_share_their_bytes(tmp_path: Path) -> None:
    model = onnx_model(
        "(float[300] x) => (float[301] y) { z = Add (x, a) y = Concat <axis = 0> (z, b) }",
        weights={"a": weight(300), "b": weight(1), "c": weight(301)},
    )
    path, _ = written(tmp_path, model)
    assert {int(each["offset"]) % ALIGNMENT_BYTES for each in references(path).values()} == {0}
    assert len({each["offset"] for each in references(path).values()}) == 2
    described = loaded(tmp_path, linear(columns=64))
    proto = onnx.ModelProto.FromString(described.graph)
    (original,) = (tensor for tensor in proto.graph.initializer if tensor.name == "w")
    tied = proto.graph.initializer.add()
    tied.CopyFrom(original)
    tied.name = "tied"
    path, (data,) = write_external(proto.SerializeToString(), data_folder(described.path), tmp_path, "model")
    assert references(path)["w"] == references(path)["tied"]
    assert data.stat().st_size == 64 * 64 * 4


def test_weights_of_a_branch_stay_in_it(tmp_path: Path) -> None:
    branch = onnx.helper.make_graph(
        [onnx.helper.make_node("Identity", ["inner"], ["out"])],
        "branch",
        [],
        [onnx.helper.make_tensor_value_info("out", 1, [512])],
        [onnx.TensorProto(name="inner", data_type=1, dims=[512], data_location=onnx.TensorProto.EXTERNAL)],
    )
    for key, value in (("location", "inner.bin"), ("offset", "0"), ("length", "2048")):
        branch.initializer[0].external_data.add(key=key, value=value)
    weight(512).tofile(tmp_path / "inner.bin")
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)],
        "g",
        [onnx.helper.make_tensor_value_info("c", 9, [])],
        [onnx.helper.make_tensor_value_info("y", 1, [512])],
    )
    model = onnx.helper.make_model(graph, ir_version=8, opset_imports=[onnx.helper.make_opsetid("", 17)])
    (tmp_path / "out").mkdir()
    path, data = write_external(model.SerializeToString(), tmp_path, tmp_path / "out", "model")
    assert data == ()
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert np.array_equal(session.run(None, {"c": np.array(True)})[0], weight(512))


def test_a_file_ends_before_it_is_too_large_for_a_java_buffer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "SHARD_BYTES", 3000)
    model = onnx_model(
        "(float[400] x) => (float[400] y) { s = Add (x, a) t = Add (s, b) u = Add (t, c) y = Add (u, d) }",
        weights={"a": weight(400), "b": weight(400, seed=1), "c": weight(400, seed=2), "d": weight(400, seed=3)},
    )
    path, data = written(tmp_path, model)
    assert [file.stat().st_size for file in data] == [1600] * 4
    assert [each["location"] for each in references(path).values()] == [f"model-{number}.weights" for number in "1234"]


def test_the_same_model_gives_the_same_bytes_from_one_file_and_from_several(tmp_path: Path) -> None:
    model = linear(columns=300)
    inside = written(tmp_path / "inside", model)
    apart = tmp_path / "apart" / "m.onnx"
    apart.parent.mkdir()
    onnx.save_model(model, apart, save_as_external_data=True, location="w.bin", size_threshold=0)
    described = models.hashed(models.load(apart, "m"))
    (tmp_path / "again").mkdir()
    beside = write_external(described.graph, data_folder(apart), tmp_path / "again", "model")
    contents = [[file.read_bytes() for file in (path, *data)] for path, data in (inside, beside)]
    assert contents[0] == contents[1]


def test_what_no_java_buffer_maps_or_ends_early_is_named(tmp_path: Path) -> None:
    model = onnx_model("(float[1] x) => (float[1] y) { y = Identity (x) }")
    tensor = model.graph.initializer.add(name="huge", data_type=1, dims=[1 << 29])
    tensor.data_location = tensor.EXTERNAL
    tensor.external_data.add(key="location", value="absent.bin")
    with pytest.raises(ModelError, match="tensor 'huge' has 2,147,483,648 bytes"):
        write_external(model.SerializeToString(), tmp_path, tmp_path, "model")
    path = saved(tmp_path / "m.onnx", linear(columns=300))
    skeleton = read_skeleton(path)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ModelError, match=r"m\.onnx: the last [\d,]+ bytes of a tensor are missing"):
        write_external(skeleton, tmp_path, tmp_path, "model")
