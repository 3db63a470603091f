"""Adds up the moments of a graph's values while samples run: `python -m packager.quantization.calibration.moments_child
JOB.json`.

The graph runs in stretches: one after the other is opened, runs all samples, and is closed. Memory holds the weights
and the moments of one stretch, and the values of one sample; what later stretches take lies in files. Prints JSON lines
as `packager.quantization.calibration.child` does.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError, ModelError
from packager.core.parsing import Json
from packager.engines.session.refusals import is_refusal
from packager.files.processes.channel import Channel
from packager.graph.rewriting.stretched import UncutError, in_turn
from packager.graph.rewriting.stretches import Stretch, grouped
from packager.quantization.calibration.child import give_memory_back, opened, samples_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

GROUP_BYTES = 64 * 2**20
"""Maximum size of the moments of one stretch, unless those of a single value are larger."""
NO_COPY = {"session.disable_prepacking": "1"}
"""Session configuration to use weights where they are mapped."""


@dataclass(frozen=True, kw_only=True)
class MomentsJob:
    graph: str
    """file with the serialized ModelProto"""
    data_folder: str
    """folder of its external data"""
    names: list[str]
    """values of the main graph, inputs included"""
    widths: list[int]
    """numbers in a row of each"""
    reader: str
    """`module:function` that turns `description` into samples"""
    description: Json
    count: int
    threads: int
    scratch: str
    """empty folder for the values that pass from one stretch to the next"""
    folder: str
    """folder for the moments, in files by `file_name`"""


def file_name(number: int) -> str:
    """Name of the file with the moments of value `number`."""
    return f"{number}.npy"


def add_up(job: MomentsJob, channel: Channel) -> None:
    """Writes the moments of all values, group by group in the order of the graph."""
    import onnx

    proto = onnx.ModelProto.FromString(Path(job.graph).read_bytes())
    sizes = {name: 4 * width * width for name, width in zip(job.names, job.widths, strict=True)}
    fed = [value.name for value in proto.graph.input if value.name in sizes]
    order = [name for node in proto.graph.node for name in node.output if name in sizes]
    try:
        _in_groups(job, proto, fed, grouped(order, sizes, GROUP_BYTES), channel)
    except UncutError:
        _in_groups(job, proto, fed, [order], channel)


def _record(job: MomentsJob) -> None:
    """Writes the inputs of every sample to a file. Raises ConfigError for fewer samples than expected."""
    count = 0
    for count, sample in enumerate(islice(samples_of(job.reader, job.description), job.count), 1):
        _keep(job, count - 1, sample)
    if count != job.count:
        raise ConfigError(
            f"{count} samples could be read, {job.count} were expected",
            hint="do not change the samples while they are read, and run again",
        )


def _in_groups(
    job: MomentsJob, proto: Any, fed: Sequence[str], groups: Sequence[Sequence[str]], channel: Channel
) -> None:
    _record(job)
    inputs = Stretch(nodes=(), takes=(), gives=(), seen=tuple(fed), ends=())
    done = 0
    for stretch, session in chain(
        [(inputs, None)], in_turn(proto, groups, lambda graph, _: opened(graph, job.data_folder, NO_COPY, job.threads))
    ):
        _write(job, stretch, session)
        del session
        give_memory_back()
        done += len(stretch.seen)
        channel.say({"done": done})


def _write(job: MomentsJob, stretch: Stretch, session: Any) -> None:
    """Runs all samples through one stretch, and writes the moments of its values. Raises ModelError for NaN or
    infinity."""
    import numpy

    widths = dict(zip(job.names, job.widths, strict=True))
    sums = {name: numpy.zeros((widths[name], widths[name]), numpy.float32) for name in stretch.seen}
    for number in range(job.count):
        for name, rows in _run(job, number, stretch, session):
            numbers = rows.reshape(-1, widths[name]).astype(numpy.float32, copy=False)
            sums[name] += numbers.T @ numbers
    for name, found in sums.items():
        if not numpy.isfinite(found).all():
            raise ModelError(
                f"samples make NaN or infinity in tensor '{name}'", hint='leave its node out, or use method = "round"'
            )
        numpy.save(Path(job.folder, file_name(job.names.index(name))), found)


def _run(job: MomentsJob, number: int, stretch: Stretch, session: Any) -> "Iterator[tuple[str, NDArray[Any]]]":
    """The values to observe of one sample. Raises ConfigError if ONNX Runtime refuses it."""
    live = _kept(job, number)
    if session is not None:
        taken = {name: live[name] for name in stretch.takes if name in live}
        try:
            given = session.run(list(stretch.gives), taken)
        except Exception as error:
            if not is_refusal(error):
                raise
            raise ConfigError(
                f"ONNX Runtime refuses sample {number}: {error}", hint="fix the sample, or remove it"
            ) from error
        live.update(zip(stretch.gives, given, strict=True))
    for name in stretch.seen:
        yield name, live[name]
    ended = set(stretch.ends)
    _keep(job, number, {name: value for name, value in live.items() if name not in ended})


def _keep(job: MomentsJob, number: int, values: "dict[str, NDArray[Any]]") -> None:
    import numpy

    arrays: dict[str, Any] = {str(index): value for index, value in enumerate(values.values())}
    numpy.savez(Path(job.scratch, f"{number}.npz"), names=numpy.array(list(values), str), **arrays)


def _kept(job: MomentsJob, number: int) -> "dict[str, NDArray[Any]]":
    import numpy

    with numpy.load(Path(job.scratch, f"{number}.npz"), allow_pickle=True) as found:  # an array of strings needs it
        return {str(name): found[str(index)] for index, name in enumerate(found["names"])}


def main() -> int:
    job = MomentsJob(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    channel = Channel.taken_over()

    def work() -> dict[str, object]:
        add_up(job, channel)
        return {"ok": {}}

    channel.answer(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
