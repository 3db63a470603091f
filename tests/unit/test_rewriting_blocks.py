"""Matrices in blocks: the layout of MatMulNBits, in chunks of any size, and of GatherBlockQuantized."""

from typing import Any, Literal

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packager.core.errors import ModelError
from packager.graph.rewriting.stripes import Stripes
from packager.graph.weights.reading import Weight
from packager.quantizers.weight_only import WeightOnly
from tests.cases.onnx_text import onnx_model
from tests.cases.rewriting_cases import Array, outcome, run, samples_for, weight
from tests.nights import examples


def weight_of(array: Array) -> Weight:
    return Weight(name="w", element="FLOAT", shape=array.shape, content=numpy.ascontiguousarray(array).tobytes())


def expected(matrix: Array, bits: Literal[4, 8], block: int) -> tuple[Array, Array]:
    """Column by column, block by block, by the formula: (q - middle) * scale, the scale from the largest number."""
    rows, columns = matrix.shape
    blocks = -(-rows // block)
    middle, most = 1 << (bits - 1), (1 << bits) - 1
    integers = numpy.full((columns, blocks, block), middle, numpy.uint8)
    scales = numpy.ones((columns, blocks), numpy.float32)
    for column in range(columns):
        for index in range(blocks):
            part = matrix[index * block : (index + 1) * block, column]
            size = float(numpy.abs(part).max())
            scales[column, index] = numpy.float32(2 * size / most) if size else 1
            rounded = numpy.rint(part / scales[column, index]) + middle
            integers[column, index, : len(part)] = numpy.clip(rounded, 0, most)
    return (integers[..., 0::2] | integers[..., 1::2] << 4 if bits == 4 else integers), scales


@settings(max_examples=examples(40), derandomize=True, deadline=None, database=None)
@given(
    rows=st.integers(1, 70),
    columns=st.integers(1, 9),
    bits=st.sampled_from([4, 8]),
    block=st.sampled_from([16, 32]),
    is_transposed=st.booleans(),
    chunk=st.sampled_from([1, 100, 1 << 18]),
    stripe_bytes=st.sampled_from([1, 64, 1 << 20]),
    threads=st.sampled_from([1, 3]),
)
def test_pieces_of_any_size_give_the_layout_of_matmulnbits(
    rows: int, columns: int, bits: Any, block: int, is_transposed: bool, chunk: int, stripe_bytes: int, threads: int
) -> None:
    matrix = weight(rows, columns, seed=rows)
    matrix[: rows // 2, 0] = 0
    stripes = Stripes(
        weight=weight_of(matrix.T if is_transposed else matrix),
        bits=bits,
        block_size=block,
        is_transposed=is_transposed,
        threads=threads,
        chunk=chunk,
        stripe_bytes=stripe_bytes,
    )
    found = list(stripes)
    integers, scales = expected(matrix, bits, block)
    assert [each.columns.start for each in found] == sorted(each.columns.start for each in found)
    assert numpy.array_equal(numpy.concatenate([each.integers for each in found]), integers)
    assert numpy.array_equal(numpy.concatenate([each.scales for each in found]), scales)


@pytest.mark.parametrize("is_transposed", [True, False])
def test_a_matrix_that_is_not_finite_is_refused_by_name(is_transposed: bool) -> None:
    matrix = weight(16, 16)
    matrix[7, 3] = numpy.nan
    stripes = Stripes(weight=weight_of(matrix), bits=4, block_size=16, is_transposed=is_transposed)
    with pytest.raises(ModelError, match="'w'"):
        list(stripes)


@pytest.mark.parametrize(("bits", "least"), [(4, 15), (8, 35)])
@pytest.mark.parametrize("block", [16, 256])
@pytest.mark.parametrize("rows", [5, 16, 37])
def test_any_number_of_rows_runs(rows: int, block: Any, bits: Any, least: float) -> None:
    """The last block of a column may be short, or the only one."""
    model = onnx_model(
        f"(float[4,{rows}] x) => (float[4,{rows}] y) {{ a = MatMul (x, w) y = Gemm <transB = 1> (a, v, b) }}",
        weights={"w": weight(rows, 21) / 4, "v": weight(rows, 21, seed=1) / 4, "b": weight(rows)},
    )
    samples = samples_for(model)
    made = outcome(model, WeightOnly(bits=bits, block_size=block), samples)
    assert made.operators == ["MatMulNBits", "MatMulNBits"]
    assert made.decibels(samples[0]) > least


def test_a_weight_taken_both_ways_is_there_both_ways() -> None:
    model = onnx_model(
        """(float[4,16] x) => (float[4,16] y) {
            a = MatMul (x, w) b = Gemm <transB = 1> (a, w) c = MatMul (b, w) y = Add (c, w0)
        }""",
        weights={"w": weight(16, 16) / 4, "w0": weight(16)},
    )
    samples = samples_for(model)
    made = outcome(model, WeightOnly(bits=8), samples)
    assert made.decibels(samples[0]) > 35
    weights = [node.input[1] for node in made.model.graph.node if node.op_type == "MatMulNBits"]
    assert weights[0] == weights[2] != weights[1]


@pytest.mark.parametrize(
    ("columns", "bits", "is_made"), [(33, 8, True), (33, 4, False), (70, 4, True), (70, 8, True), (8, 4, False)]
)
def test_tables_are_made_smaller_where_rows_lie_in_whole_bytes(columns: int, bits: Any, is_made: bool) -> None:
    rows = 20 if columns == 8 else 100  # 640 bytes are too few to bother
    model = onnx_model(
        f"(int64[1,4] i, float[4,16] x) => (float[1,4,{columns}] y, float[4,16] z) {{"
        " y = Gather (e, i) z = MatMul (x, w) }",
        weights={"e": weight(rows, columns), "w": weight(16, 16)},
    )
    samples = samples_for(model)
    made = outcome(model, WeightOnly(bits=bits), samples)
    assert ("GatherBlockQuantized" in made.operators) is is_made
    assert made.reasons == ({"y": "its rows have an odd number of columns"} if (columns, bits) == (33, 4) else {})
    table, inputs = weight(rows, columns), {**samples[0], "i": numpy.array([[0, rows - 1, 3, 3]])}
    error = numpy.abs(run(made.model, inputs)["y"] - table[inputs["i"]])
    assert float(error.max()) <= float(numpy.abs(table).max()) / (7.5 if bits == 4 else 127.5) * 0.51
