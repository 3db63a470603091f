"""Checks in one pass whether samples are suitable for calibration."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.sample_settings import Settings
from packager.core.values import ElementType, Model, TensorSpec
from packager.samples.fit import FLOATS
from packager.samples.reading import read
from packager.samples.sample import Problem, Sample
from packager.samples.source import source_of

if TYPE_CHECKING:
    import numpy

FEW = 8
"""below this number of samples, measured ranges are unreliable"""

SHOWN = 5
"""problems shown per kind; the others are counted"""

MEASURED = (*FLOATS, ElementType.UINT8, ElementType.INT8)
"""element types whose ranges are measured; masks and indices may be constant"""


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """Result of checking samples."""

    count: int
    fingerprint: str
    """sha256 of names, types, shapes and bytes of all samples without errors, in order"""
    problems: tuple[Problem, ...]
    """errors first"""

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "error")


def inspect(source: str, model: Model, settings: Settings, *, folder: Path | None = None) -> Inspection:
    """Reads every sample of `source` once, one at a time; relative paths start at `folder`, by default the current one.
    Raises ConfigError for an unreadable source, ModelError for a model that no array fits."""
    seen = _Seen(model.signature.inputs)
    for sample in read(source_of(source, model, settings, folder=folder)):
        seen.add(sample)
    problems = summed_up([*seen.problems, *seen.doubts(source)])
    return Inspection(count=seen.count, fingerprint=seen.fingerprint.hexdigest(), problems=problems)


class _Seen:
    """Facts collected from the samples so far, in constant memory."""

    def __init__(self, inputs: tuple[TensorSpec, ...]) -> None:
        self.inputs = inputs
        self.count = 0
        self.fingerprint = hashlib.sha256()
        self.problems: dict[Problem, None] = {}
        """each once, in order"""
        self.copies: Counter[bytes] = Counter()
        self.level: dict[str, bool] = {}
        """input name -> whether it has one value in every sample"""

    def add(self, sample: Sample) -> None:
        self.count += 1
        broken = not_finite(sample)
        self.problems |= dict.fromkeys((*sample.problems, *broken))
        if sample.errors or broken:
            return
        digest = hashlib.sha256()
        for name, array in sample.arrays.items():
            digest.update(f"{name!r} {array.dtype.name} {array.shape}\n".encode())
            digest.update(_bytes(array))
        self.fingerprint.update(digest.digest())
        self.copies[digest.digest()] += 1
        for spec in self.inputs:
            array = sample.arrays[spec.name]
            if spec.element in MEASURED and array.size > 1:
                self.level[spec.name] = self.level.get(spec.name, True) and bool((array == array.flat[0]).all())

    def doubts(self, source: str) -> list[Problem]:
        """Warnings that need all samples."""
        if not self.count:
            hint = "give 32 to 128 samples like those that the app will feed"
            return [Problem(severity="error", text=f"no samples in {source}", hint=hint)]
        found = []
        if self.count < FEW:
            found.append(f"too few samples: ranges from {self.count} are unreliable; use 32 to 128")
        copies = self.copies.total() - len(self.copies)
        if copies and len(self.copies) == 1:
            found.append(f"all {copies + 1} samples are the same")
        elif copies:
            found.append(f"{copies} of {self.count} samples are copies of others")
        found += [
            f"input '{name}' is one value throughout every sample" for name, is_level in self.level.items() if is_level
        ]
        return [Problem(severity="warning", text=text) for text in found]


def not_finite(sample: Sample) -> list[Problem]:
    """An error for every input that holds NaN or infinity."""
    import numpy

    found = []
    for name, array in sample.arrays.items():
        if array.dtype.kind == "f" and not numpy.isfinite(array).all():
            what = "NaN" if numpy.isnan(array).any() else "infinity"
            found.append(
                Problem(
                    severity="error",
                    text=f"{sample.where}: input '{name}' holds {what}",
                    hint="remove the sample, or fix its source",
                    kind="samples with NaN or infinity",
                )
            )
    return found


def _bytes(array: "numpy.ndarray") -> memoryview:
    """Bytes in row-major order."""
    import numpy

    return numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8).data


def summed_up(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Errors first; of each kind the first five, and the number of others."""
    kinds: defaultdict[tuple[str, str], list[Problem]] = defaultdict(list)
    for problem in problems:
        kinds[(problem.severity, problem.kind or problem.text)].append(problem)
    shown = [each for same in kinds.values() for each in _shortened(same)]
    return tuple(sorted(shown, key=lambda problem: problem.severity))


def _shortened(same: list[Problem]) -> list[Problem]:
    if len(same) <= SHOWN:
        return same
    first = same[0]
    rest = Problem(severity=first.severity, text=f"and {len(same) - SHOWN} more {first.kind}", hint=first.hint)
    return [*same[:SHOWN], rest]
