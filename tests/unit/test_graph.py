"""A graph for the checks: names, types, shapes and small constants, read from an ONNX file."""

from typing import Any

import numpy
from onnx import TensorProto, helper

from packager.graph.connections import numbered
from packager.graph.names import all_names, free_name
from packager.graph.view import SMALL_BYTES, Graph, Node, Value
from packager.models.graphs import read_graph
from tests.cases.onnx_text import onnx_model, weight


def read(graph: str, **options: Any) -> Graph:
    return read_graph(onnx_model(graph, **options).SerializeToString())


def test_nodes_have_names_types_and_shapes_as_far_as_they_are_known() -> None:
    graph = read("(float[4] x) => (float[2] p, float[2] q) { [named] r = Relu (x) p, q = Split <axis = 0> (r) }")
    assert [node.name for node in graph.nodes] == ["named", "p"]
    assert [node.inputs for node in graph.nodes] == [("x",), ("r",)]
    assert graph.nodes[1].outputs == ("p", "q")
    assert (graph.inputs, graph.outputs) == (("x",), ("p", "q"))
    graph = read("(float[batch,4] x) => (float[?] n, int64[2] s) { r = Relu (x) s = Shape (r) n = Flatten (r) }")
    assert graph.value("r") == Value(name="r", element="float", shape=("batch", 4))
    assert graph.value("s") == Value(name="s", element="int64", shape=(2,))
    assert graph.value("x").sizes is None
    assert graph.value("s").sizes == (2,)
    graph = read("(float[2] x) => (float[] y) { m = acme.Magic (x) y = Neg (m) }", opsets={"": 17, "acme": 1})
    assert graph.value("m") == Value(name="m")
    assert graph.value("never heard of") == Value(name="never heard of")
    assert (graph.value("m").rank, graph.value("m").sizes, graph.value("m").is_constant) == (None, None, False)
    graph = read("(float s, float[?,3] x) => (float[?,3] y) { y = Add (s, x) }")
    assert (graph.value("s").rank, graph.value("s").sizes) == (0, ())
    assert (graph.value("x").shape, graph.value("x").rank, graph.value("x").sizes) == ((None, 3), 2, None)
    graph = read("(float[2] x) => (float[2] y) { s = SequenceConstruct (x, x) y = ConcatFromSequence <axis = 0> (s) }")
    assert graph.value("s") == Value(name="s")
    node = Node(name="n", op="Op", domain="", since_version=1, inputs=(), outputs=(), attributes={})
    assert node.operator == "Op"


def test_operators_have_the_version_of_their_domain() -> None:
    graph = read(
        "(float[2] x) => (float[2] y) { a = Relu (x) b = Gelu (a) c = com.microsoft.Gelu (b) y = acme.Magic (c) }",
        opsets={"": 20, "com.microsoft": 1, "acme": 3},
    )
    found = [(node.operator, node.domain, node.since_version) for node in graph.nodes]
    assert found == [
        ("Relu", "", 14),
        ("Gelu", "", 20),
        ("com.microsoft::Gelu", "com.microsoft", 0),
        ("acme::Magic", "acme", 0),
    ]
    assert graph.opsets == {"": 20, "com.microsoft": 1, "acme": 3}
    model = onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }")
    model.graph.node[0].domain = "ai.onnx"
    (node,) = read_graph(model.SerializeToString()).nodes
    assert (node.domain, node.operator, node.since_version) == ("", "Relu", 14)


def test_attributes_and_optional_inputs_are_read() -> None:
    graph = read(
        "(float[1,3,8,8] x) => (float[?] y, float[2] t) {"
        ' y = acme.All <i = 1, f = 0.5, s = "text", ii = [1, 2], ff = [0.5, 1.5], ss = ["a", "b"]> (x)'
        " t = ConstantOfShape <value = float[1] {2.0}> (n) }",
        opsets={"": 17, "acme": 1},
        weights={"n": numpy.array([2])},
    )
    assert graph.nodes[0].attributes == {
        "i": 1,
        "f": 0.5,
        "s": "text",
        "ii": (1, 2),
        "ff": (0.5, 1.5),
        "ss": ("a", "b"),
    }
    assert graph.nodes[1].attributes == {}
    graph = read("(float[2] x, float h) => (float[2] y) { y = Clip (x, , h) }")
    assert graph.nodes[0].inputs == ("x", "", "h")
    assert sorted(graph.consumers) == ["h", "x"]


