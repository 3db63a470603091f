"""The graph that a converter wrote: without machine-specific metadata, written with its weights."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ModelError
from packager.graph import traversal
from packager.graph.weights.places import LARGEST_BYTES
from packager.graph.weights.whole import write_beside, write_whole
from packager.models.opsets import lower_ir_version

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto


@dataclass(frozen=True, kw_only=True)
class Port:
    """An input or output of the model."""

    name: str
    element: str
    dimensions: tuple[int | str, ...]
    """a name for a dynamic size"""


def read(path: Path) -> "ModelProto":
    """The graph without its weights, which stay in the file beside it."""
    import onnx

    proto = onnx.load_model(path, load_external_data=False)
    lower_ir_version(proto)
    forget_source(proto)
    return proto


def forget_source(proto: "ModelProto") -> None:
    """Removes the stack traces that PyTorch stores in every node: they hold paths of the machine, so that the output
    would not be reproducible."""
    for part in (proto, *traversal.all_graphs(proto), *traversal.all_nodes(proto), *proto.functions, *_values(proto)):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")


def write(proto: "ModelProto", data_folder: Path, path: Path) -> tuple[Path, ...]:
    """Writes one file with the weights inside; from 2 GiB on, the weights go into `<path>.data`."""
    if weight_bytes(proto) + proto.ByteSize() < LARGEST_BYTES:
        with path.open("wb") as file:
            write_whole(proto, data_folder, file)
        return (path,)
    return write_beside(proto, data_folder, path)


def weight_bytes(proto: "ModelProto") -> int:
    """Size of all initializers, wherever their data is stored."""
    from onnx.helper import tensor_dtype_to_np_dtype

    tensors = [tensor for graph in traversal.all_graphs(proto) for tensor in graph.initializer]
    return sum(math.prod(each.dims) * tensor_dtype_to_np_dtype(each.data_type).itemsize for each in tensors)


def refuse_other_opset(proto: "ModelProto", opset: int) -> None:
    """Raises ModelError if PyTorch could not convert the graph to the requested opset."""
    made = opset_of(proto)
    if made != opset:
        raise ModelError(
            f"PyTorch cannot convert the graph to opset {opset}; it stayed at opset {made}",
            hint=f"omit --opset, or use {made} or later",
        )


def opset_of(proto: "ModelProto") -> int:
    """The opset of standard operators; 0 without."""
    return next((each.version for each in proto.opset_import if each.domain in ("", "ai.onnx")), 0)


def name_inputs(proto: "ModelProto", shapes: Mapping[str, Sequence[int | str]]) -> None:
    """Declares the `shapes` of the inputs, with names for dynamic dimensions. Shapes of inner values, in which a
    converter may use names of its own, are removed."""
    for value in proto.graph.input:
        declared = value.type.tensor_type.shape
        declared.Clear()
        for size in shapes[value.name]:
            declared.dim.add(**{"dim_value" if isinstance(size, int) else "dim_param": size})
    del proto.graph.value_info[:]


def mend_shapes(
    proto: "ModelProto", sizes: Sequence[Mapping[str, int]], shapes: Sequence[Sequence[Sequence[int]]]
) -> None:
    """Removes constants that a converter declares for dimensions that vary between samples: for example the steps of a
    GRU's output. `shapes` are those of the outputs and `sizes` the dynamic dimensions, for each sample."""
    is_wrong = False
    for place, output in enumerate(proto.graph.output):
        for axis, size in enumerate(output.type.tensor_type.shape.dim):
            found = [each[place][axis] for each in shapes]
            if size.HasField("dim_value") and set(found) != {size.dim_value}:
                names = [name for name in sizes[0] if [each[name] for each in sizes] == found]
                size.dim_param = names[0] if names else f"{output.name}_{axis}"
                is_wrong = True
    if is_wrong:  # the shapes inferred for inner values are just as wrong
        del proto.graph.value_info[:]


def name_outputs(
    proto: "ModelProto", sizes: Sequence[Mapping[str, int]], shapes: Sequence[Sequence[Sequence[int]]]
) -> None:
    """Declares the shapes of the outputs as they were observed: a declared size stays if all samples have it; other
    dimensions get the name of the dynamic dimension whose sizes they have, or one of their own."""
    for place, output in enumerate(proto.graph.output):
        declared = [each.dim_value for each in output.type.tensor_type.shape.dim]
        observed = list(zip(*(each[place] for each in shapes), strict=True))
        output.type.tensor_type.shape.Clear()
        for axis, found in enumerate(observed):
            names = [name for name in sizes[0] if tuple(each[name] for each in sizes) == found]
            is_fixed = set(found) == {declared[axis]} if len(declared) == len(observed) else len({*found}) == 1
            dimension = output.type.tensor_type.shape.dim.add()
            if is_fixed:
                dimension.dim_value = found[0]
            else:
                dimension.dim_param = names[0] if names else f"{output.name}_{axis}"


def ports(values: "Iterator[ValueInfoProto] | Any") -> tuple[Port, ...]:
    from onnx import TensorProto

    return tuple(
        Port(
            name=each.name,
            element=TensorProto.DataType.Name(each.type.tensor_type.elem_type).lower(),
            dimensions=tuple(size.dim_param or size.dim_value for size in each.type.tensor_type.shape.dim),
        )
        for each in values
    )


def _values(proto: "ModelProto") -> Iterator[Any]:
    for graph in traversal.all_graphs(proto):
        yield from (*graph.input, *graph.output, *graph.value_info, *graph.initializer)
