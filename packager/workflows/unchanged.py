"""Ends a build at once if nothing that it reads and nothing that it wrote has changed since the last one.

Every build that ends well leaves a record: the files that it read and wrote, each with size, modification time, inode
and sha256, and a digest of the machine's state (`machine`). The next build with the same command compares the record
before anything large is imported. The release is what people publish: all of it is hashed, unless it is large. A file
of a large one, or an input, is hashed where size, a time or the inode differ, or where it was changed so shortly before
the record that a later change could leave the same time (Git calls such entries racy: git-scm.com/docs/racy-git).
Programs can put the time of modification back, but not that of the last change of any kind (st_ctime), which Windows
lacks. What cannot be listed leaves no record: code of the project, interpreters, an ONNX Runtime of the project's own,
and Gradle.
"""

import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core import parsing
from packager.core.console import size
from packager.core.errors import ToolError
from packager.distribution.locking.lock import LOCK
from packager.files.atomic import atomic_file
from packager.files.hashes import known_sha256, sha256_of
from packager.files.installed import PACKAGE, templates_folder
from packager.files.leftovers import remove_old
from packager.files.user_cache import cache_folder

if TYPE_CHECKING:
    from packager.config import Config

RACY_NS = 2_000_000_000
"""Two changes of a file within this time may leave the same time of change: FAT counts in steps of two seconds."""
KEPT_DAYS = 30
HASHED_BYTES = 64_000_000
"""Size up to which all of a release is hashed: 0.05 s, or 0.15 s on a busy processor without instructions for it."""
VERSION = 2
"""Version of the record's format."""
RELEVANT = (
    "PATH",
    "PYTHON",
    "MOBPACK",
    "ORT_",
    "XDG_",
    "JAVA",
    "ANDROID_",
    "LD_LIBRARY_PATH",
    "LC_",
    "LANG",
)
"""First letters of the variables that may change what a program finds, or does."""


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """A file at one moment."""

    size_bytes: int
    modified_ns: int
    changed_ns: int
    """of any change, by which no program can put it back; when the file was created, on Windows"""
    inode: int
    sha256: str

    def describes(self, path: Path, recorded_ns: int, *, is_read: bool = False) -> bool:
        """Whether `path` still holds the same bytes, by its looks if they leave no doubt, unless it `is_read`. Raises
        OSError where it cannot be read."""
        status = path.stat()
        if status.st_size != self.size_bytes:
            return False
        looks = (status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        is_alike = looks == (self.modified_ns, self.changed_ns, self.inode)
        if is_alike and not is_read and not self.is_racy(recorded_ns):
            return True
        return sha256_of(path) == self.sha256

    def is_racy(self, recorded_ns: int) -> bool:
        """Whether the file could have changed after the record and kept its times."""
        return max(self.modified_ns, self.changed_ns) >= recorded_ns - RACY_NS


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The result of a build in words, which the next one repeats."""

    rows: tuple[tuple[str, ...], ...]
    """of the table of artifacts"""
    lines: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Record:
    """The last build of one command."""

    recorded_ns: int
    machine: str
    """digest of `machine()`"""
    inputs: Mapping[str, Stamp]
    """absolute path -> file"""
    folders: Mapping[str, tuple[str, ...]]
    """absolute path of a folder that was read -> the files below it"""
    release: Mapping[str, Stamp]
    """path in the release -> file"""
    summary: Summary


@dataclass(frozen=True, kw_only=True)
class BuildStart:
    """The beginning of a build, before anything is read."""

    command: Mapping[str, object]
    """everything that the command line says"""
    time_ns: int
    variables: Mapping[str, str]
    """of the environment; libraries add their own when they are imported"""


def start(command: Mapping[str, object]) -> BuildStart:
    """The beginning, now, of a build by `command`."""
    variables = {name: value for name, value in sorted(os.environ.items()) if name.startswith(RELEVANT)}
    return BuildStart(command=command, time_ns=time.time_ns(), variables=variables)


def lock_beside(project: Path, model: Path | None) -> str:
    """sha256 of the lock beside a project file, whose release then contains its provenance; empty without one, or for a
    build of a `model` alone."""
    path = project.with_name(LOCK)
    return sha256_of(path) if model is None and path.is_file() else ""


def known_result(begun: BuildStart, out: Path, evidence: Path, now: str = "") -> Summary | None:
    """The result of the last build by the same command, if this one would read and write the same files; else None.

    `out` is the folder of the release, `evidence` that of failed comparisons; `now` is `machine(begun)`, if the caller
    knows it.
    """
    place = _place(begun.command)
    try:
        record = _from_json(parsing.json_of(place.read_text(encoding="utf-8")))
        if evidence.exists() or record.machine != (now or machine(begun)) or not _holds(record, out):
            return None
        again = _stamped_again(record, out)
        is_other = (again.inputs, again.release) != (record.inputs, record.release)
        if is_other or (time.time_ns() - RACY_NS > record.recorded_ns and _is_racy(record)):
            _write(place, again)  # so that less has to be hashed the next time
    except (OSError, ValueError, TypeError, KeyError):  # no record, one of another version, or a file that is gone
        return None
    return record.summary


def in_words(out: Path) -> str:
    """The state of the release in `out`, of which nothing has changed, for a message."""
    size_bytes = sum((out / name).stat().st_size for name in _files_below(out))
    if size_bytes <= HASHED_BYTES:
        return f"{out} is as it was made"
    return f"{out} looks as it was made; its {size(size_bytes)} were not all read again, only what looks different"


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A build that ended well."""

    config: "Config"
    project: Path | None
    """the file that the configuration was read from, where there is one"""
    targets: tuple[str, ...]
    out: Path
    summary: Summary


def keep(begun: BuildStart, build: Ended) -> None:
    """Records `build`. Nothing is recorded where it depends on what cannot be listed, or where a file that it read was
    changed meanwhile."""
    from packager.workflows.inputs import inputs_of

    place = _place(begun.command)
    with suppress(OSError):
        place.unlink(missing_ok=True)
    read = inputs_of(build.config, build.targets, build.project)
    if read.unlisted:
        return
    try:
        if any(path.stat().st_mtime_ns >= begun.time_ns for path in read.files):
            return
        record = Record(
            recorded_ns=time.time_ns(),
            machine=machine(begun),
            inputs={str(path.absolute()): _stamp(path) for path in read.files},
            folders={str(path.absolute()): _files_below(path) for path in read.folders},
            release={name: _stamp(build.out / name) for name in _files_below(build.out)},
            summary=build.summary,
        )
    except FileNotFoundError:  # another build replaces the release, or somebody removes an input
        return
    _write(place, record)
    remove_old(place.parent.glob("*.json"), days=KEPT_DAYS)


def machine(begun: BuildStart) -> str:
    """Digest of all that a build depends on beside its files: the code of mobpack, installed packages, isolated
    runtimes, the processor, and environment variables."""
    found = {
        "version": VERSION,
        "python": [sys.version, sys.prefix, str(Path.cwd())],
        "processor": _processor(),
        "code": [*_tree(PACKAGE), *_tree(templates_folder())],
        "packages": [name for folder in sys.path for name in _packages(folder)],
        "environments": list(_tree(cache_folder() / "environments", depth=2)),
        "variables": dict(begun.variables),
    }
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()


def _holds(record: Record, out: Path) -> bool:
    return (
        record.release.keys() == set(_files_below(out))
        and all(_files_below(Path(folder)) == names for folder, names in record.folders.items())
        and all(stamp.describes(Path(path), record.recorded_ns) for path, stamp in record.inputs.items())
        and _is_release(record, out)
    )


def _is_release(record: Record, out: Path) -> bool:
    is_read = sum(stamp.size_bytes for stamp in record.release.values()) <= HASHED_BYTES
    return all(
        stamp.describes(out / name, record.recorded_ns, is_read=is_read) for name, stamp in record.release.items()
    )


def _is_racy(record: Record) -> bool:
    stamps = (*record.inputs.values(), *record.release.values())
    return any(stamp.is_racy(record.recorded_ns) for stamp in stamps)


def _stamped_again(record: Record, out: Path) -> Record:
    return replace(
        record,
        recorded_ns=time.time_ns(),
        inputs={path: _stamp(Path(path), stamp.sha256) for path, stamp in record.inputs.items()},
        release={name: _stamp(out / name, stamp.sha256) for name, stamp in record.release.items()},
    )


def _stamp(path: Path, sha256: str = "") -> Stamp:
    status = path.stat()
    return Stamp(
        size_bytes=status.st_size,
        modified_ns=status.st_mtime_ns,
        changed_ns=status.st_ctime_ns,
        inode=status.st_ino,
        sha256=sha256 or known_sha256(path),
    )


def _files_below(folder: Path) -> tuple[str, ...]:
    """Every file below `folder`, by its path in it, sorted; what links point to counts as theirs."""
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()))


