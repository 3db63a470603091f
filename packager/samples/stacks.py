"""Decides whether the arrays of a file are one sample, or stacks of samples along a first axis.

An array with one axis more than its input is a stack. One with the same number of axes is a stack if the first axis of
the input is a batch of 1, or dynamic: then each row is a sample with a batch of 1. All arrays of a file must agree.
"""

from collections.abc import Mapping

from packager.core.values import TensorSpec
from packager.samples.fit import has_shape, lacks_batch, wrong_shape
from packager.samples.sample import Problem, in_words

Shapes = Mapping[str, tuple[int, ...]]
"""input name -> shape of its array"""


def stack_length(shapes: Shapes, inputs: tuple[TensorSpec, ...]) -> int | None:
    """Number of samples in the stacks; None for one sample, or for arrays that `misfit` reports."""
    lengths = {shapes[spec.name][0] for spec in inputs if _is_stack(shapes[spec.name], spec)}
    are_stacks = all(_is_stack(shapes[spec.name], spec) for spec in inputs)
    return lengths.pop() if are_stacks and len(lengths) == 1 else None


def misfit(shapes: Shapes, inputs: tuple[TensorSpec, ...], where: str) -> Problem | None:
    """Why arrays of these shapes are neither one sample nor stacks of equal length."""
    if stack_length(shapes, inputs) is not None or all(_is_single(shapes[spec.name], spec) for spec in inputs):
        return None
    for spec in inputs:
        if not _is_stack(shapes[spec.name], spec) and not _is_single(shapes[spec.name], spec):
            return wrong_shape(shapes[spec.name], spec, where)
    listed = ", ".join(f"{spec.name} {in_words(shapes[spec.name])}" for spec in inputs)
    return Problem(
        severity="error",
        text=f"{where}: the arrays do not hold the same number of samples: {listed}",
        hint="stack all of them along a first axis of one length, or save each sample in a file of its own",
        kind="files whose arrays disagree",
    )


def _is_stack(shape: tuple[int, ...], spec: TensorSpec) -> bool:
    if len(shape) == len(spec.shape) + 1:
        return has_shape(shape[1:], spec)
    return len(shape) == len(spec.shape) and bool(shape) and lacks_batch(shape[1:], spec)


def _is_single(shape: tuple[int, ...], spec: TensorSpec) -> bool:
    return has_shape(shape, spec) or lacks_batch(shape, spec)
