"""Integer inputs and outputs: the same model without the conversions at its ends."""

import json
from pathlib import Path

import numpy
import onnx

from packager.graph.rewriting.ports import make_integer
from tests.cases.onnx_text import onnx_model
from tests.cases.rewriting_cases import drafted, run, samples_for, static, weight

NET = """(float[2, 3, 8, 8] x, float[2, 4, 8, 8] other) => (float[2, 4, 8, 8] y, float[2, 4, 8, 8] z) {
    y = Conv <pads = [1, 1, 1, 1]> (x, w)
    z = Sin (other)
}"""


def test_what_goes_in_and_comes_out_as_integers_is_what_the_floats_were_rounded_to() -> None:
    model = onnx_model(NET, weights={"w": weight(4, 3, 3, 3)})
    samples = samples_for(model)
    draft = drafted(model, static(), samples)
    static().quantize(draft)
    whole = onnx.load_from_string(draft.finish())
    assert make_integer(draft) == ("x", "y")
    bare = onnx.load_from_string(draft.finish())
    onnx.checker.check_model(bare, full_check=True)
    said = {entry.key: json.loads(entry.value) for entry in bare.metadata_props}
    assert set(said) == {"quantization.x", "quantization.y"}
    assert [node.op_type for node in bare.graph.node].count("QuantizeLinear") == 1
    x, y = said["quantization.x"], said["quantization.y"]
    for sample in samples:
        rounded = numpy.rint(sample["x"] / numpy.float32(x["scale"])) + x["zero-point"]
        integers = numpy.clip(rounded, -128, 127).astype(x["element"])
        found = run(bare, {**sample, "x": integers}, is_optimized=False)
        expected = run(whole, sample, is_optimized=False)
        assert found["y"].dtype == numpy.int8
        numbers = (found["y"].astype(numpy.float32) - y["zero-point"]) * numpy.float32(y["scale"])
        numpy.testing.assert_array_equal(numbers, expected["y"])
        numpy.testing.assert_array_equal(found["z"], expected["z"])


def test_a_value_that_something_else_takes_as_a_float_stays_one(tmp_path: Path) -> None:
    text = """(float[2, 3, 8, 8] x) => (float[2, 4, 8, 8] y, float[2, 3, 8, 8] s, float[2, 4, 8, 8] t) {
        y = Conv <pads = [1, 1, 1, 1]> (x, w)
        s = Sin (x)
        t = Sin (y)
    }"""
    model = onnx_model(text, weights={"w": weight(4, 3, 3, 3)})
    draft = drafted(model, static(), samples_for(model))
    static().quantize(draft)
    assert make_integer(draft) == ()
    assert not onnx.load_from_string(draft.finish()).metadata_props
