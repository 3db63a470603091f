"""In 32-bit floats contracts compute what they compute in 64: whole numbers exactly, others as exactly as the model."""

from pathlib import Path
from typing import Any

import numpy
import numpy.typing
import onnx
import pytest
from onnx import TensorProto, numpy_helper, shape_inference

from packager.contract.attachment import attach
from packager.core.values import Model
from packager.graph import traversal
from packager.graph.rewriting.single import narrow, wide_nodes
from tests.cases.contract_graphs import Ran
from tests.cases.contract_pictures import noise
from tests.cases.onnx_text import loaded, onnx_model
from tests.unit.test_attachment import tables

Array = numpy.typing.NDArray[Any]

RANDOM = numpy.random.default_rng(5)
SIZES = [(480, 640), (37, 53), (1, 9), (224, 224), (901, 333)]
IMAGE: dict[str, Any] = {"kind": "image"}
PICTURES: dict[str, dict[str, Any]] = {
    "stretched": IMAGE,
    "cropped": {**IMAGE, "resize": "crop", "resize_to": 36, "filter": "bicubic"},
    "in a letterbox": {**IMAGE, "resize": "letterbox", "fill": (114,), "colour": "bgr"},
    "nearest": {**IMAGE, "resize": "crop", "filter": "nearest"},
}
AS_OPENCV: dict[str, Any] = {**IMAGE, "resize": "letterbox", "antialias": False}
NET = "(float[1,3,32,32] x) => (float[1,3,32,32] y) { y = Identity (x) }"
GREY = "(float[1,1,32,32] x) => (float[1,1,32,32] y) { y = Identity (x) }"
DETECTOR = """(float[1,3,32,32] x, float[1,9,300] b) => (float[1,9,300] y, float m) {
    y = Identity (b)
    m = ReduceMean <keepdims = 0> (x)
}"""
BANDS = {"whisper": 80, "librosa": 128, "torchaudio": 128}


def single(model: Model) -> onnx.ModelProto:
    proto: onnx.ModelProto = onnx.ModelProto.FromString(model.graph)
    narrow(proto)
    return proto


def model_of(folder: Path, text: str, inputs: Any, outputs: Any = None) -> Model:
    net = onnx_model(text, opsets={"": 18})
    return attach(loaded(folder, net), tables(inputs, outputs or {})).model


def elements(proto: onnx.ModelProto) -> set[int]:
    """Of all values of all graphs."""
    known = shape_inference.infer_shapes(proto, strict_mode=True)
    return {
        each
        for graph in traversal.all_graphs(known)
        for each in (
            *(value.type.tensor_type.elem_type for value in (*graph.input, *graph.output, *graph.value_info)),
            *(tensor.data_type for tensor in graph.initializer),
        )
    }


def both(model: Model, feeds: dict[str, Array]) -> list[tuple[Array, Array]]:
    """Each output in 64 bits, then in 32."""
    wide, narrowed = Ran(model.graph)(feeds), Ran(single(model).SerializeToString())(feeds)
    assert wide.keys() == narrowed.keys()
    return [(wide[name], narrowed[name]) for name in wide]


def picture(height: int, width: int, orientation: int) -> dict[str, Array]:
    return {
        "x.pixels": noise(height, width, 4),
        "x.channels": numpy.array([0, 1, 2]),
        "x.orientation": numpy.array(orientation),
        "x.chroma": numpy.zeros((1, 1, 2), numpy.uint8),
        "x.conversion": numpy.zeros(3, numpy.int64),
    }


@pytest.mark.parametrize("keys", PICTURES.values(), ids=PICTURES.keys())
def test_pictures_are_the_same_bit_for_bit(keys: dict[str, Any], tmp_path: Path) -> None:
    model = model_of(tmp_path, NET, {"x": keys}, {"y": {"kind": "mask", "activation": "none"}})
    assert TensorProto.DOUBLE not in elements(single(model))
    for height, width in SIZES:
        for wide, narrowed in both(model, picture(height, width, 6)):
            numpy.testing.assert_array_equal(narrowed, wide)


def test_grey_pictures_and_those_of_cameras_too(tmp_path: Path) -> None:
    model = model_of(tmp_path, GREY, {"x": IMAGE})
    assert TensorProto.DOUBLE in elements(onnx.ModelProto.FromString(model.graph))
    luma = {**picture(64, 48, 1), "x.pixels": noise(64, 48, 1)}
    chroma = {"x.chroma": noise(32, 24, 2), "x.channels": numpy.array([0, 0, 0])}
    for conversion in ([0, 1, 1], [1, 0, 2], [0, 1, 3], [0, 1, 4]):
        feeds = {**luma, **chroma, "x.conversion": numpy.array(conversion)}
        [(wide, narrowed)] = both(model, feeds)
        numpy.testing.assert_array_equal(narrowed, wide)
        assert wide.std() > 0.05


