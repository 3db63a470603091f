"""Checks arrays against a model's declared names, shapes and element types, and reports mismatches."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from packager.core.errors import ConfigError, ModelError
from packager.core.values import ElementType, TensorSpec
from packager.samples.sample import Arrays, Problem, Sample, in_words

if TYPE_CHECKING:
    import numpy

DTYPES = {
    ElementType.FLOAT: "float32",
    ElementType.DOUBLE: "float64",
    ElementType.STRING: "str",
    **{element: str(element) for element in ElementType if "int" in element},
    ElementType.FLOAT16: "float16",
    ElementType.BOOL: "bool",
}
"""numpy types of the element types that a desktop can pass"""

FLOATS = (ElementType.FLOAT, ElementType.DOUBLE, ElementType.FLOAT16)


def refuse_unfeedable(inputs: tuple[TensorSpec, ...]) -> None:
    """Raises ModelError for an input of a type that no array can hold."""
    for spec in inputs:
        if spec.element not in DTYPES:
            raise ModelError(
                f"input '{spec.name}' is {spec.element}, which no array can hold",
                hint="cast it inside the graph from float or float16",
            )


def has_shape(shape: tuple[int, ...], spec: TensorSpec) -> bool:
    return len(shape) == len(spec.shape) and all(
        not isinstance(wanted, int) or wanted == size for size, wanted in zip(shape, spec.shape, strict=True)
    )


def has_batch(spec: TensorSpec) -> bool:
    """Whether its first dimension is a batch that may be 1."""
    if not spec.shape:
        return False
    return spec.shape[0] == 1 if isinstance(spec.shape[0], int) else spec.is_batch(0)


def lacks_batch(shape: tuple[int, ...], spec: TensorSpec) -> bool:
    """Whether `shape` is that of `spec` without a batch of 1."""
    return has_batch(spec) and has_shape((1, *shape), spec)


def wrong_names(names: Iterable[str], inputs: tuple[TensorSpec, ...], where: str) -> tuple[Problem, ...]:
    """Problems for missing inputs, and for names that are not inputs."""
    given, wanted = set(names), {spec.name for spec in inputs}
    hint = "key the arrays by the model's input names: " + ", ".join(spec.name for spec in inputs)
    missing = [
        Problem(severity="error", text=f"{where}: no input '{name}'", hint=hint, kind="missing inputs")
        for name in sorted(wanted - given)
    ]
    extra = [
        Problem(
            severity="error", text=f"{where}: '{name}' is not an input of the model", hint=hint, kind="extra inputs"
        )
        for name in sorted(given - wanted)[:5]
    ]
    return (*missing, *extra)


def fitted(arrays: Arrays, inputs: tuple[TensorSpec, ...], where: str) -> Sample:
    """`arrays` in the order, shapes and types of `inputs`. A missing batch of 1 is added, and numpy's default types,
    float64 or int64, are converted if only rounding is lost."""
    ready: dict[str, numpy.ndarray] = {}
    problems = list(wrong_names(arrays, inputs, where))
    for spec in inputs:
        if spec.name not in arrays:
            continue
        array, problem = _of_type(arrays[spec.name], spec, where)
        if lacks_batch(array.shape, spec):
            array = array.reshape(1, *array.shape)
        if not has_shape(array.shape, spec):
            problem = wrong_shape(array.shape, spec, where)
        problems += [problem] if problem else []
        ready[spec.name] = array
    return Sample(where=where, arrays=ready, problems=tuple(problems))


def wrong_shape(shape: tuple[int, ...], spec: TensorSpec, where: str) -> Problem:
    return Problem(
        severity="error",
        text=f"{where}: input '{spec.name}' needs {in_words(spec.shape)}, got {in_words(shape)}",
        hint="save arrays of the shape that mobpack inspect shows, stacked along a new first axis if there are many",
        kind="wrong shapes",
    )


def _of_type(array: "numpy.ndarray", spec: TensorSpec, where: str) -> "tuple[numpy.ndarray, Problem | None]":
    import numpy

    given = array.dtype.newbyteorder("=")
    if spec.element is ElementType.STRING:
        return array.astype(given, copy=False), None if given.kind == "U" else _wrong_type(array, spec, where)
    wanted = numpy.dtype(DTYPES[spec.element])
    if given == wanted:
        return array.astype(wanted, copy=False), None
    if given == numpy.float64 and spec.element in FLOATS:
        with numpy.errstate(over="ignore"):  # the check for infinity reports overflows
            return array.astype(wanted), _rounded(spec)
    if given == numpy.int64 and wanted.kind in "iu" and _is_within(array, wanted):
        return array.astype(wanted), None
    return array, _wrong_type(array, spec, where)


def _is_within(array: "numpy.ndarray", wanted: "numpy.dtype[numpy.generic]") -> bool:
    import numpy

    limits = numpy.iinfo(wanted.name)
    return array.size == 0 or (int(array.min()) >= limits.min and int(array.max()) <= limits.max)


def _rounded(spec: TensorSpec) -> Problem:
    return Problem(
        severity="warning",
        text=f"input '{spec.name}': float64 numbers are rounded to {DTYPES[spec.element]}",
        kind="rounded numbers",
    )


def _wrong_type(array: "numpy.ndarray", spec: TensorSpec, where: str) -> Problem:
    wanted = DTYPES[spec.element]
    got = "int64 that does not fit" if array.dtype.name == "int64" and "int" in wanted else array.dtype.name
    return Problem(
        severity="error",
        text=f"{where}: input '{spec.name}' needs {wanted}, got {got}",
        hint="save the preprocessed inputs of an app, in this type",
        kind="wrong types",
    )


def only_input(inputs: tuple[TensorSpec, ...], what: str) -> TensorSpec:
    """The single input for files of one value each. Raises ConfigError if the model has several inputs."""
    if len(inputs) != 1:
        names = ", ".join(spec.name for spec in inputs) or "none"
        raise ConfigError(
            f"{what} are for models with one input; this one takes {names}",
            hint="save all inputs with numpy.savez, or use module:function",
        )
    return inputs[0]
