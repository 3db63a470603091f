"""The NNAPI rules, compared with ONNX Runtime's own NNAPI provider in its Android library."""

import pytest

from packager.graph.view import Graph
from packager.models.graphs import read_graph
from packager.verification.partition.groups import partitions
from packager.verification.partition.nnapi import DOES_NOT_LOAD
from packager.verification.partition.node_units import node_units
from tests.cases.nnapi_cases import FATAL, QUANTIZED, Case, case
from tests.cases.nnapi_rules import CASES, QUANTIZERS, prediction


def in_question(each: Case) -> str:
    """The last node that computes."""
    names: list[str] = [node.name for node in each.model().graph.node]
    return next((name for name in reversed(names) if not name.startswith(QUANTIZERS)), names[-1])


def test_a_node_is_taken_or_left_for_the_reason() -> None:
    for each in CASES:
        why = prediction(each).left.get(in_question(each), "")
        assert bool(why) == bool(each.why)
        assert each.why in why


@pytest.mark.parametrize("each", FATAL, ids=lambda each: each.why.split(":")[0])
def test_a_reason_says_when_the_model_does_not_load(each: Case) -> None:
    why = prediction(each).left.values()
    assert each.why in why
    assert each.why.endswith(DOES_NOT_LOAD)


# --- what ONNX Runtime's own checker says ---


# --- groups ---


def graph_of(text: str) -> Graph:
    return read_graph(case(text).model().SerializeToString())


def test_partitions_are_cut_where_a_node_that_is_left_stands_between() -> None:
    graph = graph_of("(float[2] x, float[2] v) => (float[] y, float[] u) { y = Relu (x) u = Relu (v) }")
    assert partitions(graph, {"Relu.0", "Relu.1"}) == (("Relu.0", "Relu.1"),)
    graph = graph_of("(float[2] x) => (float[] y) { a = Relu (x) b = Ceil (a) c = Relu (b) y = Add (a, c) }")
    assert partitions(graph, {"Relu.0", "Relu.2", "Add.3"}) == (("Relu.0",), ("Relu.2", "Add.3"))
    assert partitions(graph_of("(float[2] x) => (float[] y) { y = Ceil (x) }"), set()) == ()
    each = next(each for each in QUANTIZED if "MatMul" in each.graph)
    graph = read_graph(each.model().SerializeToString())
    units = node_units(graph)
    [group] = [unit for unit in units if unit.is_group]
    assert [node.op for node in group.nodes] == [*["DequantizeLinear"] * 2, "MatMul", "QuantizeLinear"]
    assert partitions(graph, {group.target.name}, units=units) == (tuple(node.name for node in group.nodes),)
