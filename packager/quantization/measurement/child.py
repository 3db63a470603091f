"""Scores graphs on request: `python -m packager.quantization.measurement.child JOB.json`.

A child process, because ONNX Runtime crashes on some graphs. It prints JSON lines: `{"done": samples}` while it runs
the float model, `{"original": score}` when it is ready, with `"uncompared": outputs` if some cannot be compared, then
one `{"score": number}` for every request `{"graph": file, "data_folder": folder}`. A failure is `{"failed": class in
packager.core.errors, "message", "hint"}`, after which it takes the next request.
"""

import json
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packager.contract.telling import from_json
from packager.core import parsing
from packager.core.errors import ConfigError, MobpackError, ModelError
from packager.core.parsing import Json
from packager.core.user_functions import found
from packager.files.processes.channel import Channel
from packager.graph.weights.streaming import in_order
from packager.graph.weights.sums import Sums
from packager.quantization.measurement import function
from packager.quantization.measurement.metrics import ORIGINALS, Metric, built_in, has_numbers, has_own_data
from packager.quantization.measurement.predicting import Predict
from packager.quantization.measurement.reference import RecordedReference, reference
from packager.quantization.measurement.running import opened, run
from packager.samples import Samples

Measure = Callable[[bytes, str], dict[str, Any]]
"""Graph and folder of its data -> the answer with its score."""


@dataclass(frozen=True, kw_only=True)
class ScoringJob:
    original: str
    """file with the float graph"""
    data_folder: str
    metric: str
    code_folder: str
    """folder in which the module of a user's metric is looked for first"""
    reader: str
    description: Json
    count: int
    """number of samples; a user's metric has data of its own"""
    folder: str
    """for the float model's score by a user's metric"""
    reference: str
    """folder for the float model's outputs for the samples; some may exist already"""
    threads: int
    """samples that run at the same time"""
    contract: Json | None = None
    """of the graphs, as JSON"""


def prepared(job: ScoringJob, channel: Channel) -> tuple[Measure, dict[str, Any]]:
    """The function that measures a graph as `job` says, and the answer of the float graph: its score, and the outputs
    that cannot be compared."""
    if has_own_data(job.metric):
        code_folder = Path(job.code_folder)
        users = found(job.metric, code_folder, f"metric {job.metric}", function.HINT)
        return lambda graph, data_folder: {
            "score": function.measured(users, job.metric, _predict(job, graph, data_folder), code_folder)
        }, {"original": _original(job, users)}
    samples = Samples(reader=job.reader, description=job.description, count=job.count)
    known = reference(
        Path(job.reference),
        Path(job.original),
        job.data_folder,
        samples,
        lambda done: channel.say({"done": done}),
    )
    if not known.count:
        raise ConfigError(f"no samples to measure '{job.metric}' on", hint="give at least one: 32 to 128 are usual")
    metric = built_in(job.metric, known.outputs, known.original(0))
    answer: dict[str, Any] = {"original": ORIGINALS[job.metric]}
    if without := uncompared(metric, job.metric, known):
        answer["uncompared"] = without
    return lambda graph, folder: score(opened(graph, folder), metric, known, job.threads), answer


def uncompared(metric: Metric, name: str, known: RecordedReference) -> list[str]:
    """The outputs of `metric` that have no number to compare on any sample. Raises ModelError if none has one."""
    left = dict(metric.outputs)
    for number in known.numbers():
        outputs = known.original(number) if left else ()
        left = {index: output for index, output in left.items() if not has_numbers(outputs[index])}
    if len(left) == len(metric.outputs):
        raise ModelError(
            f"metric '{name}': not compared: {in_words(left.values())} empty, NaN or infinite on every sample",
            hint="give samples like the app's inputs with --calibration, or skip the measurement: --no-report",
        )
    return list(left.values())


def in_words(outputs: Collection[str]) -> str:
    """`output 'a' is`, or `outputs 'a', 'b' are`."""
    shown = ", ".join(f"'{each}'" for each in outputs)
    return f"output {shown} is" if len(outputs) == 1 else f"outputs {shown} are"


def _predict(job: ScoringJob, graph: bytes, data_folder: str) -> Predict:
    contract = from_json(job.contract) if job.contract else None
    return Predict(opened(graph, data_folder), graph, lambda other: opened(other, data_folder), contract)


def _original(job: ScoringJob, users: Callable[[Predict], Any]) -> float:
    """The float model's score by a user's metric; an earlier process may have stored it."""
    kept = Path(job.folder) / "original.json"
    if kept.is_file():
        return float(parsing.json_of(kept.read_text(encoding="utf-8")))
    predict = _predict(job, Path(job.original).read_bytes(), job.data_folder)
    value = function.measured(users, job.metric, predict, Path(job.code_folder))
    if abs(value) == float("inf"):
        raise ConfigError(
            f"metric {job.metric} gives no finite number for the float model", hint="check it on the float model first"
        )
    kept.write_text(json.dumps(value), encoding="utf-8", newline="\n")
    return value


def score(session: Any, metric: Metric, known: RecordedReference, threads: int) -> dict[str, Any]:
    """Score of the graph in `session`, by a built-in metric, and the sample with the lowest one. Sums are added in the
    order of the samples."""

    def of_sample(number: int) -> Sums:
        found = run(session, known.outputs, known.sample(number))
        return metric.of_sample(known.original(number), found)

    totals = Sums()
    worst: tuple[float, int] | None = None
    for number, each in enumerate(in_order(of_sample, known.numbers(), threads)):
        totals += each
        found = (metric.value(each, 1), number)
        worst = min(worst or found, found)
    assert worst  # there are samples
    least = {"samples": known.count, "worst_sample": worst[1], "worst_value": worst[0]}
    return {"score": metric.value(totals, known.count), "worst": least}


def serve(measure: Measure, channel: Channel) -> None:
    """Answers requests until there are no more."""
    for line in channel.requests:
        request = json.loads(line)
        try:
            channel.say(measure(Path(request["graph"]).read_bytes(), request["data_folder"]))
        except MobpackError as error:
            channel.say_failure(error)


def main() -> int:
    job = ScoringJob(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    channel = Channel.taken_over()
    try:
        measure, answer = prepared(job, channel)
    except MobpackError as error:
        channel.say_failure(error)
        return 0
    channel.say(answer)
    serve(measure, channel)
    return 0


if __name__ == "__main__":
    sys.exit(main())
