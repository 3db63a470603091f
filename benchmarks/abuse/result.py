"""Results of attacks."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Result:
    """One row of the table."""

    attack: str
    tries: int
    exceptions: tuple[str, ...]
    """the failures, each by name"""
    note: str = ""

    @property
    def held(self) -> int:
        return self.tries - len(self.exceptions)


def table(results: Iterable[Result]) -> str:
    """In Markdown."""
    lines = ["| attack | how often | held | exceptions |", "|---|---|---|---|"]
    for each in results:
        said = "; ".join(dict.fromkeys(each.exceptions)) or each.note or "none"
        lines.append(f"| {each.attack} | {each.tries:,} | {each.held:,} | {said.replace('|', '/')} |")
    return "\n".join(lines) + "\n"
