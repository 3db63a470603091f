"""Builds a release again, from its project, and compares every file: the same input gives the same bytes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from packager import __version__
from packager.config import Config
from packager.core import parsing, user_files
from packager.core.console import Console
from packager.core.errors import ConfigError, GateError
from packager.core.parsing import Json
from packager.distribution import provenance
from packager.distribution.locking import LOCK, Lock, LockChange, compare, read
from packager.distribution.locking.lock import BUILD
from packager.distribution.locking.packages import OWN
from packager.distribution.provenance import FILE_NAME, BuildParameters, Statement
from packager.distribution.provenance.comparing import ComparedFolders, FileDifference, compare_folders
from packager.distribution.release.publish import MANIFEST, MAX_MANIFEST_BYTES
from packager.distribution.release.signatures import SIG, without_signatures
from packager.files.store import Store
from packager.files.store.pruning import entries
from packager.files.user_cache import cache_folder
from packager.signing.encryption import ModelKey
from packager.workflows.build import build
from packager.workflows.gates import Rules
from packager.workflows.ingredients import BuildProject, environments_for, ingredients
from packager.workflows.origins import Origins
from packager.workflows.requested import BuildRequest

Configured = Callable[[BuildParameters], Config]
UNREADABLE = (OSError, ValueError, KeyError, TypeError, RecursionError)


@dataclass(frozen=True, kw_only=True)
class Rebuilt:
    """Result of a rebuild."""

    files: int
    """number of files that are the same"""
    differences: tuple[FileDifference, ...]
    changes: tuple[LockChange, ...]
    """what the release was built of, and what the rebuilt one was, where they differ"""
    reason: str
    """the most probable reason of the differences, in words; empty without differences"""
    steps: Mapping[str, int]
    """step -> number of its results that were computed; empty if the user's store was used"""
    installed: tuple[str, ...]
    """isolated environments that may have been used, as they are installed"""
    not_locked: tuple[str, ...]
    has_provenance: bool
    is_fresh: bool
    """whether nothing was taken from the user's store"""


@dataclass(frozen=True, kw_only=True)
class Original:
    """The release to rebuild."""

    folder: Path
    manifest: Json
    statement: Statement | None

    @property
    def parameters(self) -> BuildParameters:
        """Parameters in the statement, or as the manifest and the folder show them."""
        if self.statement:
            return self.statement.parameters
        artifacts = self.manifest["artifacts"]
        named = [*(each["target"] for each in artifacts), *self.manifest.get("takes-in", {})]
        return BuildParameters(
            targets=tuple(dict.fromkeys(named)),
            emit_project=any((self.folder / name / "project").is_dir() for name in named),
            emit_ort_package=any(each["kind"] == "ort-package" for each in artifacts),
        )


def rebuild(
    release: Path,
    project_file: Path,
    configured: Configured,
    console: Console,
    *,
    is_fresh: bool = True,
    model_key: ModelKey | None = None,
) -> Rebuilt:
    """Builds the project in `project_file` into a scratch folder as `release` was built, and compares all files.

    `configured` reads that file with the options of a build. With `is_fresh`, every result is computed in an empty
    store; isolated environments and downloaded files are used as they are installed. `release` is only read.
    `model_key` is the one that its models are encrypted with. Raises ConfigError for a folder that is no release.
    """
    original = _original(release)
    parameters = original.parameters
    project = BuildProject(
        config=configured(parameters),
        file=project_file,
        settings=parameters.settings,
        shapes=parameters.shapes,
    )
    found = ingredients(project, parameters.targets)
    with _stores(is_fresh, is_private=project.config.is_private) as (store, scratch):
        request = BuildRequest(
            targets=parameters.targets,
            out=scratch / "dist",
            emit_project=parameters.emit_project,
            emit_ort_package=parameters.emit_ort_package,
            rules=Rules(evidence=scratch / "evidence"),
            model_key=model_key,
        )
        origins = Origins(project=project, lock=found) if original.statement else None
        build(project.config, request, console, lambda: origins, store)
        compared = compare_folders(_unsigned(release, scratch), request.out)
        steps = _computed(store) if is_fresh else {}
    changes = _changes(original, project, found)
    return Rebuilt(
        files=len(compared.same),
        differences=compared.differences,
        changes=changes,
        reason=_reason(original, compared, changes),
        steps=steps,
        installed=environments_for(project.config, parameters.targets),
        not_locked=found.not_locked,
        has_provenance=original.statement is not None,
        is_fresh=is_fresh,
    )


