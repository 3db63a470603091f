"""Streamed weights equal numpy's, whatever the chunks and the threads."""

import tracemalloc
from pathlib import Path
from typing import Any, cast

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper
from onnxruntime.quantization import quant_utils

from packager.core.errors import ModelError
from packager.graph.weights.groups import Groups, per_block, per_channel, per_tensor
from packager.graph.weights.half import Halves
from packager.graph.weights.places import Place, refer
from packager.graph.weights.quantizing import dequantized, quantized, weight_parameters
from packager.graph.weights.reading import Weight, read_weight
from packager.graph.weights.rounding import LIMITS, PACKED, Element, Parameters, pack, storage, unpack
from tests.cases.onnx_text import weight
from tests.nights import examples

Array = NDArray[Any]
FORMATS: list[tuple[Element, bool]] = [("int8", True), ("uint8", False), ("int4", True), ("uint4", False)]
QUICK = settings(max_examples=examples(40), deadline=None)
TENSORS = arrays.arrays(
    numpy.float32, arrays.array_shapes(max_dims=4, max_side=9), elements=st.floats(-1e4, 1e4, width=32)
)


def inside(array: Array) -> Weight:
    return read_weight(numpy_helper.from_array(numpy.ascontiguousarray(array), "w"), Path())


def ways(shape: tuple[int, ...]) -> list[Groups]:
    """Every way to group the numbers of a tensor of that shape."""
    axes = range(-len(shape), len(shape))
    blocks = [per_block(shape, axis, size) for axis in axes for size in (1, 3, 32)]
    return [per_tensor(shape), *(per_channel(shape, axis) for axis in axes), *blocks]


def some_way(data: st.DataObject, array: Array) -> Groups:
    return data.draw(st.sampled_from(ways(array.shape)), "groups")


def streamed(array: Array, groups: Groups, way: tuple[Element, bool], **keys: int) -> tuple[Parameters, bytes]:
    element, is_symmetric = way
    parameters = weight_parameters(inside(array), groups, element, is_symmetric=is_symmetric, **keys)
    return parameters, b"".join(quantized(inside(array), groups, parameters, **keys))


def integers(content: bytes, array: Array, element: Element) -> Array:
    if element in PACKED:
        return unpack(content, array.size, element).reshape(array.shape)
    return numpy.frombuffer(content, storage(element)).reshape(array.shape)


def spread(values: Array, groups: Groups, shape: tuple[int, ...]) -> Array:
    """The scale's entry for every number of a tensor: by its index, one at a time."""
    cube = values.reshape(groups.scales)
    return numpy.array(
        [
            cube[(o, k // groups.block_size, i) if groups.block_size else (0, k, 0)]
            for o, k, i in numpy.ndindex(groups.shape)
        ]
    ).reshape(shape)


@QUICK
@given(TENSORS, st.data(), st.sampled_from(FORMATS), st.integers(1, 50))
def test_any_pieces_and_threads_give_the_bytes_of_plain_numpy(
    array: Array, data: st.DataObject, way: tuple[Element, bool], chunk: int
) -> None:
    groups = some_way(data, array)
    parameters, content = streamed(array, groups, way, chunk=chunk)
    element = way[0]
    scale, zero = (spread(each, groups, array.shape) for each in (parameters.scale, parameters.zero_point))
    plain = numpy.clip(numpy.rint(array / scale) + zero, *LIMITS[element]).astype(storage(element))
    assert content == (pack(plain) if element in PACKED else plain.tobytes())
    assert content == streamed(array, groups, way)[1]


@settings(max_examples=examples(15), deadline=None)
@given(TENSORS, st.data(), st.sampled_from(FORMATS))
def test_four_threads_give_what_one_gives(array: Array, data: st.DataObject, way: tuple[Element, bool]) -> None:
    groups = some_way(data, array)
    (one, content), (four, same) = (streamed(array, groups, way, chunk=7, threads=threads) for threads in (1, 4))
    assert content == same
    assert numpy.array_equal(one.scale, four.scale)
    assert numpy.array_equal(one.zero_point, four.zero_point)


@QUICK
@given(TENSORS, st.data(), st.sampled_from(FORMATS))
def test_numbers_come_back_within_half_a_step(array: Array, data: st.DataObject, way: tuple[Element, bool]) -> None:
    groups = some_way(data, array)
    parameters, content = streamed(array, groups, way)
    back = dequantized(integers(content, array, way[0]), groups, parameters)
    step = spread(parameters.scale, groups, array.shape).astype(numpy.float64)
    assert (numpy.abs(back.astype(numpy.float64) - array) <= step * (0.5 + 1e-4)).all()


@QUICK
@given(TENSORS, st.data(), st.sampled_from(FORMATS))
def test_channels_are_quantized_as_own_tensors(array: Array, data: st.DataObject, way: tuple[Element, bool]) -> None:
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1), "axis")
    parameters, content = streamed(array, per_channel(array.shape, axis), way)
    found = integers(content, array, way[0])
    for index in range(array.shape[axis]):
        channel = array.take(index, axis)
        own, alone = streamed(channel, per_tensor(channel.shape), way)
        assert (parameters.scale[index], parameters.zero_point[index]) == (own.scale, own.zero_point)
        assert numpy.array_equal(found.take(index, axis), integers(alone, channel, way[0]))


