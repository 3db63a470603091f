"""Two graphs of a model, one copy of the weights: an ONNX file whose external data lie in the ORT file beside it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray

from packager.compile.converter import ConversionJob, convert
from packager.compile.shared import share
from tests.cases.onnx_text import onnx_model, saved, weight

ORT_NAME = "größe x'y.ort"
"""A name unlike any path of a build, though every path may look like it."""
GRAPH = """(float[1, 64] x) => (float[1, 32] y, float[1, 32] z) {
    a = MatMul (x, w)
    y = Add (a, b)
    z = MatMul (x, v)
}"""
W, V, B = weight(64, 32), weight(64, 32, seed=1), weight(32, seed=2)


@pytest.fixture(scope="module")
def ort(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The CPU's file of a model with two large weights and a small one."""
    folder = tmp_path_factory.mktemp("ort")
    source = saved(folder / "m.onnx", onnx_model(GRAPH, weights={"w": W, "v": V, "b": B}))
    job = ConversionJob(
        graph=str(source),
        data_folder=str(folder),
        output=str(folder / ORT_NAME),
        scratch=str(folder),
        source_bytes=source.stat().st_size,
    )
    convert(job)
    return Path(job.output)


def external(
    folder: Path, weights: Mapping[str, NDArray[Any]], graph: str = GRAPH, threshold: int = 1024, **keys: Any
) -> Path:
    """The model with its large weights in a file, in a folder of its own."""
    model = onnx_model(graph, weights=weights, **keys)
    path = folder / "basic" / "basic.onnx"
    path.parent.mkdir()
    onnx.save(model, path, save_as_external_data=True, location="external.weights", size_threshold=threshold)
    return path


def references(path: Path) -> dict[str, tuple[str, int, int]]:
    """Tensor -> location, offset and length of its external data."""
    graph = onnx.load(path, load_external_data=False).graph
    found = {}
    for tensor in graph.initializer:
        if tensor.data_location == tensor.EXTERNAL:
            entries = {entry.key: entry.value for entry in tensor.external_data}
            assert sorted(entries) == ["length", "location", "offset"]
            found[tensor.name] = (entries["location"], int(entries["offset"]), int(entries["length"]))
    return found


def content(folder: Path, place: tuple[str, int, int]) -> bytes:
    location, offset, length = place
    return (folder / location).read_bytes()[offset : offset + length]


def test_weights_that_the_ort_file_has_are_taken_from_there(ort: Path, tmp_path: Path) -> None:
    output = ort.parent / "same.onnx"

    rest = share(external(tmp_path, {"w": W, "v": V, "b": B}), ort, output)

    assert rest is None
    assert not output.with_suffix(".weights").exists()
    found = references(output)
    assert {name: (place[0], place[2]) for name, place in found.items()} == {
        "w": (ORT_NAME, W.nbytes),
        "v": (ORT_NAME, V.nbytes),
    }
    assert content(ort.parent, found["w"]) == W.tobytes()
    assert content(ort.parent, found["v"]) == V.tobytes()


def test_small_tensors_stay_in_the_graph(ort: Path, tmp_path: Path) -> None:
    output = ort.parent / "small.onnx"
    share(external(tmp_path, {"w": W, "v": V, "b": B}), ort, output)
    inline = [each for each in onnx.load(output, load_external_data=False).graph.initializer if each.raw_data]
    assert [(tensor.name, tensor.raw_data) for tensor in inline] == [("b", B.tobytes())]


def test_what_the_ort_file_does_not_have_goes_to_a_file_beside_it(ort: Path, tmp_path: Path) -> None:
    output = ort.parent / "other.onnx"
    other = weight(64, 32, seed=7)

    rest = share(external(tmp_path, {"w": W, "v": other, "b": B}), ort, output)

    assert rest == ort.parent / "other.weights"
    found = references(output)
    assert found["v"] == ("other.weights", 0, other.nbytes)
    assert rest.read_bytes() == other.tobytes()
    assert found["w"][0] == ORT_NAME
    assert content(ort.parent, found["w"]) == W.tobytes()


def test_one_bit_makes_another_tensor(ort: Path, tmp_path: Path) -> None:
    output = ort.parent / "bit.onnx"
    bent = W.copy()
    bent.view(numpy.uint32)[-1, -1] ^= 1
    share(external(tmp_path, {"w": bent, "v": V, "b": B}), ort, output)
    found = references(output)
    assert (found["w"][0], found["v"][0]) == ("bit.weights", ORT_NAME)
    assert content(ort.parent, found["w"]) == bent.tobytes()


def test_tensors_with_the_same_bytes_share_a_place(ort: Path, tmp_path: Path) -> None:
    output = ort.parent / "twice.onnx"
    share(external(tmp_path, {"w": W, "v": W, "b": B}), ort, output)
    found = references(output)
    assert found["w"] == found["v"]


def test_a_graph_without_large_weights_needs_no_file(ort: Path, tmp_path: Path) -> None:
    source = saved(tmp_path / "basic.onnx", onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }"))
    for file in (ort, None):
        output = (file or source).parent / "none.onnx"
        assert share(source, file, output) is None
        assert not output.with_suffix(".weights").exists()
        assert [node.op_type for node in onnx.load(output).graph.node] == ["Relu"]


def test_a_tensor_under_1024_bytes_is_never_looked_for_in_the_ort_file(ort: Path, tmp_path: Path) -> None:
    output = ort.parent / "threshold.onnx"
    rest = share(external(tmp_path, {"w": W, "v": V, "b": B}, threshold=1), ort, output)
    assert rest is not None
    assert references(output)["b"] == (rest.name, 0, B.nbytes)
    assert rest.read_bytes() == B.tobytes()


