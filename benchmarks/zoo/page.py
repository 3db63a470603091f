"""Writes benchmarks/results/zoo.md from the results."""

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
    "compared apart",
    "nodes that providers take",
    "XNNPACK itself",
)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Verdict on a result."""

    kind: str
    """`ships`, alone or with what the independent comparison says against it, `correctly refused`, `refused`,
    `ships by now`, `failed` or `over the limit`"""
    is_as_wanted: bool


def verdict(entry: Entry, found: Result) -> Verdict:
    """Whether a model that must ship ships, and one that cannot is refused for the reason that models.toml gives."""
    if found.state == "shipped" and entry.refusal:
        return Verdict(kind="ships by now", is_as_wanted=False)
    if found.state == "shipped":
        is_random = entry.is_random and found.independent == "not compared"
        if found.independent == "agrees" or is_random:
            return Verdict(kind="ships", is_as_wanted=True)
        return Verdict(kind=f"ships, {found.independent}", is_as_wanted=False)
    if found.state == "refused" and entry.refusal:
        is_it = entry.refusal in " ".join(found.message.split())
        return Verdict(kind="correctly refused" if is_it else "refused", is_as_wanted=is_it)
    return Verdict(kind=found.state, is_as_wanted=False)


def page(zoo: Zoo, results: Mapping[str, Result], date: str) -> str:
    """The page; models without a result have a row that says so."""
    lines = [
        *introduction(date),
        *summary(zoo, results),
        "",
        "| " + " | ".join(TITLES) + " |",
        "|---|---|---|---:|---|---:|---:|---:|---:|---:|---:|---|---|---|",
        *(row(entry, results.get(entry.name)) for entry in zoo.models),
        "",
        *refusals(zoo, results),
        *left_out(zoo),
    ]
    return "\n".join(lines).rstrip() + "\n"


def introduction(date: str) -> Iterator[str]:
    yield "# The zoo: real models out of public packages"
    yield ""
    yield "Shows what becomes of real models when mobpack builds each for all five targets with default settings."
    yield ""
    yield "    python -m benchmarks.zoo"
    yield ""
    yield "The result is this page: for each model whether it ships, the cost of the build, and the largest error."
    yield ""
    yield "No build has samples, shapes or a contract. The models are listed in"
    yield "`benchmarks/zoo/models.toml`; none is in this repository. An interrupted run continues where it ended."
    yield ""
    yield "```sh"
    yield "python -m benchmarks.zoo --only NAME        # builds one model again"
    yield "python -m benchmarks.zoo --warm             # keeps results of one build for the next"
    yield "python -m benchmarks.zoo --keep-all         # builds models without a result of any code"
    yield "python -m benchmarks.zoo --page-only        # writes this page from the results of earlier runs"
    yield "python -m benchmarks.zoo --describe pip magika==1.0.3   # prints lines for models.toml"
    yield "```"
    yield ""
    yield f"Last run {date}: mobpack {version('mobpack')}, ONNX Runtime {version('onnxruntime')},"
    yield f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, other work beside it."
    yield ""
    yield "- *s*: wall time of the whole build; *Kotlin s*: the part in which Kotlin's compiler ran; *CPU s*: CPU time"
    yield "  without that compiler."
    yield "- *peak MB*: the largest sum of resident sizes over all processes."
    yield "- *worst error*: the largest error of any output of any file, as a share of the output's largest value."
    yield "- *compared apart*: how many files of the packages a program that shares no code with mobpack ran beside the"
    yield "  user's own model, in Python and under Node through the web package's API, and the largest difference, as a"
    yield "  share of the output's largest value (`benchmarks/zoo/independent.py`)."
    yield "  *Its own*: the same between the user's model and itself with constants that differ in their last bits,"
    yield "  where a difference is larger than the tolerance. A net that rounds to 8 bits while it runs may follow"
    yield "  such a bit; it agrees within twice that."
    yield "- *XNNPACK itself*: whether mobpack's rules give XNNPACK the nodes that ONNX Runtime's Android library gives"
    yield "  it, with all sizes fixed, and whether it computes what the CPU does (`benchmarks/zoo/rules.py`)."
    yield "  *Kept away*: the rules name a fault of XNNPACK."
    yield "  *Takes more*: XNNPACK takes nodes that the rules leave to the CPU, which is the safe side: behind a"
    yield "  Transpose that ONNX Runtime removes, or of a size that it finds out while it loads. *Differs*: otherwise."
    yield "- *licence*: as the package's metadata state it."
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
    yield f"Unexpected results: {', '.join(wrong) or 'none'}."
    rules = Counter(found.rules for _, found in known if found.rules)
    unlike = ("takes more", "differs", "computes otherwise")
    others = [f"{entry.name} ({found.rules}: {found.rules_reason})" for entry, found in known if found.rules in unlike]
    agreed = ", ".join(f"{count} {kind}" for kind, count in rules.most_common())
    yield f"XNNPACK's rules beside XNNPACK itself: {agreed or 'not asked'}."
    if others:
        yield f"Exceptions: {'; '.join(others)}."
    yield f"Over {GOAL_S} s without Kotlin's compiler: {', '.join(slow) or 'none'}."


def row(entry: Entry, found: Result | None) -> str:
    if found is None:
        cells = [entry.name, entry.package, entry.licence, "", "not run", *[""] * 9]
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
            independent(found),
            ", ".join(f"{name} {share}" for name, share in sorted(found.taken.items())),
            found.rules,
        ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def independent(found: Result) -> str:
    """`12 files, 1.0e-06`; behind it `(its own: 7.0e-03)` for a model that is as sensitive itself."""
    if found.independent == "agrees":
        own = f" (its own: {found.independent_own:.1e})" if found.independent_own else ""
        return f"{found.independent_files} files, {found.independent_worst:.1e}{own}"
    return f"{found.independent}: {' '.join(found.independent_reason.split())}" if found.independent else ""


def megabytes(count: int) -> str:
    return f"{count / 1e6:.3g}"


def refusals(zoo: Zoo, results: Mapping[str, Result]) -> Iterator[str]:
    """Why models do not ship."""
    stopped = [(entry, results[entry.name]) for entry in zoo.models if entry.name in results]
    stopped = [(entry, found) for entry, found in stopped if found.state != "shipped"]
    if not stopped:
        return
    yield "## Models that do not ship"
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
    return ["## Models left out", "", *rows, ""]
