"""The graphs that contracts write, without a model, run in this process."""

from collections.abc import Mapping, Sequence

import numpy
import numpy.typing
import onnx
from onnx import helper, numpy_helper

from packager.core.signature import Dimension, ElementType, TensorSpec
from packager.graph.writer import OPSET, Writer, onnx_type

Array = numpy.typing.NDArray[numpy.generic]
Value = tuple[str, ElementType, tuple[Dimension, ...]]
"""Name, element type and shape of a value."""

IR_VERSION = 8
THREADS = 2


def spec_of(name: str, element: ElementType, *shape: Dimension) -> TensorSpec:
    """A tensor whose name is an identifier already."""
    return TensorSpec(name=name, identifier=name, element=element, shape=shape)


def graph_of(writer: Writer, outputs: Sequence[Value] = (), inputs: Sequence[Value] = ()) -> bytes:
    """The nodes of `writer` as a model of its own.

    `outputs` are further values to look at, behind those that the writer made outputs; `inputs` are what the nodes
    take from a core that is not there, ahead of those that the writer made inputs.
    """
    written = writer.written
    given = [*(_described(*each) for each in inputs), *map(_declared, written.inputs)]
    made = [*map(_declared, written.outputs), *(_described(*each) for each in outputs)]
    constants = [numpy_helper.from_array(array, name) for name, array in written.constants.items()]
    graph = helper.make_graph(written.nodes, "g", given, made, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


def _declared(spec: TensorSpec) -> onnx.ValueInfoProto:
    return _described(spec.name, spec.element, spec.shape)


def _described(name: str, element: ElementType, shape: Sequence[Dimension]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, onnx_type(element), shape)


class Ran:
    """One model, loaded once."""

    def __init__(self, graph: bytes, *, threads: int = THREADS) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # two cores have other work, too
        options.log_severity_level = 4  # errors come as exceptions
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self._names = [output.name for output in self._session.get_outputs()]

    def __call__(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs by name; `feeds` may have inputs that the model lacks."""
        taken = {each.name for each in self._session.get_inputs()}
        found = self._session.run(None, {name: array for name, array in feeds.items() if name in taken})
        return dict(zip(self._names, found, strict=True))


def run(graph: bytes, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """ONNX Runtime's outputs for `feeds`, by name."""
    return Ran(graph)(feeds)