def test_blocks_are_those_of_onnxruntime() -> None:
    for way in FORMATS:
        for axis in [0, 1]:
            for size in [32, 128]:
                array = weight(100, 70)
                kind = cast("TensorProto.DataType", TensorProto.DataType.Value(way[0].upper()))
                zero_point, scale = quant_utils.compute_scale_zp_blocked(array, kind, axis, size, way[1])
                parameters, content = streamed(array, per_block(array.shape, axis, size), way)
                assert numpy.allclose(parameters.scale, scale, rtol=1e-6, atol=0)  # they subtract in float32
                assert numpy.array_equal(parameters.zero_point, zero_point.astype(numpy.int64))
                theirs = quant_utils.quantize_onnx_initializer(
                    numpy_helper.from_array(array, "w"), kind, zero_point, parameters.scale, axis=axis, block_size=size
                )
                assert content == theirs.raw_data


def test_a_channel_of_zeros_has_scale_1_and_stays_zero() -> None:
    array = numpy.stack([numpy.zeros(5, numpy.float32), numpy.ones(5, numpy.float32)])
    for way in FORMATS:
        parameters, content = streamed(array, per_channel(array.shape, 0), way)
        assert parameters.scale[0] == 1.0
        back = dequantized(integers(content, array, way[0]), per_channel(array.shape, 0), parameters)
        assert (back[0] == 0).all()


def test_what_is_outside_the_range_saturates() -> None:
    array = numpy.array([-1e30, -2.0, 0.5, 1.5, 2.5, 3e38], numpy.float32)
    given_by_hand = Parameters(numpy.ones((), numpy.float32), numpy.zeros((), numpy.int8), "int8")
    content = b"".join(quantized(inside(array), per_tensor(array.shape), given_by_hand))
    assert numpy.frombuffer(content, numpy.int8).tolist() == [-128, -2, 0, 2, 2, 127]  # half to even


@pytest.mark.parametrize("bad", [numpy.nan, numpy.inf, -numpy.inf])
def test_a_weight_that_is_not_finite_is_named(bad: float) -> None:
    array = weight(8, 70).copy()
    array[3, 65] = bad
    for groups in ways(array.shape):
        with pytest.raises(ModelError, match="tensor 'w' has values that are not finite"):
            streamed(array, groups, ("int8", True), chunk=100)
    given_by_hand = Parameters(numpy.ones((), numpy.float32), numpy.zeros((), numpy.int8), "int8")
    if numpy.isnan(bad):
        with pytest.raises(ModelError, match="tensor 'w' has values that are not finite"):
            b"".join(quantized(inside(array), per_tensor(array.shape), given_by_hand))


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0,)])
def test_a_tensor_without_numbers_becomes_no_bytes(shape: tuple[int, ...]) -> None:
    for groups in ways(shape):
        for way in FORMATS:
            parameters, content = streamed(numpy.zeros(shape, numpy.float32), groups, way)
            assert content == b""
            assert parameters.scale.shape == groups.parameter_shape


def test_memory_does_not_grow_with_the_weight(tmp_path: Path) -> None:
    numbers = 8_000_000
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[numbers // 100, 100])
    with (tmp_path / "w.data").open("wb") as file:
        file.truncate(4 * numbers)
    refer(tensor, Place(tmp_path / "w.data", 0, 4 * numbers))
    large = read_weight(tensor, tmp_path)
    tracemalloc.start()
    try:
        for groups in (per_tensor(large.shape), per_channel(large.shape, 1)):
            parameters = weight_parameters(large, groups, "int8", is_symmetric=True)
            assert sum(map(len, quantized(large, groups, parameters))) == numbers
        assert sum(map(len, Halves(large))) == 2 * numbers
        assert tracemalloc.get_traced_memory()[1] < numbers
    finally:
        tracemalloc.stop()
