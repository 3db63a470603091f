"""Writes docs/matrix.md and docs/matrix.json from the results."""

import json
import os
import platform
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from benchmarks.matrix.cells import CELLS, LEAST_DB, WITH_KOTLIN, WITHOUT_KOTLIN, Cell
from benchmarks.matrix.rows import Row
from benchmarks.zoo import models

Results = Mapping[str, Mapping[str, Cell]]
"""row -> cell -> result"""
TITLES = {
    "made": "export or import",
    "packages": "packages",
    "kotlin": "packages with Kotlin",
    "int8": "static int8",
    "dynamic": "dynamic int8",
    "float16": "float16",
    "int4": "int4",
}


@dataclass(frozen=True)
class Fault:
    """A reason that holds."""

    says: str
    fault: str
    issue: str = ""


@cache
def known() -> tuple[Fault, ...]:
    document = tomllib.loads(Path(__file__).with_name("faults.toml").read_text(encoding="utf-8"))
    zoo = [Fault(re.escape(each.refusal), f"the zoo: {each.why}") for each in models.read().models if each.refusal]
    return (*(Fault(**each) for each in document["fault"]), *zoo)


def fault(cell: Cell) -> Fault | None:
    """The reason in faults.toml that a refusal has."""
    return next((each for each in known() if re.search(each.says, cell.reason)), None)


def faults(row: Row, cells: Mapping[str, Cell]) -> list[str]:
    """Cells of a row that are mobpack's to mend: wrong, failed, or refused for no known reason."""
    bad = ("wrong", "failed", "over the limit")
    return [
        f"{row.name} {name}"
        for name, cell in cells.items()
        if (cell.state in bad or cell.state == "refused") and fault(cell) is None
    ]


def document(rows: Sequence[Row], results: Results) -> str:
    """matrix.json: a line for each row."""
    lines = [
        json.dumps({**asdict(row), "cells": {name: entry(cell) for name, cell in results[row.name].items()}})
        for row in rows
    ]
    return f'{{"versions": {json.dumps(versions())}, "rows": [\n' + ",\n".join(lines) + "\n]}\n"


def entry(cell: Cell) -> dict[str, object]:
    why = fault(cell) if cell.state != "ok" else None
    more = {"fault": why.fault, **({"issue": why.issue} if why.issue else {})} if why else {}
    plain = {key: value for key, value in asdict(cell).items() if key != "code" and value not in ("", None)}
    if cell.number == float("inf"):
        plain["number"] = "infinity"
    return {**plain, **more}


