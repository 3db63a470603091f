"""ONNX's own test cases for operators: written down for other processes, and judged by the suite's own comparison."""

import pickle
import random
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.graph.rewriting.stretches import DRAWN
from packager.graph.traversal import all_nodes

if TYPE_CHECKING:
    from onnx import ModelProto


ROUNDED, EXACT = "rounded", "float64 says so, too"
"""Verdicts on outputs that differ from the suite's: by roundings alone; from those of the same graph in float64."""
ROUNDINGS = 8
"""Units in the last place of an output's largest value that additions may lose: a float32 sum of 450 is off by 1e-4."""


@dataclass(frozen=True)
class Case:
    name: str
    model: "ModelProto"
    inputs: tuple[Any, ...]
    expected: tuple[Any, ...]
    rtol: float
    atol: float

    @property
    def is_random(self) -> bool:
        return self.name.startswith("test_training_dropout") or any(
            node.op_type in DRAWN for node in all_nodes(self.model)
        )

    def written(self, folder: Path) -> Path:
        """The folder of the case in `folder`, with its model and its inputs."""
        import numpy

        own = folder / self.name
        if (own / "inputs.pkl").is_file():
            return own
        own.mkdir(parents=True, exist_ok=True)
        (own / "model.onnx").write_bytes(self.model.SerializeToString(deterministic=True))
        names = [each.name for each in self.model.graph.input]
        inputs = {name: portable(value) for name, value in zip(names, self.inputs, strict=False)}
        if all(isinstance(value, numpy.ndarray) for value in inputs.values()):
            arrays = {name: value.astype(str) if value.dtype == object else value for name, value in inputs.items()}
            numpy.savez(own / "inputs.npz", allow_pickle=False, **arrays)
        (own / "inputs.pkl").write_bytes(pickle.dumps(inputs))
        return own

    def decided(self, outputs: Sequence[Any]) -> str:
        """Verdict on `outputs` that differ from the suite's: the same graph in float64 decides, where there is one."""
        exact = in_float64(self)
        if is_rounded(list(map(from_portable, outputs)), exact or self.expected):
            return ROUNDED
        return EXACT if exact and self.difference(outputs, exact) else "the suite says so"

    def difference(self, outputs: Sequence[Any], expected: Sequence[Any] | None = None) -> str:
        """The suite's own complaint about `outputs`, in one line; empty if they are right."""
        from onnx.backend.test.runner import Runner

        wanted = self.expected if expected is None else expected
        expected, found = flat(wanted), flat(list(map(from_portable, outputs)))
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


def in_float64(case: Case) -> list[Any] | None:
    """Outputs of onnx's own implementation in float64, in the types that the case expects; None if the
    case computes no floats, or its operators have no float64 there."""
    import numpy
    import onnx
    from onnx.reference import ReferenceEvaluator

    floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)
    if any(isinstance(each, list) or each is None for each in (*case.inputs, *case.expected)):
        return None
    model = onnx.ModelProto.FromString(case.model.SerializeToString())
    for value in (*model.graph.input, *model.graph.output):
        if value.type.tensor_type.elem_type in floats:
            value.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    for node in (*model.graph.node, *(each for function in model.functions for each in function.node)):
        for attribute in node.attribute:
            if attribute.name in ("to", "dtype") and attribute.i in floats:
                attribute.i = onnx.TensorProto.DOUBLE
            if attribute.HasField("t") and attribute.t.data_type in floats:
                widened = onnx.numpy_helper.to_array(attribute.t).astype(numpy.float64)
                attribute.t.CopyFrom(onnx.numpy_helper.from_array(widened))
    names = [each.name for each in model.graph.input]
    feed = {name: widest(value) for name, value in zip(names, case.inputs, strict=False)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ReferenceEvaluator(model).run(None, feed)
        return [each.astype(own.dtype) for each, own in zip(found, case.expected, strict=True)]
    except Exception:  # whatever numpy says of a type that an operator does not have
        return None


def is_rounded(outputs: Sequence[Any], exact: Sequence[Any]) -> bool:
    """Whether `outputs` are `exact` but for roundings in their own types, as a share of the largest value."""
    import ml_dtypes
    import numpy

    limits: Any = ml_dtypes.finfo  # it has no types
    for found, wanted in zip(outputs, exact, strict=True):
        arrays = isinstance(found, numpy.ndarray) and isinstance(wanted, numpy.ndarray)
        if not arrays or (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
            return False
        if widest(found).dtype != numpy.float64:
            if not numpy.array_equal(found, wanted):
                return False
            continue
        one, other = widest(found), widest(wanted)
        scale = float(numpy.abs(other[numpy.isfinite(other)]).max(initial=0))
        most = ROUNDINGS * float(limits(found.dtype).eps) * scale
        if not numpy.allclose(one, other, rtol=0, atol=most, equal_nan=True):
            return False
    return True


def widest(value: Any) -> Any:
    is_float = value.dtype.kind == "f" or value.dtype.name == "bfloat16"
    return value.astype("float64") if is_float else value