def test_only_what_a_contract_added_differs_and_rarely(tmp_path: Path) -> None:
    # Their shares are fractions, and a half may be rounded to either side.
    model = model_of(tmp_path, NET, {"x": AS_OPENCV})
    for height, width in SIZES:
        [(wide, narrowed)] = both(model, picture(height, width, 1))
        steps = numpy.rint(numpy.abs(narrowed - wide) * 255)
        assert steps.max() <= 1
        assert (steps > 0).mean() < 0.001
    net = "(double[1,n] x) => (double[1,n] y) { y = Add (x, x) }"
    model = model_of(tmp_path, net, {"x": {"kind": "audio", "rate": 16_000}})
    found = single(model)
    onnx.checker.check_model(found, full_check=True)
    assert TensorProto.DOUBLE in elements(found)
    proto = onnx_model("(double[2] x) => (double[2] y) { y = Add (x, c) }", weights={"c": numpy.ones(2)})
    before = proto.SerializeToString()
    narrow(proto)
    assert proto.SerializeToString() == before
    assert list(wide_nodes(proto)) == []
    assert numpy_helper.to_array(proto.graph.initializer[0]).dtype == numpy.float64


def test_boxes_are_as_exact_as_a_float(tmp_path: Path) -> None:
    model = model_of(
        tmp_path,
        DETECTOR,
        {"x": {**IMAGE, "resize": "letterbox"}},
        {"y": {"kind": "boxes", "format": "yolo", "score_threshold": 0.5}},
    )
    assert TensorProto.DOUBLE not in elements(single(model))
    candidates = RANDOM.random((1, 9, 300)).astype(numpy.float32)
    candidates[:, :4] *= 32
    found = both(model, {**picture(3000, 4096, 6), "b": candidates})
    for wide, narrowed in found:
        assert wide.shape == narrowed.shape
        numpy.testing.assert_allclose(narrowed, wide, rtol=3e-7, atol=5e-4)
    assert max(len(numpy.atleast_1d(wide)) for wide, _ in found) > 10


@pytest.mark.parametrize("features", BANDS)
@pytest.mark.parametrize("rate", [16_000, 44_100])
def test_sounds_are_as_exact_as_a_float(features: str, rate: int, tmp_path: Path) -> None:
    shape = f"float[1,{BANDS[features]},100]"
    text = f"({shape} x) => ({shape} y) {{ y = Identity (x) }}"
    model = model_of(tmp_path, text, {"x": {"kind": "audio", "rate": 16_000, "features": features}})
    assert TensorProto.DOUBLE not in elements(single(model))
    samples = (RANDOM.random((rate, 2)) - 0.5).astype(numpy.float32)
    [(wide, narrowed)] = both(model, {"x.samples": samples, "x.rate": numpy.array(rate)})
    numpy.testing.assert_allclose(narrowed, wide, atol=2e-5 * numpy.abs(wide).max())


def test_a_long_recording_keeps_its_places(tmp_path: Path) -> None:
    """Places are counted in integers: the 32 bits of a float would not hold them."""
    model = model_of(
        tmp_path, "(float[1,n] x) => (float[1,n] y) { y = Identity (x) }", {"x": {"kind": "audio", "rate": 16_000}}
    )
    seconds = 30
    ticks = numpy.sin(numpy.arange(44_100 * seconds) * 0.05)[:, None].astype(numpy.float32)
    [(wide, narrowed)] = both(model, {"x.samples": ticks, "x.rate": numpy.array(44_100)})
    assert wide.shape == (1, 16_000 * seconds)
    numpy.testing.assert_allclose(narrowed, wide, atol=2e-6)


def test_the_nodes_that_computed_in_64_bits_are_named(tmp_path: Path) -> None:
    boxes = {"y": {"kind": "boxes", "format": "yolo"}}
    model = model_of(tmp_path, DETECTOR, {"x": {**IMAGE, "resize": "letterbox"}}, boxes)
    proto = onnx.ModelProto.FromString(model.graph)
    described = shape_inference.infer_shapes(proto)
    wide = {
        value.name for value in described.graph.value_info if value.type.tensor_type.elem_type == TensorProto.DOUBLE
    }
    wide |= {tensor.name for tensor in proto.graph.initializer if tensor.data_type == TensorProto.DOUBLE}
    touched = [node.name for node in proto.graph.node if not wide.isdisjoint([*node.input, *node.output])]
    assert list(wide_nodes(proto)) == touched
    assert {"Div", "Cast"} < {name.rpartition("_")[2] for name in touched}
    assert list(wide_nodes(single(model))) == []