def versions() -> dict[str, str]:
    return {
        "mobpack": version("mobpack"),
        "onnxruntime": version("onnxruntime"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def page(rows: Sequence[Row], results: Results) -> str:
    return "\n".join([*introduction(results), *summary(rows, results), *refusals(rows, results), *table(rows, results)])


def introduction(results: Results) -> Iterator[str]:
    dates = sorted(cell.date for cells in results.values() for cell in cells.values())
    here = versions()
    lock = Path(__file__).with_name("torch.txt").read_text(encoding="utf-8")
    pins = dict(re.findall(r"^(torchvision|torchaudio|timm|transformers|diffusers)==(\S+)", lock, re.MULTILINE))
    yield "# Which models ship"
    yield ""
    yield "Shows which models of 2026 export, convert, quantize and ship with mobpack's default settings."
    yield ""
    yield "    python -m benchmarks.matrix"
    yield ""
    yield "The result is this page and its data, [matrix.json](matrix.json). Weights are random and seeded."
    yield ""
    yield f"{f'Cells are of {dates[0]} to {dates[-1]}' if dates else 'No cell has run'}; mobpack {here['mobpack']},"
    yield f"ONNX Runtime {here['onnxruntime']}, Python {here['python']}, {here['machine']}, other work beside it."
    yield f"PyTorch 2.13.0, {', '.join(f'{name} {number}' for name, number in sorted(pins.items()))}."
    yield "Other frameworks have the versions of `mobpack import` ([import.md](import.md))."
    yield ""
    yield "- *export or import*: `mobpack export`, `mobpack import`, or an ONNX file out of a package. The command"
    yield "  compares the graph with the framework's own outputs."
    yield f"- *packages*: {', '.join(WITHOUT_KOTLIN)}. mobpack compares each file with the float graph, and so does a"
    yield "  program that shares no code with it (`benchmarks/zoo/independent.py`): the largest error is a share of the"
    yield "  output's largest number. The inputs are those that the export or import has kept (`--keep-samples`)."
    yield f"- *packages with Kotlin*: {', '.join(WITH_KOTLIN)}; the option `cells kotlin` asks for them."
    least = ", ".join(f"{TITLES[name]} {value:.0f}" for name, value in LEAST_DB.items())
    yield "- *int8*, *float16*, *int4*: signal to noise of the outputs, and a Python package of the result. Least"
    yield f"  decibels: {least}."
    yield "- *refused*: mobpack gives the reason. *wrong*: a package computes something else. *failed*: a traceback or"
    yield "  a crash."
    yield ""


def summary(rows: Sequence[Row], results: Results) -> Iterator[str]:
    ran = [row for row in rows if results[row.name]]
    yield f"**{len(ran)} of {len(rows)} models have run.**"
    counts = Counter(cell.state for cells in results.values() for cell in cells.values())
    yield f"Cells: {', '.join(f'{count} {state}' for state, count in counts.most_common()) or 'none'}."
    yield ""
    yield "| family | listed | run | " + " | ".join(TITLES.values()) + " |"
    yield "|---|---:|---:|" + "---:|" * len(TITLES)
    for family in dict.fromkeys(row.family for row in rows):
        listed = [row for row in rows if row.family == family]
        shares = [share([results[row.name] for row in listed], name) for name in CELLS]
        count = sum(bool(results[row.name]) for row in listed)
        yield f"| {family} | {len(listed)} | {count} | {' | '.join(shares)} |"
    yield ""


def share(cells: Sequence[Mapping[str, Cell]], name: str) -> str:
    """How many rows are ok, of those whose cell has run; a net that is not made has no packages."""
    ran = [each[name].state if name in each else "refused" for each in cells if name in each or lost(each, name)]
    return f"{ran.count('ok')} of {len(ran)}" if ran else ""


def lost(cells: Mapping[str, Cell], name: str) -> bool:
    """Whether a cell cannot run because there is no graph."""
    return name == "packages" and "made" in cells and cells["made"].state != "ok"


def refusals(rows: Sequence[Row], results: Results) -> Iterator[str]:
    yield "## What is not ok"
    yield ""
    for row in rows:
        for name, cell in results[row.name].items():
            if cell.state == "ok":
                continue
            why = fault(cell)
            whose = f" {why.fault.rstrip('.')}{f' ({why.issue})' if why.issue else ''}." if why else ""
            yield f"- **{row.name}**, {TITLES[name]}, {cell.state}: `{cell.reason.replace('`', chr(39))}`{whose}"
    yield ""


def table(rows: Sequence[Row], results: Results) -> Iterator[str]:
    yield "## All models"
    yield ""
    yield "Seconds and peak megabytes of the command in each cell; a model without a result has not run yet."
    yield ""
    yield "| model | way | " + " | ".join(TITLES.values()) + " |"
    yield "|---|---|" + "---|" * len(TITLES)
    for row in rows:
        if results[row.name]:
            words = [words_of(results[row.name].get(name)) for name in CELLS]
            yield f"| {row.name} | {row.way} | {' | '.join(words)} |"
    yield ""
    for family in dict.fromkeys(row.family for row in rows):
        if names := [row.net for row in rows if row.family == family and not results[row.name]]:
            yield f"Not run yet, {family}: {', '.join(names)}."
            yield ""


def words_of(cell: Cell | None) -> str:
    if cell is None:
        return ""
    number = "" if cell.number is None else f", {cell.number:.1e}" if cell.number < 1e-2 else f", {cell.number:.0f} dB"
    return f"{cell.state}{number}, {cell.wall_s:.0f} s, {cell.peak_bytes / 1e6:.0f} MB"
