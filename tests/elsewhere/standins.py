"""Stand-ins for what another system lacks or does differently. Imports as little as possible: every process does."""

import builtins
import ctypes
import errno
import fcntl
import io
import os
import pathlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType, MappingProxyType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

from tests.cases import hosts

FOLDERS = ("/proc/", "/sys/")
REAL = "packager.engines.environments.environment"
"""Module that sees Linux: the runtimes that it installs really run."""
CREATE_NEW_PROCESS_GROUP = 0x200
ERROR_PRIVILEGE_NOT_HELD = 1314


class Lacking(ModuleType):
    """A module without the names that a system lacks, and with others."""

    def __init__(self, module: ModuleType, lacks: frozenset[str], other: Mapping[str, object]) -> None:
        super().__init__(module.__name__)
        self.__dict__.update(other)
        self._module, self._lacks = module, lacks - other.keys()

    def __getattr__(self, name: str) -> Any:
        if name in self._lacks:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}' there")
        return getattr(self._module, name)


class Names(NamedTuple):
    """Names that a system lacks, of each module; None for a module that is missing itself."""

    system: str
    known: dict[str, Iterable[str] | None]

    def lacked(self, module: str) -> frozenset[str] | None:
        if module not in self.known:  # type stubs are read for it
            self.known.update(hosts.lacking([module], self.system))
        found = self.known[module]
        return None if found is None else frozenset(found)


def begin(system: str, known: Mapping[str, Iterable[str] | None] = MappingProxyType({})) -> None:
    """From now on, mobpack's code sees `system`. `known`: what type stubs were asked before."""
    names = Names(system, dict(known))
    imported, seen = builtins.__import__, _modules(names)

    def see(
        name: str,
        importer: Mapping[str, object] | None = None,
        scope: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        asking = str((importer or {}).get("__name__", ""))
        if asking.startswith("packager.") and asking != REAL:
            if name in seen:
                return seen[name]
            lacks = names.lacked(name)
            if lacks is None:
                raise ModuleNotFoundError(f"No module named '{name}'", name=name)
            if lacks:
                return seen.setdefault(name, Lacking(imported(name, None, None, ("",)), lacks, {}))
        return imported(name, importer, scope, fromlist or (), level)

    builtins.__import__ = see  # type: ignore[assignment]
    _hide_folders()
    if system == "win32":
        _refuse_links()
        _keep_open_files()
        _print_backslashes()


def _modules(names: Names) -> dict[str, ModuleType]:
    """Modules of the standard library as mobpack's code sees them."""
    other: dict[ModuleType, dict[str, object]] = {sys: {"platform": names.system}}
    if names.system == "win32":
        other[os] = {"name": "nt"}
        other[ctypes] = {"CDLL": _library, "WinDLL": _kernel, "WinError": OSError, "get_last_error": lambda: 0}
        other[subprocess] = {"Popen": _Popen, "CREATE_NEW_PROCESS_GROUP": CREATE_NEW_PROCESS_GROUP}
    found: dict[str, ModuleType] = {
        module.__name__: Lacking(module, names.lacked(module.__name__) or frozenset(), own)
        for module, own in other.items()
    }
    if names.system == "win32":
        found["msvcrt"] = _msvcrt()
    return found


def _caller_is_mobpack(depth: int) -> bool:
    """Whether one of the last functions that led here is mobpack's; between may be pathlib's and the like."""
    frame: FrameType | None = sys._getframe(2)
    while frame and depth:
        if str(frame.f_globals.get("__name__", "")).startswith("packager."):
            return True
        frame, depth = frame.f_back, depth - 1
    return False


def _hide_folders() -> None:
    opened = io.open

    def open_there(file: Any, *rest: Any, **options: Any) -> Any:
        if not isinstance(file, int) and str(file).startswith(FOLDERS) and _caller_is_mobpack(4):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(file))
        return opened(file, *rest, **options)

    io.open = builtins.open = open_there


def _refuse_links() -> None:
    symlink, hardlink = Path.symlink_to, Path.hardlink_to

    def symlink_there(place: Path, *rest: Any, **options: Any) -> None:
        if _caller_is_mobpack(1) and place.parent.is_dir():
            error = OSError(errno.EINVAL, "A required privilege is not held by the client", str(place))
            error.winerror = ERROR_PRIVILEGE_NOT_HELD  # type: ignore[attr-defined]
            raise error
        symlink(place, *rest, **options)

    def hardlink_there(place: Path, target: Path) -> None:
        if _caller_is_mobpack(1):
            raise OSError(errno.EPERM, "the disk has no links", str(place))
        hardlink(place, target)

    Path.symlink_to = symlink_there  # type: ignore[method-assign, assignment]
    Path.hardlink_to = hardlink_there  # type: ignore[method-assign, assignment]


