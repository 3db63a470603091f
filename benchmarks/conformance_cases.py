"""ONNX's own test cases for operators: written down for other processes, and judged by the suite's own comparison."""

import pickle
import random
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx import ModelProto


@dataclass(frozen=True)
class Case:
    name: str
    model: "ModelProto"
    inputs: tuple[Any, ...]
    expected: tuple[Any, ...]
    rtol: float
    atol: float

    def written(self, folder: Path) -> Path:
        """The folder of the case in `folder`, with its model and its inputs."""
        own = folder / self.name
        own.mkdir(parents=True)
        (own / "model.onnx").write_bytes(self.model.SerializeToString(deterministic=True))
        names = [each.name for each in self.model.graph.input]
        inputs = {name: portable(value) for name, value in zip(names, self.inputs, strict=False)}
        (own / "inputs.pkl").write_bytes(pickle.dumps(inputs))
        return own

    def difference(self, outputs: Sequence[Any]) -> str:
        """The suite's own complaint about `outputs`, in one line; empty if they are right."""
        from onnx.backend.test.runner import Runner

        expected, found = flat(self.expected), flat(list(map(from_portable, outputs)))
        if [each is None for each in expected] != [each is None for each in found]:
            return "outputs or parts of them are missing, or there are more than expected"
        pairs = [(one, other) for one, other in zip(expected, found, strict=True) if one is not None]
        try:
            Runner.assert_similar_outputs([one for one, _ in pairs], [two for _, two in pairs], self.rtol, self.atol)
        except AssertionError as error:
            return " ".join(str(error).split()) or "the outputs differ"
        return ""


def collected() -> list[Case]:
    """Every case that the installed version of onnx generates, by name."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # infinities and NaN are what some cases are about
        found = collect_testcases(None)
    return sorted((_case(each) for each in found), key=lambda case: case.name)


def sampled(cases: Sequence[Case], count: int, seed: int) -> list[Case]:
    """`count` of them, the same ones for a seed."""
    chosen = set(random.Random(seed).sample([case.name for case in cases], count))
    return [case for case in cases if case.name in chosen]


def _case(case: Any) -> Case:
    ((inputs, expected),) = case.data_sets
    return Case(
        name=case.name,
        model=case.model,
        inputs=tuple(map(_array, inputs)),
        expected=tuple(map(_array, expected)),
        rtol=case.rtol,
        atol=case.atol,
    )


def _array(value: Any) -> Any:
    """A value as ONNX Runtime takes and gives it: an array, a list of arrays, or nothing."""
    import numpy
    import onnx

    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    if isinstance(value, list | tuple):
        return [_array(each) for each in value]
    return value if value is None else numpy.asarray(value)


def flat(values: Any) -> list[Any]:
    """The number of `values`, then their arrays one by one: the suite cannot compare scalars in lists."""
    import numpy

    if not isinstance(values, list | tuple):
        return [values]
    return [numpy.asarray(len(values)), *(each for value in values for each in flat(value))]


def portable(value: Any) -> Any:
    """`value` without the types that the package ml_dtypes adds to numpy: their bits and ONNX's number instead."""
    from onnx.helper import np_dtype_to_tensor_dtype

    if isinstance(value, list):
        return [portable(each) for each in value]
    if value is None or value.dtype.isbuiltin == 1:
        return value
    return value.view(f"uint{8 * value.dtype.itemsize}"), np_dtype_to_tensor_dtype(value.dtype)


def from_portable(value: Any) -> Any:
    import numpy
    from onnx.helper import tensor_dtype_to_np_dtype

    if isinstance(value, list):
        return [from_portable(each) for each in value]
    if isinstance(value, tuple):
        bits, number = value
        return bits.view(tensor_dtype_to_np_dtype(number))
    return value if value is None else numpy.asarray(value)
