"""The same graph, read from an ONNX file or from one in ORT format."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest

from packager.compile.reader import read_graph as read_ort
from packager.graph.view import SMALL_BYTES, Graph, Node, Value
from packager.models.graphs import read_graph as read_onnx
from tests.cases.onnx_text import onnx_model, weight

GRAPHS: dict[str, tuple[str, dict[str, Any]]] = {
    "a chain": (
        "(float[1,3,8,8] x) => (float[1,16,8,8] y) { [conv] c = Conv <pads = [1,1,1,1]> (x, w) y = Relu (c) }",
        {"w": weight(16, 3, 3, 3)},
    ),
    "attributes of every kind": (
        "(float[1,2,4,4] x, float[1,2] s) => (float[?,?,?,?] y, float[1,2] z) {"
        ' y = AveragePool <kernel_shape = [2,2], auto_pad = "SAME_UPPER", count_include_pad = 1> (x)'
        " z = LeakyRelu <alpha = 0.25> (s) }",
        {},
    ),
    "optional inputs": ("(float[2] x, float h) => (float[2] y) { y = Clip (x, , h) }", {}),
    "constants": (
        "(float[2,3] x) => (float[3,2] y) {"
        " s = Constant <value = int64[2] {3, 2}> () r = Reshape (x, s) o = Constant <value_float = 0.5> ()"
        " y = Mul (r, o) }",
        {},
    ),
    "dynamic shapes": (
        "(float[batch,4] x, float[?,4] w) => (float[batch,4] y, float[?,?] z) { y = Relu (x) z = Neg (w) }",
        {},
    ),
    "a scalar": ("(float s) => (float y) { y = Neg (s) }", {}),
    "another domain": ("(float[2] x) => (float[2] y) { y = com.microsoft.Gelu (x) }", {}),
    "quantized": (
        "(float[2,4] x) => (float[2,4] y) { q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z) }",
        {"s": numpy.array(0.5, numpy.float32), "z": numpy.array(3, numpy.int8)},
    ),
    "texts": ("(string[2] x) => (string[2] y) { y = Identity (x) }", {}),
    "a sequence": (
        "(float[2] x) => (float[4] y) { s = SequenceConstruct (x, x) y = ConcatFromSequence <axis = 0> (s) }",
        {},
    ),
    "branches": (
        """(bool c, float[2] x) => (float[2] y) {
            z = Neg (x)
            y = If (c) <
                then_branch = t () => (float[2] a) { [inner] i = Relu (z) a = Abs (i) },
                else_branch = e () => (float[2] b) { b = Exp (x) }
            >
        }""",
        {},
    ),
}


def both(folder: Path, model: onnx.ModelProto) -> tuple[Graph, Graph]:
    """`model` read from ONNX, and from ONNX Runtime's unoptimized ORT format of it."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.optimized_model_filepath = str(folder / "model.ort")
    options.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return read_onnx(model.SerializeToString()), read_ort(folder / "model.ort")


def used(graph: Graph) -> set[str]:
    """Values that nodes take or make."""
    return {name for node in graph.nodes for name in (*node.inputs, *node.outputs) if name}


@pytest.mark.parametrize("name", GRAPHS)
def test_both_formats_give_the_same_graph(name: str, tmp_path: Path) -> None:
    text, weights = GRAPHS[name]
    opsets = {"": 17, "com.microsoft": 1}
    from_onnx, from_ort = both(tmp_path, onnx_model(text, weights=weights, opsets=opsets))
    assert_equal(from_onnx, from_ort)


def assert_equal(one: Graph, two: Graph) -> None:
    """`two`, from ORT format, equals `one`, plus the attributes that ONNX leaves at their defaults."""
    assert (two.inputs, two.outputs) == (one.inputs, one.outputs)
    assert [told(node) for node in two.nodes] == [told(node) for node in one.nodes]
    assert used(two) == used(one)
    for name in used(one):
        assert_same(one.value(name), two.value(name))
    for node, twin in zip(one.nodes, two.nodes, strict=True):
        assert twin.attributes == {**defaults(node, set(twin.attributes)), **node.attributes}
        assert len(node.subgraphs) == len(twin.subgraphs)
        # ONNX Runtime keeps attributes, and with them branches, in a hash map.
        branches = zip(*(sorted(each.subgraphs, key=lambda graph: graph.outputs) for each in (node, twin)), strict=True)
        for inner, other in branches:
            assert_equal(inner, other)


def assert_same(value: Value, other: Value) -> None:
    # Sizes that nobody named get names of its own from ONNX's shape inference: unk__0, unk__1 ...
    shape = value.shape and tuple(None if str(size).startswith("unk__") else size for size in value.shape)
    assert other == replace(value, shape=shape)
    assert (other.constant is None) == (value.constant is None)
    if value.constant is not None and other.constant is not None:
        assert (other.constant.dtype, other.constant.shape) == (value.constant.dtype, value.constant.shape)
        assert numpy.array_equal(other.constant, value.constant)


def defaults(node: Node, names: set[str]) -> dict[str, Any]:
    """Those of the attributes `names` for which the operator has a default."""
    if node.domain:
        return {}
    attributes = onnx.defs.get_schema(node.op, node.since_version, node.domain).attributes
    values = {
        name: onnx.helper.get_attribute_value(attributes[name].default_value)
        for name in names & set(attributes)
        if attributes[name].default_value.type
    }
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in values.items()}


def told(node: Node) -> tuple[Any, ...]:
    """A node without its attributes and graphs. ONNX has no versions for operators that it does not define."""
    version = node.since_version if not node.domain else 1
    return (node.name, node.op, node.domain, version, node.inputs, node.outputs)


def test_operator_sets_and_versions_are_those_of_the_file(tmp_path: Path) -> None:
    _, found = both(tmp_path, onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }"))
    assert found.opsets[""] == 17
    text, _ = GRAPHS["another domain"]
    _, found = both(tmp_path, onnx_model(text, opsets={"": 17, "com.microsoft": 1}))
    assert [(node.operator, node.since_version) for node in found.nodes] == [("com.microsoft::Gelu", 1)]
    weights = {"w": numpy.ones((SMALL_BYTES // 4 + 1,), numpy.float32), "b": numpy.ones((3,), numpy.float32)}
    graph = f"(float[1] x) => (float[{SMALL_BYTES // 4 + 1}] y, float[3] z) {{ y = Add (x, w) z = Add (x, b) }}"
    _, found = both(tmp_path, onnx_model(graph, weights=weights))
    assert (found.value("w").is_constant, found.value("w").constant) == (True, None)
    assert found.value("b").constant is not None


def test_nodes_are_in_an_order_in_which_they_can_run_whatever_the_order_they_were_made_in(tmp_path: Path) -> None:
    """Fusions put their nodes behind their consumers."""
    graph = """(float[1,3,8,8] x) => (float[1,16,8,8] y) {
        c = Conv <pads = [1,1,1,1]> (x, w)
        r = Relu (c)
        y = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (r)
    }"""
    model = onnx_model(graph, weights={"w": weight(16, 3, 3, 3)})
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "model.ort")
    options.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"], disabled_optimizers=["NchwcTransformer"]
    )
    found = read_ort(tmp_path / "model.ort")
    assert [node.op for node in found.nodes] == ["FusedConv", "MaxPool"]
    made = set(found.inputs)
    for node in found.nodes:
        assert {name for name in node.inputs if name and not found.value(name).is_constant} <= made
        made |= set(node.outputs)
    assert set(found.outputs) <= made