def _original(release: Path) -> Original:
    path = release / MANIFEST
    try:
        manifest = parsing.json_of(user_files.read(path, limit_bytes=MAX_MANIFEST_BYTES))
        original = Original(folder=release, manifest=manifest, statement=provenance.read(release))
        if not original.parameters.targets:
            raise ValueError("it lists no artifact")
    except UNREADABLE as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ConfigError(
            f"{release} is not a release of mobpack: {path}: {reason}", hint="name a folder that `mobpack build` wrote"
        ) from error
    return original


@contextmanager
def _stores(is_fresh: bool, *, is_private: bool) -> Iterator[tuple[Store, Path]]:
    """The store of the rebuild, and a scratch folder beside the user's store."""
    own = Store(cache_folder() / "store", is_private=is_private)
    with own.scratch() as scratch:
        yield (Store(scratch / "store") if is_fresh else own), scratch


def _unsigned(release: Path, scratch: Path) -> Path:
    """A folder with the release as it was before it was signed: itself, unless it is signed."""
    if not (release / f"{MANIFEST}{SIG}").is_file():
        return release
    unsigned = scratch / "unsigned"
    unsigned.mkdir()
    without_signatures(release, unsigned)
    return unsigned


def _computed(store: Store) -> Mapping[str, int]:
    found = [each.step for each in entries(store)]
    return {step: found.count(step) for step in sorted(set(found))}


def _changes(original: Original, project: BuildProject, now: Lock) -> tuple[LockChange, ...]:
    """Differences between what the release was built of, by its statement or else by the lock, and what is here now."""
    if original.statement:
        return compare(_without_options(original.statement.lock), _without_options(now))
    if project.lock.exists():
        return compare(_without_options(read(project.lock)), _without_options(now))
    return ()


def _without_options(lock: Lock) -> Lock:
    own = {OWN: facts} if (facts := lock.facts(BUILD, OWN)) else {}
    return replace(lock, tables={**lock.tables, BUILD: own})


def _reason(original: Original, compared: ComparedFolders, changes: tuple[LockChange, ...]) -> str:
    """The most probable reason of the differences."""
    if not compared.differences:
        return ""
    if altered := _altered(original, compared):
        return f"{altered} was changed after the release was built: it is not the file that {_witness(original)} lists"
    if changes:
        more = f", and {len(changes) - 1} more" if len(changes) > 1 else ""
        return f"it was built of something else: {changes[0].history}{more}"
    if words := _other_versions(original.manifest):
        return f"it was built by other versions: {words}"
    if original.statement:
        return (
            "all that it says it was built of is the same here, so its files were changed together with the lists of "
            "their sha256, or a step gives other bytes on this machine"
        )
    return (
        f"it has no {FILE_NAME}, so nobody can say what it was built of: keep {LOCK} beside mobpack.toml for the next"
    )


def _altered(original: Original, compared: ComparedFolders) -> str:
    """The first file that differs and is not the one that the release lists; empty if there is none."""
    listed = dict(original.statement.subjects) if original.statement else {}
    listed |= {each["path"]: each["sha256"] for each in original.manifest["artifacts"]}
    for each in compared.differences:
        if each.kind == "changed" and each.path in listed and each.sha256 != listed[each.path]:
            return each.path
        if each.kind == "added" and original.statement and each.path not in listed and each.path != FILE_NAME:
            return each.path
    return ""


def _witness(original: Original) -> str:
    return f"its {MANIFEST} or {FILE_NAME}" if original.statement else f"its {MANIFEST}"


def _other_versions(manifest: Json) -> str:
    then = {"mobpack": str(manifest.get("mobpack")), **manifest.get("converter", {})}
    now = {name: __version__ if name == OWN else version(name) for name in then}
    return ", ".join(f"{name} {then[name]}, here {now[name]}" for name in then if then[name] != now[name])


def refusal(release: Path, found: Rebuilt) -> GateError:
    """The error for a release with differences: the first one, and the most probable reason."""
    count = len(found.differences)
    more = f"; {count - 1} more {'file differs' if count == 2 else 'files differ'}" if count > 1 else ""
    return GateError(
        f"{release} is not what the project builds: {found.differences[0].sentence}{more}",
        hint=f"most probably {found.reason}",
    )
