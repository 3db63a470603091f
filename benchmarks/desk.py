"""How long a developer waits, beside ONNX Runtime's own tool: `python -m benchmarks.desk`.

One project of two models (MobileNetV2 with labels, and a small net) for three targets, in one run: the first build, the
same build again, builds after a change of one key, and what ONNX Runtime's tool takes for the larger model. Isolated
runtimes are those of the user's cache; results are made anew. Ratios carry from one machine to another, seconds do not.
"""

import argparse
import os
import platform
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import measure
from benchmarks.abuse.command import new_cache
from benchmarks.convert import MOBPACK, ORT_OPTIONS, ORT_TOOL, cpu, say, versions
from benchmarks.measure import Cost
from benchmarks.models import MOBILENET, TINY, made

PROJECT = """[package]
name = "desk"
version = "{version}"

[model.scene]
path = "scene.onnx"
[model.scene.outputs.{output}]
kind = "classes"
labels = "labels.txt"
activation = "softmax"

[model.small]
path = "small.onnx"

[target.android]
group = "com.example"
[target.ios]
[target.react_native]
"""
LABELS = 1000
HELP, UNCHANGED, ORT = "mobpack --help", "build, nothing changed", "ONNX Runtime's tool, Fixed, the larger model"
GOALS: Mapping[str, tuple[str, float]] = {UNCHANGED: (HELP, 3.0), "convert the larger model": (ORT, 1.0)}
"""Row -> the row that it is compared with, and the goal as a multiple of that row's time."""


@dataclass(frozen=True)
class Desk:
    """A project, and a cache of its own."""

    folder: Path
    cache: Path

    def run(self, *arguments: str | Path) -> Cost:
        return measure.run([*MOBPACK, *arguments], cwd=self.folder, environment={"XDG_CACHE_HOME": str(self.cache)})

    def write(self, *, version: str = "1.0.0", label: str = "label") -> None:
        (self.folder / "labels.txt").write_text("".join(f"{label} {number}\n" for number in range(LABELS)))
        text = PROJECT.format(version=version, output=output_of(self.folder / "scene.onnx"))
        (self.folder / "mobpack.toml").write_text(text)


def output_of(model: Path) -> str:
    import onnx

    return str(onnx.load(model, load_external_data=False).graph.output[0].name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        show(measured(Path(scratch), arguments.repetitions), arguments.repetitions)


def measured(scratch: Path, repetitions: int) -> Mapping[str, Cost]:
    """Row -> medians. Every repetition begins with an empty store."""
    models = dict(zip(("scene", "small"), made(scratch, (MOBILENET, TINY)), strict=True))
    rounds: dict[str, list[Cost]] = {}
    for number in range(repetitions):
        say(f"round {number + 1} of {repetitions}")
        desk = Desk(scratch / f"{number}", new_cache(scratch / f"cache-{number}"))
        desk.folder.mkdir()
        for name, path in models.items():
            os.link(path, desk.folder / f"{name}.onnx")
        for row, work in works(desk).items():
            rounds.setdefault(row, []).append(work())
    return {row: measure.middle(costs) for row, costs in rounds.items()}


def works(desk: Desk) -> Mapping[str, Callable[[], Cost]]:
    """Row -> the work, in the order in which it must be done."""

    def changed(**keys: str) -> Cost:
        desk.write(**keys)
        return desk.run("build")

    model = desk.folder / "scene.onnx"
    theirs: list[str | Path] = [
        *ORT_TOOL,
        model,
        *ORT_OPTIONS,
        "--optimization_style",
        "Fixed",
        "--output_dir",
        desk.folder / "theirs",
    ]
    return {
        HELP: partial(desk.run, "--help"),
        "first build": changed,
        UNCHANGED: partial(desk.run, "build"),
        "the same with --verify": partial(desk.run, "build", "--verify"),
        "build after a change of a label": partial(changed, label="another"),
        "build after a change of the version": partial(changed, label="another", version="1.0.1"),
        "convert the larger model": partial(desk.run, "convert", model, "--out", desk.folder / "scene.ort"),
        ORT: partial(measure.run, theirs, cwd=desk.folder),
    }


def show(costs: Mapping[str, Cost], repetitions: int) -> None:
    known = ", ".join(f"{name} {number}" for name, number in versions().items())
    print(f"Medians of {repetitions} rounds; {platform.machine()}, {os.cpu_count()} cores; {known}.\n")
    print("| work | wall s | CPU s (user + system) | CPU, times |\n|---|---|---|---|")
    for row, cost in costs.items():
        print(f"| {row} | {cost.wall_s:.2f} | {cpu(cost)} | {compared(row, costs)} |")


def compared(row: str, costs: Mapping[str, Cost]) -> str:
    if row not in GOALS:
        return ""
    other, goal = GOALS[row]
    ratio = costs[row].cpu_s / costs[other].cpu_s
    return f"{ratio:.2f} of '{other}' (goal {goal:g}: {'met' if ratio <= goal else 'missed'})"


if __name__ == "__main__":
    main()