def test_the_shared_file_computes_what_the_model_does(ort: Path, tmp_path: Path) -> None:
    output = ort.parent / "run.onnx"
    other = weight(64, 32, seed=8)
    share(external(tmp_path, {"w": W, "v": other, "b": B}), ort, output)
    x = weight(1, 64, seed=9)
    session = onnxruntime.InferenceSession(str(output), providers=["CPUExecutionProvider"])
    y, z = session.run(None, {"x": x})
    assert numpy.allclose(y, numpy.matmul(x, W) + numpy.asarray(B, numpy.float32), atol=1e-4)
    assert numpy.allclose(z, numpy.matmul(x, other), atol=1e-4)


def test_without_an_ort_file_all_weights_lie_in_a_file_of_their_own(tmp_path: Path) -> None:
    output = tmp_path / "alone.onnx"
    one, two = weight(301, seed=4), weight(301, seed=5)
    graph = "(float[301] x) => (float[301] y, float[301] z) { y = Add (x, w) z = Add (x, v) }"
    source = external(tmp_path, {"w": one, "v": two}, graph)

    rest = share(source, None, output)

    assert rest == tmp_path / "alone.weights"
    found = references(output)
    assert {place[0] for place in found.values()} == {"alone.weights"}
    assert [place[1] % 64 for place in found.values()] == [0, 0], "where a cache line begins"
    assert (content(tmp_path, found["w"]), content(tmp_path, found["v"])) == (one.tobytes(), two.tobytes())


def test_weights_of_branches_are_taken_from_the_ort_file_too(ort: Path, tmp_path: Path) -> None:
    text = """(bool c, float[1, 64] x) => (float[1, 32] y) {
        y = If (c) <
            then_branch = t () => (float[1, 32] p) { p = MatMul (x, v) },
            else_branch = e () => (float[1, 32] q) { q = MatMul (x, w) }
        >
    }"""
    model = onnx_model(text, weights={"w": W})
    inner = (
        model.graph.node[0]
        .attribute[0]
        .g.initializer.add(
            name="v", data_type=onnx.TensorProto.FLOAT, dims=V.shape, data_location=onnx.TensorProto.EXTERNAL
        )
    )
    for key, value in (("location", "inner.bin"), ("offset", "7"), ("length", str(V.nbytes))):
        inner.external_data.add(key=key, value=value)
    source = saved(tmp_path / "basic.onnx", model)
    (tmp_path / "inner.bin").write_bytes(bytes(7) + V.tobytes())
    output = ort.parent / "branch.onnx"

    assert share(source, ort, output) is None

    graph = onnx.load(output, load_external_data=False).graph
    assert not graph.node[0].attribute[0].g.initializer  # the checker would refuse a file with several hard links
    (found,) = (tensor for tensor in graph.initializer if tensor.name == "v")
    entries = {entry.key: entry.value for entry in found.external_data}
    place = (entries["location"], int(entries["offset"]), int(entries["length"]))
    assert place[0] == ORT_NAME
    assert content(ort.parent, place) == V.tobytes()


def test_the_same_graph_gives_the_same_bytes_whatever_the_order_of_its_domains(tmp_path: Path) -> None:
    contents = set()
    for index, opsets in enumerate(({"": 17, "com.microsoft": 1, "acme": 2}, {"acme": 2, "com.microsoft": 1, "": 17})):
        folder = tmp_path / str(index)
        folder.mkdir()
        share(external(folder, {"w": W, "v": V, "b": B}, opsets=opsets), None, folder / "m.onnx")
        contents.add((folder / "m.onnx").read_bytes() + (folder / "m.weights").read_bytes())
    assert len(contents) == 1


def test_parameters_of_quantized_operators_go_into_the_graph_where_asked(ort: Path, tmp_path: Path) -> None:
    """NNAPI's provider does not find them anywhere else."""
    graph = "(float[300] x) => (float[300] y) { f = DequantizeLinear <axis = 0> (b, s) y = Add (x, f) }"
    weights: dict[str, NDArray[Any]] = {
        "b": numpy.arange(300, dtype=numpy.int32),
        "s": numpy.full(300, 0.5, numpy.float32),
    }
    source = external(tmp_path, weights, graph)
    inside, outside = ort.parent / "inside.onnx", ort.parent / "outside.onnx"
    assert share(source, ort, inside, inside="parameters") is None
    assert share(source, ort, outside) == outside.with_suffix(".weights")
    found = {tensor.name: tensor for tensor in onnx.load(inside, load_external_data=False).graph.initializer}
    for name, array in weights.items():
        assert found[name].raw_data == array.tobytes()
        assert not found[name].external_data


def test_weights_and_parameters_of_blocks_stay_out_of_the_graph(ort: Path, tmp_path: Path) -> None:
    """They are as many as weights are."""
    graph = """(float[64, 64] x) => (float[64, 64] y) {
        f = DequantizeLinear <axis = 0, block_size = 2> (b, s) y = Add (x, f) }"""
    weights: dict[str, NDArray[Any]] = {
        "b": numpy.ones((64, 64), numpy.int8),
        "s": numpy.full((32, 64), 0.5, numpy.float32),
    }
    output = ort.parent / "blocks.onnx"
    source = external(tmp_path, weights, graph, opsets={"": 21})
    assert share(source, ort, output, inside="parameters") is not None
    for tensor in onnx.load(output, load_external_data=False).graph.initializer:
        assert tensor.data_location == tensor.EXTERNAL
