"""`mobpack release`: build, compare, enter the changes, verify, sign, publish. Every step is a command of its own, too.

A step that fails ends the release. The same command continues: a build gives the same bytes, a signature, too, an entry
that is there stays, and registries get what they lack.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packager.config import Config
from packager.config.editing import with_version
from packager.core import user_files
from packager.core.console import Console
from packager.core.errors import ConfigError, GateError, ToolError
from packager.distribution import publishing
from packager.distribution.differences import Comparison, changelog, compare, read
from packager.distribution.differences.values import Release as Read
from packager.distribution.locking import LOCK, Lock
from packager.distribution.locking import compare as compare_locks
from packager.distribution.locking import read as read_lock
from packager.distribution.locking import write as write_lock
from packager.distribution.provenance import FILE_NAME as PROVENANCE
from packager.distribution.publishing import PublishingSession, Registry, RegistryOutcome
from packager.distribution.release import MANIFEST
from packager.distribution.release.signatures import ReleaseSigner
from packager.files import host
from packager.files.atomic import atomic_file
from packager.files.replaced_folder import interrupts_deferred
from packager.files.user_cache import cache_folder
from packager.signing.encryption import ModelKey
from packager.workflows import rebuild as rebuilding
from packager.workflows import signing
from packager.workflows.build import build
from packager.workflows.ingredients import BuildProject, ingredients, refuse_changed
from packager.workflows.origins import origins_of
from packager.workflows.requested import BuildRequest, requested_targets

MAX_BYTES = 16 << 20
"""of a changelog, and of a mobpack.toml"""
SHOWN_CHANGES = 3
"""of those that decide about a version, in messages; `mobpack diff` lists all"""
Configured = Callable[[], Config]


@dataclass(frozen=True, kw_only=True)
class Order:
    """A release that is to be made."""

    project: Path
    """the mobpack.toml"""
    targets: tuple[str, ...]
    settings: tuple[str, ...]
    shapes: tuple[str, ...]
    out: Path
    previous: Path | None
    """the release before; None for the first one"""
    changelog: Path
    day: str
    """of the changelog's entry, in the form of ISO 8601"""
    signer: ReleaseSigner | None = None
    model_key: ModelKey | None = None
    """key that models are encrypted with"""
    registries: tuple[Registry, ...] = ()
    raises_version: bool = False
    """whether a version that is too low is raised in mobpack.toml"""
    is_rebuilt: bool = False
    is_dry: bool = False
    """whether project, changelog, `out` and registries stay as they are"""


@dataclass(frozen=True, kw_only=True)
class ReleaseStep:
    name: str
    result: str
    """`done`, `planned` or `skipped`"""
    words: str


@dataclass(frozen=True, kw_only=True)
class Released:
    """Result of a release."""

    package: str
    version: str
    found: Comparison | None
    """what has changed since the release before; None for the first one"""
    entry: str
    """the changelog's new text; empty if its entry was there"""
    steps: tuple[ReleaseStep, ...]
    outcomes: tuple[RegistryOutcome, ...]


def release(order: Order, configured: Configured, console: Console) -> Released:
    """Makes a release. `configured` reads the project file with the options of `order`.

    Raises ConfigError for an order that cannot be carried out, GateError for a version that is too low and for a step
    that refuses, and what the steps raise. Nothing is signed or published that an earlier step has refused.
    """
    config = configured()
    _refuse_impossible(order, config)
    previous = _previous(order)
    text = _text(order.changelog) if order.changelog.exists() else ""
    with _alone(order), _explained(order), _place(order) as out:
        first = _build(order, config, out, console)
        config, found, steps = _compared(order, previous, config, configured, out, console, first)
        return _finished(order, configured, out, console, text=text, config=config, found=found, steps=steps)


def _finished(
    order: Order,
    configured: Configured,
    out: Path,
    console: Console,
    *,
    text: str,
    config: Config,
    found: Comparison | None,
    steps: list[ReleaseStep],
) -> Released:
    """Every step after the comparison. `text` is that of the changelog."""
    package, version = config.package.name, config.package.version
    if order.registries:
        publishing.publish(
            out, order.registries, PublishingSession(), is_dry=True
        )  # what registries refuse is refused now
    entry, step = _entered(order, text, version, found)
    steps.append(step)
    steps += [_verified(order, configured, out, console), *_described(order, out)]
    steps.append(_signed(order, config, out))
    outcomes: tuple[RegistryOutcome, ...] = ()
    if order.registries:
        outcomes = publishing.publish(out, order.registries, PublishingSession(say=console.say), is_dry=order.is_dry)
    steps.append(_published(order, outcomes))
    return Released(
        package=package, version=version, found=found, entry=entry, steps=tuple(steps), outcomes=tuple(outcomes)
    )


