"""Findings about an .xcframework."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
ORDER: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, kw_only=True)
class Finding:
    severity: Severity
    """`error`: Xcode or the App Store rejects it, or apps break; `warning`: some apps have problems; `note`:
    information"""
    code: str
    """name that is the same in every version: `minimum-os-missing`"""
    slice: str
    """`ios-arm64`; empty for a finding about the whole"""
    what: str
    remedy: str
    """remedy, as an instruction"""


def error(code: str, slice_name: str, what: str, remedy: str) -> Finding:
    return Finding(severity="error", code=code, slice=slice_name, what=what, remedy=remedy)


def warning(code: str, slice_name: str, what: str, remedy: str) -> Finding:
    return Finding(severity="warning", code=code, slice=slice_name, what=what, remedy=remedy)


def note(code: str, slice_name: str, what: str, remedy: str) -> Finding:
    return Finding(severity="note", code=code, slice=slice_name, what=what, remedy=remedy)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Errors first; otherwise in the order in which they were found."""
    return tuple(sorted(findings, key=lambda each: ORDER.index(each.severity)))
