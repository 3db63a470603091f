"""Compares a converted model with the outputs of the framework that it comes from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ParityError
from packager.engines.runners import RUNNERS, Runnable
from packager.models.ranges import known_ranges
from packager.verification.parity.allclose import Excess, over
from packager.verification.parity.scale import Scale, of_range

if TYPE_CHECKING:
    import numpy

    from packager.engines.runners import Session

HOW = {False: "node by node", True: "optimized"}


@dataclass(frozen=True, kw_only=True)
class OutputResult:
    """Differences of one output from the framework's over all samples, unoptimized and optimized."""

    name: str
    max_abs_error: float = 0.0
    max_share: float = 0.0
    """largest share of the allowed error; above 1 fails"""
    share_of_scale: float = 0.0
    """largest error as a share of the output's largest number"""
    failure: str = ""
    """the first value over tolerance, in words"""
    is_compared: bool = True
    """whether there was a number in it, on any sample: equal NaN say nothing"""

    @property
    def percent(self) -> str:
        """The share of the allowed error: two digits below 100 %, all of them above."""
        if not self.is_compared:
            return "not compared"
        return f"{100 * self.max_share:{'.2g' if self.max_share < 0.995 else ',.0f'}} %"


@dataclass(frozen=True, kw_only=True)
class RecordedOutputs:
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
    graph: Path, outputs: Sequence[str], recorded: RecordedOutputs, folder: Path, *, rtol: float, atol: float
) -> tuple[OutputResult, ...]:
    """Compares ONNX Runtime's outputs with the framework's, for each of `outputs`, by the rule of a build: |error| <=
    atol + rtol * scale, the output's largest value over all samples.

    Raises ParityError when ONNX Runtime rejects a sample that the framework accepts, ModelError when it rejects the
    model.
    """
    found = {name: OutputResult(name=name, is_compared=False) for name in outputs}
    scales = _scales(graph, outputs, recorded)
    for is_optimized, how in HOW.items():
        place = folder / how.replace(" ", "-")
        place.mkdir(parents=True)
        runnable = Runnable(path=graph, data_folder=graph.parent, is_optimized=is_optimized)
        with RUNNERS["cpu"]("")[0].open(runnable, place) as session:
            for number, words in enumerate(recorded.words):
                for name, expected, actual in _values(session, outputs, recorded, number, place):
                    excess = over(expected, actual, rtol, atol, scales[name].value)
                    found[name] = _worse(found[name], excess, expected, f"{words}, {how}")
    return tuple(found.values())


def _scales(graph: Path, outputs: Sequence[str], recorded: RecordedOutputs) -> dict[str, Scale]:
    """The scale of each output: its largest value over all samples, or its known range."""
    import numpy
    import onnx

    proto = onnx.load_model(graph, load_external_data=False)
    ranges = known_ranges(proto)
    scales = {
        name: of_range(ranges.get(value.name, "")) for name, value in zip(outputs, proto.graph.output, strict=False)
    }
    for number in range(len(recorded.words)):
        with numpy.load(recorded.outputs(number)) as expected:
            scales = {name: scale.over([expected[name]]) for name, scale in scales.items()}
    return scales


def refusal(results: Sequence[OutputResult], output: Path, recorded: RecordedOutputs) -> ParityError | None:
    """The error for outputs over tolerance; None if all are within."""
    failed = [each for each in results if each.failure]
    if not failed:
        return None
    lines = [f"{output.name} differs from {recorded.framework}; it was not written"]
    lines += [f"  output '{each.name}' on {each.failure}{_in_all(each)}" for each in failed]
    return ParityError("\n".join(lines), hint=recorded.hint_different)


def _in_all(result: OutputResult) -> str:
    """The largest error beside the output's largest number: the two tell rounding from a wrong graph."""
    if not result.share_of_scale:
        return ""
    return f"; at most it is off by {result.max_abs_error:.2g}, {result.share_of_scale:.1g} of the largest number"


def _values(
    session: "Session", outputs: Sequence[str], recorded: RecordedOutputs, number: int, place: Path
) -> "Iterator[tuple[str, numpy.ndarray, numpy.ndarray]]":
    """The name of each output, its values of the framework on one sample, and those of ONNX Runtime."""
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
    with numpy.load(recorded.outputs(number)) as expected:
        for place_of, name in enumerate(outputs):
            yield name, expected[name], numpy.load(folder / f"{place_of}.npy", mmap_mode="r")


def _worse(known: OutputResult, excess: Excess, expected: "numpy.ndarray", where: str) -> OutputResult:
    """`known` with what differs on one more sample, whose values are `expected`."""
    return replace(
        known,
        max_abs_error=max(known.max_abs_error, excess.max_abs_error),
        max_share=max(known.max_share, excess.max_share),
        share_of_scale=max(known.share_of_scale, _share_of_scale(excess, expected)),
        failure=known.failure or (f"{where}: {excess.failure}" if excess.failure else ""),
        is_compared=known.is_compared or _has_numbers(expected),
    )


def _has_numbers(values: "numpy.ndarray") -> bool:
    import numpy

    return bool(values.size) and (values.dtype.kind != "f" or bool(numpy.isfinite(values).any()))


def uncompared(results: Sequence[OutputResult]) -> Iterator[str]:
    """A warning for every output that equals the framework's, and has no number to compare."""
    for each in results:
        if not each.is_compared and not each.failure:
            yield f"output '{each.name}' is empty, NaN or infinite on every sample: it was not compared"


def _share_of_scale(excess: Excess, expected: "numpy.ndarray") -> float:
    import numpy

    numbers = numpy.abs(expected[numpy.isfinite(expected)]) if expected.dtype.kind == "f" else expected[:0]
    scale = float(numbers.max(initial=0)) if excess.max_abs_error else 0.0
    return excess.max_abs_error / scale if scale else 0.0
