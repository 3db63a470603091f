"""Producers and consumers of values, the nodes before a value, and names that are free."""

import onnx
import pytest

from packager.graph.connections import connected, indexed, numbered
from packager.graph.constants import constant_tensors, fed_inputs
from packager.graph.names import all_names, free_name
from packager.graph.view import Graph
from packager.models.graphs import read_graph
from tests.cases.onnx_text import onnx_model

BRANCHES = """(float[2] x, bool c) => (float[2] y) {
    a = Relu (x)
    b = Mul (a, a)
    u = Neg (x)
    y = If (c) <
        then_branch = t () => (float[2] p) { p = Sub (a, b) },
        else_branch = e () => (float[2] q) { q = Identity (u) }
    >
}"""


def model() -> onnx.ModelProto:
    return onnx_model(BRANCHES)


def test_a_value_has_one_producer_and_a_consumer_for_each_use() -> None:
    connections = connected(model().graph.node)
    assert {name: node.op_type for name, node in connections.producers.items()} == {
        "a": "Relu",
        "b": "Mul",
        "u": "Neg",
        "y": "If",
    }
    consumers = {name: [node.op_type for node in nodes] for name, nodes in connections.consumers.items()}
    assert (consumers["a"], consumers["x"]) == (["Mul", "Mul", "If"], ["Relu", "Neg"])
    assert "y" not in consumers


def test_branches_take_and_return_values_from_outside() -> None:
    (*_, node) = model().graph.node
    assert [name for name in connected([node]).consumers if name in "abcu"] == ["c", "a", "b", "u"]
    proto = model()
    branch = proto.graph.node[3].attribute[1].g
    del branch.node[:]
    branch.output[0].name = "u"
    assert [node.op_type for node in connected(proto.graph.node).consumers["u"]] == ["If"]
    assert [node.op for node in read_graph(proto.SerializeToString()).consumers["u"]] == ["If"]
    connections = numbered([["", "x"], ["a", ""]], [["a", ""], [""]])
    assert (connections.producers, connections.consumers) == ({"a": 0}, {"x": [0], "a": [1]})
    assert [connections.sources(node) for node in connections.nodes] == [[], [0]]


def test_messages_views_and_indices_have_the_same_connections() -> None:
    proto = model()
    graph: Graph = read_graph(proto.SerializeToString())
    by_index = indexed(proto.graph.node)
    names = {"a", "b", "c", "u", "x", "y"}
    for name in names:
        indices = by_index.consumers.get(name, [])
        assert [graph.nodes[index].op for index in indices] == [node.op for node in graph.consumers.get(name, ())]
        assert [proto.graph.node[index] for index in indices] == connected(proto.graph.node).consumers.get(name, [])
    assert {name: graph.nodes[index] for name, index in by_index.producers.items()} == graph.producers


@pytest.mark.parametrize(
    ("names", "closed", "expected"),
    [
        (["d"], (), {0, 1, 2, 3}),
        (["d"], ("b",), {0, 2, 3}),
        (["d"], ("b", "c"), {3}),
        (["b"], ("b",), {0, 1}),
        (["x"], (), set()),
    ],
    ids=str,
)
def test_ancestors_compute_a_value_through_passable_ones(
    names: list[str], closed: tuple[str, ...], expected: set[int]
) -> None:
    diamond = numbered([["x"], ["a"], ["a"], ["b", "c"], ["d"]], [["a"], ["b"], ["c"], ["d"], ["e"]])
    assert diamond.ancestors(names, lambda name: name not in closed) == expected


def test_free_names_and_cycles_are_found() -> None:
    assert numbered([["b"], ["a"]], [["a"], ["b"]]).ancestors(["a"]) == {0, 1}
    proto = model()
    proto.graph.node[0].name = "first"
    proto.graph.value_info.append(onnx.helper.make_tensor_value_info("described", 1, [2]))
    assert {"x", "c", "y", "a", "p", "q", "first", "described"} <= all_names(proto)
    taken = {"w", "w_2", "v"}
    assert [free_name(name, taken) for name in ("u", "v", "w")] == ["u", "v_2", "w_3"]
    assert free_name("w", taken, first=1) == "w_1"


def test_inputs_with_initializers_are_not_fed_and_constants_may_be_nodes() -> None:
    graph = onnx_model(
        "(float[2] x, float[2] w) => (float[2] y) { k = Constant <value = float[2] {1, 2}> () y = Sum (x, w, k) }"
    ).graph
    graph.initializer.append(onnx.helper.make_tensor("w", 1, [2], [3, 4]))
    assert [value.name for value in fed_inputs(graph)] == ["x"]
    assert {name: list(tensor.dims) for name, tensor in constant_tensors(graph).items()} == {"w": [2], "k": [2]}
