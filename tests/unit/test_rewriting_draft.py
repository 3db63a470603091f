"""A draft: names, constants, unused values, and inputs that are constants."""

from pathlib import Path

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from packager.core.errors import ConfigError, ModelError
from packager.graph.rewriting.draft import Draft
from packager.graph.weights.places import chunks_of, source_of
from packager.graph.weights.writing import WeightFile
from packager.quantizers.dynamic import Dynamic
from packager.quantizers.float16 import Float16
from packager.quantizers.weight_only import WeightOnly
from tests.cases.onnx_text import onnx_model
from tests.cases.rewriting_cases import outcome, run, samples_for, static, weight

LINEAR = "(float[4, 16] x) => (float[4, 16] y) { y = MatMul (x, w) }"


def draft_of(model: onnx.ModelProto) -> Draft:
    return Draft(proto=model, data_folder=Path())


def old(model: onnx.ModelProto, ir_version: int) -> onnx.ModelProto:
    """A model with every initializer also an input."""
    for tensor in model.graph.initializer:
        model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    model.ir_version = ir_version
    return model


def test_a_free_name_is_one_that_no_graph_of_the_model_has() -> None:
    """Nor an unused input, such as the number of an iteration."""
    model = onnx_model(
        """(float[4] x, int64 n) => (float[4] y) {
            y = Loop (n, , x) <body = b (int64 step, bool go, float[4] a) => (bool still, float[4] c)
                <float[1] w_scale = {2}> { still = Identity (go) c = Mul (a, w_scale) }>
        }"""
    )
    draft = draft_of(model)
    assert [draft.unique("w_scale"), draft.unique("w_scale"), draft.unique("step")] == [
        "w_scale_2",
        "w_scale_3",
        "step_2",
    ]
    assert draft.unique("new") == "new"


@pytest.mark.parametrize("quantizer", [static(), Dynamic(), WeightOnly(), Float16()], ids=lambda each: each.NAME)
def test_constants_of_old_files_become_smaller_though_they_are_inputs(quantizer: Dynamic) -> None:
    """Before IR version 4 every initializer had to be an input. Afterwards weights need no feed."""
    model = old(onnx_model(LINEAR, weights={"w": weight(16, 16)}), 3)
    samples = samples_for(model)
    made = outcome(model, quantizer, samples)
    assert [each.name for each in made.model.graph.input] == ["x"]
    assert made.model.ir_version >= 4
    assert all(
        tensor.dims != [16, 16] or tensor.data_type != TensorProto.FLOAT for tensor in made.model.graph.initializer
    )
    assert made.decibels(samples[0]) > 15


def test_what_nothing_takes_is_dropped() -> None:
    # Without it an app would have to feed the input.
    model = old(onnx_model(LINEAR, weights={"d": weight(3)}), 8)
    model.graph.initializer.append(numpy_helper.from_array(weight(16, 16), "w"))
    made = outcome(model, WeightOnly())
    assert "d" in made.constants
    assert run(made.model, {"x": weight(4, 16)})["y"].shape == (4, 16)
    model = onnx_model(LINEAR, weights={"w": weight(16, 16), "unused": weight(5)})
    made = outcome(model, Dynamic())
    assert "w" not in made.constants
    assert "unused" not in made.constants
    model = onnx_model(LINEAR, weights={"w": weight(16, 16)}, opsets={"": 17, "ai.onnx.ml": 3})
    opsets = {each.domain: each.version for each in outcome(model, WeightOnly()).model.opset_import}
    assert opsets == {"": 17, "com.microsoft": 1}
    model = old(onnx_model(LINEAR, weights={"w": weight(16, 16)}), 8)
    with pytest.raises(ModelError, match=r"nothing to quantize.*also an input, and only its default"):
        outcome(model, Dynamic())


def test_constant_nodes_are_constants() -> None:
    model = onnx_model(
        """(float[2, 16] x) => (float[2, 4] y, float[2] k) {
            v = Constant <value_floats = [1.0, 2.0, 3.0, 4.0]> ()
            s = Constant <value_ints = [1, 4]> ()
            r = Reshape (v, s)
            z = MatMul (x, w)
            y = Add (z, r)
            k = Constant <value = float[2] {5, 6}> ()
        }""",
        weights={"w": weight(16, 4)},
    )
    draft = draft_of(model)
    assert "v" not in draft.constants
    draft.hoist_constants()
    assert set(draft.constants) == {"w", "v", "s"}
    assert [node.op_type for node in model.graph.node] == ["Reshape", "MatMul", "Add", "Constant"]
    onnx.checker.check_model(model, full_check=True)


