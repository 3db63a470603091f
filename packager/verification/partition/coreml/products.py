"""Rules for matrix products, reductions and normalizations."""

from collections.abc import Iterator

from packager.verification.partition.coreml.candidate import Candidate, constant, shown, static
from packager.verification.partition.coreml.elementwise import INT32


def gemm(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/gemm_op_builder.cc."""
    yield from constant(candidate, 1, "B")
    if candidate.integer("transA"):
        yield "transA must be 0"
    for name in ("alpha", "beta"):
        if candidate.number(name, 1.0) != 1.0:
            yield f"{name} is {candidate.number(name, 1.0):g}, not 1"
    if candidate.count == 3:
        yield from constant(candidate, 2, "C")
        columns = candidate.sizes(1)[0 if candidate.integer("transB") else 1]
        if candidate.sizes(2) not in ((), (1,), (columns,), (1, columns)):
            yield f"C has shape {shown(candidate.input(2))}, not [{columns}] or one element"


def matmul(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/gemm_op_builder.cc."""
    ranks = (candidate.rank(0), candidate.rank(1))
    if not candidate.is_mlprogram:
        yield from constant(candidate, 1, "B")
        if ranks != (2, 2):
            yield f"input ranks {ranks[0]} and {ranks[1]}; the NeuralNetwork format supports 2 and 2"
    elif 1 in ranks and max(ranks) > 1:  # https://github.com/apple/coremltools/issues/2263
        yield "CoreML multiplies 1-D inputs wrongly"


def reduction(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/reduction_op_builder.cc."""
    if candidate.has(1):
        yield from constant(candidate, 1, "axes")
    is_noop = candidate.integer("noop_with_empty_axes") != 0
    # It counts int64_data of the axes, which is empty for numbers stored as raw data: those count as no axes.
    if is_noop and not candidate.is_mlprogram:
        yield "noop_with_empty_axes requires the MLProgram format"


def argmax(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/argmax_op_builder.cc."""
    if candidate.integer("select_last_index"):
        yield "select_last_index is set"
    takers = candidate.graph.consumers.get(candidate.node.outputs[0], ())
    casts = [node for node in takers if node.op == "Cast" and node.attributes.get("to") == INT32]
    if casts and len(takers) > 1 and not candidate.is_mlprogram:
        yield "its output goes to a Cast to int32 and to other nodes"


def batch_normalization(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/batch_norm_op_builder.cc."""
    if len(candidate.node.outputs) != 1:
        yield "training outputs are not supported"
    if candidate.rank() != 4:
        yield f"input rank {candidate.rank()}; CoreML supports 4"
    if candidate.integer("spatial", 1) != 1:
        yield "spatial must be 1"
    for index, name in enumerate(("scale", "bias", "mean", "variance"), start=1):
        yield from constant(candidate, index, name)


def normalization(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/normalization_op_builder.cc."""
    if len(candidate.node.outputs) != 1:
        yield "training outputs are not supported"
    if candidate.op != "InstanceNormalization" and candidate.integer("stash_type", 1) != 1:
        yield "stash_type is not float"
    yield from constant(candidate, 1, "scale")
    if candidate.count > 2:
        yield from constant(candidate, 2, "bias")


def lrn(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/LRN_op_builder.cc."""
    if candidate.rank() not in (3, 4):
        yield f"input rank {candidate.rank()}; CoreML supports 3 or 4"


def softmax(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/softmax_op_builder.cc: before version 13 it is a product of two sizes."""
    if candidate.version < 13:
        yield from static(candidate)
