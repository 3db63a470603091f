"""Zero points that a model leaves to its reader are written out, with the type that they have."""

from pathlib import Path

import numpy
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.cases.onnx_text import compiled
from tests.cases.zero_points import LAYOUTS, X, pair, signed
from tests.unit.test_dequantized import run


@pytest.mark.parametrize("layout", ["axis", "block"])
def test_a_product_of_values_with_several_scales_keeps_them(tmp_path: Path, layout: str) -> None:
    import onnxruntime

    scale, attributes = LAYOUTS[layout]
    spread = scale * numpy.linspace(0.5, 2, scale.size, dtype=numpy.float32).reshape(scale.shape)
    model = pair(TensorProto.INT8, spread, **attributes)
    weights = numpy.random.default_rng(2).integers(-127, 127, (8, 8)).astype(numpy.int8)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    model.graph.initializer.append(numpy_helper.from_array(numpy.array(0.01, numpy.float32), "t"))
    model.graph.node[-1].output[:] = ["d"]
    model.graph.node.append(helper.make_node("DequantizeLinear", ["w", "t"], ["v"]))
    model.graph.node.append(helper.make_node("MatMul", ["d", "v"], ["y"]))
    (expected,) = run(model, x=X)
    (found,) = onnxruntime.InferenceSession(compiled(tmp_path, model).path).run(None, {"x": X})
    assert numpy.abs(found - expected).max() < 0.02 * numpy.abs(expected).max()


def test_convolutions_between_conversions_without_zero_points_are_converted(tmp_path: Path) -> None:
    import onnxruntime

    x = numpy.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(numpy.float32)
    (expected,) = run(signed(), x=x)
    (found,) = onnxruntime.InferenceSession(compiled(tmp_path, signed()).path).run(None, {"x": x})
    assert numpy.abs(found - expected).max() < 0.02 * numpy.abs(expected).max()