def test_a_name_to_exclude_that_no_node_has_is_refused_with_the_nearest() -> None:
    draft = draft_of(onnx_model(LINEAR.replace("y = MatMul", "[linear] y = MatMul"), weights={"w": weight(16, 16)}))
    draft.refuse_unknown(["linear", "y"])
    with pytest.raises(ConfigError, match="exclude: the model has no node 'liner'") as caught:
        draft.refuse_unknown(["liner"])
    assert "'linear'" in caught.value.hint


def test_weights_of_branches_come_along_whatever_they_are_called(tmp_path: Path) -> None:
    """This one has the name of the new weight in the main graph."""
    model = onnx_model(
        """(float[4, 16] x, bool p) => (float[4, 16] y) {
            z = MatMul (x, w)
            y = If (p) <then_branch = t () => (float[4, 16] a) {
                    c = Constant <value = float[1] {0}> () a = Mul (z, c)
                },
                else_branch = e () => (float[4, 16] b) { b = Neg (z) }>
        }""",
        weights={"w": weight(16, 16)},
    )
    (tmp_path / "model.data").write_bytes(weight(16, seed=9).tobytes())
    model.graph.node[1].attribute[0].g.node[0].attribute[0].t.CopyFrom(external("w_quantized", "model.data", 16))
    folder = tmp_path / "out"
    folder.mkdir()
    draft = Draft(proto=model, data_folder=tmp_path, weights=WeightFile(folder / "weights.bin"))
    WeightOnly(block_size=16).quantize(draft)
    draft.add_chunks("filler", TensorProto.INT8, (4096,), [bytes(4096)])
    draft.finish()
    moved = source_of(model.graph.node[1].attribute[0].g.node[0].attribute[0].t, folder)
    assert moved.path == folder / "weights.bin"
    assert b"".join(chunks_of(moved)) == weight(16, seed=9).tobytes()


def external(name: str, location: str, count: int) -> TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[count], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", "0"), ("length", str(4 * count))):
        tensor.external_data.add(key=key, value=value)
    return tensor


@pytest.mark.parametrize("quantizer", [static(), Dynamic(), WeightOnly(), Float16()], ids=lambda each: each.NAME)
def test_a_model_without_float_weights_is_refused_as_nothing_to_quantize(quantizer: Dynamic) -> None:
    model = onnx_model("(float[4] x) => (float[4] y) { y = Relu (x) }")
    with pytest.raises(ModelError, match="nothing to quantize") as caught:
        outcome(model, quantizer, samples_for(model))
    assert 'quantizer = "none"' in caught.value.hint


@pytest.mark.parametrize("first", [static(), Dynamic(), WeightOnly(), Float16()], ids=lambda each: each.NAME)
@pytest.mark.parametrize("second", [static(), Dynamic(), WeightOnly(), Float16()], ids=lambda each: each.NAME)
def test_what_is_in_small_numbers_already_is_not_quantized_again(first: Dynamic, second: Dynamic) -> None:
    model = onnx_model(LINEAR, weights={"w": weight(16, 16)})
    made = outcome(model, first, samples_for(model)).model
    with pytest.raises(ModelError, match="nothing to quantize"):
        second.quantize(Draft(proto=made, data_folder=Path()))


@pytest.mark.parametrize("quantizer", [static(exclude=("y",)), Dynamic(exclude=("y",))], ids=lambda each: each.NAME)
def test_a_configuration_that_excludes_all_is_obeyed(quantizer: Dynamic) -> None:
    """A search tries such a configuration, too."""
    model = onnx_model(LINEAR, weights={"w": weight(16, 16)})
    made = outcome(model, quantizer, samples_for(model))
    assert made.operators == ["MatMul"]
    assert made.reasons == {"y": "excluded by the configuration"}
    assert numpy.array_equal(made.constants["w"], weight(16, 16))
