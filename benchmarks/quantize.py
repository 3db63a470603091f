"""Quantizing beside ONNX Runtime's own quantizer and Olive: `python -m benchmarks.quantize [FOLDER]`.

The same work by both in turns, each run in a process of its own with empty caches: CPU and wall time, peak memory of
all processes together, and how near each result is to the float model on samples that neither has seen (SQNR).
Then what calibration and the report take beside plain inference of the samples, the whole command beside the function
of ONNX Runtime that writes no report, and the rewriting alone beside `cp`. Ratios carry from one machine to another,
seconds do not.

Interpreters, libraries and the reading of our own code are in every figure. What the same work takes for a model of a
few kB is measured, too, and taken off in the columns `above`.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from benchmarks import measure, quantize_ours, quantize_theirs
from benchmarks.convert import say, versions
from benchmarks.measure import Cost
from benchmarks.models import BERT, GENERATION, LARGE, MOBILENET, RESNET, TINY, U2NETP, default_folder
from benchmarks.quantize_rows import Comparison, Goal, Outcome, Stage, comparison_table, stage_table
from benchmarks.quantize_theirs import RESULT

Run = Callable[[Path], Cost]
"""Measures one run; its result goes to the folder."""

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "ORT_DISABLE_TELEMETRY": "1", "OLIVE_DISABLE_TELEMETRY": "1"}
SMALLER = (MOBILENET, RESNET, BERT)
MODELS = (*SMALLER, U2NETP, LARGE)
BUDGET_S = 20.0
"""Seconds for one row: longer work is repeated less often, at least once."""
METHODS = ("minmax", "percentile", "entropy")
EXACT = {MOBILENET: 1.9, RESNET: 1.25, BERT: 1.25, U2NETP: 1.9}
"""Goal for finding the least and greatest values, as a multiple of plain inference."""
MORE_BYTES = 300_000_000
"""Goal for the memory of calibration and report beyond plain inference."""
INFERENCE = "inference"
NO_REPORT = "the same with --no-report"
THEIRS = {"command": "static-minmax"}
"""Kind -> their work, if it has another name."""
OURS = {"olive-dynamic": "dynamic-conv", "olive-static": "static-minmax", "with-report": "command"}
BEFORE = {"report": "command-without-report", **{f"calibrate-{each}": "prepare" for each in METHODS}}
"""Kind -> the step whose results must be there before."""
"""Kind -> our step, if it has another name."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Work on some of the models."""

    other: str
    """what it is compared with"""
    models: tuple[str, ...]
    goal: Goal = field(default_factory=Goal)


