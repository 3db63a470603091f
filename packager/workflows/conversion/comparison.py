"""Compares a converted model with the outputs of the framework that it comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ParityError
from packager.runners import RUNNERS, Runnable
from packager.verification.parity.allclose import Excess, over

if TYPE_CHECKING:
    from packager.runners import Session

HOW = {False: "node by node", True: "optimized"}


@dataclass(frozen=True, kw_only=True)
class OutputResult:
    """Differences of one output from the framework's over all samples, unoptimized and optimized."""

    name: str
    max_abs_error: float = 0.0
    max_share: float = 0.0
    """largest share of the allowed error; above 1 fails"""
    failure: str = ""
    """the first value over tolerance, in words"""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """Samples in a folder, and the framework's outputs for them."""

    folder: Path
    framework: str
    """its name in messages"""
    words: tuple[str, ...]
    """each sample in words"""
    hint_rejected: str
    """for a sample that only ONNX Runtime rejects"""
    hint_different: str
    """for outputs over tolerance"""

    def sample(self, number: int) -> Path:
        return self.folder / "samples" / f"sample-{number}.npz"

    def outputs(self, number: int) -> Path:
        return self.folder / "recorded" / f"sample-{number}.npz"


def in_words(sizes: Sequence[Mapping[str, int]], first: str) -> tuple[str, ...]:
    """Samples in words, with the sizes of their dynamic dimensions: `sample 1 (batch = 3)`, the first one as given."""
    found = []
    for number, known in enumerate(sizes):
        text = ", ".join(f"{name} = {size}" for name, size in known.items())
        which = f"sample {number}" if number else first
        found.append(f"{which} ({text})" if text else which)
    return tuple(found)


def compare(
    graph: Path, outputs: Sequence[str], recorded: Recorded, folder: Path, *, rtol: float, atol: float
) -> tuple[OutputResult, ...]:
    """Compares ONNX Runtime's outputs with the framework's, for each of `outputs`.

    Raises ParityError when ONNX Runtime rejects a sample that the framework accepts, ModelError when it rejects the
    model.
    """
    found = {name: OutputResult(name=name) for name in outputs}
    for is_optimized, how in HOW.items():
        place = folder / how.replace(" ", "-")
        place.mkdir(parents=True)
        runnable = Runnable(path=graph, data_folder=graph.parent, is_optimized=is_optimized)
        with RUNNERS["cpu"]("")[0].open(runnable, place) as session:
            for number in range(len(recorded.words)):
                for name, excess in _sample(session, outputs, recorded, number, place, (rtol, atol)).items():
                    found[name] = _worse(found[name], excess, f"{recorded.words[number]}, {how}")
    return tuple(found.values())


def refusal(results: Sequence[OutputResult], output: Path, recorded: Recorded) -> ParityError | None:
    """The error for outputs over tolerance; None if all are within."""
    failed = [each for each in results if each.failure]
    if not failed:
        return None
    lines = [f"{output.name} differs from {recorded.framework}; it was not written"]
    lines += [f"  output '{each.name}' on {each.failure}" for each in failed]
    return ParityError("\n".join(lines), hint=recorded.hint_different)


def _sample(
    session: "Session",
    outputs: Sequence[str],
    recorded: Recorded,
    number: int,
    place: Path,
    limits: tuple[float, float],
) -> dict[str, Excess]:
    import numpy

    folder = place / str(number)
    folder.mkdir()
    outcome = session.run(recorded.sample(number), folder)
    if outcome.error:
        raise ParityError(
            f"ONNX Runtime rejects {recorded.words[number]}, which {recorded.framework} accepts: "
            f"{outcome.error.strip()}",
            hint=recorded.hint_rejected,
        )
    found: dict[str, Excess] = {}
    with numpy.load(recorded.outputs(number)) as expected:
        for place_of, name in enumerate(outputs):
            actual: Any = numpy.load(folder / f"{place_of}.npy", mmap_mode="r")
            found[name] = over(expected[name], actual, *limits)
    return found


def _worse(known: OutputResult, excess: Excess, where: str) -> OutputResult:
    return replace(
        known,
        max_abs_error=max(known.max_abs_error, excess.max_abs_error),
        max_share=max(known.max_share, excess.max_share),
        failure=known.failure or (f"{where}: {excess.failure}" if excess.failure else ""),
    )
