"""Verdicts on the cases of `benchmarks.conformance`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    RIGHT = "right"
    REFUSED = "correctly refused"
    FALSE = "wrongly refused"
    WRONG = "wrong"
    CRASHED = "crashed"


@dataclass(frozen=True)
class Found:
    """Verdict on one form of a case."""

    verdict: Verdict
    words: str = ""
    """mobpack's or ONNX Runtime's message, or the difference"""
    reason: str = ""
    """the class of a true refusal"""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Verdict on one case."""

    name: str
    original: str
    """the difference between ONNX Runtime's own outputs and the suite's; empty if they agree"""
    forms: Mapping[str, Found] = field(default_factory=dict)

    @property
    def passes(self) -> bool:
        """Whether ONNX Runtime itself passes the case."""
        return not self.original

    def with_verdict(self, *verdicts: Verdict) -> dict[str, Found]:
        return {form: found for form, found in self.forms.items() if found.verdict in verdicts}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The verdicts of an engine on the files that mobpack makes."""

    name: str
    words: str
    operators: Mapping[str, str]
    """what each case is about"""
    found: Mapping[str, Found]
    """the worst of its forms, by case"""
