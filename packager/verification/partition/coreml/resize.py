"""The rule for Resize, for which CoreML has four operators with limits of their own.

IsOpSupportedImpl in builders/impl/resize_op_builder.cc.
"""

from collections.abc import Iterator

from packager.verification.partition.coreml.candidate import Candidate, constant, shown, static

SCALES, SIZES = 2, 3
"""Indices of inputs."""
IS_FACTOR = 1e-4
"""ReciprocalIsAFactorOfN in core/providers/utils.cc."""


def resize(candidate: Candidate) -> Iterator[str]:
    yield from _input(candidate)
    yield from _attributes(candidate)
    if candidate.has(SIZES):
        yield from _sizes(candidate)
    elif candidate.has(SCALES):
        yield from _scales(candidate)
    else:
        yield "neither scales nor sizes is set"
    yield from _coordinates(candidate)


def _input(candidate: Candidate) -> Iterator[str]:
    if 0 in candidate.sizes():
        yield f"the input must not be empty: {shown(candidate.input(0))}"
    least, most = (3, 5) if candidate.is_mlprogram else (4, 4)
    if not least <= candidate.rank() <= most:
        yield f"input rank {candidate.rank()}; CoreML supports {'3 to 5' if candidate.is_mlprogram else '4'}"


def _attributes(candidate: Candidate) -> Iterator[str]:
    if candidate.integer("antialias"):
        yield "antialias is set"
    mode = candidate.text("mode", "nearest")
    if mode not in ("nearest", "linear"):
        yield f"mode '{mode}' is neither nearest nor linear"
    rounding = candidate.text("nearest_mode", "round_prefer_floor")
    if mode == "nearest" and rounding != "floor":
        yield f"nearest_mode '{rounding}' is not floor"
    if candidate.integer("exclude_outside"):
        yield "exclude_outside is set"
    policy = candidate.text("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch":
        yield f"keep_aspect_ratio_policy '{policy}' is not stretch"


def _axes(candidate: Candidate) -> tuple[int, ...]:
    return tuple(candidate.axis(axis) for axis in candidate.sequence("axes")) or tuple(range(candidate.rank()))


def _scales(candidate: Candidate) -> Iterator[str]:
    if -1 in candidate.sizes()[-2:]:
        yield f"height and width must be static: {shown(candidate.input(0))}"
    yield from constant(candidate, SCALES, "scales")
    scales = candidate.numbers(SCALES)
    for axis, scale in zip(_axes(candidate), scales, strict=True):
        if axis < candidate.rank() - 2 and scale != 1:
            yield f"scales axis {axis} by {scale:g}; CoreML supports the last two only"
    height, width = scales[-2:]
    if min(height, width) >= 1:
        for scale in (height, width):
            if scale != round(scale):
                yield f"scales up by {scale:g}; CoreML supports whole numbers"
    elif max(height, width) > 1:
        yield f"scales one dimension up and the other down: by {height:g} and {width:g}"
    elif not candidate.is_mlprogram:
        yield "scaling down requires the MLProgram format"
    else:
        for scale, size in zip((height, width), candidate.sizes()[-2:], strict=True):
            if not _divides(scale, size):
                yield f"scales down by {scale:g}, which is not 1 over a divisor of {size}"


def _divides(scale: float, size: int) -> bool:
    """Whether the size is divisible; not called for 1: ONNX Runtime ignores what is scaled down in one direction
    only."""
    factor = 1 / scale if 0 < scale < 1 else 0
    return factor > 0 and abs(factor - round(factor)) < IS_FACTOR and size % round(factor) == 0


def _sizes(candidate: Candidate) -> Iterator[str]:
    yield from constant(candidate, SIZES, "sizes")
    sizes = candidate.integers(SIZES)
    # The provider compares with the dimensions in their order, whatever the attribute axes says.
    for axis, now, new in zip(_axes(candidate), candidate.sizes(), sizes, strict=False):
        if axis < candidate.rank() - 2 and now != new:
            yield f"resizes axis {axis} from {'?' if now < 0 else now} to {new}; CoreML supports the last two only"
    if not candidate.is_mlprogram:
        yield from static(candidate)
        for now, new in zip(candidate.sizes()[-2:], sizes[-2:], strict=True):
            if new % now:
                yield f"resizes {now} to {new}; the NeuralNetwork format supports multiples only"


def _coordinates(candidate: Candidate) -> Iterator[str]:
    mode = candidate.text("coordinate_transformation_mode", "half_pixel")
    taken = {"asymmetric"}
    if candidate.is_mlprogram and candidate.text("mode", "nearest") == "linear":
        taken = {"half_pixel", "align_corners"} | ({"asymmetric"} if candidate.has(SIZES) else set())
    if mode not in taken:
        yield f"coordinate_transformation_mode '{mode}' is not {' or '.join(sorted(taken))}"
