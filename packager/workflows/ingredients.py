"""Everything that a build of a project reads, as its lock lists it: locks are written of it, and compared with it."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import cast

from packager import models
from packager.config import Config, ModelTable
from packager.core.console import Console
from packager.core.errors import ConfigError, GateError, ToolError, UnprovenError
from packager.core.values import Precision
from packager.distribution.locking import LOCK, Facts, Lock, LockChange, compare, read
from packager.distribution.locking.hashing import dir_hash
from packager.distribution.locking.lock import BUILD, DIR_HASH, ENVIRONMENT, FILE, MACHINE, PINNED, PYTHON, RUNTIME
from packager.distribution.locking.machine import machine
from packager.distribution.locking.packages import inside, missing, needed, own_code
from packager.distribution.locking.pinned import pinned_by
from packager.engines.environments import ENVIRONMENTS, SHIPPED, Environment, ensure
from packager.engines.environments.environment import INSTALL
from packager.engines.environments.release import PinnedRuntime
from packager.engines.runners import RUNNERS
from packager.files.hashes import known_sha256
from packager.files.processes import downloads
from packager.files.store import Store
from packager.files.store.closure import INSTALLED, references, text_of
from packager.files.user_cache import cache_folder
from packager.providers import provider_of
from packager.quantizers import NoQuantizer
from packager.targets import KNOWN_TARGETS, Target
from packager.targets.target import variants_of
from packager.verification.partition.measured import SOURCES
from packager.workflows.importing.project import framework_of, is_imported, onnx_of
from packager.workflows.inputs import inputs_of, module_file
from packager.workflows.private_models import is_private
from packager.workflows.project_code import modules_of
from packager.workflows.requested import targets_of
from packager.workflows.shared_store import doubting, remote_of
from packager.workflows.trust import functions_of

EXTRAS = ("gpu", "images")
"""Optional parts of mobpack that any build uses where they are installed; others have the name of a target."""
TARGET, SET, SHAPE = "target ", "set ", "shape "
"""First words of the names of options."""
ARM64 = "arm64"
INSIDE, UNPACKED = " in ", ", unpacked"
"""Parts of the names of things in environments."""
MAKING = "packager.engines.environments.ensure"
"""The function that makes an environment, as modules import it."""


@dataclass(frozen=True, kw_only=True)
class BuildProject:
    """A project file, and the options of the command line that change what is built of it."""

    config: Config
    """with `settings` and `shapes`"""
    file: Path
    settings: tuple[str, ...] = ()
    """of --set"""
    shapes: tuple[str, ...] = ()
    """of --shape"""

    @property
    def folder(self) -> Path:
        return self.file.parent

    @property
    def lock(self) -> Path:
        return self.folder / LOCK


def ingredients(project: BuildProject, targets: Sequence[str]) -> Lock:
    """Everything that a build of `project` for `targets` reads.

    The environment with the ONNX Runtime that ships is made if it is missing. Raises ModelError for a model that cannot
    be read, ToolError for a damaged Python package.
    """
    config = project.config
    found = stated(project, targets)
    made = {
        PYTHON: {**found.tables[PYTHON], **_installed(config, targets)},
        PINNED: {
            **pinned_by(_modules(config, targets), _environments(config, targets)),
            **_unpacked(config, targets),
        },
    }
    return replace(found, tables={**found.tables, **made})


class Installed:
    """mobpack and the Python packages that it needs, as they are installed: each is read once."""

    def __init__(self) -> None:
        self._known: dict[frozenset[str], Mapping[str, Facts]] = {}

    @cached_property
    def code(self) -> Facts:
        return own_code()

    def needed(self, extras: Iterable[str]) -> Mapping[str, Facts]:
        """Raises ToolError as `locking.packages.needed` does."""
        key = frozenset(extras)
        if key not in self._known:
            self._known[key] = needed(key)
        return self._known[key]


def stated(
    project: BuildProject, targets: Sequence[str], installed: Installed | None = None, *, has_file: bool = True
) -> Lock:
    """Ingredients that decide what a build reads: those without what mobpack makes or fetches for itself, by
    pins in its own code. Makes nothing. Without `has_file`, the project's file is not among them."""
    config, folder = project.config, project.folder
    installed = installed or Installed()
    found = inputs_of(config, targets, project.file if has_file else None)
    code = [path for text in functions_of(config) for path in modules_of(module_file(text, folder), folder)]
    files = sorted({*found.files, *code, *config.package.files})
    return Lock(
        tables={
            BUILD: {"mobpack": installed.code, **_options(project, targets)},
            MACHINE: machine(),
            PYTHON: installed.needed({*EXTRAS, *targets}),
            ENVIRONMENT: {name: {"value": "required"} for name in sorted(_asked(config, targets))},
            RUNTIME: {name: _runtime(table, name) for name, table in targets_of(config, targets).items()},
            FILE: {_relative(path, folder): _file(path) for path in files},
        },
        not_locked=tuple(sorted(set(_beyond(config, targets)))),
    )


