"""Reads what a build wrote, for the cells of the report."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from packager.core import parsing
from packager.core.parsing import Json
from packager.measuring.fleet.document import CellEntry
from packager.targets import MODELS_IN

MANIFEST, REPORT = "manifest.json", "report.json"


def cells_of(out: Path, targets: Mapping[str, str]) -> tuple[CellEntry, ...]:
    """A cell for each target, with its variant, of the release in `out`; empty ones if there is none."""
    try:
        manifest = parsing.json_of((out / MANIFEST).read_text(encoding="utf-8"))
        report = parsing.json_of((out / REPORT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return tuple(_empty(target, variant) for target, variant in targets.items())
    return tuple(_cell(target, variant, manifest, report) for target, variant in targets.items())


def _empty(target: str, variant: str) -> CellEntry:
    return CellEntry(
        target=target,
        variant=variant,
        size_bytes=None,
        sha256="",
        error=None,
        distance=None,
        partitions=None,
        share=None,
    )


def _cell(target: str, variant: str, manifest: Json, report: Json) -> CellEntry:
    packages = [each for each in manifest["artifacts"] if each["target"] == target and each["kind"] in MODELS_IN]
    within = {target, *manifest.get("takes-in", {}).get(target, ())}
    files = {choice["sha256"] for plan in manifest["plans"] if plan["target"] in within for choice in plan["choices"]}
    compared = [each for each in report["parity"] if each["sha256"] in files and each["outputs"]]
    asked = [each for each in report["partitions"] if each["target"] in within and not each["skipped"]]
    return CellEntry(
        target=target,
        variant=variant,
        size_bytes=packages[0]["size-bytes"] if packages else None,
        sha256=packages[0]["sha256"] if packages else "",
        error=_largest([number(output["max-rel-error"]) for each in compared for output in each["outputs"]]),
        distance=_largest([number(each["from-original"]) for each in compared if each["from-original"] is not None]),
        partitions=max((each["partitions"] for each in asked), default=None),
        share=min((each["share"] for each in asked if each["share"] is not None), default=None),
    )


def number(value: object) -> float:
    """A number of a report, where infinity and NaN are words: they count as the largest number."""
    return sys.float_info.max if isinstance(value, str) else float(value)  # type: ignore[arg-type]


def _largest(numbers: Sequence[float]) -> float | None:
    return max(numbers, default=None)
