"""The NNAPI rules, compared with ONNX Runtime's own NNAPI provider in its Android library."""

import onnx
import pytest
from onnxruntime.tools.mobile_helpers import usability_checker

from packager.graph.view import Graph
from packager.models.graphs import read_graph
from packager.models.shapes import infer_shapes
from packager.verification.partition.groups import partitions
from packager.verification.partition.nnapi import DOES_NOT_LOAD
from packager.verification.partition.node_units import node_units
from tests.cases.nnapi_cases import CONTRIBUTED, FATAL, QUANTIZED, SINGLE, Case, case
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


def checker_takes(model: onnx.ModelProto) -> int:
    """Nodes that `onnxruntime.tools.check_onnx_model_mobile_usability` counts for NNAPI."""
    return int(usability_checker.check_nnapi_partitions(infer_shapes(model), True).num_supported_nodes)


@pytest.mark.parametrize(
    "body", ["Conv (x, w_1d)", "MatMul (x, v)", "Clip (x, zero, one)", "Max (x, six, zero)", "Cast <to = 1> (x)"]
)
def test_the_rules_see_what_the_checker_of_operator_names_does_not(body: str) -> None:
    """The provider leaves them as well, as the tests above show."""
    each = next(each for each in SINGLE if body in each.graph and each.why and each.level == 31)
    assert checker_takes(each.model()) == 1
    [why] = prediction(each).left.values()
    assert each.why in why


@pytest.mark.parametrize(
    "body", ["com.microsoft.QLinearMul", 'Resize <mode = "linear"> (x, , twice)'], ids=["unheard of", "input left out"]
)
def test_the_rules_take_what_the_checker_refuses(body: str) -> None:
    """It does not know the one operator, and takes the omitted input of the other for one of unknown shape."""
    each = next(each for each in (*SINGLE, *CONTRIBUTED) if body in each.graph and not each.why)
    assert checker_takes(each.model()) == 0
    assert prediction(each).left == {}


def test_the_checker_is_wrong_about_a_third_of_the_small_models() -> None:
    # It knows no feature levels, and a Transpose without perm ends it with an IndexError.
    asked = [each for each in CASES if each.level == 31 and "Transpose (" not in each.graph]
    wrong = [
        each.graph
        for each in asked
        if checker_takes(each.model()) != len(each.model().graph.node) - len(prediction(each).left)
    ]
    assert len(wrong) > len(asked) / 3


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
