"""Numbers and names as people read them."""

from collections.abc import Mapping
from dataclasses import dataclass

from packager.reporting.document import ChoiceEntry, FileEntry, Number, PartitionEntry, State

NO_NUMBER: Mapping[Number, str] = {
    "infinity": "infinite",
    "-infinity": "minus infinite",
    "not a number": "not a number",
}
LARGE = 10_000
"""From here on in powers of ten."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """A state as the page says it: with a colour, a sign and a word."""

    tone: str
    mark: str
    word: str


STATES: Mapping[State, Said] = {
    "passed": Said(tone="pass", mark="✓", word="passed"),
    "failed": Said(tone="poor", mark="✕", word="failed"),
    "refused": Said(tone="fair", mark="!", word="does not run it"),
    "skipped": Said(tone="plain", mark="○", word="skipped"),
}


def number_in(value: Number, *, odd: float) -> float:
    """`value` for comparing; `odd` where it is not a number."""
    return odd if value == "not a number" else float(value)


def amount(value: Number) -> str:
    """`0.0012`, `6.3e-6`: two digits, which is as much as an error says."""
    if isinstance(value, str):
        return NO_NUMBER[value]
    if 1000 <= abs(value) < LARGE:
        return f"{value:.0f}"
    text = f"{value:.2g}"
    base, _, exponent = text.partition("e")
    return f"{base}e{int(exponent)}" if exponent else text


def decibels(value: Number) -> str:
    if isinstance(value, str):
        return {"infinity": "exact", "-infinity": "nothing left"}.get(value, NO_NUMBER[value])
    return f"{value:.1f} dB"


def percent(share: float) -> str:
    """`99.2%`; never 100% for less, nor 0% for more."""
    if 0 < share < 0.001:
        return "under 0.1%"
    if 0.999 < share < 1:
        return "over 99.9%"
    return f"{share:.1%}".replace(".0%", "%")


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def file_name(entry: FileEntry | ChoiceEntry) -> str:
    """`unfused .onnx`: the file by what it is."""
    processor = entry.processor if isinstance(entry, FileEntry) else ""
    return f"{entry.style} .{entry.format} {processor}".strip()


def provider_name(entry: ChoiceEntry | PartitionEntry) -> str:
    return f"{entry.provider} ({', '.join(entry.chips)})" if entry.chips else entry.provider
