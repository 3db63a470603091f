"""ONNX as skl2onnx writes it, with the outputs, labels and shapes of the framework."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from packager.core.errors import ModelError
from packager.importers.importer import Arrays

OPSET = 18
ML_OPSET = 3
"""that of `ai.onnx.ml`"""


@contextlib.contextmanager
def plain_attributes() -> Iterator[None]:
    """Lets skl2onnx give Python's numbers to ONNX where it has NumPy's, some of which ONNX does not take."""
    import numpy
    from skl2onnx.common import _container

    make_node = _container.make_node

    def plain(value: Any) -> Any:
        if isinstance(value, numpy.ndarray):
            return value.tolist()
        if isinstance(value, list):
            values = [each.item() if isinstance(each, numpy.generic) else each for each in value]
            return [int(each) if isinstance(each, bool) else each for each in values]
        return value

    def made(*arguments: Any, **attributes: Any) -> Any:
        return make_node(*arguments, **{name: plain(value) for name, value in attributes.items()})

    _container.make_node = made
    try:
        yield
    finally:
        _container.make_node = make_node


def finish(proto: Any, methods: Mapping[str, str], classes: Sequence[Any], example: Arrays) -> None:
    """Gives the outputs the names of `methods`, texts of labels their numbers, and the shapes of the framework."""
    from onnx import TensorProto, helper

    graph = proto.graph
    if len(graph.output) < len(methods):
        raise ModelError(
            f"skl2onnx wrote {len(graph.output)} outputs, not {', '.join(methods)}", hint="use another estimator"
        )
    free_names(graph, methods)
    own = list(graph.output)[: len(methods)]
    del graph.output[:]
    for value, name in zip(own, methods, strict=True):
        if not value.type.HasField("tensor_type"):
            raise ModelError(f"skl2onnx wrote the output '{name}' as no tensor", hint="use another estimator")
        source, tensor, shape = value.name, value.type.tensor_type, example[name].shape[1:]
        element = tensor.elem_type
        if name == "label" and classes and element == TensorProto.STRING:
            keys = [str(each) for each in classes]
            attributes: dict[str, Any] = {"keys_strings": keys, "values_int64s": list(range(len(keys)))}
            source, element = f"{name}_text", TensorProto.INT64
            graph.node.append(
                helper.make_node("LabelEncoder", [value.name], [source], domain="ai.onnx.ml", **attributes)
            )
        if not shape and tensor.shape.dim and tensor.shape.dim[-1].dim_value == 2:  # decisions for both classes
            graph.node.append(constant(f"{name}_column", 1))
            graph.node.append(helper.make_node("Gather", [source, f"{name}_column"], [f"{name}_one"], axis=1))
            source = f"{name}_one"
        graph.node.append(constant(f"{name}_shape", [-1, *shape]))
        graph.node.append(helper.make_node("Reshape", [source, f"{name}_shape"], [name]))
        graph.output.append(helper.make_tensor_value_info(name, element, ["batch", *shape]))
    is_old = any(each.op_type == "LabelEncoder" and each.output[0] != "label_text" for each in graph.node)
    for domain, version in (("", OPSET), ("ai.onnx.ml", ML_OPSET)):
        declared = [each for each in proto.opset_import if each.domain == domain]
        if not declared:
            proto.opset_import.append(helper.make_opsetid(domain, version))
        elif domain and not (is_old and declared[0].version < 2):
            declared[0].version = max(declared[0].version, version)


def constant(name: str, value: int | list[int]) -> Any:
    """A node in the form that every opset knows: skl2onnx writes the oldest that its own nodes need."""
    import numpy
    from onnx import helper, numpy_helper

    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(numpy.array(value, numpy.int64)))


def free_names(graph: Any, names: Iterable[str]) -> None:
    """Renames what is called as an output will be."""
    changed = {name: f"{name}_inner" for name in names}
    for node in graph.node:
        node.input[:] = [changed.get(each, each) for each in node.input]
        node.output[:] = [changed.get(each, each) for each in node.output]
    for value in (*graph.output, *graph.initializer, *graph.value_info):
        value.name = changed.get(value.name, value.name)