def _options(project: BuildProject, targets: Sequence[str]) -> Mapping[str, Facts]:
    chosen = {
        **{f"{TARGET}{name}": name for name in targets},
        **{f"{SET}{text.partition('=')[0].strip()}": text for text in project.settings},
        **{f"{SHAPE}{text.partition('=')[0].strip()}": text for text in project.shapes},
    }
    return {name: {"value": value} for name, value in chosen.items()}


def _file(path: Path) -> Facts:
    return {"size-bytes": path.stat().st_size, "sha256": known_sha256(path)}


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


def _beyond(config: Config, targets: Sequence[str]) -> Iterator[str]:
    """Things that a build depends on and that cannot be listed, in words."""
    for text in functions_of(config):
        yield f"the function {text} may read more than the modules that are listed"
    for name, program in config.parity.interpreters.items():
        yield f"the interpreter {Path(program).name} for the runner {name}, and its packages"
    if config.runtime.is_published:
        yield f"{config.runtime.android}, which the app's build fetches"
    for name, model in config.model.items():
        if framework := framework_of(model.path, model.importer):
            yield f"{framework}, from which the model {name} is imported"
    for name in missing(targets):
        yield f"the Python package {name} is not installed: programs on PATH take its place where one is needed"
    for name, table in targets_of(config, targets).items():
        if table.outside():
            yield f"{table.outside()}, which builds the package for {name}"


def _made(config: Config, targets: Sequence[str]) -> dict[str, Environment]:
    """Environments that a build makes where they are missing: those with the ONNX Runtimes that apps get."""
    if config.check.kernels != "require":
        return {}
    tables = targets_of(config, targets).values()
    made: dict[str, Environment] = {table.environment: SHIPPED[table.environment]() for table in tables}
    ranges = [found for table in tables if (found := table.allowed_runtimes())]
    releases = {release for each in ranges for release in each.releases}
    return {**made, **{f"release {release}": PinnedRuntime(release=release) for release in sorted(releases)}}


def _installed(config: Config, targets: Sequence[str]) -> dict[str, Facts]:
    """The Python packages inside of environments: `numpy in runtime`."""
    made = _made(config, targets)
    for environment in made.values():
        ensure(environment)
    used = {**made, **{name: ENVIRONMENTS[name]() for name in _asked(config, targets)}}
    found: dict[str, Facts] = {}
    for name, environment in used.items():
        folder = "" if environment.missing() else environment.variables().get("PYTHONPATH", "")
        packages = inside(Path(folder)) if folder else {}
        found.update({f"{package}{INSIDE}{name}": facts for package, facts in packages.items()})
    return found


def _unpacked(config: Config, targets: Sequence[str]) -> dict[str, Facts]:
    """The files that environments name to programs, such as the WebAssembly that packages contain, as they lie on the
    disk: `web, unpacked`."""
    found: dict[str, Facts] = {}
    for name, environment in _made(config, targets).items():
        ensure(environment)
        paths = (Path(value) for value in environment.variables().values() if value)
        files = {path.name: path for path in paths if path.is_file()}
        if files:
            found[f"{name}{UNPACKED}"] = {DIR_HASH: dir_hash(files)}
    return found


def _asked(config: Config, targets: Sequence[str]) -> set[str]:
    """Environments of the runners that must run, and of providers that compile for chips. Others are used only where
    they are installed: what is found there is evidence of that machine, and no lock depends on it."""
    found = {name for runner in _runners(config) for name in _entered_by(runner)}
    found |= compilers_of(config, targets)
    made = {type(environment).__module__ for environment in _made(config, targets).values()}
    return {name for name in found if ENVIRONMENTS[name].__module__ not in made}


def compilers_of(config: Config, targets: Sequence[str]) -> set[str]:
    """Environments in which providers compile files for chips."""
    tables = [table for table in targets_of(config, targets).values() if table.soc_models]
    compiling = {name for table in tables for name in table.providers if provider_of(name).IS_COMPILED_FOR_CHIPS}
    return {SOURCES[name].environment for name in compiling if name in SOURCES}


def _entered_by(module: str) -> set[str]:
    """The environments that a module of mobpack names; empty for one that makes them when it needs them."""
    path = INSTALLED.module(module)
    imported = references(text_of(path)).modules if path else ()
    if MAKING in imported:
        return set()
    return {
        name
        for name, environment in ENVIRONMENTS.items()
        if any(each.startswith(f"{environment.__module__}.") for each in imported)
    }