def test_small_constants_are_read_and_weights_and_texts_are_not() -> None:
    at_most = numpy.zeros((SMALL_BYTES - 64) // 4, numpy.float32)
    graph = read(
        "(float[2] x) => (float[2] y) { y = Add (x, small) }",
        weights={"small": weight(2), "limit": at_most, "large": numpy.zeros(SMALL_BYTES // 4 + 1, numpy.float32)},
    )
    small, limit, large = (graph.value(name) for name in ("small", "limit", "large"))
    assert small.constant is not None
    assert numpy.array_equal(small.constant, weight(2))
    assert limit.constant is not None
    assert large == Value(name="large", element="float", shape=(SMALL_BYTES // 4 + 1,), is_constant=True)
    assert large.constant is None
    assert graph.inputs == ("x",)
    model = onnx_model("(float[2] x) => (float[2] y) { y = Add (x, w) }", weights={"w": weight(2)})
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="nowhere.bin")
    value = read_graph(model.SerializeToString()).value("w")
    assert (value.is_constant, value.constant, value.shape) == (True, None, (2,))
    graph = read(
        '(string[1] x) => (string[1] y) { c = Constant <value_string = "a"> () y = StringConcat (x, c) }',
        opsets={"": 20},
    )
    found = graph.value("c")
    assert (found.is_constant, found.constant, found.element) == (True, None, "string")


def test_constant_nodes_are_constants_and_no_nodes() -> None:
    for attribute, value in [
        ("value = float[2] {1.0, 2.0}", numpy.array([1, 2], numpy.float32)),
        ("value = int64 {7}", numpy.array(7)),
        ("value_int = 7", numpy.array(7)),
        ("value_ints = [7, 8]", numpy.array([7, 8])),
        ("value_float = 0.5", numpy.array(0.5, numpy.float32)),
        ("value_floats = [0.5, 1.5]", numpy.array([0.5, 1.5], numpy.float32)),
    ]:
        graph = read(
            f"(float[2] x) => (float[2] y) {{ c = Constant <{attribute}> () y = acme.Use (x, c) }}",
            opsets={"": 17, "acme": 1},
        )
        assert [node.operator for node in graph.nodes] == ["acme::Use"]
        found = graph.value("c")
        assert found.is_constant
        assert found.constant is not None
        assert (found.constant.dtype, found.constant.shape) == (value.dtype, value.shape)
        assert numpy.array_equal(found.constant, value)
        assert found.element == {"float32": "float", "int64": "int64"}[str(value.dtype)]
        assert found.shape == value.shape


def test_elements_smaller_than_a_byte_keep_their_names() -> None:
    model = onnx_model(
        "(float[4] x) => (float[4] y) { f = DequantizeLinear (w, s) y = Add (x, f) }",
        weights={"s": numpy.array(0.5, numpy.float32)},
        opsets={"": 21},
        ir_version=10,
    )
    model.graph.initializer.append(helper.make_tensor("w", TensorProto.INT4, [4], [1, -2, 3, -4]))
    found = read_graph(model.SerializeToString()).value("w")
    assert (found.element, found.shape) == ("int4", (4,))
    assert found.constant is not None
    assert found.constant.astype(int).tolist() == [1, -2, 3, -4]


NESTED = """(bool c, float[2] x) => (float[2] y) {
    z = Neg (x)
    y = If (c) <
        then_branch = t () => (float[2] a) { [inner] i = Relu (z) a = Abs (i) },
        else_branch = e () => (float[2] b) {
            b = If (c) <
                then_branch = tt () => (float[2] d) { [deep] d = Neg (x) },
                else_branch = ee () => (float[2] f) { f = Exp (x) }
            >
        }
    >
}"""


def test_subgraphs_are_graphs_that_take_values_from_outside() -> None:
    graph = read(NESTED)
    assert [node.op for node in graph.nodes] == ["Neg", "If"]
    assert [node.name for node in graph.all_nodes()] == ["z", "y", "inner", "a", "b", "deep", "f"]
    then, other = graph.nodes[1].subgraphs
    assert (then.inputs, then.outputs, [node.op for node in then.nodes]) == ((), ("a",), ["Relu", "Abs"])
    assert then.value("i").element == "float"
    assert len(other.nodes[0].subgraphs) == 2
    assert graph.nodes[1].attributes == {}
    then, other = graph.nodes[1].subgraphs
    deep = other.nodes[0].subgraphs[0]
    for inner, name in ((then, "z"), (other, "c"), (deep, "x")):
        assert inner.value(name) == graph.value(name) != Value(name=name)
    assert "x" not in then.values
    graph = read(
        "(float[2] x) => (float[2] y, float[2] z) { a = Relu (x) [twice] y = Mul (a, a) [last] z = Sub (y, a) }"
    )
    assert {name: node.name for name, node in graph.producers.items()} == {"a": "a", "y": "twice", "z": "last"}
    assert [node.name for node in graph.consumers["a"]] == ["twice", "twice", "last"], "once for each use"
    assert [node.name for node in graph.consumers["y"]] == ["last"]
    assert "z" not in graph.consumers


def test_nodes_run_in_their_order_unless_in_a_circle() -> None:
    for taken, made, order in [
        ([[], ["a"], ["b"]], [["a"], ["b"], ["c"]], [0, 1, 2]),
        ([["b"], ["a"], []], [["c"], ["b"], ["a"]], [2, 1, 0]),
        ([["x"], ["x"], ["x"]], [["a"], ["b"], ["c"]], [0, 1, 2]),
        ([["late"], [], ["a"], []], [["a"], ["b"], ["c"], ["late"]], [1, 3, 0, 2]),
        ([["a", "a", ""], []], [["", "b"], ["a", ""]], [1, 0]),
        ([], [], []),
    ]:
        assert numbered(taken, made).execution_order() == order
    assert numbered([["b"], ["a"], []], [["a"], ["b"], ["c"]]).execution_order() == [2]
    graph = read("(float[2] x) => (float[3] y) { a = MatMul (x, w) y = Relu (a) }", weights={"w": weight(5, 7)})
    assert [node.op for node in graph.nodes] == ["MatMul", "Relu"]
    assert graph.value("a") == Value(name="a")


def test_names_are_taken_wherever_they_stand_and_free_ones_have_a_number() -> None:
    proto = onnx_model("""(float[2] x, bool c) => (float[2] y) {
        [first] a = Relu (x)
        y = If (c) <
            then_branch = t () => (float[2] p) { p = Neg (a) },
            else_branch = e () => (float[2] q) { q = Identity (a) }
        >
    }""")
    proto.graph.value_info.append(helper.make_tensor_value_info("described", 1, [2]))
    proto.graph.initializer.append(helper.make_tensor("w", 1, [1], [0.5]))
    assert {"x", "c", "y", "a", "p", "q", "first", "described", "w"} <= all_names(proto)
    taken = {"w", "w_2", "v"}
    assert [free_name(name, taken) for name in ("u", "v", "w")] == ["u", "v_2", "w_3"]
    assert free_name("w", taken, first=1) == "w_1"
