"""Formats numbers and names for people."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packager.render.pages import numbers
from packager.reporting.document import ChoiceEntry, FileEntry, Number, PartitionEntry, State

NO_NUMBER: Mapping[Number, str] = {
    "infinity": "infinite",
    "-infinity": "minus infinite",
    "not a number": "not a number",
}
SHA_SHOWN = 8
"""digits of a file's SHA-256 in its name"""
LARGE = 10_000
"""from this value on, numbers are printed as powers of ten"""


@dataclass(frozen=True, kw_only=True)
class StateMark:
    """A state as shown on the page: colour, symbol and word."""

    tone: str
    mark: str
    word: str


STATES: Mapping[State, StateMark] = {
    "passed": StateMark(tone="pass", mark="✓", word="passed"),
    "failed": StateMark(tone="poor", mark="✕", word="failed"),
    "refused": StateMark(tone="fair", mark="!", word="does not run it"),
    "skipped": StateMark(tone="plain", mark="○", word="skipped"),
}


def number_in(value: Number, *, odd: float) -> float:
    """`value` for comparisons; `odd` if it is not a number."""
    return odd if value == "not a number" else float(value)


def amount(value: Number) -> str:
    """`0.0012`, `6.3e-6`: two digits, the precision of an error."""
    if isinstance(value, str):
        return NO_NUMBER[value]
    if 1000 <= abs(value) < LARGE:
        return f"{value:.0f}"
    text = f"{value:.2g}"
    base, _, exponent = text.partition("e")
    return f"{base}e{int(exponent)}" if exponent else text


def decibels(value: Number) -> str:
    return numbers.decibels(number_in(value, odd=math.nan))


def file_name(entry: FileEntry | ChoiceEntry) -> str:
    """`unfused .onnx`: the file's style and format."""
    processor = entry.processor if isinstance(entry, FileEntry) else ""
    return f"{entry.style} .{entry.format} {processor}".strip()


def full_name(entry: FileEntry, files: Sequence[FileEntry]) -> str:
    """`int8, fixed .ort`; with the beginning of its SHA-256 where another one of `files` has the same name."""
    name = f"{entry.variant}, {file_name(entry)}"
    others = (each for each in files if each.model == entry.model and each.sha256 != entry.sha256)
    is_shared = any(f"{each.variant}, {file_name(each)}" == name for each in others)
    return f"{name} {entry.sha256[:SHA_SHOWN]}" if is_shared else name


def provider_name(entry: ChoiceEntry | PartitionEntry) -> str:
    return f"{entry.provider} ({', '.join(entry.chips)})" if entry.chips else entry.provider
