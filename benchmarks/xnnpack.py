"""Latency on XNNPACK and on the CPU, beside what XNNPACK takes: `python -m benchmarks.xnnpack [MODEL...]`.

Measured in ONNX Runtime's own Android library for x86_64, one thread, each number in a process of its own, the two
in turns. The notes in benchmarks/results/xnnpack.md have the rule of `packager/verification/partition/weighing.py`
that follows.
"""

import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy

from benchmarks import models as made
from benchmarks.providers import SUBJECTS, Subject, generated, percent
from packager import models
from packager.compile import plan
from packager.core.findings import Partition
from packager.core.values import Compiled, Model, baseline
from packager.engines.environments import SIGNED
from packager.engines.environments.android import Android as Device
from packager.engines.environments.android import ProbeInput, ProbeJob
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.samples.fit import DTYPES, FLOATS
from packager.targets.android import Android
from packager.verification.partition import report

REPEATS, WARM_RUNS = 5, 10
MORE = (
    Subject(name="mobilenetv2", about="", file=partial(generated, made.MOBILENET), shapes={"batch": 1}),
    Subject(name="resnet50", about="", file=partial(generated, made.RESNET), shapes={"batch": 1}),
    Subject(name="u2netp", about="", file=partial(generated, made.U2NETP), shapes={"batch": 1}),
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One model on both."""

    model: str
    partition: Partition
    cpu_ms: float
    xnnpack_ms: float


def measured(subject: Subject, folder: Path) -> Row | None:
    """None for a model that XNNPACK cannot open."""
    path = subject.file(folder)
    model = models.load(path, subject.name)
    known = {name: size for name, size in subject.shapes.items() if name in _names(model)}
    model = models.hashed(models.load(path, subject.name, fixed=known))
    planned = plan.make(baseline(model), Android(providers=("xnnpack",)), Store(folder / "store"), lambda text: None)
    scratch = folder / "asked"
    scratch.mkdir()
    (partition,) = report.measured(planned, scratch)
    if partition.refusal or partition.skipped:
        return None
    inputs = list(random_inputs(model, folder))
    xnnpack, cpu = (choice.compiled for choice in planned.choices)
    runs = [(run(cpu, "cpu", inputs), run(xnnpack, "xnnpack", inputs)) for _ in range(REPEATS)]
    return Row(
        model=subject.name,
        partition=partition,
        cpu_ms=statistics.median(one for one, _ in runs),
        xnnpack_ms=statistics.median(other for _, other in runs),
    )


def _names(model: Model) -> set[str]:
    """Names of its inputs and of their dimensions."""
    specs = model.signature.inputs
    return {each.name for each in specs} | {size for each in specs for size in each.shape if isinstance(size, str)}


def run(compiled: Compiled, provider: str, inputs: "list[ProbeInput]") -> float:
    job = ProbeJob(entries={**SIGNED, **compiled.settings}, level="all", is_explained=False, inputs=inputs)
    job = replace(job, provider=provider, warm_runs=WARM_RUNS)
    return float(statistics.median(Device().probe(compiled.path, job)["run_ms"][1:]))


def random_inputs(model: Model, folder: Path) -> Iterator[ProbeInput]:
    """Normal numbers, or zeros and ones; a size that is still free is 1."""
    for index, spec in enumerate(model.signature.inputs):
        shape = [size if isinstance(size, int) else 1 for size in spec.shape]
        generator = numpy.random.default_rng(index)
        numbers = generator.standard_normal(shape) if spec.element in FLOATS else generator.integers(0, 2, shape)
        file = folder / f"input-{index}.bin"
        file.write_bytes(numbers.astype(DTYPES[spec.element]).tobytes())
        yield ProbeInput(name=spec.name, type=str(spec.element), shape=tuple(shape), file=str(file))


def line(row: Row) -> str:
    found = row.partition
    per_node = found.taken_count / max(found.partition_count, 1)
    return (
        f"| {row.model} | {found.taken_count} of {found.node_count} | {found.partition_count} | {per_node:.1f} | "
        f"{percent(found.share)} | {row.cpu_ms:.2f} | {row.xnnpack_ms:.2f} | {row.xnnpack_ms / row.cpu_ms:.2f} |"
    )


def main() -> None:
    print("| model | nodes | partitions | nodes in each | MACs | CPU ms | XNNPACK ms | ratio |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for subject in (*SUBJECTS, *MORE):
        if sys.argv[1:] and subject.name not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
            row = measured(subject, Path(folder))
        print(line(row) if row else f"| {subject.name} | does not start | | | | | | |", flush=True)


if __name__ == "__main__":
    main()