KINDS: Mapping[str, Kind] = {
    "dynamic": Kind(other="quantize_dynamic", models=MODELS, goal=Goal(cpu=0.25)),
    "dynamic-conv": Kind(other="quantize_dynamic", models=(MOBILENET,), goal=Goal(cpu=0.25)),
    "weight-only": Kind(other="MatMulNBitsQuantizer", models=(BERT, LARGE)),
    "static-minmax": Kind(other="quantize_static", models=SMALLER, goal=Goal(cpu=0.5, memory=0.5)),
    "static-percentile": Kind(other="quantize_static", models=SMALLER, goal=Goal(cpu=0.3, memory=0.15)),
    "static-entropy": Kind(other="quantize_static", models=SMALLER, goal=Goal(cpu=0.3, memory=0.15)),
    "olive-dynamic": Kind(other="olive quantize", models=(MOBILENET,), goal=Goal(cpu=0.25)),
    "olive-static": Kind(other="olive run", models=(MOBILENET,), goal=Goal(cpu=0.5, memory=0.5)),
    "command": Kind(other="quantize_static", models=(U2NETP,), goal=Goal(cpu=2)),
    "with-report": Kind(other=NO_REPORT, models=(U2NETP,), goal=Goal(cpu=2)),
    "report": Kind(other=INFERENCE, models=(U2NETP,), goal=Goal(more_bytes=MORE_BYTES)),
    "calibrate-minmax": Kind(other=INFERENCE, models=(*SMALLER, U2NETP), goal=Goal(more_bytes=MORE_BYTES)),
    "calibrate-percentile": Kind(other=INFERENCE, models=SMALLER, goal=Goal(cpu=3)),
    "calibrate-entropy": Kind(other=INFERENCE, models=SMALLER, goal=Goal(cpu=3)),
}
STAGES = {"stage-dynamic": (MOBILENET, BERT, LARGE), "stage-weight-only": (MOBILENET, BERT, LARGE)}
"""The rewriting alone, with every operator that the quantizer takes by default."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="where the models are kept; default: the user's cache")
    parser.add_argument("--model", action="append", choices=[Path(name).stem for name in MODELS])
    parser.add_argument("--kind", action="append", choices=[*KINDS, *STAGES])
    parser.add_argument("--repetitions", type=int, default=5, help="at most: long work is repeated less often")
    parser.add_argument("--step", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        name, *paths = arguments.step
        quantize_ours.STEPS[name](*map(Path, paths))
        return
    folder = (arguments.folder or default_folder()).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        bench = Bench(folder=folder, scratch=Path(scratch), repetitions=arguments.repetitions)
        chosen = [name for name in MODELS if not arguments.model or Path(name).stem in arguments.model]
        works = {kind: known.models for kind, known in KINDS.items()} | STAGES
        pairs = [(kind, name) for kind in arguments.kind or works for name in works[kind] if name in chosen]
        comparisons = [bench.compare(kind, name) for kind, name in pairs if kind in KINDS]
        stages = [bench.stage(kind, name) for kind, name in pairs if kind in STAGES]
    show(comparisons, stages)


def show(comparisons: Sequence[Comparison], stages: Sequence[Stage]) -> None:
    known = ", ".join(f"{name} {number}" for name, number in versions().items())
    print(f"Medians of interleaved runs; {platform.machine()}, {os.cpu_count()} cores; {known}.")
    if comparisons:
        print("\n" + "\n".join(comparison_table(comparisons)))
    if stages:
        print("\n" + "\n".join(stage_table(stages)))


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Places of models and samples, and the number of repetitions."""

    folder: Path
    scratch: Path
    repetitions: int
    bases: dict[str, dict[str, Outcome]] = field(default_factory=dict)
    """kind -> cost of either side for the tiny model"""

    def compare(self, kind: str, name: str) -> Comparison:
        model = self.model(name)
        say(f"{kind}: {model.stem}")
        found, repetitions = self.measured(self.sides(kind, model))
        results = {side: self.judge(kind, model, side, outcome) for side, outcome in found.items()}
        bases = self.base(kind)
        return Comparison(
            work=kind,
            model=model.stem,
            other=KINDS[kind].other,
            ours=replace(results["ours"], base=bases["ours"].cost),
            theirs=replace(results["theirs"], base=bases["theirs"].cost),
            goal=goal_of(kind, name),
            repetitions=repetitions,
        )

    def stage(self, kind: str, name: str) -> Stage:
        model = self.model(name)
        say(f"{kind}: {model.stem}")
        found, repetitions = self.measured({"ours": partial(ours, kind, model, model), "copy": partial(copied, model)})
        if kind not in self.bases:
            tiny = self.model(TINY)
            self.bases[kind], _ = self.measured(
                {"ours": partial(ours, kind, tiny, tiny), "copy": partial(copied, tiny)}
            )
        return Stage(
            work=kind,
            model=model.stem,
            ours=replace(found["ours"], base=self.bases[kind]["ours"].cost),
            copy=replace(found["copy"], base=self.bases[kind]["copy"].cost),
            repetitions=repetitions,
        )

    def base(self, kind: str) -> dict[str, Outcome]:
        if kind not in self.bases:
            self.bases[kind], _ = self.measured(self.sides(kind, self.model(TINY)))
        return self.bases[kind]

    def sides(self, kind: str, model: Path) -> dict[str, Run]:
        samples = self.samples(model) / "seen"
        return {
            "ours": partial(ours, OURS.get(kind, kind), model, samples),
            "theirs": partial(theirs, kind, model, samples),
        }

    def measured(self, sides: Mapping[str, Run]) -> tuple[dict[str, Outcome], int]:
        """The sides take turns; medians, and of how many runs. What the last run of each has made stays where it is.
        What failed is not tried again."""
        costs: dict[str, list[Cost]] = {side: [] for side in sides}
        errors: dict[str, str] = {}
        started, count = time.monotonic(), 0
        while count == 0 or (
            count < self.repetitions and (time.monotonic() - started) * (count + 1) / count < BUDGET_S
        ):
            count += 1
            for side, run in sides.items():
                if side not in errors:
                    try:
                        costs[side].append(run(emptied(self.out(side))))
                    except RuntimeError as error:
                        errors[side] = reason(error)
        return {
            side: Outcome(
                cost=measure.middle(known) if known and side not in errors else None, error=errors.get(side, "")
            )
            for side, known in costs.items()
        }, count

    def judge(self, kind: str, model: Path, side: str, outcome: Outcome) -> Outcome:
        """The same with its signal-to-noise ratio, if there is a result to judge; a result that does not run is an
        error."""
        if outcome.error or KINDS[kind].other == INFERENCE:
            return outcome
        known, out = self.scratch / f"{model.stem}-float.npz", self.out(side)
        fresh = self.samples(model) / "fresh"
        if not known.exists():
            measure.run(step("float", model, fresh, known), cwd=self.scratch, environment=ENVIRONMENT)
        try:
            command = step("judge", out / RESULT, fresh, known, out / "noise.txt")
            measure.run(command, cwd=self.scratch, environment=ENVIRONMENT)
        except RuntimeError as error:
            return replace(outcome, error=f"the result does not run: {reason(error)}")
        return replace(outcome, noise_db=float((out / "noise.txt").read_text()))

    def out(self, side: str) -> Path:
        return self.scratch / f"out-{side}"

    def model(self, name: str) -> Path:
        """Made in a process of its own, because a child's peak memory starts at its parent's."""
        if name == LARGE:
            path = self.scratch / "large" / name
            program = "models.made_apart(Path(sys.argv[1]), sys.argv[2])"
        else:
            path = self.folder / f"models-{GENERATION}" / name
            program = "models.made(Path(sys.argv[1]).parent, sys.argv[2:])"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            program = f"import sys; from pathlib import Path; from benchmarks import models; {program}"
            subprocess.run([sys.executable, "-c", program, path.parent, name], check=True, cwd=ROOT)
        return path

    def samples(self, model: Path) -> Path:
        folder = self.scratch / f"samples-{model.stem}"
        if not folder.exists():
            measure.run(step("samples", model, folder, folder), cwd=self.scratch, environment=ENVIRONMENT)
        return folder


