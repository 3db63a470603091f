"""Refuses a conversion of samples that nobody stated and that the model's own answers, or its constants, contradict.

A metric that compares a net with itself cannot see it: on pictures that mean nothing to a net, its quantized form gives
the same useless answer, and the ranges of its activations are those of useless pictures.
"""

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core import parsing
from packager.core.console import Console
from packager.core.errors import ConfigError
from packager.core.values import Model, baseline
from packager.files.store import Step, Store, key_of
from packager.quantization.normalization import normalization
from packager.samples import SampleSource
from packager.samples.assumed import Assumption, in_words
from packager.samples.inspection import FEW
from packager.samples.reading import read
from packager.samples.sample import SampleSet, arrays_of, write_arrays
from packager.verification import parity
from packager.verification.parity.outcomes import array_of

if TYPE_CHECKING:
    import numpy

MEANING = Step(
    name="meaning",
    caller=__name__,
    computed_by=("packager.quantization.normalization", "packager.samples.assumed", "packager.verification.parity"),
)
MOST = 32
"""samples that the model runs on, from the first to the last"""
FEWEST = 3
"""samples whose answers can be compared with those in another conversion"""
MOST_SHARE = 0.9
"""Share of answers of one class, from which on the samples of a classifier cannot be right."""
UNIFORM = 0.99
"""Entropy of probabilities, as a share of the largest: those of two classes are then 0.56 and 0.44."""
TIMES_BETTER = 2.5
"""How much more the answers in another conversion must say about the samples, while they are more certain, too. Page
orientation (benchmarks/tasks), which wants normalized pages, says 2.8 times more about them than about pages scaled by
1/255; the recognizer of digits, which is right with any factor, 1.01 times."""
LEAST_OTHER = 0.25
"""Share of the samples whose best class must be another one: larger numbers alone make the answers of a net that is
right, and not certain, say up to 4.7 times more, and leave at least 0.88 of its best classes."""
LEAST_INFORMATION = math.log(2) / 2
MORE_AROUND_0 = 1.02
"""How much more the answers must say about the same numbers around 0, and be more certain. None of 74 small nets that
want pixels / 255 does, on pictures of its task and on others; 64 of them were trained for one to four epochs only."""
TIMES_MORE_AROUND_0 = 1.5
"""The same where they are not more certain."""
STANDARD_ERRORS = 3.0
"""How far the mean difference of certainty must be from 0, in its standard errors."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    fault: str = ""
    """what contradicts the conversion, in words; empty if nothing does"""
    better: str = ""
    """settings of another usual conversion under which the answers say more, and of how many classes they are"""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Answers of a classifier for several samples."""

    rows: "numpy.ndarray"
    """float [samples, classes]"""

    @property
    def are_probabilities(self) -> bool:
        rows = self.rows
        return bool((rows >= 0).all() and (abs(rows.sum(1) - 1) < 1e-3).all())

    @property
    def class_count(self) -> int:
        """Number of different best classes."""
        return len(set(self.rows.argmax(1).tolist()))

    @property
    def share(self) -> float:
        """Share of the most frequent best class."""
        import numpy

        return float(numpy.bincount(self.rows.argmax(1)).max() / len(self.rows))

    @property
    def uniformity(self) -> float:
        """Mean entropy, as a share of the largest."""
        return float(self.doubts.mean() / math.log(self.rows.shape[1]))

    @property
    def information(self) -> float:
        """Mutual information of sample and class: large if every answer is certain, and they differ."""
        return float(_entropy(self._shares().mean(0)) - self.doubts.mean())

    def share_of_other(self, known: "Answers") -> float:
        """Share of the samples whose best class is another one than in `known`."""
        return float((self.rows.argmax(1) != known.rows.argmax(1)).mean())

    @property
    def doubts(self) -> "numpy.ndarray":
        """Entropy of each answer."""
        return _entropy(self._shares())

    def _shares(self) -> "numpy.ndarray":
        import numpy

        if self.are_probabilities:
            return self.rows
        powers = numpy.exp(self.rows - self.rows.max(1, keepdims=True))
        return numpy.asarray(powers / powers.sum(1, keepdims=True))


