"""Rules for operators that move elements and keep their values."""

import math
from collections.abc import Iterator

from packager.verification.partition.coreml.candidate import Candidate, constant, shown, static

MAX_RANK = 5


def reshape(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/reshape_op_builder.cc."""
    yield from constant(candidate, 1, "the new shape")
    new = candidate.integers(1)
    yield from static(candidate)
    if not candidate.rank():
        yield "the input must not be a scalar"
    if len(new) > MAX_RANK:
        yield f"the new shape has rank {len(new)}; CoreML supports up to {MAX_RANK}"
    if candidate.integer("allowzero") and 0 in new:
        yield "the new shape must not be empty"


def squeeze(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/squeeze_op_builder.cc."""
    if candidate.version > 12 and candidate.count > 1:
        yield from constant(candidate, 1, "axes")


def unsqueeze(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/squeeze_op_builder.cc."""
    yield from squeeze(candidate)
    added = math.prod(candidate.sizes(1)) if candidate.version > 12 else len(candidate.sequence("axes"))
    if candidate.rank() + added > MAX_RANK:
        yield f"output rank {candidate.rank() + added}; CoreML supports up to {MAX_RANK}"


def flatten(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/flatten_op_builder.cc."""
    if not candidate.rank():
        yield "the input must not be a scalar"


def concat(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/concat_op_builder.cc."""
    if candidate.count < 2:
        yield "a single input is not supported"
    if candidate.is_mlprogram:
        return
    if candidate.rank() != 4:
        yield f"input rank {candidate.rank()}; the NeuralNetwork format supports 4"
    if candidate.axis(candidate.integer("axis", 1)) != 1:
        yield f"axis {candidate.integer('axis', 1)}; the NeuralNetwork format supports 1"


def split(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/split_op_builder.cc."""
    size = candidate.sizes()[candidate.axis(candidate.integer("axis"))]
    pieces = len(candidate.node.outputs)
    if candidate.has(1):
        yield from constant(candidate, 1, "split")
        yield from _given_sizes(candidate.integers(1), size)
    elif candidate.has_attribute("split"):
        yield from _given_sizes(candidate.sequence("split"), size)
    elif candidate.version >= 18:
        yield from _number_of_outputs(candidate, size)
    elif pieces < 2:
        yield "a single output is not supported"
    elif size < 0:
        yield "the split dimension must be static"
    elif size % pieces:
        yield f"{size} elements do not divide into {pieces} equal parts"


def _given_sizes(sizes: tuple[int, ...], whole: int) -> Iterator[str]:
    if len(sizes) < 2:
        yield "a single output is not supported"
    if whole < 0:
        yield "the split dimension must be static"
    if sum(sizes) != whole:
        yield f"sizes add up to {sum(sizes)}, not {whole}"
    if min(sizes) < 1:
        yield "outputs must not be empty"


def _number_of_outputs(candidate: Candidate, whole: int) -> Iterator[str]:
    number = candidate.integer("num_outputs")
    if number < 2:
        yield "a single output is not supported" if number else "neither sizes nor num_outputs is set"
    if number != len(candidate.node.outputs):
        yield f"num_outputs is {number} for {len(candidate.node.outputs)} outputs"
    if whole < 0:
        yield "the split dimension must be static"
    if number > whole:
        yield f"{whole} elements do not split into {number}"


def pad(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/pad_op_builder.cc."""
    least = 1 if candidate.is_mlprogram else 2
    if candidate.rank() < least:
        yield f"input rank {candidate.rank()}; CoreML supports {least} or more"
    mode = candidate.text("mode", "constant")
    if mode not in (modes := ("constant", "reflect") if candidate.is_mlprogram else ("constant",)):
        yield f"mode '{mode}' is not {' or '.join(modes)}"
    if mode == "constant":
        yield from _constant_value(candidate)
    yield from constant(candidate, 1, "pads")
    pads = candidate.integers(1)
    if min(pads, default=0) < 0:
        yield f"pads must not be negative: {', '.join(map(str, pads))}"
    if candidate.has(3):
        yield from constant(candidate, 3, "axes")
        axes = tuple(candidate.axis(axis) for axis in candidate.integers(3))
    else:
        axes = tuple(range(candidate.rank()))
    padded = list(zip(axes, pads[: len(axes)], pads[len(axes) :], strict=True))
    if not candidate.is_mlprogram or mode == "reflect":
        for axis, before, behind in padded:
            if axis < candidate.rank() - 2 and (before or behind):
                where = "in mode 'reflect'" if candidate.is_mlprogram else "in the NeuralNetwork format"
                yield f"pads axis {axis}; CoreML supports the last two only {where}"
    if mode == "reflect":
        for axis, before, behind in padded:
            yield from _reflected(candidate.sizes()[axis], max(before, behind), axis)


def _reflected(size: int, count: int, axis: int) -> Iterator[str]:
    if size < 0:  # compared as -1, so even no padding exceeds it
        yield f"mode 'reflect' requires a static axis {axis}"
    elif count >= size:
        yield f"reflects {count} of {size} elements of axis {axis}"


def _constant_value(candidate: Candidate) -> Iterator[str]:
    if candidate.has(2):
        yield from constant(candidate, 2, "constant_value")
    elif not candidate.is_mlprogram:
        yield "the NeuralNetwork format requires constant_value"


def tile(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/tile_op_builder.cc."""
    if not candidate.is_constant(1):
        if not candidate.is_mlprogram:
            yield from constant(candidate, 1, "repeats")
        return
    repeats = candidate.integers(1)
    if len(repeats) != candidate.rank():
        yield f"{len(repeats)} repeats for rank {candidate.rank()}"
    if min(repeats, default=1) < 1:
        yield f"repeats must be positive: {', '.join(map(str, repeats))}"


def depth_to_space(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/depthtospace_op_builder.cc."""
    mode = candidate.text("mode", "DCR")
    if mode == "CRD" and candidate.is_mlprogram:
        yield from static(candidate)
    elif mode != "DCR" and not candidate.is_mlprogram:
        yield f"mode '{mode}' requires the MLProgram format"


def shape(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/shape_op_builder.cc."""
    start, rank = candidate.integer("start"), candidate.rank()
    if not candidate.is_mlprogram:
        if candidate.has_attribute("end") or start:
            yield "start and end require the MLProgram format"
        return
    end = candidate.axis(candidate.integer("end")) if candidate.has_attribute("end") else rank
    if end == candidate.axis(start):
        yield f"start and end select nothing of {shown(candidate.input(0))}"
