"""The exported model against PyTorch's own outputs."""

from collections.abc import Sequence
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
    """How far one output is from PyTorch's over all samples, node by node and optimized."""

    name: str
    max_abs_error: float = 0.0
    max_share: float = 0.0
    """of the error that is allowed: over 1 is over"""
    failure: str = ""
    """the first that is over, in words"""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """Samples in a folder, and what PyTorch gave for them."""

    folder: Path
    sizes: tuple[dict[str, int], ...]
    """of the dynamic dimensions, for each sample"""

    def sample(self, number: int) -> Path:
        return self.folder / "samples" / f"sample-{number}.npz"

    def outputs(self, number: int) -> Path:
        return self.folder / "recorded" / f"sample-{number}.npz"

    def words(self, number: int) -> str:
        sizes = ", ".join(f"{name} = {size}" for name, size in self.sizes[number].items())
        which = "the example inputs" if not number else f"sample {number}"
        return f"{which} ({sizes})" if sizes else which


def compare(
    graph: Path, outputs: Sequence[str], recorded: Recorded, folder: Path, *, rtol: float, atol: float
) -> tuple[OutputResult, ...]:
    """What ONNX Runtime gives beside what PyTorch gave, for each of `outputs`.

    Raises ParityError when ONNX Runtime refuses a sample that PyTorch takes, ModelError when it refuses the model.
    """
    found = {name: OutputResult(name=name) for name in outputs}
    for is_optimized, how in HOW.items():
        place = folder / how.replace(" ", "-")
        place.mkdir(parents=True)
        runnable = Runnable(path=graph, data_folder=graph.parent, is_optimized=is_optimized)
        with RUNNERS["cpu"]("")[0].open(runnable, place) as session:
            for number in range(len(recorded.sizes)):
                for name, excess in _sample(session, outputs, recorded, number, place, (rtol, atol)).items():
                    found[name] = _worse(found[name], excess, f"{recorded.words(number)}, {how}")
    return tuple(found.values())


def refusal(results: Sequence[OutputResult], output: Path) -> ParityError | None:
    """What is raised for outputs over tolerance; None when all are within."""
    failed = [each for each in results if each.failure]
    if not failed:
        return None
    lines = [f"{output.name} does not compute what PyTorch computes; it was not written"]
    lines += [f"  output '{each.name}' on {each.failure}" for each in failed]
    return ParityError(
        "\n".join(lines),
        hint="a branch or a loop over sizes is fixed by the example; else raise --rtol and --atol, or use --force",
    )


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
            f"ONNX Runtime refuses {recorded.words(number)}, which PyTorch takes: {outcome.error.strip()}",
            hint="a size is fixed inside the graph: int(x.shape[0]), view(4, -1) and Python loops do that",
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
