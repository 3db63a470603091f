"""Fixes dynamic dimensions: by symbolic name (`batch = 1`) or by input (`x = [1, 3, 224, 224]`)."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from packager.core.errors import ConfigError, nearest
from packager.graph import traversal
from packager.models import propagation

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, ValueInfoProto

Shapes = Mapping[str, int | tuple[int | None, ...]]
"""sizes by symbol, or those of an input, where None stays open"""
MOST_NUMBERS = 2**31 - 1
"""Maximum number of elements of an array in an app: the JVM counts them in 32 bits."""


def fix_shapes(proto: "ModelProto", shapes: Shapes, where: str) -> None:
    """Writes the sizes of `shapes` into the inputs of `proto`; removes output shapes that they invalidate.

    Exporters give unrelated dimensions the same name. If the shapes of two inputs disagree about one, each input has
    its own, and the declared shapes of values with that name are removed.

    `where` names the source of `shapes` in messages. Raises ConfigError for a name that is neither a symbolic dimension
    nor an input, a size that contradicts a fixed one, or the wrong number of dimensions.
    """
    graph = proto.graph
    symbols = {dim.dim_param for value in graph.input for dim in value.type.tensor_type.shape.dim if dim.dim_param}
    inputs = {value.name for value in graph.input}
    for name, size in shapes.items():
        refuse_large(name, size, where)
    own = {name: size for name, size in shapes.items() if not (isinstance(size, int) and name in symbols)}
    for name, size in own.items():
        if name not in inputs:
            raise _unknown(name, symbols if isinstance(size, int) else inputs, where)
    for name, size in shapes.items():
        if name not in own and isinstance(size, int):
            _fix_symbol(proto, name, size)
    by_input: dict[str, set[int]] = {}
    for name, size in own.items():  # a single size is the shape of an input with one dimension
        for symbol, each in _fix_input(graph, name, (size,) if isinstance(size, int) else size, where):
            by_input.setdefault(symbol, set()).add(each)
    for symbol, sizes in by_input.items():
        if len(sizes) == 1:
            _fix_symbol(proto, symbol, min(sizes))
        else:
            _forget_symbol(proto, symbol)
    if shapes:
        for value in graph.output:
            _forget_symbols(value)


def refuse_large(name: str, size: int | tuple[int | None, ...], where: str) -> None:
    """Raises ConfigError for a size that no array can have."""
    largest = size if isinstance(size, int) else max((each or 0 for each in size), default=0)
    if largest > MOST_NUMBERS:
        shown = f"{largest:.2g}" if largest < 1e300 else "more than 1e300"
        raise ConfigError(
            f"{where}: '{name}' = {shown} is larger than any array of an app ({MOST_NUMBERS:,})",
            hint="give a smaller size",
        )


def forget_unknown(proto: "ModelProto") -> None:
    """Removes what exporters write for a size that they do not know, where ONNX has nothing at all: -1, and the name
    `?`, which several dimensions may have that are not equal."""
    for value in _values(proto):
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_value < 0 or dimension.dim_param == "?":
                dimension.Clear()


def infer_shapes(proto: "ModelProto") -> "ModelProto":
    """`proto` with the shapes of intermediate tensors and outputs that follow from its inputs.

    A model that inference cannot handle is returned unchanged: ONNX Runtime may still run it. Computed shapes are not
    followed where they would take all memory.
    """
    import onnx.shape_inference

    try:
        return onnx.shape_inference.infer_shapes(proto, data_prop=propagation.is_bounded(proto))
    except (onnx.shape_inference.InferenceError, ValueError):  # ValueError: unknown element types
        return proto


def _values(proto: "ModelProto") -> "Iterator[ValueInfoProto]":
    """Types that the model states, in branches and bodies, too: names of sizes mean the same everywhere."""
    for graph in traversal.all_graphs(proto):
        yield from (*graph.input, *graph.output, *graph.value_info)


def _fix_symbol(proto: "ModelProto", symbol: str, size: int) -> None:
    for value in _values(proto):
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_param == symbol:
                dimension.dim_value = size


def _fix_input(graph: "GraphProto", name: str, sizes: tuple[int | None, ...], where: str) -> Iterator[tuple[str, int]]:
    """Fixes the dimensions of an input; returns the names that they had, with their sizes."""
    shape = next(value for value in graph.input if value.name == name).type.tensor_type.shape
    if len(shape.dim) != len(sizes):
        raise ConfigError(
            f"{where}: '{name}' has {len(shape.dim)} dimensions, not {len(sizes)}",
            hint="run mobpack inspect to see the shapes",
        )
    for dimension, size in zip(list(shape.dim), sizes, strict=True):
        if size is None:
            continue
        if dimension.HasField("dim_value") and dimension.dim_value != size:
            raise ConfigError(
                f"{where}: a dimension of '{name}' is fixed to {dimension.dim_value}, not {size}",
                hint="only dynamic dimensions can be fixed",
            )
        if symbol := dimension.dim_param:
            for same in shape.dim:
                if same.dim_param == symbol:
                    same.dim_value = size
            yield symbol, size
        dimension.dim_value = size


def _forget_symbol(proto: "ModelProto", symbol: str) -> None:
    inputs = {value.name for value in proto.graph.input}
    for value in (each for each in _values(proto) if each.name not in inputs):
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_param == symbol:
                dimension.ClearField("dim_param")


def _forget_symbols(value: "ValueInfoProto") -> None:
    """Removes symbolic dimensions: shape inference fills unknown output dimensions, but leaves symbolic ones it cannot
    refute."""
    for dimension in value.type.tensor_type.shape.dim:
        if dimension.dim_param:
            dimension.ClearField("dim_param")


def _unknown(name: str, known: set[str], where: str) -> ConfigError:
    hint = nearest(name, sorted(known)) if known else "known: none, all are fixed or unnamed"
    return ConfigError(f"{where}: the model has no dynamic dimension or input '{name}' for that size", hint=hint)
