"""Runs one task of a fleet, on a worker. Its results go into the store; what it returns is a few words."""

import contextlib
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from packager.config import Config
from packager.config.cache import OFF
from packager.core.console import Console
from packager.core.errors import MobpackError, UnprovenError
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.measuring.fleet.graph import Task, TaskKind, TaskWork
from packager.measuring.fleet.idle import EVALUATION, is_idle
from packager.measuring.fleet.memory import memory_of_worker, watched
from packager.measuring.fleet.outcome import TaskOutcome, TaskState, Trouble, blocked
from packager.measuring.fleet.projects import FleetProject
from packager.quantization.variants import build_variant, calibrate, evaluate_ahead, score
from packager.quantizers import Auto, StaticQdq
from packager.verification.numbers import compare_all
from packager.verification.parity import OriginalOutputs
from packager.verification.partition.report import Gates
from packager.workflows import build
from packager.workflows.fleet.expanding import only
from packager.workflows.fleet.marks import mark
from packager.workflows.gates import Rules
from packager.workflows.ingredients import BuildProject as Described
from packager.workflows.origins import origins_of
from packager.workflows.planning import load_model, plan_all
from packager.workflows.private_models import is_private
from packager.workflows.requested import BuildRequest
from packager.workflows.runtimes import choose_runtimes
from packager.workflows.shared_builds import SharedBuild, offer, summarized
from packager.workflows.shared_store import doubting, finish, named, remote_of
from packager.workflows.trust import refuse_code


@dataclass(frozen=True, kw_only=True)
class FleetFolders:
    """Where the tasks of one run read and write: the same on every worker."""

    out: Path
    """folder with a folder for each project"""
    evidence: Path
    """folder for the evidence of failed comparisons, with a folder for each project"""
    ledger: Path
    """folder in which every worker lists the results that it made"""
    store: Path | None = None
    """folder of the store; None for that of the user of each worker"""
    cache: str = ""
    """address of the store of several machines; empty for those of the projects"""
    gates: Gates = field(default_factory=Gates)
    strict: bool = False
    has_code: bool = True
    limit_bytes: float = 0
    """memory of a task, with the programs that it starts; 0 for that of its worker"""


@dataclass
class Notebook(Console):
    """Collects warnings and prints nothing: many tasks run at once."""

    quiet: bool = True
    cautions: list[str] = field(default_factory=list)
    """warnings about the machine and the cache, not about the project"""

    def warn(self, text: str, *, is_measured: bool = False) -> None:
        self.warnings.append(text)
        self.measured += [text] if is_measured else []

    def caution(self, text: str) -> None:
        self.cautions.append(text)


def run(task: Task, place: FleetFolders, marker: object, *before: TaskOutcome) -> TaskOutcome:
    """Does `task` unless one of the tasks `before` it did not succeed. Raises no error that a user can act on: the
    outcome says it."""
    for each in before:
        if not each.is_good:
            return blocked(task.key, each)

    def act(store: Store, console: Console) -> None:
        STEPS[task.work.kind](task.work, place, store, console)
        if marker:
            mark(store, marker, task.words)

    return _attempt(task, place, act)


def ahead(task: Task, place: FleetFolders, share: tuple[int, int]) -> TaskOutcome:
    """Evaluates a share (number, of how many) of what the search of `task`, which runs on another worker, may try next.
    Ends with that search, or when something else waits for this worker."""

    def act(store: Store, console: Console) -> None:
        work, config = task.work, _config(task.work, place)
        recipe = config.quantizer_of(work.variant)
        assert isinstance(recipe, Auto)
        model = load_model(work.model, config.model[work.model], store, console)
        evaluate_ahead(model, work.variant, recipe, share, is_idle, store, console)

    return _attempt(task, place, act)


def _attempt(task: Task, place: FleetFolders, act: Callable[[Store, Console], None]) -> TaskOutcome:
    console, started, made = Notebook(), time.perf_counter(), _Ledger(place.ledger)
    asked: list[str] = []
    trouble = None

    def attempt(place: FleetFolders) -> None:
        config = _config(task.work, place)
        with opened(config, place, console, made, asked.append) as store:
            act(store, console)

    with watched(place.limit_bytes or memory_of_worker()) as memory:
        try:
            with contextlib.chdir(task.work.project.file.parent):
                try:
                    attempt(place)
                except UnprovenError as error:
                    console.caution(str(error))
                    attempt(replace(place, cache=OFF))
        except MobpackError as error:
            trouble = Trouble(message=error.message, hint=error.hint, exit_code=error.EXIT_CODE)
        except Exception as error:  # a poisoned model must not take others with it
            trouble = _internal(error)
    return TaskOutcome(
        key=task.key,
        state=TaskState.FAILED if trouble else TaskState.DONE,
        seconds=time.perf_counter() - started,
        worker=f"{platform.node()}:{os.getpid()}",
        made=tuple(made.names),
        asked=tuple(name for name in asked if name.startswith(EVALUATION))
        if task.work.kind is TaskKind.QUANTIZE
        else (),
        warnings=tuple(console.warnings),
        cautions=tuple(console.cautions),
        trouble=trouble,
        is_over_memory=memory.is_over and trouble is not None,
        peak_bytes=memory.peak_bytes,
    )


