"""Rules for elementwise operators."""

from collections.abc import Iterator

from packager.verification.partition.coreml.candidate import Candidate, constant

INT32 = 6
"""TensorProto.INT32."""


def prelu(candidate: Candidate) -> Iterator[str]:
    """IsPReluOpSupported in builders/impl/activation_op_builder.cc."""
    if candidate.rank() not in (3, 4):
        yield f"input rank {candidate.rank()}; CoreML supports 3 or 4"
    channels = candidate.sizes()[-3]
    if channels < 0:
        yield "the third dimension from the end must be static"
    yield from constant(candidate, 1, "slope")
    slope = candidate.sizes(1)
    is_single = all(size == 1 for size in slope)
    if not is_single and (len(slope) != 3 or slope[1:] != (1, 1)):
        yield f"slope has shape {list(slope)}, not [C, 1, 1] or one element"
    if is_single and channels == 1:  # https://github.com/apple/coremltools/issues/1488
        yield "one slope for one channel crashes CoreML"


def clip(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/clip_op_builder.cc, GetClipMinMax in core/providers/shared/utils/utils.cc."""
    limits = []
    for index, name in ((1, "min"), (2, "max")):
        if candidate.version >= 11 and candidate.has(index):
            yield from constant(candidate, index, name)
            limits.append(candidate.numbers(index)[:1])
        elif candidate.version < 11 and candidate.has_attribute(name):
            limits.append((candidate.number(name, 0),))
    if len(limits) == 2 and limits[0] == limits[1]:
        yield f"min and max are both {limits[0][0]:g}"


def cast(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/cast_op_builder.cc: NeuralNetwork knows it behind ArgMax alone."""
    if candidate.is_mlprogram:
        return
    producer = candidate.graph.producers.get(candidate.node.inputs[0])
    if producer is None:
        yield "no node computes its input"
    elif producer.op != "ArgMax":
        yield f"the NeuralNetwork format supports it after ArgMax only, not after {producer.op}"
    elif not candidate.is_supported(producer):
        yield f"the ArgMax '{producer.name}' before it is not supported"
    if candidate.integer("to") != INT32:
        yield f"the NeuralNetwork format casts to int32 only, not to {candidate.output().element}"
