"""A fleet that is asked for, and its projects before anything runs."""

from dataclasses import dataclass, field
from pathlib import Path

from packager.measuring.fleet.outcome import Trouble
from packager.measuring.fleet.projects import FleetProject
from packager.verification.partition.report import Gates
from packager.workflows import unchanged
from packager.workflows.fleet.expanding import Expanded

SHARES = 4
"""Number of tasks that a search for sensitive layers is split into."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A fleet to build, and how."""

    projects: tuple[FleetProject, ...]
    out: Path
    evidence: Path
    targets: tuple[str, ...] = ()
    workers: int = 1
    scheduler: str = ""
    is_insecure_allowed: bool = False
    """whether scheduler and workers may be reached by other machines without TLS"""
    gates: Gates = field(default_factory=Gates)
    stops_on: tuple[str, ...] = ()
    """gates of the fleet itself: `regressions`, `skipped`"""
    strict: bool = False
    has_code: bool = True
    is_outside_allowed: bool = False
    verify: bool = False
    """whether projects that have not changed are built all the same"""
    store: Path | None = None
    """folder of the store; None for that of the user"""
    cache: str = ""
    """address of the store of several machines; empty for those of the projects"""
    memory_bytes: float = 0
    """memory of a task on a worker of this machine; 0 for its share"""


@dataclass(kw_only=True)
class FoundProjects:
    """The projects, before anything runs."""

    expanded: list[Expanded] = field(default_factory=list)
    """those that are to be built"""
    troubles: dict[str, Trouble] = field(default_factory=dict)
    """name -> why it cannot even begin"""
    same: dict[str, Expanded] = field(default_factory=dict)
    """those of which nothing has changed since they were built"""
    known: dict[str, Expanded] = field(default_factory=dict)
    """all that have a configuration"""
    begun: dict[str, unchanged.BuildStart] = field(default_factory=dict)
    sent: dict[str, unchanged.Summary] = field(default_factory=dict)
    """those of `same` that another machine has built, with its words"""
