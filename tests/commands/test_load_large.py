"""Models that would take for ever to process, and very large ones that must not."""

import itertools
from pathlib import Path

import numpy
import onnx
import onnx.parser
import pytest

from packager import models
from packager.core.errors import ModelError
from packager.graph import traversal
from packager.graph.rewriting.order import sort_nodes
from packager.models import propagation, shapes
from packager.models.functions import LIMIT
from tests.cases.onnx_text import onnx_model, saved

ACME = {"": 17, "acme": 1}


def tower(levels: int, calls: int) -> onnx.ModelProto:
    """Functions, each of which calls the one before `calls` times."""
    lines = ['<domain: "acme", opset_import: ["" : 17, "acme" : 1]> F0 (x) => (y) { y = Relu (x) }']
    for level in range(1, levels):
        names = ["x", *(f"v{number}" for number in range(1, calls)), "y"]
        body = " ".join(f"{after} = acme.F{level - 1} ({before})" for before, after in itertools.pairwise(names))
        lines.append(f'<domain: "acme", opset_import: ["" : 17, "acme" : 1]> F{level} (x) => (y) {{ {body} }}')
    graph = f"(float[2] x) => (float[2] y) {{ y = acme.F{levels - 1} (x) }}"
    return onnx_model(graph, opsets=ACME, functions=" ".join(lines))


def test_functions_that_stand_for_too_many_nodes_or_themselves_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.onnx", tower(12, 10))
    with pytest.raises(ModelError, match="its functions expand to 211,111,111,110 nodes") as error:
        models.load(path, "m")
    assert error.value.EXIT_CODE == 3
    loaded = models.load(saved(tmp_path / "m.onnx", tower(4, 5)), "m")
    assert dict(loaded.operators) == {"Relu": 1}
    model = tower(3, 2)
    model.functions[0].node[0].op_type, model.functions[0].node[0].domain = "F2", "acme"
    with pytest.raises(ModelError, match="a function in it calls itself: F"):
        models.load(saved(tmp_path / "m.onnx", model), "m")


def test_calls_in_branches_count_and_so_do_functions_of_functions(tmp_path: Path) -> None:
    model = tower(5, 10)
    graph = onnx_model(
        """(bool c, float[2] x) => (float[2] y) { y = If (c) <
          then_branch = a () => (float[2] t) { t = acme.F4 (x) }, else_branch = b () => (float[2] e) { e = Relu (x) }
        > }""",
        opsets=ACME,
    )
    branch = graph.graph.node[0].attribute[0].g
    for _ in range(LIMIT // 10_000):
        branch.node.add().CopyFrom(branch.node[0])
    model.graph.CopyFrom(graph.graph)
    with pytest.raises(ModelError, match="its functions expand to"):
        models.load(saved(tmp_path / "m.onnx", model), "m")


def chain(length: int) -> onnx.ModelProto:
    model = onnx_model(f"(float[2] x0) => (float[2] x{length}) {{ x1 = Relu (x0) }}")
    for number in range(1, length):
        model.graph.node.add(op_type="Neg", input=[f"x{number}"], output=[f"x{number + 1}"])
    return model


def test_a_model_of_many_nodes_says_so_before_it_is_read(tmp_path: Path) -> None:
    said: list[str] = []
    path = saved(tmp_path / "m.onnx", chain(100_001))
    loaded = models.load(path, "m", announce=said.append)
    assert said == ["m.onnx has 100,001 nodes: reading and converting them takes a while"]
    assert sum(loaded.operators.values()) == 100_001
    models.load(saved(tmp_path / "s.onnx", chain(100)), "s", announce=said.append)
    assert len(said) == 1


@pytest.mark.parametrize("order", ["sorted", "reversed", "own output", "used before"])
def test_nodes_in_order_are_left_alone_and_others_are_sorted(order: str) -> None:
    model = chain(50)
    nodes = list(model.graph.node)
    if order == "reversed":
        nodes.reverse()
    elif order == "used before":
        nodes.append(nodes.pop(10))
    elif order == "own output":
        nodes[3].input[0] = nodes[3].output[0]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    sort_nodes(model)
    outputs = [node.output[0] for node in model.graph.node]
    assert outputs == [f"x{number}" for number in range(1, 51)]


def test_the_walk_asks_nodes_without_attributes_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    subgraphs = traversal.subgraphs

    def counted(node: onnx.NodeProto) -> object:
        asked.append(node.op_type)
        return subgraphs(node)

    monkeypatch.setattr(traversal, "subgraphs", counted)
    model = chain(20)
    assert len(list(traversal.all_nodes(model))) == 20
    assert len(list(traversal.all_graphs(model))) == 1
    assert asked == []


def doubled(times: int) -> onnx.ModelProto:
    """A shape of 2^times numbers."""
    chain = " ".join(f"s{number + 1} = Concat <axis = 0> (s{number}, s{number})" for number in range(times))
    return onnx_model(f"(float[1, 4] x) => (float[?] y) {{ s0 = Shape (x) {chain} y = Reshape (x, s{times}) }}")


def called(times: int) -> onnx.ModelProto:
    """The same in functions that call each other."""
    domains = '<domain: "acme", opset_import: ["" : 17, "acme" : 1]>'
    bodies = ["v = Concat <axis = 0> (a, a) r = Identity (v)"]
    bodies += [f"v = acme.F{number} (a) r = acme.F{number} (v)" for number in range(times)]
    functions = " ".join(f"{domains} F{number} (a) => (r) {{ {body} }}" for number, body in enumerate(bodies))
    main = f"g (float[1, 4] x) => (float[N] y) {{ s = Shape (x) t = acme.F{times} (s) y = Reshape (x, t) }}"
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> {main} {functions}')


@pytest.mark.parametrize("model", [doubled(40), called(6)], ids=["in a chain", "in functions"])
def test_a_shape_of_all_numbers_that_fit_into_memory_is_not_followed(model: onnx.ModelProto) -> None:
    assert not propagation.is_bounded(model)
    assert [each.name for each in shapes.infer_shapes(model).graph.output] == ["y"]


def test_shapes_that_models_compute_are_followed() -> None:
    for model in (doubled(4), called(1)):
        assert propagation.is_bounded(model)
    flat = onnx_model(
        """(float[2, 3] x) => (float[?] y) {
            s = Shape (x) p = Gather (s, zero) q = Gather (s, one) n = Mul (p, q) y = Reshape (x, n)
        }""",
        weights={"zero": numpy.array([0]), "one": numpy.array([1])},
    )
    assert [each.dim_value for each in shapes.infer_shapes(flat).graph.output[0].type.tensor_type.shape.dim] == [6]
