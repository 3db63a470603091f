"""Weights are read from any place, as float32, in chunks."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from packager.core.errors import ModelError
from packager.graph.weights.reading import read_weight
from tests.cases.onnx_text import weight


def external(folder: Path, array: NDArray[Any], *, offset: int = 64, name: str = "w") -> TensorProto:
    """A tensor whose data are in a file of `folder`, from `offset` on."""
    tensor = numpy_helper.from_array(array, name)
    (folder / f"{name}.bin").write_bytes(bytes(offset) + tensor.raw_data + b"behind")
    entries = (("location", f"{name}.bin"), ("offset", str(offset)), ("length", str(len(tensor.raw_data))))
    tensor.ClearField("raw_data")
    tensor.data_location = tensor.EXTERNAL
    for key, value in entries:
        tensor.external_data.add(key=key, value=value)
    return tensor


@pytest.mark.parametrize("kind", [numpy.float32, numpy.float16, numpy.float64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("is_inside", [True, False])
def test_chunks_are_the_numbers_as_float32(tmp_path: Path, kind: Any, is_inside: bool) -> None:
    array = weight(7, 11).astype(kind)
    tensor = numpy_helper.from_array(array, "w") if is_inside else external(tmp_path, array)
    chunks = [chunk.copy() for chunk in read_weight(tensor, tmp_path).chunks(10)]
    assert [len(chunk) for chunk in chunks] == [10] * 7 + [7]
    assert numpy.array_equal(numpy.concatenate(chunks), array.astype(numpy.float32).reshape(-1))


def test_numbers_lie_in_lists_or_raw_and_no_chunks_are_nothing(tmp_path: Path) -> None:
    tensor = helper.make_tensor("w", TensorProto.FLOAT, [3], [1.5, -2.0, 3.0])
    assert len(tensor.float_data) == 3
    (chunk,) = read_weight(tensor, tmp_path).chunks()
    assert chunk.tolist() == [1.5, -2.0, 3.0]
    assert list(read_weight(numpy_helper.from_array(numpy.zeros((0, 4), numpy.float32)), tmp_path).chunks()) == []


@pytest.mark.parametrize("kind", [numpy.int64, numpy.uint8, numpy.float16, ml_dtypes.int4, ml_dtypes.bfloat16])
def test_an_array_has_its_own_element_type(tmp_path: Path, kind: Any) -> None:
    array = numpy.array([[1, 2, 3]]).astype(kind)
    for tensor in (numpy_helper.from_array(array, "w"), external(tmp_path, array)):
        found = read_weight(tensor, tmp_path).array()
        assert found.dtype == array.dtype
        assert numpy.array_equal(found, array)


def test_what_does_not_fit_is_infinite_or_refused(tmp_path: Path) -> None:
    (chunk,) = read_weight(numpy_helper.from_array(numpy.array([1e300, 1.0])), tmp_path).chunks()
    assert chunk.tolist() == [numpy.inf, 1.0]
    found = read_weight(numpy_helper.from_array(numpy.array([1, 2]), "indices"), tmp_path)
    assert not found.is_float
    with pytest.raises(ModelError, match="tensor 'indices' is of int64"):
        next(found.chunks())
    found = read_weight(external(tmp_path, weight(8, 8)), tmp_path)
    (tmp_path / "w.bin").write_bytes(bytes(100))
    with pytest.raises(ModelError, match=r"w\.bin: the last 220 bytes of a tensor are missing"):
        next(found.chunks())
    tensor = onnx.TensorProto(name="w", data_type=1, dims=[4], float_data=[1.0, 2.0])
    with pytest.raises(ModelError, match="tensor 'w' does not have as many numbers"):
        read_weight(tensor, tmp_path)


@pytest.mark.parametrize("change", [{"dims": [5]}, {"raw_data": bytes(17)}])
def test_a_tensor_without_the_bytes_of_its_shape_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    tensor = onnx.TensorProto(name="w", data_type=1, **({"dims": [4], "raw_data": bytes(16)} | change))
    with pytest.raises(ModelError, match=r"tensor 'w' of shape \[\d\] needs \d+ bytes but has 1\d"):
        read_weight(tensor, tmp_path)
