"""Expands projects into the tasks of a fleet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from packager.config import Config
from packager.core.errors import MobpackError
from packager.core.to_json import plain
from packager.engines.runners import RECORDED, RUNNERS
from packager.files.hashes import known_sha256
from packager.files.store import key_of
from packager.measuring.fleet.graph import Task, TaskGraph, TaskKind, TaskWork
from packager.measuring.fleet.projects import FleetProject
from packager.quantization.variants import settings_of
from packager.quantizers import Auto, NoQuantizer, StaticQdq
from packager.targets.target import variants_of
from packager.workflows.inputs import inputs_of
from packager.workflows.requested import requested_targets


@dataclass(frozen=True, kw_only=True)
class Expanded:
    """A project with its configuration."""

    project: FleetProject
    config: Config
    targets: tuple[str, ...]
    """including those that wrappers need"""
    shared: str = ""
    """key of its build in the store of several machines; empty if the build is not shared"""


def expanded(project: FleetProject, targets: Sequence[str]) -> Expanded:
    """Raises ConfigError, as `mobpack build` does."""
    config = project.config(targets)
    return Expanded(project=project, config=config, targets=requested_targets(config, targets))


def graph_of(projects: Sequence[Expanded], shares: int) -> TaskGraph:
    """The tasks of all projects; a search for sensitive layers has at most `shares` tasks."""
    graph = TaskGraph()
    for each in projects:
        _add(graph, each, shares)
    return graph


def _add(graph: TaskGraph, found: Expanded, shares: int) -> None:
    before: list[str] = []
    for model in found.config.model:
        before += _Branch(graph=graph, found=found, model=model, shares=shares).add()
    build = TaskWork(kind=TaskKind.BUILD, project=found.project, targets=found.targets, shared=found.shared)
    _put(graph, found, build, [found.project.name, str(found.project.file)], before)


def _put(graph: TaskGraph, found: Expanded, work: TaskWork, about: object, after: Sequence[str]) -> str:
    key = f"{work.kind}-{key_of([work.kind, about, list(after)])[:24]}"
    needs = dict(found.project.needs)
    return graph.add(Task(key=key, work=work, after=tuple(after), projects=(found.project.name,), needs=needs))


@dataclass(frozen=True, kw_only=True)
class _Branch:
    """The tasks of one model of a project."""

    graph: TaskGraph
    found: Expanded
    model: str
    shares: int

    def add(self) -> list[str]:
        """Keys of the last ones."""
        config = self.found.config
        table = config.model[self.model].model_dump(mode="json")
        first = self._put(TaskKind.PREPARE, [self.model, table], [])
        known = config.targets()
        own = [name for name in self.found.targets if name in known]
        variants: dict[str, list[str]] = {}
        planned = []
        for name in own:
            after: dict[str, None] = {}
            for variant in variants_of(known[name], self.model):
                if variant not in variants:
                    variants[variant] = self._variant(variant, first)
                after |= dict.fromkeys(variants[variant])
            about = [self.model, name, plain(known[name])]
            planned.append(self._put(TaskKind.PLAN, about, [*after], target=name))
        runners = self._runners()
        if len(runners) < 2:
            return planned
        about = [[self.model, plain(known[name])] for name in own]
        parity = config.parity.model_dump(mode="json")
        return [self._put(TaskKind.COMPARE, [about, parity, name], planned, runner=name) for name in runners]

    def _variant(self, variant: str, first: str) -> list[str]:
        recipe = self.found.config.quantizer_of(variant)
        if isinstance(recipe, NoQuantizer):
            return [first]
        after = [first]
        if isinstance(recipe, StaticQdq | Auto):
            calibration = plain(recipe.calibration)
            measured = [recipe.methods, recipe.exclude] if isinstance(recipe, Auto) else []
            after = [self._put(TaskKind.CALIBRATE, [calibration, measured], after, variant=variant)]
        if isinstance(recipe, Auto):
            after = self._scores(variant, recipe, after)
        return [self._put(TaskKind.QUANTIZE, [variant, settings_of(recipe), str(recipe)], after, variant=variant)]

    def _scores(self, variant: str, recipe: Auto, after: list[str]) -> list[str]:
        """Scores of the whole model, one for each method; then of single layers, should those be needed."""
        about = [variant, str(recipe)]
        whole = [
            self._put(TaskKind.SCORE, [*about, each], after, variant=variant, method=each) for each in recipe.methods
        ]
        shares = [(number, self.shares) for number in range(self.shares)]
        return [self._put(TaskKind.SCORE, [*about, each], whole, variant=variant, share=each) for each in shares]

    def _runners(self) -> list[str]:
        table = self.found.config.parity
        recorded = [RECORDED] if table.recorded else []
        return [name for name in dict.fromkeys((*table.runners, *table.require, *recorded)) if name in RUNNERS]

    def _put(self, kind: TaskKind, about: object, after: Sequence[str], **named: Any) -> str:
        work = TaskWork(kind=kind, project=self.found.project, targets=self.found.targets, model=self.model, **named)
        return _put(self.graph, self.found, work, about, after)


def markers(graph: TaskGraph, projects: Sequence[Expanded]) -> dict[str, object]:
    """Task -> what its result depends on, for those whose inputs can be listed; builds have none."""
    found: dict[str, object] = {}
    inputs = dict(_listed(projects))
    for task in graph:
        name = task.projects[0]
        if task.work.kind is not TaskKind.BUILD and name in inputs:
            found[task.key] = [task.key, inputs[name]]
    return found


def _listed(projects: Sequence[Expanded]) -> Iterator[tuple[str, list[str]]]:
    """Project -> sha256 of all that it reads."""
    for each in projects:
        try:
            read = inputs_of(each.config, each.targets, None)
        except MobpackError:  # its tasks will say so
            continue
        if not read.unlisted:
            yield each.project.name, sorted(known_sha256(file) for file in read.files)


def only(config: Config, model: str, runner: str = "") -> Config:
    """`config` with one model, and compared on one runner if one is named."""
    changes: dict[str, Any] = {"model": {model: config.model[model]}}
    if runner:
        recorded = config.parity.recorded if runner == RECORDED else None
        changes["parity"] = config.parity.model_copy(
            update={"runners": () if recorded else (runner,), "require": (), "recorded": recorded}
        )
    return config.model_copy(update=changes)


def with_needs(graph: TaskGraph, extra: dict[str, dict[str, float]]) -> TaskGraph:
    """The graph with more needs of some tasks."""
    found = TaskGraph()
    for task in graph:
        found.add(replace(task, needs={**task.needs, **extra.get(task.key, {})}))
    return found
