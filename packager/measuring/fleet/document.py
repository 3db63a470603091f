"""Types of the JSON that `mobpack fleet` writes; docs/fleet.schema.json is generated from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from packager.core.strict_tables import DOCUMENT

State = Literal["built", "unchanged", "failed", "skipped"]


@dataclass(frozen=True, kw_only=True)
class CellEntry:
    """The package of a project for one target."""

    target: str
    variant: str
    size_bytes: int | None
    """of the package that apps depend on; null if none was built"""
    sha256: str
    """of that package; empty if none was built"""
    error: float | None
    """largest error of its files on all runners, relative to the scale of the outputs; null if nothing was compared"""
    distance: float | None
    """largest error of the variant compared with the user's model, relative to the scale; null if it is that model"""
    partitions: int | None
    """largest number of pieces in which a provider runs a model; null if no provider was asked"""
    share: float | None
    """smallest share of a model's arithmetic that a provider takes; null if unknown"""


@dataclass(frozen=True, kw_only=True)
class ProjectEntry:
    name: str
    models: tuple[str, ...]
    state: State
    message: str
    """why it was not built; empty if it was"""
    hint: str
    exit_code: int
    """that of `mobpack build`; 0 for a project that was built"""
    seconds: float
    """of work on all workers, shared tasks included"""
    report: str
    """path of its report, relative to the fleet's; empty without one"""
    warnings: tuple[str, ...]
    cells: tuple[CellEntry, ...]


@dataclass(frozen=True, kw_only=True)
class ChangeEntry:
    """A difference from the last run with the same output folder."""

    project: str
    target: str
    """empty for the whole project"""
    is_regression: bool
    text: str


@dataclass(frozen=True, kw_only=True)
class RunEntry:
    """How the run went."""

    workers: int
    seconds: float
    tasks: int
    known: int
    """tasks whose results were in the store before the run"""
    made: int
    """results that the workers computed"""
    repeated: int
    """results that were computed more than once: by workers that share no folder with claims"""
    shared: int
    """tasks that several projects needed, and that ran once"""
    alone: int
    """tasks that ran again, alone, because they took more memory than their worker has"""
    scheduler_restarts: int
    warnings: tuple[str, ...]
    """of workers, about their machines and the cache: one that is left out, or has results that are not used"""
    evaluations: int
    """evaluations of quantization searches that the workers computed"""
    evaluations_ahead: int
    """of these, evaluations by workers that had nothing else to do, before a search asked for them"""
    evaluations_unneeded: int
    """of those, evaluations that no search asked for"""
    seconds_by_kind: Mapping[str, float]
    """kind of task -> mean time on a worker, of those that ran"""


@dataclass(frozen=True, kw_only=True)
class FleetDocument:
    """The result of a fleet."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = DOCUMENT

    schema_version: Literal[1]
    mobpack: str
    exit_code: int
    run: RunEntry
    targets: tuple[str, ...]
    failed_gates: tuple[str, ...]
    is_first: bool
    """whether the output folder had no earlier run to compare with"""
    changes: tuple[ChangeEntry, ...]
    """regressions first"""
    projects: tuple[ProjectEntry, ...]
