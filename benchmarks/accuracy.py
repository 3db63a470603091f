"""Accuracy of quantized real models on real tasks: `python -m benchmarks.accuracy [TASK...]`.

For every task and every quantizer that fits it `mobpack quantize MODEL --json` runs as a user would run it, with the
task's accuracy as its metric. The result is the table in results/accuracy.md, between its two marks, where rows of
other tasks stay; `--print` leaves the page alone. An hour on two cores for all of it; figures of a run that was broken
off are kept.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.models import default_folder
from benchmarks.tasks import TASKS
from packager.files.store import Step

QUANTIZED = Step(name="quantized", caller=__name__, computed_by=("packager.cli.quantize",))
ROOT = Path(__file__).parents[1]
PAGE = ROOT / "benchmarks" / "results" / "accuracy.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
TITLES = (
    "task",
    "quantizer",
    "metric",
    "change",
    "size",
    "of float",
    "latency",
    "SQNR of layers",
)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One way to quantize, as options of the command."""

    name: str
    options: tuple[str, ...]
    has_samples: bool = False


INT8 = Recipe(name="static int8", options=("-q", "static-qdq"), has_samples=True)
CONVOLUTIONS = (Recipe(name="float16", options=("-q", "float16")), INT8)
MATRICES = (
    *CONVOLUTIONS,
    Recipe(name="dynamic int8", options=("-q", "dynamic")),
    Recipe(name="weights int8", options=("-q", "weight-only", "--set", "bits=8")),
    Recipe(name="weights int4", options=("-q", "weight-only")),
)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The quantizers and settings to try on a task."""

    recipes: tuple[Recipe, ...]
    max_drop: float
    """the budget of `auto`, in the unit of the task's score"""


PLANS: Mapping[str, Plan] = {
    "orientation": Plan(recipes=CONVOLUTIONS, max_drop=0.005),
    "digits": Plan(recipes=CONVOLUTIONS, max_drop=0.001),
    "similarity": Plan(recipes=MATRICES, max_drop=0.005),
    "source_code": Plan(recipes=MATRICES, max_drop=0.005),
    "denoise": Plan(recipes=MATRICES, max_drop=0.05),
    "pitch": Plan(recipes=CONVOLUTIONS, max_drop=0.005),
    "speech": Plan(recipes=(*CONVOLUTIONS, MATRICES[2]), max_drop=0.002),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", choices=[[], *PLANS], help=f"default: {', '.join(PLANS)}")
    parser.add_argument("--print", action="store_true", dest="is_printed", help="print the table, leave the page")
    arguments = parser.parse_args()
    measured = {name: list(rows(name)) for name in arguments.tasks or PLANS}
    if arguments.is_printed:
        print("\n".join(table(measured)))
    else:
        PAGE.write_text(with_rows(PAGE.read_text(encoding="utf-8"), measured), encoding="utf-8", newline="\n")


def table(rows_of: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The rows of each task, in the order of the plans."""
    yield f"| {' | '.join(TITLES)} |"
    yield "|---|---|" + "--:|" * (len(TITLES) - 2)
    for name in PLANS:
        yield from rows_of.get(name, ())


def rows(name: str) -> Iterator[str]:
    plan = PLANS[name]
    auto = Recipe(name="auto", options=("-q", "auto", "--max-drop", f"{plan.max_drop:g}"), has_samples=True)
    reports = [(recipe, quantized(name, recipe)) for recipe in (*plan.recipes, auto)]
    yield float_row(name, next(report for _, report in reports if "error" not in report))
    yield from (row(recipe, report) for recipe, report in reports)


def quantized(task: str, recipe: Recipe) -> dict[str, Any]:
    """The command's report, from the store if the same code has run before."""
    known = default_folder() / "accuracy" / QUANTIZED.code[:16] / f"{task} {recipe.name}.json"
    if not known.exists():
        known.parent.mkdir(parents=True, exist_ok=True)
        known.write_text(json.dumps(run(task, recipe)), encoding="utf-8")
    report: dict[str, Any] = json.loads(known.read_text(encoding="utf-8"))
    return report


def run(task: str, recipe: Recipe) -> dict[str, Any]:
    module = f"benchmarks.tasks.{task}"
    print(f"{task}: {recipe.name}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "packager.cli", "quantize", str(TASKS[task].model()), *recipe.options]
        command += ["--calibration", f"{module}:calibration", "--metric", f"{module}:accuracy", "--json", "--force"]
        command += ["--output", f"{folder}/out.onnx"]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def float_row(task: str, report: Mapping[str, Any]) -> str:
    cells = [
        f"**{task}**: {TASKS[task].WHAT}",
        "float",
        f"{report['score']['original']:.4g}",
        "",
        megabytes(report["original"]["size-bytes"]),
        "",
        milliseconds(report, "float-ms"),
        "",
    ]
    return f"| {' | '.join(cells)} |"


def row(recipe: Recipe, report: Mapping[str, Any]) -> str:
    if "error" in report:
        return f"| | {recipe.name} | refused: {report['error']['message']} ||||||"
    layers = sorted(each["output-sqnr-db"] for each in report["layers"] if isinstance(each["output-sqnr-db"], float))
    cells = [
        "",
        f"{recipe.name}{chosen(report)}",
        f"{report['score']['value']:.4g}",
        f"{-report['score']['drop']:+.2g}" if report["score"]["drop"] else "0",
        megabytes(report["quantized"]["size-bytes"]),
        f"{report['size-ratio']:.2f}",
        milliseconds(report, "quantized-ms"),
        f"{layers[0]:.0f}, {layers[len(layers) // 2]:.0f} dB" if layers else "",
    ]
    return f"| {' | '.join(cells)} |"


def chosen(report: Mapping[str, Any]) -> str:
    """Result of a search: how many layers each method got, and the number of evaluations."""
    search = report["search"]
    if not search:
        return ""
    kinds = [each["scheme"] for each in search["choices"]]
    schemes = [each for each in ("integers", "integer weights", "float") if each in kinds]
    counts = ", ".join(f"{kinds.count(scheme)} {scheme}" for scheme in schemes)
    method = report["calibration"]["method"]
    return f" ({counts or 'all layers integers'}; {method}; {search['count']} of {search['bound']} evaluations)"


def milliseconds(report: Mapping[str, Any], key: str) -> str:
    (own,) = report["latencies"]
    return f"{own[key]:.3g} ms"


def megabytes(count: int) -> str:
    return f"{count / 1e6:.2f} MB"


def with_rows(page: str, measured: Mapping[str, Sequence[str]]) -> str:
    """`page` with new rows of the tasks that were measured; rows of others stay as they are."""
    before, _, rest = page.partition(BEGIN)
    known, _, after = rest.partition(END)
    return "\n".join([before + BEGIN, *table({**rows_by_task(known), **measured}), END + after])


def rows_by_task(text: str) -> dict[str, list[str]]:
    """The rows of a table on the page: those of a task begin with the one that has its name."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        first = re.match(r"\| \*\*(\w+)\*\*: ", line)
        name = first[1] if first else name
        if name:
            found.setdefault(name, []).append(line)
    return found


if __name__ == "__main__":
    main()
