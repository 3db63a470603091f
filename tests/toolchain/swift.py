"""Swift for Linux, Debian's own, in a folder of the cache: `swift build` and `swift test` of generated packages.

`python -m tests.toolchain.swift --lock` locks the versions that Debian's mirror has now.
"""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import psutil

from packager.core.errors import ToolError
from packager.files.store import key_of
from packager.files.user_cache import cache_folder
from tests.toolchain.deb_parts import unpack_parts, write_parts
from tests.toolchain.debian_root import Suite, make_alone, read_lock, unpack
from tests.toolchain.require import require

SUITE = Suite("trixie")
LOCK = Path(__file__).with_name("swift_debs.txt")
PARTS = Path(__file__).with_name("swift_parts.txt")
"""Where the wanted files are in the largest package."""
REFRESH = "python -m tests.toolchain.swift --lock"
LARGEST = "swiftlang"
WANTED = (LARGEST, "libswiftlang", "libc6-dev", "libstdc++-14-dev", "git", "dash", "coreutils")
NOT_NEEDED = re.compile(
    r"(git-man|debconf|debianutils|tzdata|cpp.*|gcc(-14)?(-x86.*)?|.*perl.*|libpython.*|swiftlang-dev)$"
)
"""Dependencies of these that are not used here: GCC's programs, Perl, and Python for the debugger."""
NOT_UNPACKED = re.compile(
    r"usr/share/(doc|info|lintian|locale|man)/|usr/lib/python|usr/libexec/swift/(bin/(clangd|docc|lldb-|llvm-cov|"
    r"llvm-profdata|sourcekit|swift-build-sdk)|lib/(liblldb|libLTO|libsourcekitd|libswiftGenericMetadataBuilder|"
    r"clang/17/lib/linux/libclang_rt\.(?!builtins)|swift/embedded/|swift/FrameworkABIBaseline/|"
    r"swift/host/(lib_InternalSwiftScan|Swift\w+\.swiftmodule)|swift_static/))"
)
"""Two thirds of what Swift's package holds: its debugger, servers of editors, a scanner that its driver can do without,
and libraries for other uses."""
LIBRARIES = "usr/libexec/swift/lib"
PROGRAMS = "/usr/libexec/swift/bin:/usr/bin:/usr/sbin"
UNVERIFIED = ("-sil-verify-none", "-disable-llvm-verify", "-disable-ast-verifier")
"""Debian's compiler checks what its own passes have made, in a third of its time; Apple's does not."""
_QUICK = ("-gnone", "-driver-batch-count", "1", *(word for each in UNVERIFIED for word in ("-Xfrontend", each)))
QUICK = tuple(word for each in _QUICK for word in ("-Xswiftc", each))
"""Nothing for a debugger, and one compiler that reads all files of a module, where each of two would read most."""
WHOLE = ("-Xswiftc", "-whole-module-optimization")
"""All of a module in one object, a third quicker than one for each file. SwiftPM needs STAND_IN for it."""
STAND_IN = Path(__file__).with_name("swift_quick")
STOOD_IN = {"SWIFT_EXEC": "/quick/bin/swiftc", "SWIFT_DRIVER_SWIFT_FRONTEND_EXEC": "/quick/bin/swift-frontend"}
"""Variables that have SwiftPM and Swift's driver start STAND_IN, and where they see it."""
TIMEOUT_S = 600
LINES = r"%s\n"
"""Has `printf` print its words as lines."""
DEVICES = tuple(Path("/dev", name) for name in ("null", "zero", "full", "random", "urandom"))
"""Mounted one by one: a compiler that fails removes its output, which could be /dev/null."""


@dataclass(frozen=True)
class Finished:
    """A program that has ended, or was ended."""

    returncode: int
    output: str
    """its output, errors included"""


