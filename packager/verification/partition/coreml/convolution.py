"""Rules for convolutions and pools."""

from collections.abc import Iterator

from packager.graph.view import Value
from packager.verification.partition.coreml.candidate import Candidate, constant, shown

MAX_SIZE = 16384
"""CheckShapeForConvMemoryLimit in builders/helper.cc: the widest texture of the GPU."""

FUSED_ACTIVATIONS = {"Relu": 0, "Sigmoid": 0, "Tanh": 0, "LeakyRelu": 1, "Clip": 2, "HardSigmoid": 2}
"""Activation -> number of its activation_params."""


def conv(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/conv_op_builder.cc."""
    if not candidate.is_mlprogram:
        yield from constant(candidate, 1, "the weight")
    if candidate.rank(1) not in (3, 4):
        yield f"a {candidate.rank(1) - 2}-D convolution; CoreML supports 1-D and 2-D"
    if candidate.output().shape is None:
        yield "the output shape is unknown"
    yield from _sizes(candidate.input(1), candidate.input(0), candidate.output())
    yield from _bias(candidate)
    yield from _kernel(candidate)


def fused_conv(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/conv_op_builder.cc."""
    if candidate.has(3):
        yield "the residual input Z is not supported"
    activation = candidate.text("activation", "")
    if activation not in FUSED_ACTIVATIONS:
        yield f"activation '{activation}' is not one of {', '.join(FUSED_ACTIVATIONS)}"
    given = candidate.node.attributes.get("activation_params", ())
    found, wanted = len(given) if isinstance(given, tuple) else 1, FUSED_ACTIVATIONS[activation]
    if found != wanted:
        yield f"activation {activation} has {found} parameters, not {wanted}"
    yield from conv(candidate)


def conv_transpose(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/convtranspose_op_builder.cc."""
    yield from constant(candidate, 1, "the weight")
    yield from _bias(candidate)
    yield from _sizes(candidate.input(1), candidate.input(0))
    padding, pads = candidate.text("auto_pad", "NOTSET"), candidate.sequence("pads")
    if padding in ("SAME_UPPER", "SAME_LOWER"):
        yield f"auto_pad '{padding}' is not supported"
    if padding == "NOTSET" and len(set(pads)) > 1:
        yield f"pads differ ({', '.join(map(str, pads))}), for which CoreML's results are wrong"
    yield from _kernel(candidate)
    if candidate.has_attribute("output_shape"):
        yield "output_shape is set, for which CoreML's results are wrong"
    if any(candidate.sequence("output_padding")):
        yield "output_padding must be 0"


def pool(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/pool_op_builder.cc."""
    yield from global_pool(candidate)
    if candidate.integer("storage_order") == 1:
        yield "storage_order must be 0"
    if len(candidate.sequence("kernel_shape")) not in (0, 2):
        yield f"pools over {len(candidate.sequence('kernel_shape'))} dimensions; CoreML supports 2"
    if candidate.integer("ceil_mode") == 1 and not candidate.is_mlprogram:
        yield "ceil_mode requires the MLProgram format"
    if candidate.sequence("dilations") not in ((), (1, 1)):
        yield f"dilations {', '.join(map(str, candidate.sequence('dilations')))} are not supported"
    if len(candidate.node.outputs) != 1:
        yield "the indices output is not supported"


def global_pool(candidate: Candidate) -> Iterator[str]:
    if candidate.rank() != 4:
        yield f"input rank {candidate.rank()}; CoreML pools rank 4 only"


def _bias(candidate: Candidate) -> Iterator[str]:
    if candidate.count > 2:
        yield from constant(candidate, 2, "the bias")


def _kernel(candidate: Candidate) -> Iterator[str]:
    kernel = candidate.sequence("kernel_shape")
    if candidate.has_attribute("kernel_shape") and kernel != candidate.sizes(1)[2:]:
        yield f"kernel_shape {list(kernel)} differs from the weight's, {shown(candidate.input(1))}"


def _sizes(*values: Value) -> Iterator[str]:
    for value in values:
        if any(isinstance(size, int) and size > MAX_SIZE for size in value.shape or ()):
            yield f"'{value.name}' has a dimension over {MAX_SIZE}: {shown(value)}"