def refuse_meaningless(
    model: Model, assumption: Assumption, fingerprint: str, store: Store, console: Console, *, is_classifier: bool
) -> None:
    """Raises ConfigError for samples that cannot mean to `model` what `assumption` takes them for. `is_classifier` says
    that its outputs are scores of classes; else only answers of one class alone count."""
    inputs = [key_of(model.graph.hex()), model.sha256, fingerprint, is_classifier, version("onnxruntime")]

    def make(folder: Path) -> None:
        with console.step(f"try {model.name} on {assumption.what}"), store.scratch() as scratch:
            found = _verdict(model, assumption, scratch, is_classifier=is_classifier)
        (folder / "verdict.json").write_text(json.dumps(asdict(found)), encoding="utf-8", newline="\n")

    stored = store.results(MEANING, inputs, make)
    found = Verdict(**parsing.json_of((stored / "verdict.json").read_text(encoding="utf-8")))
    if found.fault:
        better = f"; {found.better}" if found.better else ""
        raise ConfigError(
            f"calibration samples of model '{model.name}': {assumption.what} are {assumption.words}, which nothing "
            f"states, and it cannot be right: {found.fault}",
            hint=f"set {assumption.keys} to what the model wants, or describe its input in mobpack.toml beside the "
            f"model{better}. If the conversion is right, state it: {assumption.statement}, with --set or in the "
            "variant's table",
        )


def _verdict(model: Model, assumption: Assumption, scratch: Path, *, is_classifier: bool) -> Verdict:
    samples = _written(assumption.source, scratch / "assumed")
    if fault := _contradiction(model, samples, assumption.what, scratch):
        return Verdict(fault=fault)
    answers = _answers(model, samples, scratch / "answers")
    if answers is None or len(samples.paths) < FEWEST:
        return Verdict()
    is_certain = is_classifier or answers.are_probabilities
    fault = _fault(answers, assumption.what, is_certain=is_certain)
    is_flat = is_certain and answers.uniformity > UNIFORM
    is_shifted = not fault and _is_shifted(model, assumption, answers, scratch)
    if not fault and not is_shifted and answers.information >= _most_information(answers) / TIMES_BETTER:
        return Verdict()
    # Large numbers make any answer certain: alone, they are no evidence. Scores of a classifier are never all alike.
    usual = [each for each in assumption.others if fault or is_flat or each.settings.image.mean is not None]
    tried = [(each, _answers_in(model, each, scratch / f"other-{number}")) for number, each in enumerate(usual)]
    known = [(source, found) for source, found in tried if found is not None]
    source, best = max(known, key=lambda each: each[1].information, default=(assumption.source, answers))
    least = MORE_AROUND_0 if is_shifted else TIMES_BETTER
    if best.information < max(least * answers.information, LEAST_INFORMATION):
        return Verdict(fault=fault)
    settings = " ".join(f"--set '{each}'" for each in in_words(source))
    better = f"with {settings} the answers on the same {assumption.what} are of {best.class_count} classes"
    if fault:
        return Verdict(fault=fault, better=better)
    if is_shifted:
        return Verdict(fault=f"the float model's answers say more if the same numbers lie around 0, as with {settings}")
    is_certain = is_flat or (best.uniformity < answers.uniformity and best.share_of_other(answers) > LEAST_OTHER)
    return Verdict(fault=f"the float model's answers on them say little: {better}") if is_certain else Verdict()


def _is_shifted(model: Model, assumption: Assumption, answers: Answers, scratch: Path) -> bool:
    """Whether the answers say more if the same numbers lie around 0, and become more certain or say much more. Larger
    numbers make any answer more certain; these are no larger, so `model` wants numbers around 0."""
    if assumption.shifted is None or len(answers.rows) < FEW:
        return False
    found = _answers_in(model, assumption.shifted, scratch / "shifted")
    if found is None or found.rows.shape != answers.rows.shape:
        return False
    gains = answers.doubts - found.doubts
    is_more_certain = bool(gains.mean() > STANDARD_ERRORS * gains.std() / math.sqrt(len(gains)))
    least = MORE_AROUND_0 if is_more_certain else TIMES_MORE_AROUND_0
    return found.information > max(least * answers.information, LEAST_INFORMATION)


