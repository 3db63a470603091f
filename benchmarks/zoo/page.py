"""Writes docs/zoo.md from the results."""

import os
import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from benchmarks.zoo.building import Result
from benchmarks.zoo.models import Entry, Zoo

GOAL_S = 60
TITLES = (
    "model",
    "package",
    "licence",
    "MB",
    "result",
    "s",
    "Kotlin s",
    "CPU s",
    "peak MB",
    ".aar MB",
    "worst error",
    "nodes that providers take",
)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Verdict on a result."""

    kind: str
    """`ships`, `truly refused`, `refused`, `ships by now`, `failed` or `over the limit`"""
    is_as_wanted: bool


def verdict(entry: Entry, found: Result) -> Verdict:
    """Whether a model that must ship ships, and one that cannot is refused for the reason that models.toml gives."""
    if found.state == "shipped":
        return Verdict(kind="ships by now" if entry.refusal else "ships", is_as_wanted=not entry.refusal)
    if found.state == "refused" and entry.refusal:
        is_it = entry.refusal in " ".join(found.message.split())
        return Verdict(kind="truly refused" if is_it else "refused", is_as_wanted=is_it)
    return Verdict(kind=found.state, is_as_wanted=False)


def page(zoo: Zoo, results: Mapping[str, Result], date: str) -> str:
    """The page; models without a result have a row that says so."""
    lines = [
        *introduction(date),
        *summary(zoo, results),
        "",
        "| " + " | ".join(TITLES) + " |",
        "|---|---|---|---:|---|---:|---:|---:|---:|---:|---:|---|",
        *(row(entry, results.get(entry.name)) for entry in zoo.models),
        "",
        *refusals(zoo, results),
        *left_out(zoo),
    ]
    return "\n".join(lines).rstrip() + "\n"


def introduction(date: str) -> Iterator[str]:
    yield "# The zoo: real models out of public packages"
    yield ""
    yield "Written by `python -m benchmarks.zoo`, which builds every model of `benchmarks/zoo/models.toml` for all"
    yield "targets with default settings, each with an empty store: no samples, no shapes, no contract. Do not edit it."
    yield ""
    yield "```sh"
    yield "python -m benchmarks.zoo                    # all; results of the same code are kept, so it can be continued"
    yield "python -m benchmarks.zoo --only NAME        # one of them, again"
    yield "python -m benchmarks.zoo --keep-all         # what has no result of any code yet"
    yield "python -m benchmarks.zoo --page-only        # this page again, from the results there are"
    yield "python -m benchmarks.zoo --describe pip magika==1.0.3   # lines for models.toml"
    yield "```"
    yield ""
    yield f"Last run {date}: mobpack {version('mobpack')}, ONNX Runtime {version('onnxruntime')},"
    yield f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, other work beside it."
    yield ""
    yield '"s" is the whole build, "Kotlin s" how long Kotlin\'s compiler was there, "CPU s" everything but that'
    yield 'compiler, "peak MB" the largest sum of all processes\' resident sizes. The error is the largest of any'
    yield "output of any file, as a share of its largest value. Licences are what packages' metadata say; nothing of"
    yield "them is in this repository."
    yield ""


def summary(zoo: Zoo, results: Mapping[str, Result]) -> Iterator[str]:
    """Counts, and models that miss the goal."""
    known = [(entry, results[entry.name]) for entry in zoo.models if entry.name in results]
    counts = Counter(verdict(entry, found).kind for entry, found in known)
    slow = [entry.name for entry, found in known if found.own_s > GOAL_S]
    wrong = [entry.name for entry, found in known if not verdict(entry, found).is_as_wanted]
    said = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items(), key=lambda each: -each[1]))
    packages = len({entry.package for entry in zoo.models})
    yield f"**{len(known)} of {len(zoo.models)} models out of {packages} packages: {said or 'none run yet'}.**"
    yield f"Not as wanted: {', '.join(wrong) or 'none'}."
    yield f"Over {GOAL_S} s without Kotlin's compiler: {', '.join(slow) or 'none'}."


def row(entry: Entry, found: Result | None) -> str:
    if found is None:
        cells = [entry.name, entry.package, entry.licence, "", "not run", *[""] * 7]
    else:
        error = "" if found.worst_error is None else f"{found.worst_error:.1e}"
        watched = found.watched
        cells = [
            entry.name,
            entry.package,
            entry.licence,
            megabytes(found.model_bytes),
            verdict(entry, found).kind,
            f"{watched.wall_s:.0f}",
            f"{watched.kotlin_wall_s:.0f}",
            f"{watched.cpu_s - watched.kotlin_cpu_s:.0f}",
            f"{watched.peak_bytes / 1e6:.0f}",
            megabytes(found.sizes["aar"]) if "aar" in found.sizes else "",
            error,
            ", ".join(f"{name} {share}" for name, share in sorted(found.taken.items())),
        ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def megabytes(count: int) -> str:
    return f"{count / 1e6:.3g}"


def refusals(zoo: Zoo, results: Mapping[str, Result]) -> Iterator[str]:
    """Why models do not ship."""
    stopped = [(entry, results[entry.name]) for entry in zoo.models if entry.name in results]
    stopped = [(entry, found) for entry, found in stopped if found.state != "shipped"]
    if not stopped:
        return
    yield "## What does not ship"
    yield ""
    for entry, found in stopped:
        kind = verdict(entry, found).kind
        code = "no exit code" if found.watched.exit_code is None else f"exit code {found.watched.exit_code}"
        why = f" {entry.why}" if entry.why and verdict(entry, found).is_as_wanted else ""
        yield f"- **{entry.name}**, {kind} ({code}): `{' '.join(found.message.replace('`', chr(39)).split())}`{why}"
    yield ""


def left_out(zoo: Zoo) -> Sequence[str]:
    if not zoo.left_out:
        return []
    rows = [f"- {each.name} ({each.package}, {each.licence}): {each.reason}" for each in zoo.left_out]
    return ["## Looked at and left out", "", *rows, ""]