def _tree(folder: Path, depth: int = 99) -> Iterator[tuple[str, int, int]]:
    """Files below `folder` with size and time of change, down to `depth` folders: those in deeper ones count by the
    folder alone."""
    if not folder.is_dir():
        return
    for entry in sorted(os.scandir(folder), key=lambda each: each.name):
        if entry.name == "__pycache__":
            continue
        if entry.is_dir() and depth > 1:
            for name, size_bytes, changed_ns in _tree(Path(entry.path), depth - 1):
                yield f"{entry.name}/{name}", size_bytes, changed_ns
        else:
            status = entry.stat()
            yield entry.name, 0 if entry.is_dir() else status.st_size, status.st_mtime_ns


def _packages(folder: str) -> Iterable[str]:
    """Installed packages, with their versions, in a folder of `sys.path`."""
    try:
        return sorted(entry.name for entry in os.scandir(folder or ".") if entry.name.endswith((".dist-info", ".pth")))
    except OSError:  # an archive, or a folder that is not there
        return ()


def _processor() -> list[str]:
    """Kernels, and so the last digits, depend on the instructions that the processor has."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
            return [line for line in file.read(1 << 14).splitlines() if line.startswith(("model name", "flags"))][:2]
    except OSError:  # no Linux
        return [platform.machine(), platform.processor()]


def _place(command: Mapping[str, object]) -> Path:
    text = json.dumps([str(Path.cwd()), {key: _plain(value) for key, value in sorted(command.items())}])
    return cache_folder() / "builds" / f"{hashlib.sha256(text.encode()).hexdigest()}.json"


def _plain(value: object) -> object:
    return list(map(str, value)) if isinstance(value, tuple) else value if isinstance(value, bool) else str(value)


def _write(place: Path, record: Record) -> None:
    """Keeps nothing on a disk that is full or read-only: the build has ended well, and the next one does all again."""
    with suppress(ToolError), atomic_file(place) as file:
        file.write(json.dumps(asdict(record)).encode())


def _from_json(document: dict[str, Any]) -> Record:
    summary = document["summary"]
    return Record(
        recorded_ns=document["recorded_ns"],
        machine=document["machine"],
        inputs={path: Stamp(**stamp) for path, stamp in document["inputs"].items()},
        folders={path: tuple(names) for path, names in document["folders"].items()},
        release={name: Stamp(**stamp) for name, stamp in document["release"].items()},
        summary=Summary(
            rows=tuple(map(tuple, summary["rows"])),
            lines=tuple(summary["lines"]),
            warnings=tuple(summary["warnings"]),
        ),
    )
