"""A contract surrounds a model: it adds nodes before and after, and leaves the model's own unchanged."""

from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest

from packager.contract import INPUT_KINDS, OUTPUT_KINDS, attachment
from packager.contract.attachment import Attached, Tables
from packager.core.contract import ADDED, ClassesOutput, ImageInput, StateInput, TensorInput, TensorOutput
from packager.core.errors import ConfigError, ModelError
from packager.core.values import Model
from packager.targets.flutter import naming as dart
from packager.targets.ios import typed as swift
from packager.targets.kotlin import typed as kotlin
from tests.cases.contract_graphs import Ran
from tests.cases.onnx_text import loaded, onnx_model

NET = """(float[batch, 3, 2, 2] x, float[1, 4] state) => (float[batch, 3] logits, float[1, 4] next)
    <int64[2] axes = {2, 3}, float[1] one = {1.0}>
    { logits = ReduceMean <keepdims = 0> (x, axes) next = Add (state, one) }"""
NET_OF_OPSET_18 = onnx_model(NET, opsets={"": 18})


def tables(inputs: dict[str, dict[str, Any]], outputs: dict[str, dict[str, Any]]) -> Tables:
    def made(kinds: Any, table: dict[str, Any]) -> Any:
        return kinds[table["kind"]](**table)

    return Tables(
        inputs={name: made(INPUT_KINDS, table) for name, table in inputs.items()},
        outputs={name: made(OUTPUT_KINDS, table) for name, table in outputs.items()},
    )


IMAGE = {"kind": "image"}
STATE = {"kind": "state", "output": "next"}
CLASSES = {"kind": "classes", "activation": "softmax"}


def attached(folder: Path, inputs: Any, outputs: Any, net: onnx.ModelProto = NET_OF_OPSET_18) -> Attached:
    return attachment.attach(loaded(folder, net), tables(inputs, outputs))


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return attached(tmp_path, {"x": IMAGE, "state": STATE}, {"logits": CLASSES}).model


def test_the_signature_and_its_tensors_are_those_of_the_whole_graph(model: Model) -> None:
    picture = ["x.pixels", "x.channels", "x.orientation", "x.chroma", "x.conversion"]
    assert [spec.name for spec in model.signature.inputs] == [*picture, "state"]
    assert [spec.name for spec in model.signature.outputs] == ["logits.scores", "next"]
    identifiers = ["xPixels", "xChannels", "xOrientation", "xChroma", "xConversion", "state"]
    assert [spec.identifier for spec in model.signature.inputs] == identifiers
    assert model.contract is not None
    picture_input, state = model.contract.inputs
    assert isinstance(picture_input, ImageInput)
    assert isinstance(state, StateInput)
    tensors = (
        picture_input.pixels,
        picture_input.channels,
        picture_input.orientation,
        picture_input.chroma,
        picture_input.conversion,
    )
    assert (*tensors, state.input) == model.signature.inputs
    assert state.output == model.signature.outputs[1]
    assert model.contract is not None
    assert [type(each) for each in model.contract.inputs] == [ImageInput, StateInput]
    assert [type(each) for each in model.contract.outputs] == [ClassesOutput]
    assert model.contract.verb == "classify"
    assert [each.identifier for each in model.contract.parameters] == ["x"]


def test_it_computes_what_the_model_computes_of_the_prepared_picture(model: Model) -> None:
    pixels = numpy.arange(12, dtype=numpy.uint8).reshape(2, 2, 3) * 20
    feeds = {
        "x.pixels": pixels,
        "x.channels": numpy.array([0, 1, 2]),
        "x.orientation": numpy.array(1),
        "x.chroma": numpy.zeros((1, 1, 1), numpy.uint8),
        "x.conversion": numpy.zeros(3, numpy.int64),
        "state": numpy.zeros((1, 4), numpy.float32),
    }
    found = Ran(model.graph)(feeds)
    logits = (pixels / 255).mean(axis=(0, 1))
    assert found["logits.scores"] == pytest.approx(numpy.exp(logits) / numpy.exp(logits).sum(), abs=1e-6)
    assert found["next"].tolist() == [[1, 1, 1, 1]]


def test_the_models_own_nodes_stay_and_all_others_say_that_they_were_added(model: Model) -> None:
    nodes = onnx.ModelProto.FromString(model.graph).graph.node
    own = [node.op_type for node in nodes if not node.name.startswith(ADDED)]
    assert sorted(own) == ["Add", "ReduceMean"]
    assert len(nodes) > 10


def test_the_core_has_a_static_shape_and_the_contract_its_size(model: Model, tmp_path: Path) -> None:
    graph = onnx.ModelProto.FromString(model.graph).graph
    shapes = {value.name: [size.dim_value for size in value.type.tensor_type.shape.dim] for value in graph.value_info}
    assert shapes["x"] == [1, 3, 2, 2]
    made = attached(tmp_path, {"x": IMAGE, "state": STATE}, {"logits": CLASSES})
    assert made.model.size_bytes == made.core.size_bytes == made.core.shipped_bytes
    assert made.model.shipped_bytes - made.core.size_bytes == len(made.model.graph) - len(made.core.graph) > 1000


