"""Ranges become scales and zero points as in ONNX Runtime's quantizer; two 4-bit values share a byte."""

from typing import get_args

import ml_dtypes
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, numpy_helper
from onnxruntime.quantization import quant_utils

from packager.core.errors import ModelError
from packager.graph.weights.rounding import LIMITS, SYMMETRIC_LIMITS, Element, pack, range_parameters, storage, unpack
from tests.nights import examples

NARROW = [element for element in get_args(Element) if element != "int32"]
FLOAT32 = st.floats(width=32, allow_nan=False, allow_infinity=False)


@settings(max_examples=examples(300), deadline=None)
@given(FLOAT32, FLOAT32, st.sampled_from(NARROW), st.booleans())
def test_scales_and_zero_points_are_those_of_onnxruntime(
    one: float, other: float, element: Element, is_symmetric: bool
) -> None:
    low, high = sorted((one, other))
    ours = range_parameters(low, high, element, is_symmetric=is_symmetric)
    limits = (SYMMETRIC_LIMITS if is_symmetric else LIMITS)[element]
    least, most = (numpy.array(limit, storage(element)) for limit in limits)
    ends = (numpy.array(end, numpy.float32) for end in (low, high))
    zero_point, scale = quant_utils.compute_scale_zp(*ends, least, most, symmetric=is_symmetric)
    assert ours.scale == scale
    assert ours.scale.dtype == numpy.float32
    if scale != 1.0 or max(-low, high) > 0.1:  # see the test of degenerate ranges
        assert ours.zero_point == zero_point


def test_limits_are_those_of_onnxruntime_around_zero() -> None:
    for element in NARROW:
        kind = TensorProto.DataType.Value(element.upper())
        assert tuple(map(int, quant_utils.get_qmin_qmax_for_qType(kind, symmetric=True))) == SYMMETRIC_LIMITS[element]
        assert tuple(map(int, quant_utils.get_qmin_qmax_for_qType(kind))) == LIMITS[element]
    above, below = (range_parameters(*ends, "uint8", is_symmetric=False) for ends in ((2.0, 5.1), (-5.1, -2.0)))
    assert above.limits() == pytest.approx((0.0, 5.1))
    assert below.limits() == pytest.approx((-5.1, 0.0))


@pytest.mark.parametrize("high", [0.0, 1e-45, 1e-38])
def test_a_range_of_nothing_has_scale_1_and_symmetric_ones_their_usual_zero_point(high: float) -> None:
    for element, is_symmetric, zero_point in (("uint8", False, 0), ("uint8", True, 128), ("int8", True, 0)):
        found = range_parameters(0.0, high, element, is_symmetric=is_symmetric)  # type: ignore[arg-type]
        assert (float(found.scale), int(found.zero_point)) == (1.0, zero_point)


@pytest.mark.parametrize("end", [numpy.nan, numpy.inf, 1e300])
def test_a_range_that_is_not_finite_is_refused(end: float) -> None:
    with pytest.raises(ModelError, match="not finite"):
        range_parameters(-1.0, end, "int8", is_symmetric=False)


@settings(deadline=None)
@given(st.lists(st.integers(-8, 7)))
def test_packed_integers_come_back(numbers: list[int]) -> None:
    for element, shift in (("int4", 0), ("uint4", 8)):
        integers = (numpy.array(numbers, numpy.int64) + shift).astype(storage(element))  # type: ignore[arg-type]
        found = unpack(pack(integers), len(numbers), element)  # type: ignore[arg-type]
        assert found.dtype == integers.dtype
        assert numpy.array_equal(found, integers)


@pytest.mark.parametrize("count", [5, 6])
def test_packed_integers_are_the_bytes_that_onnx_has(count: int) -> None:
    integers = numpy.array([-8, 7, -1, 3, 1, 2][:count], numpy.int8)
    assert pack(integers) == numpy_helper.from_array(integers.astype(ml_dtypes.int4)).raw_data


def test_the_second_half_of_a_byte_can_come_first() -> None:
    assert pack(numpy.array([1, 2, 3], numpy.int8), is_second=True) == bytes([0x10, 0x32])
