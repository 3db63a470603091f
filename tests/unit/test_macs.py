"""How much work a node is, against numbers worked out by hand from the definitions of the operators.

A convolution does kernel height x kernel width x input channels of its group for every number it makes; a product of
matrices [m, k] and [k, n] does m x k x n; a recurrence does the products with its input and its state weights at
every step.
"""

from collections.abc import Mapping
from typing import Any

import numpy
import pytest

from packager.graph.macs import macs
from packager.models.graphs import read_graph
from tests.cases.onnx_text import onnx_model

OPSETS = {"": 17, "com.microsoft": 1}


def work(graph: str, **weights: tuple[int, ...] | Any) -> Mapping[str, int]:
    """MACs of a graph whose weights have these shapes."""
    arrays = {
        name: numpy.zeros(shape, numpy.float32) if isinstance(shape, tuple) else shape
        for name, shape in weights.items()
    }
    return macs(read_graph(onnx_model(graph, weights=arrays, opsets=OPSETS).SerializeToString()))


def test_convolutions_do_their_kernel_for_every_number() -> None:
    for attributes, kernel, output, count in [
        # 8 channels of 6 x 6 without padding, 3 x 3 x 4 numbers for each
        ("", (8, 4, 3, 3), "1,8,6,6", 8 * 6 * 6 * 3 * 3 * 4),
        ("pads = [1,1,1,1]", (8, 4, 3, 3), "1,8,8,8", 8 * 8 * 8 * 3 * 3 * 4),
        # a stride of 2 makes a quarter of the outputs
        ("pads = [1,1,1,1], strides = [2,2]", (8, 4, 3, 3), "1,8,4,4", 8 * 4 * 4 * 3 * 3 * 4),
        # two groups: each output sees half of the channels
        ("group = 2, pads = [1,1,1,1]", (8, 2, 3, 3), "1,8,8,8", 8 * 8 * 8 * 3 * 3 * 2),
        # depthwise: each output sees one channel
        ("group = 4, pads = [1,1,1,1]", (4, 1, 3, 3), "1,4,8,8", 4 * 8 * 8 * 3 * 3),
        # dilation changes where it looks, not how often
        ("dilations = [2,2], pads = [2,2,2,2]", (8, 4, 3, 3), "1,8,8,8", 8 * 8 * 8 * 3 * 3 * 4),
        ("", (16, 4, 1, 1), "1,16,8,8", 16 * 8 * 8 * 4),
    ]:
        graph = f"(float[1,4,8,8] x) => (float[{output}] y) {{ [conv] y = Conv <{attributes}> (x, w) }}"
        assert work(graph.replace("<>", ""), w=kernel) == {"conv": count}
    graph = "(float[5,4,8,8] x) => (float[5,8,6,6] y) { [conv] y = Conv (x, w) }"
    assert work(graph, w=(8, 4, 3, 3)) == {"conv": 5 * 8 * 6 * 6 * 3 * 3 * 4}
    line = "(float[1,4,16] x) => (float[1,8,14] y) { [conv] y = Conv (x, w) }"
    space = "(float[1,2,5,5,5] x) => (float[1,3,4,4,4] y) { [conv] y = Conv (x, w) }"
    assert work(line, w=(8, 4, 3)) == {"conv": 8 * 14 * 3 * 4}
    assert work(space, w=(3, 2, 2, 2, 2)) == {"conv": 3 * 4**3 * 2**3 * 2}
    graph = "(float[1,4,8,8] x) => (float[1,6,17,17] y) { [up] y = ConvTranspose <strides = [2,2]> (x, w) }"
    assert work(graph, w=(4, 6, 3, 3)) == {"up": 4 * 8 * 8 * 6 * 3 * 3}


def test_matrix_products_sum_over_the_inner_dimension() -> None:
    for left, right, output, count in [
        ("2,3", (3, 5), "2,5", 2 * 3 * 5),
        ("7,2,3", (3, 5), "7,2,5", 7 * 2 * 3 * 5),
        ("4,7,2,3", (4, 7, 3, 5), "4,7,2,5", 4 * 7 * 2 * 3 * 5),
        # one operand is the same for the whole batch of the other
        ("1,7,2,3", (4, 1, 3, 5), "4,7,2,5", 4 * 7 * 2 * 3 * 5),
        ("3", (3, 5), "5", 3 * 5),
        ("2,3", (3,), "2", 2 * 3),
        ("3", (3,), "", 3),
    ]:
        shape = f"[{output}]" if output else ""
        graph = f"(float[{left}] x) => (float{shape} y) {{ [product] y = MatMul (x, w) }}"
        assert work(graph, w=right) == {"product": count}
    for attributes, left, right in [
        ("alpha = 1.0", "2,3", (3, 5)),
        ("transA = 1", "3,2", (3, 5)),
        ("transB = 1", "2,3", (5, 3)),
        ("transA = 1, transB = 1", "3,2", (5, 3)),
    ]:
        graph = f"(float[{left}] x) => (float[2,5] y) {{ [gemm] y = Gemm <{attributes}> (x, w, b) }}"
        assert work(graph, w=right, b=(5,)) == {"gemm": 2 * 3 * 5}
    convolution = """(uint8[1,4,8,8] x, float s, uint8 z) => (uint8[1,8,6,6] y) {
        [conv] y = QLinearConv (x, s, z, w, s, z, s, z)
    }"""
    product = """(uint8[2,3] x, float s, uint8 z) => (uint8[2,5] y) {
        [product] y = QLinearMatMul (x, s, z, w, s, z, s, z)
    }"""
    integer = "(uint8[2,3] x) => (int32[2,5] y) { [product] y = MatMulInteger (x, w) }"
    assert work(convolution, w=numpy.zeros((8, 4, 3, 3), numpy.uint8)) == {"conv": 8 * 6 * 6 * 3 * 3 * 4}
    assert work(product, w=numpy.zeros((3, 5), numpy.uint8)) == {"product": 2 * 3 * 5}
    assert work(integer, w=numpy.zeros((3, 5), numpy.uint8)) == {"product": 2 * 3 * 5}
    graph = """(float[2,7,64] x, uint8[16,2,16] w, float[32] s) => (float[2,7,16] y) {
        [packed] y = com.microsoft.MatMulNBits <K = 64, N = 16, bits = 4, block_size = 32> (x, w, s)
    }"""
    assert work(graph) == {"packed": 2 * 7 * 64 * 16}


