"""Runs two graphs on the same samples and compares their outputs: `python -m packager.measurement.comparison JOB.json`.

Prints JSON lines: `{"done": samples}` as it goes, at last `{"sums": {value: [signal, noise, product, other]}}`, or what
was wrong as `{"failed": class in packager.errors, "message", "hint"}`. It keeps sums, and what one sample makes.
"""

import json
import sys
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from packager.errors import MobpackError, ModelError
from packager.measurement.running import FLOATS, as_runtime_wants, in_one_line, opened, read
from packager.ortformat.refusals import is_refusal
from packager.programs import Channel
from packager.tensors.sums import Sums, sums_of


@dataclass(frozen=True, kw_only=True)
class Job:
    original: str
    """file with the float graph, `values` among its outputs"""
    original_folder: str
    """of its external data"""
    quantized: str
    quantized_folder: str
    values: list[str]
    reader: str
    description: dict[str, Any]
    count: int


def compared(job: Job, channel: Channel) -> dict[str, Sums]:
    """Sums over all samples, of the values that are in floating point in both graphs."""
    sessions = [
        opened(Path(job.original).read_bytes(), job.original_folder),
        opened(Path(job.quantized).read_bytes(), job.quantized_folder),
    ]
    floats = [{value.name for value in session.get_outputs() if value.type in FLOATS} for session in sessions]
    names = [name for name in job.values if all(name in each for each in floats)]
    totals = dict.fromkeys(names, Sums())
    for number, sample in enumerate(read(job.reader, job.description, job.count)):
        for name, sums in zip(names, _of_sample(sessions, names, sample, number), strict=True):
            totals[name] += sums
        channel.say({"done": number + 1})
    return totals


def _of_sample(sessions: list[Any], names: list[str], sample: dict[str, Any], number: int) -> list[Sums]:
    import onnxruntime

    feeds = {name: onnxruntime.OrtValue.ortvalue_from_numpy(as_runtime_wants(each)) for name, each in sample.items()}
    try:
        ours, theirs = (session.run_with_ort_values(names, feeds) for session in sessions)
    except Exception as error:
        if not is_refusal(error):
            raise
        raise ModelError(
            f"ONNX Runtime cannot run sample {number}: {in_one_line(error)}", hint="mend the sample, or leave it out"
        ) from error
    found = []
    for index, name in enumerate(names):
        x, y = ours[index].numpy(), theirs[index].numpy()
        ours[index] = theirs[index] = None  # its memory serves what comes next
        if x.shape != y.shape:
            raise ModelError(
                f"value '{name}' has shape {list(y.shape)} on sample {number}, and {list(x.shape)} in the float model",
                hint="give the graph that the quantized one was made of",
            )
        found.append(sums_of(x, y))
    return found


def main() -> int:
    job = Job(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    channel = Channel.taken_over()
    try:
        totals = compared(job, channel)
    except MobpackError as error:
        channel.say_failure(error)
        return 0
    channel.say({"sums": {name: astuple(sums) for name, sums in totals.items()}})
    return 0


if __name__ == "__main__":
    sys.exit(main())