@contextlib.contextmanager
def opened(
    config: Config, place: FleetFolders, console: Console, made: Callable[[str], None], asked: Callable[[str], None]
) -> Iterator[Store]:
    """The store of a task, with the remote one of `--cache` or of the project behind it: its results are sent before
    the task ends, so that those after it find them on other machines."""
    is_hidden = is_private(config)
    remote = None if is_hidden else remote_of(named(config.cache, place.cache or None), console)
    try:
        store = Store(
            place.store or cache_folder() / "store",
            remote=remote,
            made=made,
            asked=asked,
            is_private=is_hidden,
            has_claims=True,
        )
        with doubting(store):
            yield store
    finally:
        if remote:
            finish(remote, console)


def _internal(error: Exception) -> Trouble:
    first = next(iter(str(error).splitlines()), "")[:300]
    return Trouble(
        message=f"internal error in mobpack ({type(error).__name__}: {first})",
        hint="build that project alone, with: mobpack build --debug",
    )


@dataclass
class _Ledger:
    """Lists results that this process makes, in a file of its own, so that the list outlives a killed worker."""

    folder: Path
    names: list[str] = field(default_factory=list)

    def __call__(self, name: str) -> None:
        self.names.append(name)
        with contextlib.suppress(OSError), (self.folder / f"{os.getpid()}.txt").open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")


@lru_cache(maxsize=64)
def _configured(project: FleetProject, targets: tuple[str, ...], has_code: bool) -> Config:
    config = project.config(targets)
    if not has_code:
        refuse_code(config)
    return config


def _prepare(work: TaskWork, place: FleetFolders, store: Store, console: Console) -> None:
    config = _config(work, place)
    load_model(work.model, config.model[work.model], store, console)


def _calibrate(work: TaskWork, place: FleetFolders, store: Store, console: Console) -> None:
    config = _config(work, place)
    recipe = config.quantizer_of(work.variant)
    assert isinstance(recipe, StaticQdq | Auto)
    model = load_model(work.model, config.model[work.model], store, console)
    calibrate(model, work.variant, recipe, store, console)


def _score(work: TaskWork, place: FleetFolders, store: Store, console: Console) -> None:
    config = _config(work, place)
    recipe = config.quantizer_of(work.variant)
    assert isinstance(recipe, Auto)
    model = load_model(work.model, config.model[work.model], store, console)
    part: str | tuple[int, int] = work.share if work.share else work.method
    score(model, work.variant, recipe, part, store, console)


def _quantize(work: TaskWork, place: FleetFolders, store: Store, console: Console) -> None:
    config = _config(work, place)
    model = load_model(work.model, config.model[work.model], store, console)
    build_variant(model, work.variant, config.quantizer_of(work.variant), store, console)


def _plan(work: TaskWork, place: FleetFolders, store: Store, console: Console) -> None:
    config = only(_config(work, place), work.model)
    runtimes = choose_runtimes(config, (work.target,), store, console)
    plan_all(config, (work.target,), store, console, runtimes)


def _compare(work: TaskWork, place: FleetFolders, store: Store, console: Console) -> None:
    config = only(_config(work, place), work.model, work.runner)
    runtimes = choose_runtimes(config, work.targets, store, console)
    planned = plan_all(config, work.targets, store, console, runtimes)
    with store.scratch() as scratch, store.scratch() as folder:
        compare_all(planned.plans, config, OriginalOutputs(scratch), store, console, folder, folder)


def _build(work: TaskWork, place: FleetFolders, store: Store, console: Console) -> None:
    """The ordinary build: it finds what the tasks before it have made, and makes what is missing. Its release is sent
    to other machines."""
    config, project = _config(work, place), work.project
    request = request_of(project, config, work.targets, place)
    made = build.build(
        config,
        request,
        console,
        lambda: origins_of(described(project, config), work.targets, console) if project.is_whole else None,
        store,
    )
    if work.shared:
        offer(SharedBuild(key=work.shared, out=request.out), made, summarized(made), store)


def described(project: FleetProject, config: Config) -> Described:
    return Described(config=config, file=project.file, settings=project.settings, shapes=())


def request_of(project: FleetProject, config: Config, targets: tuple[str, ...], place: FleetFolders) -> BuildRequest:
    """The build of a project, as `mobpack build` would be asked for it."""
    return BuildRequest(
        targets=targets,
        out=place.out / project.name,
        rules=Rules(gates=_gates(config, place.gates), strict=place.strict, evidence=place.evidence / project.name),
        has_project=True,
    )


def _gates(config: Config, given: Gates) -> Gates:
    """The gates of the project, with those that were given for all instead."""
    own = config.check
    return Gates(
        max_partitions=own.max_partitions if given.max_partitions is None else given.max_partitions,
        min_share=own.min_share if given.min_share is None else given.min_share,
    )


def _config(work: TaskWork, place: FleetFolders) -> Config:
    return _configured(work.project, work.targets, place.has_code)


STEPS: Mapping[TaskKind, Callable[[TaskWork, FleetFolders, Store, Console], None]] = {
    TaskKind.PREPARE: _prepare,
    TaskKind.CALIBRATE: _calibrate,
    TaskKind.SCORE: _score,
    TaskKind.QUANTIZE: _quantize,
    TaskKind.PLAN: _plan,
    TaskKind.COMPARE: _compare,
    TaskKind.BUILD: _build,
}


def made_in(ledger: Path) -> list[str]:
    """Every result that the workers of a run have made, a line each."""
    return [line for file in sorted(ledger.glob("*.txt")) for line in file.read_text(encoding="utf-8").splitlines()]