def _refuse_impossible(order: Order, config: Config) -> None:
    """Raises ConfigError for what would fail only after a long build."""
    if order.previous and user_files.resolved(order.previous) == user_files.resolved(order.out):
        raise ConfigError(
            f"--previous and --out are both {order.out}: the build would replace what it is compared with",
            hint="unpack the release before into another folder, and name that one",
        )
    if not order.is_dry:
        _refuse_read_only(order.changelog)
        if order.raises_version:
            _refuse_read_only(order.project)
    if config.package.trusted and order.signer is None:
        raise ConfigError(
            "apps open only signed files of this package ([package] trust), and no key is given",
            hint="add --key FILE, the private key that belongs to one of those in trust",
        )


def _previous(order: Order) -> Read | None:
    """The release before; None for the first one. Raises ConfigError for a single package."""
    if order.previous is None:
        return None
    found = read(order.previous)
    if found.manifest is None:
        raise ConfigError(
            f"{order.previous} is a single package: --previous is a whole release",
            hint="name the dist folder of the release before",
        )
    return found


@contextmanager
def _place(order: Order) -> Iterator[Path]:
    """The folder for the packages: a scratch folder in a dry run."""
    if not order.is_dry:
        yield order.out
        return
    with tempfile.TemporaryDirectory() as scratch:
        yield Path(scratch, "dist")


@contextmanager
def _alone(order: Order) -> Iterator[None]:
    """Raises ToolError if another release of the same project is being made: each would replace what the other has."""
    name = hashlib.sha256(str(user_files.resolved(order.project)).encode()).hexdigest()[:16]
    folder = cache_folder() / "releases"
    folder.mkdir(exist_ok=True)
    with (folder / f"{name}.lock").open("ab") as file:
        try:
            is_free = host.lock(file.fileno(), waits=False)
        except OSError:  # a disk without locks
            is_free = True
        if not is_free:
            raise ToolError(
                f"another mobpack release of {order.project} is running",
                hint="wait until it has ended, then run the command again: it continues",
            )
        yield


@contextmanager
def _explained(order: Order) -> Iterator[None]:
    """Tells what an interrupted release leaves, if the folder for the packages is another one than before."""
    before = _identity(order.out)
    try:
        yield
    except KeyboardInterrupt as stop:
        if _identity(order.out) == before:
            raise
        words = f"{order.out} is complete, and not yet released: run the same command again, it continues"
        raise KeyboardInterrupt(words) from stop


def _identity(folder: Path) -> int | None:
    """Tells a folder from another one in its place; None if there is none."""
    return folder.stat().st_ino if folder.exists() else None


def _compared(
    order: Order,
    previous: Read | None,
    config: Config,
    configured: Configured,
    out: Path,
    console: Console,
    first: ReleaseStep,
) -> tuple[Config, Comparison | None, list[ReleaseStep]]:
    """Compares with the release before; if the version is too low and may be raised, raises it and builds again."""
    steps = [first]
    if previous is None:
        steps.append(ReleaseStep(name="compare", result="skipped", words="first release: nothing to compare with"))
        return config, None, steps
    found = compare(previous, read(out))
    if not found.bump.is_enough:
        config = _raise_version(order, configured, found)
        console.say(f"  the version is raised to {found.bump.needed}: {_what_changed(found)}")
        steps = [_build(order, config, out, console)]
        found = compare(previous, read(out))
        if not found.bump.is_enough:
            raise ToolError(f"the version was raised, and is still too low: {found.bump.sentence}", hint="report a bug")
    words = f"{_what_changed(found)}; {found.bump.sentence}"
    steps.append(ReleaseStep(name="compare", result="done", words=words))
    return config, found, steps


def _what_changed(found: Comparison) -> str:
    """The changes that decide about the version: `major: android: run was removed; and 2 more`."""
    deciding = [each for each in found.changes if each.level is found.verdict]
    if not deciding:
        return "nothing has changed"
    shown = "; ".join(f"{each.where}: {each.change}" for each in deciding[:SHOWN_CHANGES])
    more = f"; and {len(deciding) - SHOWN_CHANGES} more" if len(deciding) > SHOWN_CHANGES else ""
    return f"{found.verdict.value}: {shown}{more}"


def _raise_version(order: Order, configured: Configured, found: Comparison) -> Config:
    """Writes the version that is needed into mobpack.toml and its lock: both, or neither if it is interrupted.

    Raises GateError where the version may not be raised, or nobody can tell to which number.
    """
    needed = found.bump.needed
    if not order.raises_version or order.is_dry or not needed:
        how = "--bump without --dry-run" if order.raises_version else "--bump"
        hint = f'set version = "{needed}" in [package], or give {how}' if needed else "use a version such as 1.2.3"
        raise GateError(f"the version is too low: {_what_changed(found)}; {found.bump.sentence}", hint=hint)
    before = _text(order.project)
    is_done = False
    try:
        _replace(order.project, with_version(before, needed))
        config = configured()
        project = _project(order, config)
        listed = _listed_again(order, config, project)
        with interrupts_deferred():
            if listed:
                write_lock(project.lock, listed)
            is_done = True
        return config
    finally:
        if not is_done:
            _replace(order.project, before)