def _contradiction(model: Model, samples: SampleSet, what: str, scratch: Path) -> str:
    """Why the constants with which `model` normalizes its input are not made for `samples`."""
    import numpy

    found = normalization(model)
    if found is None:
        return ""
    outcomes = parity.run_original(baseline(found.model), samples, scratch / "normalized")
    if any(each.error for each in outcomes):
        return ""
    before = [array for path in samples.paths for array in arrays_of(path).values()]
    after = [array_of(each, 0) for each in outcomes]
    alike = [number for number, array in enumerate(after) if array.shape == after[0].shape]
    return found.contradiction(
        numpy.stack([before[number] for number in alike]), numpy.stack([after[number] for number in alike]), what
    )


def _fault(answers: Answers, what: str, *, is_certain: bool) -> str:
    count = len(answers.rows)
    if count < FEW:
        return ""  # they may be of one class
    if answers.share == 1:
        return f"the float model's answers on {count} {what} are all of one class"
    if is_certain and answers.share >= MOST_SHARE:
        return f"the float model's answers on {count} {what} are of one class for {answers.share:.0%} of them"
    if answers.are_probabilities and answers.uniformity > UNIFORM:
        return f"the float model's answers on {count} {what} are nearly uniform: all classes are as probable"
    return ""


def _most_information(answers: Answers) -> float:
    return math.log(min(answers.rows.shape))


def _answers_in(model: Model, source: SampleSource, folder: Path) -> Answers | None:
    folder.mkdir()
    return _answers(model, _written(source, folder / "samples"), folder / "answers")


def _written(source: SampleSource, folder: Path) -> SampleSet:
    """Up to MOST different samples of `source`, spread from the first to the last, as files in `folder`."""
    folder.mkdir()
    count = sum(1 for _ in read(source))
    step = max(1, count // MOST)
    paths: dict[bytes, Path] = {}
    for number, sample in enumerate(read(source)):
        if number % step == 0 and len(paths) < MOST and not sample.errors:
            content = hashlib.sha256(b"".join(array.tobytes() for array in sample.arrays.values())).digest()
            if content not in paths:
                paths[content] = folder / f"{number:06}.npz"
                write_arrays(paths[content], sample.arrays)
    return SampleSet(paths=tuple(paths.values()), description=f"{len(paths)} samples")


def _answers(model: Model, samples: SampleSet, folder: Path) -> Answers | None:
    """The answers of `model`; None if it gives no scores of classes, or does not run."""
    import numpy

    outcomes = parity.run_original(baseline(model), samples, folder)
    if any(each.error for each in outcomes):
        return None
    found = []
    for index in range(len(model.signature.outputs)):
        arrays = [array_of(each, index) for each in outcomes]
        if all(_is_row(array) and array.size == arrays[0].size for array in arrays):
            found.append(Answers(rows=numpy.stack([array.ravel().astype(numpy.float64) for array in arrays])))
    usable = [each for each in found if each.are_probabilities or not _is_embedding(each)]
    return max(usable, key=lambda each: each.are_probabilities, default=None)


def _is_row(array: "numpy.ndarray") -> bool:
    """Whether an output is one row of at least two finite floats."""
    import numpy

    return (
        array.dtype.kind == "f" and array.size == max(array.shape, default=0) > 1 and bool(numpy.isfinite(array).all())
    )


def _is_embedding(answers: Answers) -> bool:
    """Whether every row is a vector of length 1."""
    import numpy

    return bool((abs(numpy.linalg.norm(answers.rows, axis=1) - 1) < 1e-2).all())


def _entropy(shares: "numpy.ndarray") -> "numpy.ndarray":
    import numpy

    return numpy.asarray(-(shares * numpy.log(numpy.maximum(shares, 1e-30))).sum(-1))
