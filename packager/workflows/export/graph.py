"""The graph that PyTorch wrote: cleaned of what it says about the machine, and written with its weights."""

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
    """a name where the size is dynamic"""


def read(path: Path) -> "ModelProto":
    """The graph without its weights, which stay in the file beside it."""
    import onnx

    proto = onnx.load_model(path, load_external_data=False)
    lower_ir_version(proto)
    forget_source(proto)
    return proto


def forget_source(proto: "ModelProto") -> None:
    """Takes out the stack traces that PyTorch leaves in every node: they hold the paths of the machine it ran on, and
    would make the same module another file on another machine."""
    for part in (proto, *traversal.all_graphs(proto), *traversal.all_nodes(proto), *proto.functions, *_values(proto)):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")


def write(proto: "ModelProto", data_folder: Path, path: Path) -> tuple[Path, ...]:
    """One file with the weights inside; of 2 GiB and more, with them in `<path>.data`."""
    if weight_bytes(proto) + proto.ByteSize() < LARGEST_BYTES:
        with path.open("wb") as file:
            write_whole(proto, data_folder, file)
        return (path,)
    return write_beside(proto, data_folder, path)


def weight_bytes(proto: "ModelProto") -> int:
    """Of all initializers, wherever their data are."""
    from onnx.helper import tensor_dtype_to_np_dtype

    tensors = [tensor for graph in traversal.all_graphs(proto) for tensor in graph.initializer]
    return sum(math.prod(each.dims) * tensor_dtype_to_np_dtype(each.data_type).itemsize for each in tensors)


def refuse_other_opset(proto: "ModelProto", opset: int) -> None:
    """Raises ModelError when PyTorch could not convert the graph to the opset that it was told."""
    made = next(each.version for each in proto.opset_import if each.domain in ("", "ai.onnx"))
    if made != opset:
        raise ModelError(
            f"the graph cannot be converted to opset {opset}: PyTorch left it in {made}",
            hint=f"leave --opset out, or give one from {made} on",
        )


def mend_shapes(
    proto: "ModelProto", sizes: Sequence[Mapping[str, int]], shapes: Sequence[Sequence[Sequence[int]]]
) -> None:
    """Takes back the constants that PyTorch declares for what has other sizes on some sample: an output of a GRU, for
    one, whose steps are dynamic. `shapes` are those of the outputs for each sample, `sizes` those that were dynamic."""
    is_wrong = False
    for place, output in enumerate(proto.graph.output):
        for axis, size in enumerate(output.type.tensor_type.shape.dim):
            found = [each[place][axis] for each in shapes]
            if size.HasField("dim_value") and set(found) != {size.dim_value}:
                names = [name for name in sizes[0] if [each[name] for each in sizes] == found]
                size.dim_param = names[0] if names else f"{output.name}_{axis}"
                is_wrong = True
    if is_wrong:  # what it says of values inside is no better
        del proto.graph.value_info[:]


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