def test_a_model_without_tables_or_of_a_new_opset_stays_as_it_is(tmp_path: Path) -> None:
    plain = loaded(tmp_path, NET_OF_OPSET_18)
    found = attachment.attach(plain, Tables(inputs={}, outputs={}))
    assert found.model is plain
    assert not found.is_raised
    net = onnx_model("(float[1, 3] x) => (float[1, 3] y) { y = Relu (x) }", opsets={"": 20}, ir_version=9)
    found = attached(tmp_path, {}, {"y": CLASSES}, net)
    assert (found.is_raised, found.model.opsets[""]) == (False, 20)
    net = onnx_model("(float[1, 3] x) => (float[1, 3] y) { y = Relu (x) }", opsets={"": 11})
    net.metadata_props.add(key="character", value="abc")
    found = onnx.ModelProto.FromString(attached(tmp_path, {}, {"y": CLASSES}, net).model.graph)
    assert [(entry.key, entry.value) for entry in found.metadata_props] == [("character", "abc")]


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 15, 17])
def test_older_opsets_are_raised_and_compute_the_same(tmp_path: Path, opset: int) -> None:
    net = onnx_model("(float[2, 3] x) => (float[2, 3] y) { y = Softmax <axis = 1> (x) }", opsets={"": opset})
    found = attached(tmp_path, {}, {"y": {"kind": "tensor"}}, net)
    numbers = numpy.array([[1, 2, 3], [4, 6, 5]], numpy.float32)
    expected = numpy.exp(numbers) / numpy.exp(numbers).sum(axis=1, keepdims=True)
    assert found.model.opsets[""] == 18
    assert Ran(found.model.graph)({"x": numbers})["y"] == pytest.approx(expected, abs=1e-6)


def test_a_model_whose_operators_are_all_of_another_domain_has_a_contract(tmp_path: Path) -> None:
    """ONNX's converter refuses a model that imports no opset of ONNX's own."""
    text = "(float[1, 3] x) => (float[1, 3] y) { y = ai.onnx.ml.Binarizer <threshold = 1.5> (x) }"
    found = attached(tmp_path, {}, {"y": {"kind": "tensor"}}, onnx_model(text, opsets={"ai.onnx.ml": 1}))
    assert found.model.opsets == {"": 18, "ai.onnx.ml": 1}
    (y,) = Ran(found.model.graph)({"x": numpy.array([[1, 2, 3]], numpy.float32)}).values()
    assert y.tolist() == [[0, 1, 1]]


def test_constants_of_old_files_are_no_inputs_and_go_to_all_who_take_them(tmp_path: Path) -> None:
    net = onnx_model(
        "(float[1, 3] x, float[3] bias) => (float[1, 3] y) <float[3] bias = {1, 2, 3}> { y = Add (x, bias) }",
        opsets={"": 8},
        ir_version=3,
    )
    found = attached(tmp_path, {}, {"y": CLASSES}, net).model
    assert [spec.name for spec in found.signature.inputs] == ["x"]
    assert found.ir_version >= 8
    net = onnx_model("(float[2] a, float[2] b) => (float[2] y) { y = Add (a, b) }")
    same = {"kind": "tensor", "value": 2.5}
    net.graph.input.add().CopyFrom(onnx.helper.make_tensor_value_info("c", 1, [2]))
    net.graph.node.add().CopyFrom(onnx.helper.make_node("Mul", ["y", "c"], ["z"]))
    net.graph.output.add().CopyFrom(onnx.helper.make_tensor_value_info("z", 1, [2]))
    found = attached(tmp_path, {"a": same, "b": same}, {}, net).model
    assert Ran(found.graph)({"c": numpy.ones(2, numpy.float32)})["z"].tolist() == [5, 5]


def test_functions_of_one_old_opset_are_raised_and_of_two_refused(tmp_path: Path) -> None:
    function = '<opset_import: ["" : 17], domain: "own"> twice (a) => (b) { b = Add (a, a) }'
    net = onnx_model(
        "(float[1, 3] x) => (float[1, 3] y) { y = own.twice (x) }", opsets={"": 17, "own": 1}, functions=function
    )
    found = attached(tmp_path, {}, {"y": {"kind": "tensor"}}, net)
    assert Ran(found.model.graph)({"x": numpy.array([[1, 2, 3]], numpy.float32)})["y"].tolist() == [[2, 4, 6]]
    function = '<opset_import: ["" : 16], domain: "own"> twice (a) => (b) { b = Add (a, a) }'
    net = onnx_model(
        "(float[1, 3] x) => (float[1, 3] y) { y = own.twice (x) }", opsets={"": 17, "own": 1}, functions=function
    )
    with pytest.raises(ModelError, match=r"boxes need 18, but .* it has functions in another opset") as refused:
        attached(tmp_path, {}, {"y": CLASSES}, net)
    assert "opset_version=18" in refused.value.hint


