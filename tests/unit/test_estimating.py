"""How long a run takes on a provider, as far as a graph tells: worked out by hand from the numbers of each provider.

The models below have the MACs of real ones by kind of layer, in millions (`packager.graph.work.layers` of their files).
"""

import math
from typing import Any

import numpy
import pytest

from packager.core.cost import Cost, Estimate, LayerCost, LayerKind, Rates
from packager.graph.view import Graph
from packager.graph.work import layers
from packager.models.graphs import read_graph
from packager.providers.coreml import Coreml
from packager.providers.xnnpack import Xnnpack
from packager.verification.partition.estimating import estimated
from tests.cases.onnx_text import onnx_model


def view(graph: str, **weights: tuple[int, ...]) -> Graph:
    arrays: Any = {name: numpy.zeros(shape, numpy.float32) for name, shape in weights.items()}
    return read_graph(onnx_model(graph, weights=arrays).SerializeToString())


def every(graph: Graph, cost: Cost, pieces: int = 1) -> Estimate:
    """The estimate for a provider that takes all of `graph`."""
    names = [node.name for node in graph.nodes]
    size = math.ceil(len(names) / pieces)
    return estimated(graph, [names[at : at + size] for at in range(0, len(names), size)], cost)


def test_convolutions_have_kinds() -> None:
    for kernel, group, kind, outputs in [
        ((32, 1, 3, 3), 32, LayerKind.DEPTHWISE, 1),
        ((64, 1, 3, 3), 32, LayerKind.DEPTHWISE, 2),
        ((32, 3, 3, 3), 1, LayerKind.STEM, 32),
        ((64, 32, 1, 1), 1, LayerKind.POINTWISE, 64),
        ((64, 32, 3, 3), 1, LayerKind.DENSE, 64),
        ((1, 32, 3, 3), 1, LayerKind.NARROW, 1),
        ((8, 3, 3, 3), 1, LayerKind.NARROW, 8),
        ((32, 16, 3, 3), 2, LayerKind.DENSE, 16),
    ]:
        pads = "1,1,1,1" if kernel[2] == 3 else "0,0,0,0"
        graph = view(
            f"(float[1,{kernel[1] * group},8,8] x) => (float[1,{kernel[0]},8,8] y) "
            f"{{ [conv] y = Conv <group = {group}, pads = [{pads}]> (x, w) }}",
            w=kernel,
        )
        assert layers(graph) == {"conv": (LayerCost(kind=kind, macs=64 * math.prod(kernel), outputs=outputs),)}


def test_branches_borders_and_batches_count_once() -> None:
    graph = """(bool c, float[2,3] x) => (float[2,5] y) {
        [choice] y = If (c) <
            then_branch = t () => (float[2,5] a) { [inner] a = MatMul (x, w) },
            else_branch = e () => (float[2,5] b) { [other] b = MatMul (x, w) }
        >
    }"""
    assert layers(view(graph, w=(3, 5))) == {"choice": (LayerCost(kind=LayerKind.PRODUCT, macs=30),) * 2}
    built = view("(float[1,4,8,8] x) => (float[1,4,8,8] y) { [a] a = Relu (x) [b] b = Sin (a) [c] y = Add (b, a) }")
    cost = Cost(cpu=Rates.even(1), own=Rates.even(1), copy_gb_s=1, most=1, needs_sizes=False)
    assert estimated(built, [["a"], ["c"]], cost).copies_ms == pytest.approx(5 * 1024 / 1e6)
    assert estimated(built, [["a", "b", "c"]], cost).copies_ms == pytest.approx(2 * 1024 / 1e6)
    cost = Cost(cpu=Rates.even(1), own=Rates.even(1), copy_gb_s=1, most=1, needs_sizes=False)
    built = view("(float[2,3] x) => (float[2,500] y) { [a] y = MatMul (x, w) }", w=(3, 500))
    assert estimated(built, [["a"]], cost).copies_ms == pytest.approx(4 * (6 + 1000) / 1e6)
    for shape, value in [("2,8", ""), ("batch,8", ""), ("2,length,8", "x"), ("batch,length,8", "x")]:
        built = view(f"(float[{shape}] x) => (float[{shape}] y) {{ [a] y = MatMul (x, w) }}", w=(8, 8))
        cost = Cost(cpu=Rates.even(1e6), own=Rates.even(1), most=1, needs_sizes=True)
        found = estimated(built, [["a"]], cost)
        rows = 2 if shape.startswith("2") else 1
        assert found.open_value == value
        assert found.cpu_ms == pytest.approx(rows * 64 * 1e-3)
        assert estimated(built, [], cost).open_value == ""


def plain(*, size: int, depth: int) -> Graph:
    """A plain convolutional net: 64 channels, 37 k MACs for each place and layer."""
    step = "[c{0}] a{0} = Conv <pads = [1,1,1,1]> (r{1}, w) [r{0}] r{0} = Relu (a{0})"
    steps = " ".join(step.format(number, number - 1) for number in range(1, depth)).replace("(r0,", "(x,")
    graph = f"(float[1,64,{size},{size}] x) => (float[1,64,{size},{size}] r{depth - 1}) {{ {steps} }}"
    return view(graph, w=(64, 64, 3, 3))


def test_a_call_costs_the_same_whatever_it_computes() -> None:
    """9 layers of 36,864 MACs at each place: at 16 x 16 places 85 million, at 32 x 32 340 million."""
    cost = Coreml.COST
    assert cost
    small, large = every(plain(size=16, depth=10), cost), every(plain(size=32, depth=10), cost)
    assert small.cpu_ms == pytest.approx(9 * 256 * 36_864 / 100e6)
    assert small.own_ms == pytest.approx(9 * 256 * 36_864 / 270e6, rel=0.01)
    assert (small.calls_ms, large.calls_ms) == (0.5, 0.5)
    assert large.copies_ms == pytest.approx(2 * 4 * 64 * 1024 / 5e6)
    assert small.provider_ms > cost.most * small.cpu_ms
    assert large.provider_ms < cost.most * large.cpu_ms
    assert every(plain(size=32, depth=10), cost, pieces=3).calls_ms == 1.5


def test_what_a_provider_leaves_takes_the_time_of_the_cpu() -> None:
    graph = plain(size=16, depth=3)
    cost = Xnnpack.COST
    assert cost
    found = estimated(graph, [["c1", "r1"]], cost)
    assert found.rest_ms == pytest.approx(256 * 36_864 * 46e-9)
    assert found.provider_ms == pytest.approx(256 * 36_864 * (46 + 50) * 1e-9)
    assert (found.calls_ms, found.copies_ms) == (0, 0)
    assert found.slower is LayerKind.DENSE
    assert found.slower_ms == pytest.approx(256 * 36_864 * 50e-9)