def _environments(config: Config, targets: Sequence[str]) -> set[str]:
    """Environments whose files are listed: those that a build makes, and those that it requires."""
    found = {name for name in _made(config, targets) if name in ENVIRONMENTS}
    return found | _asked(config, targets) | ({ARM64} if _may_compute_in_16_bits(config, targets) else set())


def _may_compute_in_16_bits(config: Config, targets: Sequence[str]) -> bool:
    """Whether a file may be rewritten for ARM cores with 16-bit arithmetic, in an environment with such a core."""
    natives = [table for table in targets_of(config, targets).values() if table.float16 == "native"]
    variants = {name for table in natives for name in variants_of(table)}
    if any(config.quantizer_of(name).NAME != NoQuantizer.NAME for name in variants):
        return True
    return bool(natives) and any(
        _precision(name, table, config) is Precision.FLOAT16 for name, table in config.model.items()
    )


def _precision(name: str, table: ModelTable, config: Config) -> Precision:
    console = Console(quiet=True)
    is_hidden = is_private(config)
    has_remote = is_imported(table.path, table.importer) and not is_hidden
    remote = remote_of(config.cache, console) if has_remote else None
    store = Store(cache_folder() / "store", remote=remote, is_private=is_hidden)
    try:
        with doubting(store):
            return _precision_of(name, table, store, console)
    except UnprovenError:
        return _precision_of(name, table, replace(store, remote=None), console)


def _precision_of(name: str, table: ModelTable, store: Store, console: Console) -> Precision:
    path = onnx_of(name, table, store, console)
    return models.load(path, name, encoder=table.encoder, with_past=table.with_past).traits.precision


def _runtime(table: Target, name: str) -> Facts:
    """The runtime that packages depend on or contain, and its sha256 where one is pinned."""
    pinned = cast("Mapping[str, Mapping[str, str]]", downloads.pins())
    checksum = pinned.get(name, {}).get("checksum", "")
    return {"value": table.published_runtime(), **({"sha256": checksum} if checksum else {})}


def _modules(config: Config, targets: Sequence[str]) -> Iterator[str]:
    """The modules of the targets, wrappers and required runners of a build."""
    yield from (KNOWN_TARGETS[name].__module__ for name in targets if name in KNOWN_TARGETS)
    yield from _runners(config)


def _runners(config: Config) -> Iterator[str]:
    """The modules of the runners that must run."""
    yield from (type(each).__module__ for name in config.parity.require for each in RUNNERS[name](""))


def environments_for(config: Config, targets: Sequence[str]) -> tuple[str, ...]:
    """The environments that a build makes or requires, and uses as they are installed, sorted."""
    return tuple(sorted({*_made(config, targets), *_environments(config, targets)}))


def refuse_changed(project: BuildProject | None, targets: Sequence[str]) -> None:
    """Raises ConfigError if there is no project or no lock, or if it has nothing for one of `targets`; GateError for
    the first difference between the lock and what a build would read."""
    if project is None:
        raise ConfigError(
            "--locked: a MODEL alone has no lock", hint="make a project of it: mobpack init MODEL.onnx, mobpack lock"
        )
    locked = read(project.lock)
    known = locked.values(BUILD, TARGET)
    if unknown := [name for name in targets if name not in known]:
        raise ConfigError(
            f"--locked: {LOCK} has nothing for the target {unknown[0]}",
            hint="add its table to mobpack.toml, then run: mobpack lock",
        )
    refuse_without_environments(project.config, known, "--locked")
    refuse(compare(locked, ingredients(project, known)), "--locked")


def refuse_without_environments(config: Config, targets: Sequence[str], what: str) -> None:
    """Raises ToolError if an environment is missing whose files the lock of a build lists."""
    lacking = {name: reason for name in sorted(_asked(config, targets)) if (reason := ENVIRONMENTS[name]().missing())}
    if lacking:
        options = " ".join(f"--install {name}" for name, reason in lacking.items() if INSTALL.search(reason))
        names = ", ".join(f"{name} ({reason})" for name, reason in lacking.items())
        raise ToolError(
            f"{what}: the project needs environments that are missing: {names}",
            hint=f"mobpack doctor {options}" if options else "use another machine, or require no runner that needs it",
        )


def refuse(changes: Sequence[LockChange], what: str) -> None:
    """Raises GateError for the first of `changes`, with the number of others."""
    if not changes:
        return
    more = f"; {len(changes) - 1} more {'differs' if len(changes) == 2 else 'differ'}" if len(changes) > 1 else ""
    first = changes[0]
    is_uninstalled = first.kind == "removed" and first.table == PYTHON and INSIDE not in first.name
    undo = f"install it: pip install {first.pinned}" if is_uninstalled else "undo the change"
    raise GateError(
        f"{what}: {first.sentence}{more}",
        hint=f"{undo}; or renew {LOCK}, review what it prints, and commit it: mobpack lock",
    )