def test_an_input_that_is_always_the_same_is_no_input_and_what_has_no_table_a_tensor(tmp_path: Path) -> None:
    net = onnx_model("(float[1, 3] x, int64 rate) => (float[1, 3] y) { r = Cast <to = 1> (rate) y = Mul (x, r) }")
    found = attached(tmp_path, {"rate": {"kind": "tensor", "value": 16000}}, {}, net).model
    assert [spec.name for spec in found.signature.inputs] == ["x"]
    assert Ran(found.graph)({"x": numpy.ones((1, 3), numpy.float32)})["y"].tolist() == [[16000] * 3]
    contract = attached(tmp_path, {"x": IMAGE}, {}).model.contract
    assert contract is not None
    assert [type(each) for each in contract.inputs] == [ImageInput, TensorInput]
    assert [type(each) for each in contract.outputs] == [TensorOutput, TensorOutput]
    assert contract.verb == "predict"


@pytest.mark.parametrize(
    ("value", "message"),
    [(1.5, "1.5 is not a valid int64"), ((1, 2), "'value' has 2 numbers, but the tensor has 1")],
    ids=["fraction", "count"],
)
def test_constants_that_do_not_fit_are_refused(tmp_path: Path, value: Any, message: str) -> None:
    net = onnx_model("(float[1, 3] x, int64 rate) => (float[1, 3] y) { r = Cast <to = 1> (rate) y = Mul (x, r) }")
    with pytest.raises(ConfigError, match=f"model.m.inputs.rate: {message}".replace("(", r"\(")):
        attached(tmp_path, {"rate": {"kind": "tensor", "value": value}}, {}, net)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message", "hint"),
    [
        ({"y": IMAGE}, {}, "model.m.inputs.y: the model has no such input", "known: x, state"),
        ({}, {"logit": CLASSES}, "model.m.outputs.logit: the model has no such output", "did you mean 'logits'?"),
        ({"state": {**STATE, "output": "nxt"}}, {}, "model.m.inputs.state: .*no output 'nxt'", "did you mean 'next'?"),
        ({"state": {**STATE, "output": "logits"}}, {}, "model.m.inputs.state: output 'logits' is float", "next state"),
        ({"state": STATE}, {"next": {"kind": "tensor"}}, "model.m.outputs.next: is already a state", "remove one"),
        ({"state": IMAGE}, {}, "model.m.inputs.state: ", ""),
    ],
)
def test_tables_that_do_not_fit_are_refused(tmp_path: Path, inputs: Any, outputs: Any, message: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=message) as refused:
        attached(tmp_path, inputs, outputs)
    assert hint in refused.value.hint


def test_a_state_has_a_batch_of_one_and_no_open_size(tmp_path: Path) -> None:
    net = onnx_model("(float[1, length] state) => (float[1, length] next) { next = Relu (state) }")
    with pytest.raises(ConfigError, match="a state needs a shape without open sizes"):
        attached(tmp_path, {"state": STATE}, {}, net)
    net = onnx_model("(float[2, batch, 8] state) => (float[2, batch, 8] next) { next = Relu (state) }")
    model = attached(tmp_path, {"state": STATE}, {}, net).model
    assert model.signature.inputs[0].shape == (2, 1, 8)


@pytest.mark.parametrize("start", [0, 1])
def test_a_state_that_grows_begins_with_the_size_that_its_table_says(tmp_path: Path, start: int) -> None:
    net = onnx_model(
        "(float[batch, 3] x, float[batch, past, 3] state) => (float[batch, 3] y, float[batch, more, 3] next) "
        "{ y = Relu (x) next = Concat <axis = 1> (state, state) }",
        opsets={"": 18},
    )
    inputs = {"state": {**STATE, "start_size": start}}
    contract = attached(tmp_path, inputs, {}, net).model.contract
    assert contract is not None
    (state,) = contract.states
    assert state.input.shape == (1, "past", 3)
    assert state.first_shape == (1, start, 3)


def test_names_that_the_model_has_already_are_left_to_it(tmp_path: Path) -> None:
    net = onnx_model("(float[1, 3] x) => (float[1, 3] y) { z = Relu (x) y = Identity (z) }")
    net.graph.node[0].output[0] = net.graph.node[1].input[0] = "y.scores"
    model = attached(tmp_path, {}, {"y": CLASSES}, net).model
    assert [spec.name for spec in model.signature.outputs] == ["y.scores'"]
    assert Ran(model.graph)({"x": numpy.zeros((1, 3), numpy.float32)})["y.scores'"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("name", "parameter"), [("source", "sourceValue"), ("output", "outputValue"), ("input", "input")]
)
def test_a_parameter_has_the_same_name_in_every_language(name: str, parameter: str, tmp_path: Path) -> None:
    net = onnx_model(NET.replace("2] x,", f"2] {name},").replace("(x, axes)", f"({name}, axes)"), opsets={"": 18})
    contract = attached(tmp_path, {name: IMAGE, "state": STATE}, {"logits": CLASSES}, net).model.contract
    assert contract
    assert [each.identifier for each in contract.parameters] == [parameter]
    assert parameter not in {*kotlin.CALLED, *dart.LOCAL, *swift.LOCALS}
