"""Cost of a plan's files beside ONNX Runtime's own tool: `python -m benchmarks.compile [FOLDER]`.

For each of three models: the CPU's file (fixed, ORT format), the providers' file over its weights (unfused, ONNX),
and both as a plan makes them, without any check that `mobpack check` adds. Every process of ours starts with an empty
cache, or with one that holds nothing but the fixed file. Ratios carry from one machine to another, seconds do not.

Peak memory is that of all processes together. Interpreters and libraries are in it: what the same step takes for a
model of a few bytes is measured too, and taken off in the column `above`.
"""

import argparse
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from os import cpu_count
from pathlib import Path

from benchmarks import measure
from benchmarks.convert import ORT_OPTIONS, ORT_TOOL, cpu, name_of, say, versions
from benchmarks.measure import Cost
from benchmarks.models import BERT, MINILM, MOBILENET

ROOT = Path(__file__).parents[1]
RELU = bytes.fromhex(
    "08083a330a0c0a0178120179220452656c751201675a0f0a0178120a0a08"
    "080112040a020801620f0a0179120a0a08080112040a02080142040a00100d"
)
MEMORY_GOAL = 2.2
"""times the size of the model"""
STEPS = {"fixed": ("Fixed",), "unfused": ("Runtime",), "both": ("Fixed", "Runtime")}
"""what we make -> the styles of ONNX Runtime's tool that it is compared with"""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One piece of work, done by both tools."""

    step: str
    model: str
    model_bytes: int
    ours: Cost
    theirs: Cost
    base: Cost
    """ours, for a model of a few bytes"""
    their_base: Cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="where the models are kept; default: the user's cache")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        make(arguments.folder, arguments.step)
        return
    models = model_files(arguments.folder)
    with tempfile.TemporaryDirectory(dir=models[0].parent) as scratch:
        base = costs(tiny(Path(scratch)), Path(scratch), arguments.repetitions)
        found = [each for model in models for each in comparisons(model, base, Path(scratch), arguments.repetitions)]
    show(found, arguments.repetitions)


def model_files(folder: Path | None) -> list[Path]:
    """Made in a process of its own, because a child's peak memory starts at its parent's."""
    program = "import sys; from pathlib import Path; from benchmarks import models as m\n"
    program += f"folder = {str(folder)!r} if {folder is not None} else m.default_folder()\n"
    program += f"print(*m.made(Path(folder), {[MOBILENET, MINILM, BERT]!r}), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=ROOT)
    return [Path(name).absolute() for name in done.stdout.splitlines()]


def tiny(folder: Path) -> Path:
    """y = Relu(x)"""
    path = folder / "tiny.onnx"
    path.write_bytes(RELU)
    return path


def comparisons(model: Path, base: dict[str, Cost], scratch: Path, repetitions: int) -> Iterator[Comparison]:
    measured = costs(model, scratch, repetitions)
    for step in STEPS:
        yield Comparison(
            step=step,
            model=name_of(model),
            model_bytes=model.stat().st_size,
            ours=measured[f"ours {step}"],
            theirs=measured[f"theirs {step}"],
            base=base[f"ours {step}"],
            their_base=base[f"theirs {step}"],
        )


def costs(model: Path, scratch: Path, repetitions: int) -> dict[str, Cost]:
    """Costs of ours and theirs, which take turns at every step of every repetition."""
    say(name_of(model))
    measurements = {f"ours {step}": partial(ours, model, scratch, step) for step in STEPS}
    measurements |= {f"theirs {step}": partial(theirs, model, scratch, styles) for step, styles in STEPS.items()}
    return measure.interleaved(repetitions, measurements)


def ours(model: Path, scratch: Path, step: str) -> Cost:
    with tempfile.TemporaryDirectory(dir=scratch) as cache:
        command = [sys.executable, "-P", "-m", "benchmarks.compile", str(model), "--step"]
        environment = {"XDG_CACHE_HOME": cache, "PYTHONPATH": str(ROOT)}
        if step == "unfused":
            measure.run([*command, "fixed"], cwd=scratch, environment=environment)
        return measure.run([*command, step], cwd=scratch, environment=environment)


def theirs(model: Path, scratch: Path, styles: Sequence[str]) -> Cost:
    with tempfile.TemporaryDirectory(dir=scratch) as out:
        command = [*ORT_TOOL, str(model), *ORT_OPTIONS, "--output_dir", out, "--optimization_style", *styles]
        return measure.run(command, cwd=scratch)


def make(file: Path, step: str) -> None:
    """Do `step` as a build does, in this process and those that it starts."""
    from packager import models
    from packager.compile import plan
    from packager.compile.compile import compile_variant
    from packager.core.values import baseline
    from packager.files.store import Store
    from packager.files.user_cache import cache_folder
    from packager.targets.android import Android

    store = Store(cache_folder() / "store")
    variant = baseline(models.hashed(models.load(file, "model")), "fp32")
    if step == "fixed":
        compile_variant(variant, store)
    else:
        plan.make(variant, Android(providers=("xnnpack",)), store, lambda text: None)


def show(found: Sequence[Comparison], repetitions: int) -> None:
    known = ", ".join(f"{name} {number}" for name, number in versions().items())
    print(f"Medians of {repetitions} interleaved repetitions; {platform.machine()}, {cpu_count()} cores; {known}.")
    print(f"Peaks as multiples of the model; the goal is {MEMORY_GOAL:g}.\n")
    print("| file | model | against | CPU s (user + system) | theirs | CPU ratio | peak | theirs | above | theirs |")
    print("|---|---|---|---|---|--:|--:|--:|--:|--:|")
    for each in found:
        ratio = f"{each.ours.cpu_s / each.theirs.cpu_s:.2f}"
        peaks = times(each.ours.all_processes_bytes, each), times(each.theirs.all_processes_bytes, each)
        above = (
            times(each.ours.all_processes_bytes - each.base.all_processes_bytes, each),
            times(each.theirs.all_processes_bytes - each.their_base.all_processes_bytes, each),
        )
        cells = [
            each.step,
            each.model,
            "+".join(STEPS[each.step]),
            cpu(each.ours),
            cpu(each.theirs),
            ratio,
            judged(peaks[0]),
            f"{peaks[1]:.2f}",
            judged(above[0]),
            f"{above[1]:.2f}",
        ]
        print(f"| {' | '.join(cells)} |")


def times(size_bytes: int, each: Comparison) -> float:
    """A figure as a multiple of the model's size."""
    return size_bytes / each.model_bytes


def judged(peak: float) -> str:
    return f"{peak:.2f} ({'met' if peak <= MEMORY_GOAL else 'missed'})"


if __name__ == "__main__":
    main()