def _keep_open_files() -> None:
    """Files of this process that are open or mapped stay where they are, and so do the folders around them."""

    def refusing(change: Callable[..., None]) -> Callable[..., None]:
        def change_there(path: Any, *rest: Any, **options: Any) -> None:
            for each in (path, *rest[:1]) if _caller_is_mobpack(100) else ():
                if taken := _open_at(each):
                    raise PermissionError(errno.EACCES, f"Access is denied: {taken} is open", os.fspath(path))
            change(path, *rest, **options)

        return change_there

    for name in ("rename", "replace", "unlink", "remove", "rmdir"):
        setattr(os, name, refusing(getattr(os, name)))
    shutil._use_fd_functions = False  # type: ignore[attr-defined]


def _open_at(path: Any) -> str:
    """A file at `path`, or below it, that this process has open or mapped; folders do not count."""
    if not isinstance(path, str | Path) or not os.path.lexists(path):
        return ""
    place = str(Path(path).parent.resolve() / Path(path).name)
    return next((each for each in _open_files(place) if each == place or each.startswith(place + "/")), "")


def _open_files(place: str) -> Iterator[str]:
    """All that are open, and all that are mapped if any of those has `place` in its path: hundreds of libraries are."""
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # that of the listing itself
            if link.is_file():
                yield str(link.readlink())
    with OPENED("/proc/self/maps", "rb") as file:
        maps = file.read()
    if os.fsencode(place) in maps:
        lines = os.fsdecode(maps).splitlines()
        yield from {parts[5] for line in lines if len(parts := line.split(maxsplit=5)) == 6}


OPENED = io.open
"""The real one."""


def _print_backslashes() -> None:
    text = pathlib.PurePath.__str__

    def text_there(path: pathlib.PurePath) -> str:
        known = text(path)
        is_relative = not known.startswith("/") and sys._getframe(1).f_globals.get("__name__", "").startswith(
            "packager."
        )
        return known.replace("/", "\\") if is_relative else known

    pathlib.PosixPath.__str__ = text_there  # type: ignore[assignment, method-assign]


def _msvcrt() -> ModuleType:
    def locking(descriptor: int, mode: int, count: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise PermissionError(errno.EACCES, "Permission denied") from error

    module = ModuleType("msvcrt")
    module.__dict__.update(locking=locking, LK_NBLCK=2)
    return module


def _library(name: str | None, *rest: Any, **options: Any) -> ctypes.CDLL:
    if name is None:
        raise TypeError("bad argument type for built-in operation")
    return ctypes.CDLL(name, *rest, **options)


class _Popen(subprocess.Popen[Any]):
    """Windows ignores POSIX' options; here, who uses them is told."""

    def __init__(self, *arguments: Any, creationflags: int = 0, **options: Any) -> None:
        refused = {"process_group", "start_new_session", "preexec_fn", "pass_fds"} & options.keys()
        assert not refused, f"Windows has no {refused}"
        super().__init__(*arguments, **options, process_group=0 if creationflags else None)


class _Function:
    """A function of a Windows library."""

    restype: Any = None

    def __init__(self, call: Callable[..., int]) -> None:
        self._call = call

    def __call__(self, *arguments: Any) -> int:
        return self._call(*arguments)


def _kernel(name: str, **options: Any) -> SimpleNamespace:
    """kernel32.dll: job objects, of one process group each. They do not end by themselves with this process."""
    groups: dict[int, int] = {}
    numbers = iter(range(1, 1 << 30))

    def assign(job: Any, process: Any) -> int:
        groups[job.value] = process.value
        return 1

    def terminate(job: Any, code: int) -> int:
        try:
            os.killpg(groups[job.value], signal.SIGKILL)
        except ProcessLookupError:
            return 0
        return 1

    return SimpleNamespace(
        CreateJobObjectW=_Function(lambda *rest: next(numbers)),
        OpenProcess=_Function(lambda rights, inherits, number: int(number)),
        SetInformationJobObject=_Function(lambda job, kind, limits, size_bytes: int((kind, size_bytes) == (9, 144))),
        AssignProcessToJobObject=_Function(assign),
        TerminateJobObject=_Function(terminate),
        CloseHandle=_Function(lambda handle: 1),
    )