def _listed_again(order: Order, config: Config, project: BuildProject) -> Lock | None:
    """The lock with the project file whose version was raised; None if there is no lock, or anything else differs,
    which is refused."""
    if not project.lock.exists():
        return None
    found = ingredients(project, requested_targets(config, order.targets))
    changes = compare_locks(read_lock(project.lock), found)
    return found if all(change.name == order.project.name for change in changes) else None


def _replace(path: Path, text: str) -> None:
    """Writes a text file of the user, whose permissions stay; a link to it stays a link."""
    place = user_files.resolved(path)
    with atomic_file(place) as file:
        file.write(text.encode())
        if place.exists():
            shutil.copymode(place, file.name)


def _refuse_read_only(path: Path) -> None:
    """Raises ToolError for a file that exists and may not be changed."""
    if path.exists() and not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        raise ToolError(f"{path} is read-only", hint="make it writable, or name another file")


def _build(order: Order, config: Config, out: Path, console: Console) -> ReleaseStep:
    targets = requested_targets(config, order.targets)
    project = _project(order, config)
    is_locked = project.lock.exists()
    if is_locked:
        refuse_changed(project, targets)
    request = BuildRequest(targets=targets, out=out, has_project=True, model_key=order.model_key)
    made = build(config, request, console, lambda: origins_of(project, targets, console))
    how = f"of what {LOCK} lists" if is_locked else f"without {LOCK}"
    words = f"{config.package.name} {config.package.version} for {', '.join(targets)}, {how}"
    return ReleaseStep(name="build", result="done", words=f"{words}; {len(made.shipped)} files")


def _project(order: Order, config: Config) -> BuildProject:
    return BuildProject(config=config, file=order.project, settings=order.settings, shapes=order.shapes)


def _entered(order: Order, text: str, version: str, found: Comparison | None) -> tuple[str, ReleaseStep]:
    """Enters the changes in the changelog, unless the version has an entry."""
    if changelog.has_entry(text, version):
        return "", ReleaseStep(
            name="changelog", result="skipped", words=f"{order.changelog} has an entry for {version}"
        )
    made = changelog.with_entry(text, version, order.day, found)
    if order.is_dry:
        return made, ReleaseStep(
            name="changelog", result="planned", words=f"an entry for {version} in {order.changelog}"
        )
    _replace(order.changelog, made)
    return made, ReleaseStep(name="changelog", result="done", words=f"an entry for {version} in {order.changelog}")


def _verified(order: Order, configured: Configured, out: Path, console: Console) -> ReleaseStep:
    found = signing.verify_place(out, None)
    words = f"{found.files} files are those of {MANIFEST}"
    if not order.is_rebuilt:
        return ReleaseStep(name="verify", result="done", words=f"{words}; not built twice (--rebuild)")
    rebuilt = rebuilding.rebuild(out, order.project, lambda _: configured(), console, model_key=order.model_key)
    if rebuilt.differences:
        raise rebuilding.refusal(out, rebuilt)
    return ReleaseStep(
        name="verify", result="done", words=f"{words}; built again, and {rebuilt.files} files are the same"
    )


def _described(order: Order, out: Path) -> Iterator[ReleaseStep]:
    bills = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.json") if _is_bill(path))
    yield ReleaseStep(name="bills of materials", result="done", words=", ".join(bills))
    if (out / PROVENANCE).is_file():
        yield ReleaseStep(name="provenance", result="done", words=PROVENANCE)
    else:
        yield ReleaseStep(name="provenance", result="skipped", words=f"there is no {LOCK}: run `mobpack lock`")


def _is_bill(path: Path) -> bool:
    return path.name.endswith((".cdx.json", "-cyclonedx.json"))


def _signed(order: Order, config: Config, out: Path) -> ReleaseStep:
    if order.signer is None:
        return ReleaseStep(name="sign", result="skipped", words="no --key")
    written = signing.sign(out, order.signer)
    trust = signing.trust(config.package.trusted, None) if config.package.trusted else None
    found = signing.verify_place(out, trust)
    who = sorted(set(found.signatures.values()))
    by = f", which {', '.join(who)} confirms" if who else ""
    return ReleaseStep(name="sign", result="done", words=f"{len(written)} signatures{by}")


def _published(order: Order, outcomes: Sequence[RegistryOutcome]) -> ReleaseStep:
    if not order.registries:
        return ReleaseStep(name="publish", result="skipped", words="no --to")
    results = [each.result for each in outcomes]
    number = f"{len(results)} request{'' if len(results) == 1 else 's'}"
    counts = ", ".join(f"{results.count(each)} {each}" for each in dict.fromkeys(results))
    return ReleaseStep(
        name="publish",
        result="planned" if order.is_dry else "done",
        words=f"{number}: {counts}",
    )


def _text(path: Path) -> str:
    try:
        return user_files.read(path, limit_bytes=MAX_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"cannot read {path}: {reason}", hint="name a text file") from error
