"""Finds which nodes a runtime merges if only the merged ones are wrong: an extra output between them keeps them
apart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packager.verification.bisection.figures import ErrorLimits
from packager.verification.bisection.outputs import Parting, whole
from packager.verification.bisection.running import RefusedError, fresh, run_file, run_piece
from packager.verification.bisection.subject import BisectionSubject
from packager.verification.parity.outcomes import read_array

if TYPE_CHECKING:
    from onnx import ModelProto

FLOATS = (1, 10, 11)
"""TensorProto.DataType of floats that every runtime can compute the maximum of."""


@dataclass(frozen=True, kw_only=True)
class Fusion:
    """The nodes that one side merges."""

    right: BisectionSubject
    wrong: BisectionSubject
    first: str
    """the first value that no longer exists when the nodes are merged"""
    last: str


def merged(
    a: BisectionSubject,
    b: BisectionSubject,
    parting: Parting,
    sample: Path,
    folder: Path,
    limits: ErrorLimits,
    values: Sequence[str],
) -> Fusion | None:
    """The side that is right only if it runs node by node, and which of `values` its merged nodes skip; None if neither
    is."""
    ways = [(b, a, parting.a)] if parting.refusal else [(b, a, parting.a), (a, b, parting.b)]
    for wrong, right, expected in ways:
        search = _Search(subject=wrong, expected=expected, sample=sample, folder=folder, limits=limits)
        if not search.is_right_alone():
            continue
        floats = search.floats(values)
        if not wrong.is_optimized or not floats or not search.is_right_with(floats) or search.is_right_with(()):
            return Fusion(right=right, wrong=wrong, first="", last="")
        first, last = search.narrowest(floats)
        return Fusion(right=right, wrong=wrong, first=first, last=last)
    return None


def _fewest(most: int, is_enough: Callable[[int], bool]) -> int:
    """The smallest sufficient count, given that `most` is sufficient and 0 is not."""
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


@dataclass(frozen=True, kw_only=True)
class _Search:
    subject: BisectionSubject
    expected: Path
    """folder with the outputs of the other side"""
    sample: Path
    folder: Path
    limits: ErrorLimits

    def is_right_alone(self) -> bool:
        """Whether the file itself gives the expected outputs without optimizations."""
        try:
            found = run_file(self.subject, whole(self.subject, is_optimized=False), self.sample, self._fresh())
        except RefusedError:
            return False
        return self._is_right([found / f"{index}.npy" for index in range(len(self.subject.outputs))])

    def is_right_with(self, values: Sequence[str]) -> bool:
        """Whether it does so if each of `values` has a consumer, so that it must be computed."""
        try:
            found = run_piece(self.subject, _watched(self.subject, values), self.sample, self._fresh())
        except RefusedError:
            return False
        return self._is_right([found[name] for name in self.subject.outputs])

    def narrowest(self, values: Sequence[str]) -> tuple[str, str]:
        """The first and the last of `values` that it needs to be right: with all of them it is right, with none it is
        not."""
        count = len(values)
        before = _fewest(count, lambda number: self.is_right_with(values[:number]))
        behind = _fewest(count, lambda number: self.is_right_with(values[count - number :]))
        return values[before - 1], values[count - behind]

    def floats(self, values: Sequence[str]) -> list[str]:
        known = self.subject.types({})
        inner = [name for name in values if name not in self.subject.outputs and name in known]
        return [name for name in inner if known[name].tensor_type.elem_type in FLOATS]

    def _fresh(self) -> Path:
        return fresh(self.folder / "fusion")

    def _is_right(self, files: Sequence[Path]) -> bool:
        errors = (
            self.limits.compared(name, read_array(self.expected / f"{index}.npy"), read_array(file))
            for index, (name, file) in enumerate(zip(self.subject.outputs, files, strict=True))
        )
        return not any(self.limits.exceeds(error) for error in errors)


def _watched(subject: BisectionSubject, values: Sequence[str]) -> "ModelProto":
    """The whole model with the maximum of each of `values` as an additional output: that keeps the value alive and
    takes no space."""
    from onnx import helper

    names = [subject.free(f"{name}_largest") for name in values]
    more = [
        helper.make_node("ReduceMax", [value], [name], keepdims=0) for value, name in zip(values, names, strict=True)
    ]
    return subject.cut([*subject.nodes, *more], subject.inputs.values(), [*subject.outputs, *names])
