"""mobpack against ONNX Runtime's own tools, in one run: `python -m benchmarks.convert [FOLDER]`.

Prints CPU seconds, peak memory and their ratios; `--json` prints the figures themselves. Ratios carry from one machine
to another, seconds do not, so there is no pass or fail here.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from benchmarks import measure
from benchmarks.measure import Cost

MOBPACK = (sys.executable, "-P", "-m", "packager.cli")
ORT_TOOL = (sys.executable, "-P", "-m", "onnxruntime.tools.convert_onnx_models_to_ort")
ORT_OPTIONS = ("--enable_type_reduction", "--target_platform", "arm")


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One piece of work, done by both tools."""

    work: str
    other: str
    """what ours is compared with"""
    ours: Cost
    theirs: Cost
    cpu_goal: float | None = None
    memory_goal: float | None = None

    @property
    def cpu_ratio(self) -> float:
        return self.ours.cpu_s / self.theirs.cpu_s

    @property
    def memory_ratio(self) -> float | None:
        """None for work inside one process, whose memory cannot be told from that of its imports."""
        if not self.theirs.all_processes_bytes:
            return None
        return self.ours.all_processes_bytes / self.theirs.all_processes_bytes


@dataclass(frozen=True, kw_only=True)
class Duration:
    """A wall time with a goal."""

    work: str
    cost: Cost
    aim_s: float


@dataclass(frozen=True, kw_only=True)
class Measured:
    comparisons: tuple[Comparison, ...]
    durations: tuple[Duration, ...]
    notes: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="where the models are kept; default: the user's cache")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--skip-build", action="store_true", help="leave out mobpack build")
    parser.add_argument("--json", action="store_true", dest="as_json")
    arguments = parser.parse_args()
    small, large = model_files(arguments.folder)
    with tempfile.TemporaryDirectory(dir=small.parent) as scratch:
        measured = measure_all(
            small, large, Path(scratch), repetitions=arguments.repetitions, with_build=not arguments.skip_build
        )
    if arguments.as_json:
        print(json.dumps(document(measured, arguments.repetitions), indent=2))
    else:
        show(measured, arguments.repetitions)


def model_files(folder: Path | None) -> tuple[Path, Path]:
    """Made in a process of its own, because a child's peak memory starts at its parent's."""
    command = [sys.executable, "-m", "benchmarks.models", *([str(folder)] if folder else [])]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    small, large = (Path(line).absolute() for line in done.stdout.splitlines())
    return small, large


def measure_all(small: Path, large: Path, scratch: Path, *, repetitions: int, with_build: bool) -> Measured:
    say("convert")
    comparisons = [each for model in (small, large) for each in conversions(model, scratch, repetitions)]
    say("operator config, opening")
    files = [scratch / f"{model.stem}.ort" for model in (small, large)]
    notes = [same_operators(file) for file in files]
    opened, opening_time = opening(small, large, scratch, repetitions)
    comparisons += [*configs(files, scratch, repetitions), opened]
    durations = [opening_time]
    if with_build:
        say("build")
        durations += builds(small, scratch, max(1, repetitions // 2 + 1))
    return Measured(comparisons=tuple(comparisons), durations=tuple(durations), notes=tuple(notes))


def conversions(model: Path, scratch: Path, repetitions: int) -> list[Comparison]:
    """`mobpack convert` with an empty store against ONNX Runtime's tool, as users run it and for the same output."""
    costs = measure.interleaved(
        repetitions,
        {
            "ours": partial(our_conversion, model, scratch),
            "both styles": partial(their_conversion, model, scratch, ()),
            "Fixed": partial(their_conversion, model, scratch, ("--optimization_style", "Fixed")),
        },
    )
    work, is_large = f"convert {name_of(model)}", model.stat().st_size > 100e6
    return [
        Comparison(
            work=work,
            other="ORT tool, default",
            ours=costs["ours"],
            theirs=costs["both styles"],
            cpu_goal=0.4,
            memory_goal=0.4 if is_large else None,
        ),
        Comparison(work=work, other="ORT tool, Fixed only", ours=costs["ours"], theirs=costs["Fixed"]),
        conversion_alone(model, scratch, repetitions),
    ]


def conversion_alone(model: Path, scratch: Path, repetitions: int) -> Comparison:
    """The same work in a process that has done it before: without starts and imports."""
    costs = measure.interleaved(
        repetitions,
        {name: partial(step, name, model, model, scratch) for name in ("our-conversion", "their-conversion")},
    )
    return Comparison(
        work=f"convert {name_of(model)}, over imports",
        other="ORT tool, default",
        ours=costs["our-conversion"],
        theirs=costs["their-conversion"],
        cpu_goal=0.4,
    )


def our_conversion(model: Path, scratch: Path) -> Cost:
    with tempfile.TemporaryDirectory(dir=scratch) as cache:
        command: list[str | Path] = [*MOBPACK, "convert", model, "--out", scratch / f"{model.stem}.ort"]
        return measure.run(command, cwd=scratch, environment={"XDG_CACHE_HOME": cache})


def their_conversion(model: Path, scratch: Path, style: Sequence[str]) -> Cost:
    with tempfile.TemporaryDirectory(dir=scratch) as out:
        command: list[str | Path] = [*ORT_TOOL, model, *ORT_OPTIONS, "--output_dir", out, *style]
        return measure.run(command, cwd=scratch)


def configs(files: Sequence[Path], scratch: Path, repetitions: int) -> list[Comparison]:
    """Operator configurations without imports: one call in a process that did the same on the small file before."""
    comparisons = []
    for file in files:
        costs = measure.interleaved(
            repetitions,
            {name: partial(step, name, files[0], file, scratch) for name in ("our-config", "their-config")},
        )
        work = f"operator config of {file.name}, over imports"
        other = "create_config_from_models"
        ours, theirs, goal = costs["our-config"], costs["their-config"], 0.1 if file is files[-1] else None
        comparisons.append(Comparison(work=work, other=other, ours=ours, theirs=theirs, cpu_goal=goal))
    return comparisons


def opening(small: Path, large: Path, scratch: Path, repetitions: int) -> tuple[Comparison, Duration]:
    """Everything that `mobpack inspect` computes, beside a script of today."""
    costs = measure.interleaved(
        repetitions,
        {name: partial(step, name, small, large, scratch) for name in ("our-inspection", "their-inspection")},
    )
    ours, theirs = costs["our-inspection"], costs["their-inspection"]
    work = f"open and inspect {name_of(large)}, over imports"
    return (
        Comparison(work=work, other="onnx load, check, infer shapes", ours=ours, theirs=theirs),
        Duration(work=work, cost=ours, aim_s=0.1),
    )


def step(name: str, warm_up: Path, file: Path, scratch: Path) -> Cost:
    command = [sys.executable, "-m", "benchmarks.steps", name, str(warm_up), str(file)]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1], env=environment
    )
    used: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return Cost(**used, largest_process_bytes=0, all_processes_bytes=0)


