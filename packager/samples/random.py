"""Random inputs that respect what a model expects."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.errors import ModelError
from packager.samples.sample import Arrays, SampleSet, write_arrays
from packager.values import ElementType, Model, TensorSpec

if TYPE_CHECKING:
    import numpy
    import numpy.typing

CANDIDATE_SIZES = (64, 1, 128, 16, 224, 32, 512, 8)
"""Sizes tried for dynamic dimensions, in this order, until the original model accepts one."""

WORDS = ("", "a", "mobile", "Zürich", "two words", "0")


def random_candidates(model: Model, folder: Path, *, count: int, seed: int) -> Iterator[SampleSet]:
    """Random sample sets, one for each way to choose the dynamic dimensions; the first that runs is the one to use.

    The numbers depend on `seed`, the input and the sample alone, so that they are the same on every machine.
    """
    import numpy

    highest = index_limits(model)
    inputs = model.signature.inputs
    for shapes in dict.fromkeys(candidate_shapes(inputs)):
        paths = []
        for number in range(count):
            arrays = {
                spec.name: _chosen(model, spec, shape, [seed, number, index])
                if spec.name in chosen_inputs(model)
                else _random(spec, shape, highest.get(spec.name), numpy.random.default_rng([seed, number, index]))
                for index, (spec, shape) in enumerate(zip(inputs, shapes_of(model, shapes, number), strict=True))
            }
            path = folder / f"sample-{number}.npz"
            write_arrays(path, arrays)
            paths.append(path)
        yield SampleSet(paths=tuple(paths), description=described(model, shapes, count=len(paths), seed=seed))


def described(model: Model, shapes: tuple[tuple[int, ...], ...], *, count: int, seed: int) -> str:
    """`2 random, seed 0, input_ids 1x64`: with the shapes that the model leaves open, of every sample."""
    each = [shapes_of(model, shapes, number) for number in range(count)]
    chosen = [
        f"{spec.name} {' and '.join(dict.fromkeys('x'.join(map(str, own[index])) for own in each))}"
        for index, spec in enumerate(model.signature.inputs)
        if not spec.is_static
    ]
    return ", ".join([f"{count} random, seed {seed}", *chosen])


def candidate_shapes(inputs: tuple[TensorSpec, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Shapes for all inputs: a batch is 1, other dynamic dimensions a candidate size; then only the last ones are."""
    for last_only in (False, True):
        for size in CANDIDATE_SIZES:
            yield tuple(_concrete(spec, size, last_only) for spec in inputs)


def shapes_of(model: Model, shapes: tuple[tuple[int, ...], ...], number: int) -> tuple[tuple[int, ...], ...]:
    """`shapes` with those that the model's contract says for the sample `number`: pictures of several sizes."""
    known = model.contract.shapes if model.contract else {}
    return tuple(
        known[spec.name][number % len(known[spec.name])] if spec.name in known else shape
        for spec, shape in zip(model.signature.inputs, shapes, strict=True)
    )


def chosen_inputs(model: Model) -> Mapping[str, tuple[int, ...]]:
    """Inputs that are not any number, and what they may be: rates of recordings, for one."""
    return model.contract.values if model.contract else {}


def chosen_values(model: Model, shapes: tuple[tuple[int, ...], ...], seed: int, number: int) -> Arrays:
    """The chosen inputs of the sample `number`."""
    return {
        spec.name: _chosen(model, spec, shape, [seed, number, index])
        for index, (spec, shape) in enumerate(zip(model.signature.inputs, shapes, strict=True))
        if spec.name in chosen_inputs(model)
    }


def _chosen(model: Model, spec: TensorSpec, shape: tuple[int, ...], seed: list[int]) -> Any:
    import numpy

    generator = numpy.random.default_rng(seed)
    return generator.choice(chosen_inputs(model)[spec.name], shape).astype(str(spec.element))


def _concrete(spec: TensorSpec, size: int, last_only: bool) -> tuple[int, ...]:
    return tuple(
        dimension
        if isinstance(dimension, int)
        else 1
        if spec.is_batch(axis) or (last_only and axis < len(spec.shape) - 1)
        else size
        for axis, dimension in enumerate(spec.shape)
    )


def index_limits(model: Model) -> dict[str, int]:
    """Input name -> number of rows of the smallest table that a Gather picks from with it.

    Follows inputs through operators that pass integers on unchanged.
    """
    import onnx

    proto = onnx.ModelProto.FromString(model.graph)
    shapes = {tensor.name: list(tensor.dims) for tensor in proto.graph.initializer}
    for value in proto.graph.value_info:
        shapes.setdefault(value.name, [dimension.dim_value for dimension in value.type.tensor_type.shape.dim])
    limits: dict[str, int] = {}
    origin = {spec.name: spec.name for spec in model.signature.inputs}
    for node in proto.graph.node:
        if (
            node.op_type in ("Cast", "Reshape", "Unsqueeze", "Squeeze", "Identity", "Flatten")
            and node.input[0] in origin
        ):
            origin[node.output[0]] = origin[node.input[0]]
        elif node.op_type == "Gather" and len(node.input) > 1 and node.input[1] in origin:
            axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 0)
            table = shapes.get(node.input[0], [])
            rows = table[axis] if -len(table) <= axis < len(table) else 0
            if rows:
                name = origin[node.input[1]]
                limits[name] = min(limits.get(name, rows), rows)
    return limits


def _random(spec: TensorSpec, shape: tuple[int, ...], limit: int | None, generator: "numpy.random.Generator") -> Any:
    """Normal numbers for floats, words for strings, indices below `limit` for integers; integers that index nothing
    are all of their range where 8 bits wide (pixels), else 0 and 1 (masks)."""
    import numpy

    if spec.element in (ElementType.FLOAT, ElementType.DOUBLE, ElementType.FLOAT16):
        kinds = {"float": "float32", "double": "float64", "float16": "float16"}
        return generator.standard_normal(shape).astype(kinds[spec.element])
    if spec.element is ElementType.STRING:
        return numpy.array(WORDS)[generator.integers(0, len(WORDS), shape)]
    if spec.element is ElementType.BOOL:
        return generator.integers(0, 2, shape).astype(bool)
    if spec.element in (ElementType.BFLOAT16, ElementType.OTHER):
        raise ModelError(
            f"input '{spec.name}' is {spec.element}: the desktop cannot feed it, so parity cannot be checked",
            hint="cast it inside the graph from float or float16",
        )
    if limit is None and spec.element in (ElementType.UINT8, ElementType.INT8):
        return generator.integers(0, 256, shape).astype("uint8").view(str(spec.element))
    values = generator.integers(0, min(limit or 2, 2**7 if "8" in spec.element else 2**15), shape)
    if limit is None and values.ndim and values.size:
        values[..., 0] = 1  # an attention mask that hides everything gives NaN
    return values.astype(str(spec.element))
