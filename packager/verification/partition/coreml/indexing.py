"""Rules for operators that select elements."""

from collections.abc import Iterator

from packager.verification.partition.coreml.candidate import Candidate, constant, static

MAX_RANK = 5


def gather(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/gather_op_builder.cc."""
    if not candidate.rank(1):
        yield from (f"scalar indices: {reason}" for reason in static(candidate))
        if candidate.rank() > MAX_RANK - 1:
            yield f"scalar indices with input rank {candidate.rank()}; CoreML supports up to {MAX_RANK - 1}"
    rank = candidate.rank() + candidate.rank(1) - 1
    if rank > MAX_RANK:
        yield f"output rank {rank}; CoreML supports up to {MAX_RANK}"


def gather_nd(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/gather_nd_op_builder.cc."""
    if candidate.integer("batch_dims"):
        yield f"batch_dims is {candidate.integer('batch_dims')}, not 0"
    yield from constant(candidate, 1, "indices")
    if not candidate.rank(1):
        yield "indices must not be a scalar"
    depth = candidate.sizes(1)[-1]
    if depth > candidate.rank():
        yield f"indices of {depth} parts for input rank {candidate.rank()}"
    if -1 in candidate.sizes()[:depth]:
        yield "indexed dimensions must be static"


def slice_(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/slice_op_builder.cc, ranges as in core/providers/cpu/tensor/slice_helper.h."""
    yield from static(candidate)
    for index, name in enumerate(("starts", "ends", "axes", "steps"), start=1):
        if candidate.has(index):
            yield from constant(candidate, index, name)
    starts, ends = candidate.integers(1), candidate.integers(2)
    axes = candidate.integers(3) if candidate.has(3) else tuple(range(len(starts)))
    steps = candidate.integers(4) if candidate.has(4) else (1,) * len(starts)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        size = candidate.sizes()[candidate.axis(axis)]
        if not step:
            yield "a step is 0"
        elif not len(range(*slice(start, _python_end(end, size, step), step).indices(size))):
            yield f"empty slice of axis {axis}: {start} to {end} of {size}"


def _python_end(end: int, size: int, step: int) -> int | None:
    """ONNX's end before the first element, which Python writes as None."""
    return None if step < 0 and end < -size else end


def grid_sample(candidate: Candidate) -> Iterator[str]:
    """IsOpSupportedImpl in builders/impl/gridsample_op_builder.cc; opset 20 says linear for bilinear."""
    if candidate.rank() != 4:
        yield f"input rank {candidate.rank()}; CoreML supports 4"
    mode = candidate.text("mode", "linear").removeprefix("bi")
    if mode not in ("linear", "zeros"):
        yield f"mode '{candidate.text('mode', 'linear')}' is not linear"
    padding = candidate.text("padding_mode", "zeros")
    if mode == "linear" and padding == "reflection" and not candidate.integer("align_corners"):
        yield "padding_mode 'reflection' requires align_corners"