def same_operators(file: Path) -> str:
    """Whether our operator configuration equals ONNX Runtime's. Raises RuntimeError if it does not."""
    command = [sys.executable, "-m", "benchmarks.steps", "compare-configs", str(file), str(file)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    if done.returncode != 0:
        raise RuntimeError(f"the operator configs of {file.name} differ:\n{done.stderr}")
    return f"both operator configs of {file.name} name the same operators and types"


def builds(model: Path, scratch: Path, repetitions: int) -> list[Duration]:
    """A build with an empty cache, and the same build again."""
    cold, again = [], []
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory(dir=scratch) as cache, tempfile.TemporaryDirectory(dir=scratch) as out:
            command: list[str | Path] = [*MOBPACK, "build", model, "--target", "android", "--out", Path(out) / "dist"]
            environment = {"XDG_CACHE_HOME": cache}
            cold.append(measure.run(command, cwd=scratch, environment=environment))
            again.append(measure.run(command, cwd=scratch, environment=environment))
    return [
        Duration(work=f"build {name_of(model)} to .aar, empty cache", cost=measure.middle(cold), aim_s=10),
        Duration(work=f"build {name_of(model)} again, nothing changed", cost=measure.middle(again), aim_s=1),
    ]


def name_of(model: Path) -> str:
    return f"{model.stem} ({model.stat().st_size / 1e6:.0f} MB)"


def document(measured: Measured, repetitions: int) -> dict[str, object]:
    return {
        "schema-version": 1,
        "repetitions": repetitions,
        "versions": versions(),
        "comparisons": [
            {**asdict(each), "cpu_ratio": each.cpu_ratio, "memory_ratio": each.memory_ratio}
            for each in measured.comparisons
        ],
        "durations": [asdict(each) for each in measured.durations],
        "notes": list(measured.notes),
    }


def versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("mobpack", "onnxruntime", "onnx", "numpy")}
    return {"python": platform.python_version(), **packages}


def show(measured: Measured, repetitions: int) -> None:
    known = ", ".join(f"{name} {number}" for name, number in versions().items())
    print(f"Medians of {repetitions} interleaved repetitions; {platform.machine()}, {os.cpu_count()} cores; {known}.\n")
    print("| work | against | CPU s (user + system) | theirs | CPU ratio | peak MB | theirs | memory ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for each in measured.comparisons:
        ours, theirs = each.ours, each.theirs
        print(
            f"| {each.work} | {each.other} | {cpu(ours)} | {cpu(theirs)} | {ratio(each.cpu_ratio, each.cpu_goal)} "
            f"| {memory(ours)} | {memory(theirs)} | {ratio(each.memory_ratio, each.memory_goal)} |"
        )
    if measured.durations:
        print("\n| work | wall s | aim | CPU s (user + system) | peak MB |\n|---|---|---|---|---|")
    for one in measured.durations:
        print(f"| {one.work} | {one.cost.wall_s:.3f} | <= {one.aim_s:g} | {cpu(one.cost)} | {memory(one.cost)} |")
    print("\n" + "\n".join(measured.notes))


def cpu(cost: Cost) -> str:
    return f"{cost.cpu_s:.3f} ({cost.user_s:.3f} + {cost.system_s:.3f})"


def memory(cost: Cost) -> str:
    return f"{cost.all_processes_bytes / 1e6:.0f}" if cost.all_processes_bytes else "-"


def ratio(value: float | None, goal: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" + (f" (goal {goal:g}: {'met' if value <= goal else 'missed'})" if goal else "")


def say(text: str) -> None:
    print(f"measuring: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
