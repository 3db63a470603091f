"""TensorFlow's functions as ONNX, for the importers of all that TensorFlow saves."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from packager.engines.environments.framework import Framework
from packager.importers.importer import Converted

OPSET = 17
"""the last one in which tf2onnx moves Transposes through reductions: from 18 on, their axes are inputs"""
GIVEN_BY_KERAS = re.compile(r"(keras_tensor|input_layer|input|inputs|args)(_\d+)?")
GIVEN_BY_TENSORFLOW = re.compile(r"(output|Identity|StatefulPartitionedCall|PartitionedCall|keras_tensor)(_\d+)?")
ENVIRONMENT = Framework(
    name="keras",
    about="Keras, TensorFlow and tf2onnx: imports .keras, .h5, SavedModels and .tflite (1.5 GB)",
    lock=Path(__file__).with_name("keras.txt"),
    trial="import keras, tensorflow, tf2onnx.convert",
    settings=(
        ("KERAS_BACKEND", "tensorflow"),
        ("CUDA_VISIBLE_DEVICES", "-1"),
        ("TF_CPP_MIN_LOG_LEVEL", "3"),
        ("TF_ENABLE_ONEDNN_OPTS", "0"),  # the same numbers on every processor
    ),
)


def readable(names: Sequence[str]) -> list[str]:
    """`names` with `input`, `input_1` in place of those that Keras has made up."""
    if not all(GIVEN_BY_KERAS.fullmatch(name) for name in names):
        return list(names)
    return ["input"] if len(names) == 1 else [f"input_{number}" for number in range(len(names))]


def readable_outputs(names: Sequence[str]) -> list[str]:
    """`names` with `output`, `output_1` in place of those that TensorFlow has made up."""
    if not all(GIVEN_BY_TENSORFLOW.fullmatch(name) for name in names):
        return list(names)
    return unnamed(len(names))


def named(value: Any, names: Sequence[str]) -> dict[str, Any]:
    """The tensors that a model returns, in TensorFlow's order; items of a list have `names`."""
    import tensorflow

    if isinstance(value, Mapping):
        return {str(key): value[key] for key in sorted(value)}
    flat = tensorflow.nest.flatten(value)
    return dict(zip(names if len(names) == len(flat) else unnamed(len(flat)), flat, strict=True))


def unnamed(count: int) -> list[str]:
    return ["output"] if count == 1 else [f"output_{number}" for number in range(count)]


def add_missing_operators() -> None:
    """Registers operators that Keras needs and tf2onnx lacks, through tf2onnx's own interface for them."""
    from tf2onnx.handler import tf_op

    tf_op("Erfc")(Erfc)


class Erfc:
    """1 - Erf, with which Keras computes exact GELUs."""

    @classmethod
    def version_9(cls, graph: Any, node: Any, **_: Any) -> None:
        """Replaces `node`, from the opset on that has Erf."""
        import numpy
        from tf2onnx import utils

        shapes, dtypes = [graph.get_shape(node.output[0])], [graph.get_dtype(node.output[0])]
        given, made = node.input[0], list(node.output)
        graph.remove_node(node.name)
        erf = graph.make_node("Erf", [given], shapes=shapes, dtypes=dtypes)
        one = numpy.ones((), utils.map_onnx_to_numpy_type(dtypes[0]))
        constant = graph.make_const(utils.make_name("one"), one)
        graph.make_node("Sub", [constant.output[0], erf.output[0]], outputs=made, shapes=shapes, dtypes=dtypes)


def converted(
    function: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    inputs: Sequence[tuple[str, str, Sequence[int | str]]],
    path: Path,
) -> Converted:
    """Writes `function` of named tensors as ONNX to `path`. `inputs` are names, types and shapes."""
    import tensorflow
    import tf2onnx

    add_missing_operators()
    names = [name for name, _, _ in inputs]
    specs = tuple(
        tensorflow.TensorSpec([size if isinstance(size, int) else None for size in shape], dtype, name=f"in_{place}")
        for place, (_, dtype, shape) in enumerate(inputs)
    )
    outputs: list[str] = []

    def in_order(*values: Any) -> list[Any]:
        found = function(dict(zip(names, values, strict=True)))
        outputs[:] = list(found)
        return [tensorflow.identity(value) for value in found.values()]

    proto, _ = tf2onnx.convert.from_function(tensorflow.function(in_order), specs, opset=OPSET, output_path=str(path))
    found = [each.name for each in proto.graph.output]
    return Converted(
        converter=f"tf2onnx {tf2onnx.__version__}",
        names={**{f"in_{place}": name for place, name in enumerate(names)}, **dict(zip(found, outputs, strict=True))},
    )
