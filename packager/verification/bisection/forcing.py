"""Runs nodes of one side on values of the other side."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.samples import write_arrays
from packager.verification.bisection.subject import BisectionSubject, Region
from packager.verification.parity.outcomes import read_array

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from onnx import ModelProto, ValueInfoProto


def forced(
    subject: BisectionSubject, region: Region, values: Iterable[str], borders: "Mapping[str, NDArray[Any]]"
) -> "tuple[ModelProto, Mapping[str, str]]":
    """The nodes of `region` as a model that takes `borders` and returns `values`, and the names of its outputs.

    A value that is both computed and taken is an input under its own name and an output under another.
    """
    names = {name: name if name not in borders else subject.free(f"{name}_given") for name in values}
    nodes = []
    for place in region.nodes:
        node = type(subject.nodes[place])()
        node.CopyFrom(subject.nodes[place])
        for index, name in enumerate(node.output):
            if name in borders:
                node.output[index] = names.get(name) or subject.free(f"{name}_unused")
        nodes.append(node)
    inputs = [described(name, array) for name, array in borders.items()]
    return subject.cut(nodes, inputs, names.values()), names


def described(name: str, array: "NDArray[Any]") -> "ValueInfoProto":
    from onnx import TensorProto, helper

    element = TensorProto.STRING if array.dtype.kind == "U" else helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, element, array.shape)


def given(
    names: Sequence[str],
    known: Mapping[str, Path],
    sample: Path,
    kinds: "Mapping[str, numpy.dtype[Any]]",
    path: Path,
) -> "Mapping[str, NDArray[Any]]":
    """Writes the inputs of nodes to `path`: from `known`, or from the `sample` for inputs of the graph, in `kinds`."""
    arrays = dict(_arrays(names, known, sample, kinds))
    write_arrays(path, arrays)
    return arrays


def _arrays(
    names: Sequence[str], known: Mapping[str, Path], sample: Path, kinds: "Mapping[str, numpy.dtype[Any]]"
) -> "Iterator[tuple[str, NDArray[Any]]]":
    import numpy

    with numpy.load(sample) as inputs:
        for name in names:
            array = read_array(known[name]) if name in known else inputs[name]
            kind = kinds.get(name, array.dtype)
            with numpy.errstate(over="ignore"):
                yield name, array if kind.kind == "U" or array.dtype == kind else array.astype(kind)