def test_recurrences_and_attention_count_all_they_multiply() -> None:
    for operator, gates in [("LSTM", 4), ("GRU", 3), ("RNN", 1)]:
        for directions in [1, 2]:
            steps, batch, inputs, hidden = 5, 2, 3, 4
            direction = "bidirectional" if directions == 2 else "forward"
            graph = f"""(float[{steps},{batch},{inputs}] x) => (float[{steps},{directions},{batch},{hidden}] y) {{
        [recurrent] y = {operator} <hidden_size = {hidden}, direction = "{direction}"> (x, w, r)
    }}"""
            found = work(graph, w=(directions, gates * hidden, inputs), r=(directions, gates * hidden, hidden))
            assert found == {"recurrent": steps * batch * directions * gates * hidden * (inputs + hidden)}
    batch, length, hidden = 2, 7, 8
    graph = f"""(float[{batch},{length},{hidden}] x) => (float[{batch},{length},{hidden}] y) {{
        [attention] y = com.microsoft.Attention <num_heads = 2> (x, w, b)
    }}"""
    expected = batch * length * hidden * 3 * hidden + 2 * batch * length * length * hidden
    assert work(graph, w=(hidden, 3 * hidden), b=(3 * hidden,)) == {"attention": expected}


def test_what_nobody_knows_counts_as_little() -> None:
    graph = "(float[2,3] x) => (float[2,5] y) { a = Relu (x) [product] m = MatMul (a, w) y = Sigmoid (m) }"
    assert work(graph, w=(3, 5)) == {"product": 2 * 3 * 5}
    assert work("(float[2] x) => (float[2] y) { y = Relu (x) }") == {}
    convolution = "(float[batch,4,8,8] x) => (float[batch,8,6,6] y) { [conv] y = Conv (x, w) }"
    product = "(float[batch,length,3] x) => (float[batch,length,5] y) { [product] y = MatMul (x, w) }"
    assert work(convolution, w=(8, 4, 3, 3)) == {"conv": 8 * 6 * 6 * 3 * 3 * 4}
    assert work(product, w=(3, 5)) == {"product": 3 * 5}
    product = "(float[2,?] x) => (float[2,5] y) { [product] y = MatMul (x, w) }"
    transposed = "(float[2,?] x) => (float[2,5] y) { [product] y = Gemm <transB = 1> (x, w) }"
    assert work(product, w=(3, 5)) == {"product": 2 * 3 * 5}
    assert work(transposed, w=(5, 3)) == {"product": 2 * 3 * 5}
    graph = "(float[] x, float[] w) => (float[] y, float[] z) { y = MatMul (x, w) z = Conv (x, w) }"
    assert work(graph) == {}


def test_the_share_of_a_node_does_not_depend_on_a_batch_that_nobody_knows() -> None:
    graph = """(float[SIZE,16] x) => (float[SIZE,8] z) {
        [one] y = MatMul (x, w)
        [two] z = MatMul (y, v)
    }"""
    shares = []
    for size in ("batch", "32"):
        found = work(graph.replace("SIZE", size), w=(16, 64), v=(64, 8))
        shares.append(found["one"] / sum(found.values()))
    assert shares == [pytest.approx(16 * 64 / (16 * 64 + 64 * 8))] * 2


def test_branches_count_for_the_node_that_has_them() -> None:
    graph = """(bool c, float[2,3] x) => (float[2,5] y) {
        [choice] y = If (c) <
            then_branch = t () => (float[2,5] a) { [inner] a = MatMul (x, w) },
            else_branch = e () => (float[2,5] b) { [other] b = MatMul (x, w) }
        >
    }"""
    assert work(graph, w=(3, 5)) == {"choice": 2 * (2 * 3 * 5)}