def goal_of(kind: str, model: str) -> Goal:
    goal = KINDS[kind].goal
    return replace(goal, cpu=EXACT[model]) if kind == "calibrate-minmax" else goal


def emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def reason(error: Exception) -> str:
    """The last line that a program printed before it failed, short enough for a table."""
    lines = [text.strip() for text in str(error).splitlines() if text.strip()]
    return lines[-1][:200]


def step(name: str, *paths: Path) -> list[str | Path]:
    return [sys.executable, "-P", "-m", "benchmarks.quantize", "--step", name, *paths]


def ours(kind: str, model: Path, samples: Path, out: Path) -> Cost:
    environment = {**ENVIRONMENT, "XDG_CACHE_HOME": str(out / "cache")}
    if kind in BEFORE:
        measure.run(step(BEFORE[kind], model, out, samples), cwd=out, environment=environment)
    return measure.run(step(kind, model, out, samples), cwd=out, environment=environment)


def theirs(kind: str, model: Path, samples: Path, out: Path) -> Cost:
    if KINDS[kind].other == NO_REPORT:
        return ours("command-without-report", model, samples, out)
    if kind.startswith("olive"):
        program = quantize_theirs.olive_command(kind, quantize_theirs.olive(default_folder()), model, samples, out)
        return measure.run(program, cwd=out, environment=ENVIRONMENT)
    work = INFERENCE if KINDS[kind].other == INFERENCE else THEIRS.get(kind, kind)
    python = quantize_theirs.python(default_folder())
    command: list[str | Path] = [python, "-P", "-m", "benchmarks.quantize_theirs", work, model, out, samples]
    return measure.run(command, cwd=out, environment=ENVIRONMENT)


def copied(model: Path, out: Path) -> Cost:
    return measure.run(["cp", *sorted(model.parent.glob(f"{model.name}*")), out])


if __name__ == "__main__":
    main()