@dataclass(frozen=True)
class Swift:
    """The toolchain, and a folder that its runs share."""

    folder: Path

    @property
    def root(self) -> Path:
        """The folder that its programs see as /."""
        return self.folder / "root"

    @property
    def shared(self) -> Path:
        """Seen by every run under the same path: caches of modules and libraries."""
        return self.folder / "shared"

    def run(
        self,
        arguments: Sequence[str | Path],
        *,
        cwd: Path,
        mounts: Mapping[str, Path] | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> Finished:
        """Runs a program of the toolchain in `cwd`, which is the one folder of the machine that it sees.

        `mounts` are others: what is seen -> what is on the machine, all of them absolute; `cwd` may lie in one that is
        seen. `/host` is the whole machine: `chroot /host PROGRAM` runs one of its own programs. What was started and
        mounted is gone afterwards.
        """
        others = mounts or {}
        assert all(Path(place).is_absolute() for place in (str(cwd), *others))
        seen = {
            **({} if _is_in(cwd, others) else {str(cwd): cwd}),
            str(self.shared): self.shared,
            **others,
            "/host": Path("/"),
            **{str(device): device for device in DEVICES},
        }
        variables = {"HOME": str(self.shared), "PATH": PROGRAMS, "LC_ALL": "C.UTF-8", **(environment or {})}
        top = self.folder / "seen"  # empty but for those who mount there, each for itself
        top.mkdir(exist_ok=True)
        inside = ["env", "-i", f"--chdir={cwd}", *(f"{name}={value}" for name, value in variables.items())]
        script = [*_mount_all(self.root, seen, top), _shell("chroot", top, *inside, *arguments), "exit $?"]
        return _finish([*_alone(), "sh", "-c", "\n".join(script)], timeout_s)

    def package(
        self,
        action: str,
        package: Path,
        *options: str,
        scratch: Path,
        mounts: Mapping[str, Path] | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> Finished:
        """`swift build` or `swift test` of the package in a folder; what is built goes to `scratch`.

        Both may lie in what `mounts` has the toolchain see. Warnings are errors, and ONNX Runtime is there to link with
        and to run.
        """
        library = self.onnxruntime_library()
        command = ["swift", action, "-j", "2", "--scratch-path", str(scratch)]
        command += ["-Xswiftc", "-warnings-as-errors", "-Xcc", "-Werror", "-Xlinker", f"-L{library}"]
        # Headers of the C library and Foundation, compiled once for all packages: half of a small one's time.
        command += ["-Xswiftc", "-module-cache-path", "-Xswiftc", str(self.shared / "modules")]
        command += [*QUICK, *WHOLE, *options]
        if action == "build" and "--build-tests" not in options:  # SwiftPM finds tests in the index
            command.append("--disable-index-store")
        else:  # tests are for XCTest, and need no index of others' modules
            command += ["--disable-swift-testing", "-Xswiftc", "-index-ignore-system-modules"]
        others = {**(mounts or {}), **self.stand_ins()}
        if not _is_in(scratch, others):
            scratch.mkdir(parents=True, exist_ok=True)
            others = {str(scratch): scratch, **others}
        return self.run(
            command,
            cwd=package,
            mounts=others,
            environment={"LD_LIBRARY_PATH": str(library), **STOOD_IN, **(environment or {})},
            timeout_s=timeout_s,
        )

    def stand_ins(self) -> dict[str, Path]:
        """Where a command sees what STOOD_IN needs, and where that is on the machine."""
        return {"/quick/lib": self.root / LIBRARIES, **dict.fromkeys(STOOD_IN.values(), STAND_IN)}

    def onnxruntime_library(self) -> Path:
        """A folder with pip's ONNX Runtime under the names that a linker and a loader look for."""
        spec = find_spec("onnxruntime")
        assert spec
        assert spec.origin
        [library] = Path(spec.origin).with_name("capi").glob("libonnxruntime.so.*.*.*")
        folder = self.shared / library.name

        def copy(made: Path) -> None:
            shutil.copy(library, made / "libonnxruntime.so.1")
            (made / "libonnxruntime.so").symlink_to("libonnxruntime.so.1")

        make_alone(folder, copy)
        return folder


def toolchain_files() -> tuple[Path, ...]:
    """Identity of a toolchain and of the way it compiles packages."""
    return LOCK, Path(__file__), STAND_IN


@cache
def swift() -> Swift:
    """The toolchain, made on first use; skips the test if it is not available."""
    require(sys.platform == "linux", "Debian's Swift runs on Linux")
    require(not _why_not_alone(), _why_not_alone())
    try:
        return Swift(install(LOCK))
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
        raise


def install(lock: Path) -> Path:
    """The folder with all packages of `lock` unpacked, made once. Raises ToolError."""
    texts = [each.read_text(encoding="utf-8") for each in (lock, PARTS)]
    folder = cache_folder() / "swift" / key_of([*texts, NOT_UNPACKED.pattern])[:16]

    def make(made: Path) -> None:
        (made / "shared").mkdir()
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            debs = SUITE.download(read_lock(lock), Path(scratch), refresh=REFRESH)
            [largest] = (deb for deb in debs if deb.name.startswith(f"{LARGEST}_"))
            unpack([deb for deb in debs if deb != largest], made / "root", NOT_UNPACKED)
            unpack_parts(largest, made / "root", NOT_UNPACKED, PARTS, refresh=REFRESH)

    make_alone(folder, make)
    return folder


def _is_in(place: Path, mounts: Mapping[str, Path]) -> bool:
    """Whether a program finds a place in what is mounted for it."""
    return any(place.is_relative_to(each) for each in mounts)


def _mount_all(root: Path, seen: Mapping[str, Path], top: Path) -> list[str]:
    """Shell lines that lay out what a program sees in the folder `top`, for the process that runs them alone.

    Each program that they start takes a millisecond of a processor: one `mount` reads all mounts from a list, which is
    where /proc hides it.
    """
    own = {f"/{entry.name}": entry for entry in sorted(root.iterdir()) if not entry.is_symlink()}
    links = [entry for entry in sorted(root.iterdir()) if entry.is_symlink()]
    places = {**own, **seen}
    missing = _missing(places, own)
    folders = [place if places[place].is_dir() else str(Path(place).parent) for place in missing]
    files = [place for place in missing if not places[place].is_dir()]
    mounts = [
        _listed(source, f"{top}{place}", "none", "bind,ro" if place in own else "rbind")
        for place, source in places.items()
    ]
    mounts.append(_listed("none", f"{top}/proc", "proc", "defaults"))
    return [
        "set -e",
        _shell("mount", "-t", "tmpfs", "none", str(top)),
        _shell("mkdir", "-p", *(f"{top}{folder}" for folder in dict.fromkeys(("/tmp", "/proc", *folders)))),
        *(_shell("ln", "-s", str(link.readlink()), str(top / link.name)) for link in links),
        *(f": > {_shell(top.as_posix() + file)}" for file in files),
        f"{_shell('printf', LINES, *mounts)} > {_shell(top / 'proc/mounts')}",
        _shell("mount", "--all", "--fstab", top / "proc/mounts"),
        "set +e",
    ]


def _missing(places: Mapping[str, Path], own: Mapping[str, Path]) -> list[str]:
    """Places that an empty folder lacks. Those within one that is mounted before are made there if need be."""
    before: list[str] = []
    missing = []
    for place, source in places.items():
        around = [each for each in before if place.startswith(f"{each}/")]
        before.append(place)
        if not around:
            missing.append(place)
            continue
        outer = max(around, key=len)
        there = places[outer] / Path(place).relative_to(outer)
        if there.exists():  # a folder of the machine: it must stay as it is
            continue
        assert outer not in own, f"{place} would be made in the toolchain"
        if source.is_dir():
            there.mkdir(parents=True)
        else:
            there.parent.mkdir(parents=True, exist_ok=True)
            there.touch()
    return missing


def _listed(source: str | Path, target: str, kind: str, options: str) -> str:
    """A line of a list of mounts, as in /etc/fstab."""
    places = [re.sub(r"[\s\\]", lambda found: f"\\{ord(found[0]):03o}", str(each)) for each in (source, target)]
    return " ".join((*places, kind, options))


def _shell(*words: str | Path) -> str:
    return shlex.join(map(str, words))


def _alone() -> list[str]:
    """Starts a program with mounts and processes of its own: when it ends, all of them do."""
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    if not _is_root_a_mount():  # then it cannot be made private, which unshare does unless it is told not to
        command += ["--propagation", "unchanged"]
    return command if os.geteuid() == 0 else [*command, "--map-root-user"]


def _is_root_a_mount() -> bool:
    """Whether / is itself a mount: in a chroot it may be any folder."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return any(line.split()[4] == "/" for line in lines)


@cache
def _why_not_alone() -> str:
    """Why this user cannot mount; empty if mounting works."""
    if not shutil.which("unshare"):
        return "unshare of util-linux is missing"
    done = subprocess.run(
        [*_alone(), "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True, check=False
    )
    return f"a chroot of one's own needs root or user namespaces: {done.stderr.strip()}" if done.returncode else ""


def _finish(command: Sequence[str], timeout_s: float) -> Finished:
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        waits = _waits(process.pid)
        process.kill()
        output, _ = process.communicate()
        return Finished(-9, f"{output}\nended after {timeout_s} s\n{waits}")
    finally:
        process.kill()
    return Finished(process.returncode, output)


def _waits(pid: int) -> str:
    """Which function of the system each thread of a program and its children waits in."""
    lines = []
    for each in psutil.Process(pid).children(recursive=True):
        for thread in Path(f"/proc/{each.pid}/task").glob("*"):
            with contextlib.suppress(OSError):  # it has just ended
                words = [(thread / name).read_text(encoding="utf-8").strip() for name in ("comm", "wchan", "syscall")]
                lines.append(" ".join((f"{each.pid}/{thread.name}", *words)))
    return "\n".join(lines)


def main() -> None:
    if sys.argv[1:] != ["--lock"]:
        sys.exit(f"usage: {REFRESH}")
    LOCK.write_text(SUITE.lock(WANTED, NOT_NEEDED), encoding="utf-8")
    locked = [each for each in read_lock(LOCK) if each.package == LARGEST]
    with tempfile.TemporaryDirectory() as scratch:
        [largest] = SUITE.download(locked, Path(scratch), refresh=REFRESH)
        write_parts(largest, NOT_UNPACKED, PARTS)


if __name__ == "__main__":
    main()
