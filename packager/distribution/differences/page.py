"""A comparison as a self-contained HTML page; the same comparison gives the same bytes."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packager.distribution.differences.values import ORDER, Comparison, Level
from packager.render.pages import parts
from packager.render.pages.numbers import plural
from packager.render.pages.parts import FactView, TileView
from packager.render.templates import render

TEMPLATE = "report/differences.html.j2"
TONES = {Level.MAJOR: "poor", Level.MINOR: "fair", Level.PATCH: "pass", Level.NONE: "pass"}
MARKS = {Level.MAJOR: "✕", Level.MINOR: "!", Level.PATCH: "✓", Level.NONE: "✓"}


@dataclass(frozen=True, kw_only=True)
class ChangeView:
    where: str
    change: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class GroupView:
    """Changes of one level."""

    title: str
    changes: tuple[ChangeView, ...]


@dataclass(frozen=True, kw_only=True)
class PageView:
    title: str
    tone: str
    mark: str
    word: str
    sentence: str
    tiles: tuple[TileView, ...]
    warnings: tuple[str, ...]
    groups: tuple[GroupView, ...]
    facts: tuple[FactView, ...]


def write_page(path: Path, found: Comparison, old: str, new: str) -> None:
    """Writes the page about the releases at `old` and `new`. Raises ToolError if the folder cannot be written."""
    parts.write(path, render(TEMPLATE, view(found, old, new)))


def view(found: Comparison, old: str, new: str) -> PageView:
    return PageView(
        title=f"{found.bump.old} to {found.bump.new}",
        tone=TONES[found.verdict],
        mark=MARKS[found.verdict],
        word=found.verdict.value.capitalize() if found.changes else "Equal",
        sentence=f"{found.bump.sentence}.",
        tiles=tuple(_tiles(found)),
        warnings=(),
        groups=tuple(_groups(found)),
        facts=(
            FactView(label="Old", value=old),
            FactView(label="New", value=new),
            *(FactView(label="Not compared", value=each) for each in found.not_compared),
        ),
    )


def _tiles(found: Comparison) -> Iterator[TileView]:
    for level in ORDER[:-1]:
        some = [each for each in found.changes if each.level is level]
        note = ", ".join(dict.fromkeys(each.where.partition(":")[0].partition(" on ")[0] for each in some))
        yield TileView(label=level.value.capitalize(), value=str(len(some)), note=note or "nothing")


def _groups(found: Comparison) -> Iterator[GroupView]:
    for level in ORDER[:-1]:
        some = [each for each in found.changes if each.level is level]
        if some:
            yield GroupView(
                title=f"{level.value.capitalize()}: {plural(len(some), 'change')}",
                changes=tuple(ChangeView(where=each.where, change=each.change, reason=each.reason) for each in some),
            )
