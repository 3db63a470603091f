"""float16: numpy's bits, and a count of numbers that do not fit."""

from pathlib import Path
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper

from packager.graph.weights.half import Halves
from packager.graph.weights.reading import read_weight
from tests.cases.onnx_text import weight


def halves(array: NDArray[Any], **keys: int) -> Halves:
    return Halves(read_weight(numpy_helper.from_array(array.astype(numpy.float32), "w"), Path()), **keys)


def borders() -> NDArray[numpy.float32]:
    """Every float16, the middle between it and the next, and the float32 on both sides of each."""
    every = numpy.arange(0x7C00, dtype=numpy.uint16).view(numpy.float16).astype(numpy.float32)
    middles = (every[:-1] + every[1:]) / 2
    exact = numpy.concatenate([every, middles])
    near = [exact, numpy.nextafter(exact, numpy.float32(numpy.inf)), numpy.nextafter(exact, numpy.float32(0))]
    sizes = numpy.concatenate(near)
    return numpy.concatenate([sizes, -sizes]).astype(numpy.float32)


def test_numbers_are_rounded_saturate_and_vanish_as_in_numpy() -> None:
    numbers = borders()
    expected = numbers.astype(numpy.float16)
    found = halves(numbers)
    assert b"".join(found) == expected.tobytes()
    vanished = int(numpy.count_nonzero(numbers) - numpy.count_nonzero(expected))
    assert (found.overflows, found.vanished) == (0, vanished)
    found = halves(numpy.array([65503.0, 65519.9, 65520.0, -1e30, 1.0]))
    values = numpy.frombuffer(b"".join(found), numpy.float16)
    assert values.tolist() == [65504.0, 65504.0, 65504.0, -65504.0, 1.0]
    assert found.overflows == 2
    assert len(list(found)) == 1
    assert found.overflows == 2, "a second reading counts anew"
    found = halves(numpy.array([numpy.inf, -numpy.inf, numpy.nan, 7e4, 1e-8]))
    values = numpy.frombuffer(b"".join(found), numpy.float16)
    assert numpy.array_equal(values, [numpy.inf, -numpy.inf, numpy.nan, 65504.0, 0.0], equal_nan=True)
    assert (found.overflows, found.vanished) == (1, 1)
    found = halves(numpy.array([0.0, -0.0, 2.0**-25, -1e-40, 2.0**-24, 1.1 * 2.0**-25]))
    values = numpy.frombuffer(b"".join(found), numpy.float16)
    assert values.tolist() == [0.0, 0.0, 0.0, 0.0, 2.0**-24, 2.0**-24]
    assert found.vanished == 2


@pytest.mark.parametrize("threads", [1, 4])
def test_pieces_and_threads_change_nothing(threads: int) -> None:
    array = weight(50, 41)
    found = halves(array, chunk=100, threads=threads)
    assert [b"".join(found) for _ in range(2)] == [array.astype(numpy.float16).tobytes()] * 2
