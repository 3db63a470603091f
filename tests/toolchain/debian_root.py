"""A folder with the programs of a newer Debian, to `chroot` into: locked packages, unpacked without their scripts."""

import fcntl
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from packager.core.errors import ToolError
from packager.engines.environments.debian import unpack_deb
from packager.engines.environments.environment import make_once
from packager.files.atomic import atomic_file
from packager.files.hashes import sha256_of
from packager.files.processes import commands, downloads
from packager.files.store import key_of
from packager.files.user_cache import cache_folder

LINE = re.compile(r"(?P<package>[^\s=]+)=(?P<version>\S+) (?P<sha256>[0-9a-f]{64})(?: (?P<place>\S+\.deb))?")
APT_HELPER = Path("/usr/lib/apt/apt-helper")
"""Fetches files whose places are known, by the machine's own settings of apt."""
MERGED = ("bin", "lib", "lib64", "sbin")
"""Links to folders of /usr, which a package of Debian makes in its script."""
APT_CONF = """\
Dir::State::Lists "{own}/lists"; Dir::State::status "{own}/status"; Dir::Cache "{own}";
Dir::Etc::SourceList "{own}/sources.list"; Dir::Etc::SourceParts "-";
APT::Sandbox::User "root"; APT::Install-Recommends "false"; Acquire::Languages "none"; Acquire::Retries "3";
"""


@dataclass(frozen=True)
class Locked:
    """One package of a lock."""

    package: str
    version: str
    sha256: str
    place: str | None = None
    """path on the mirror"""

    @property
    def name(self) -> str:
        """The name that apt gives to the file: some begin with a number that their places lack."""
        assert self.place
        return f"{self.package}_{self.version.replace(':', '%3a')}_{self.place.rpartition('_')[2]}"


def read_lock(lock: Path) -> tuple[Locked, ...]:
    """The packages of a lock file, a line each: `name=version sha256`, and the place. Raises ToolError for others."""
    packages = []
    for number, line in enumerate(lock.read_text(encoding="utf-8").splitlines(), 1):
        found = LINE.fullmatch(line)
        if not found:
            raise ToolError(f"{lock.name}, line {number}: not `name=version sha256`: {line}")
        packages.append(Locked(**found.groupdict()))
    return tuple(packages)


@dataclass(frozen=True)
class Suite:
    """A release of Debian on the machine's own mirror; lists of what it has are kept in the cache."""

    name: str

    def download(self, packages: Sequence[Locked], folder: Path, *, refresh: str) -> list[Path]:
        """Has apt put the packages into `folder`; `refresh` is the command that locks newer versions.

        Lists of what the mirror has take apt 2 s of a processor to fetch and to read: they are for packages that are
        not in their places. Raises ToolError when the mirror has one no more, does not answer, or gives other bytes
        than the locked ones.
        """
        if self._fetched(packages, folder):
            return check(packages, folder)
        command = ["apt-get", "-q", "download", *(f"{each.package}={each.version}" for each in packages)]
        done = self._run(command, folder)
        if done.returncode != 0:  # the lists may be missing, or too old to know them
            self._run(["apt-get", "-q", "update"], folder)
            done = self._run(command, folder)
        if gone := re.findall(r"Version '(\S+)' for '(\S+)' was not found|Unable to locate package (\S+)", done.stderr):
            raise ToolError(
                f"the mirror of {self.name} no longer has {', '.join(filter(None, gone[0]))}",
                hint=f"lock the versions that it has now with: {refresh}",
            )
        if done.returncode != 0:
            commands.refuse_full_disk(done.stderr, folder)
            raise ToolError(
                f"cannot fetch packages of {self.name}: {commands.last_lines(done.stderr, 3)}",
                hint="check the network, then run again",
            )
        return check(packages, folder)

    def installed(
        self,
        name: str,
        lock: Path,
        left_out: re.Pattern[str],
        *,
        refresh: str,
        finish: Callable[[Path], None] = lambda root: None,
    ) -> Path:
        """A folder of the cache, made once for a lock: `root` has its packages without the files whose paths match
        `left_out`, as `finish` leaves them; `shared` is empty. Raises ToolError."""
        folder = cache_folder() / name / key_of([lock.read_text(encoding="utf-8"), left_out.pattern])[:16]

        def make(made: Path) -> None:
            (made / "shared").mkdir()
            with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
                unpack(self.download(read_lock(lock), Path(scratch), refresh=refresh), made / "root", left_out)
            finish(made / "root")

        make_alone(folder, make)
        return folder

    def _fetched(self, packages: Sequence[Locked], folder: Path) -> bool:
        """Whether all packages were in their places."""
        if not APT_HELPER.is_file() or not all(each.place for each in packages):
            return False
        mirror = downloads.debian_mirror()
        command = [str(APT_HELPER), "download-file"]
        for each in packages:
            command += [f"{mirror}/{each.place}", str(folder / each.name)]
        return self._run(command, folder).returncode == 0

    def lock(self, wanted: Sequence[str], left_out: re.Pattern[str]) -> str:
        """A lock of `wanted` and all dependencies except `left_out`."""
        with tempfile.TemporaryDirectory() as scratch:
            self._asked(["apt-get", "-q", "update"], Path(scratch))
            simulated = self._asked(["apt-get", "-s", "install", *wanted], Path(scratch))
            names = [name for name in re.findall(r"^Inst (\S+)", simulated, re.MULTILINE) if not left_out.match(name)]
            shown = self._asked(["apt-cache", "show", "--no-all-versions", *names], Path(scratch))
        entries = [dict(re.findall(r"^(\w+): (.*)$", each, re.MULTILINE)) for each in shown.strip().split("\n\n")]
        return "".join(sorted(map(_line, entries)))

    def _asked(self, command: Sequence[str], folder: Path) -> str:
        done = self._run(command, folder)
        if done.returncode != 0:
            raise ToolError(f"{' '.join(command[:3])} failed: {commands.last_lines(done.stderr, 3)}")
        return done.stdout

    def _run(self, command: Sequence[str], folder: Path) -> "subprocess.CompletedProcess[str]":
        own = cache_folder() / "apt" / f"{self.name}-alone"
        for part in ("lists", "archives"):
            (own / part / "partial").mkdir(parents=True, exist_ok=True)
        if not (own / "status").is_file():
            (own / "status").touch()  # nothing counts as installed
        sources, line = own / "sources.list", f"deb {downloads.debian_mirror()} {self.name} main\n"
        if not sources.is_file() or sources.read_text(encoding="utf-8") != line:  # apt reads lists again after it
            sources.write_text(line, encoding="utf-8")
        with atomic_file(own / "apt.conf") as settings:  # apt of another process may be reading it
            settings.write(APT_CONF.format(own=own).encode())
        variables = {**os.environ, "APT_CONFIG": str(own / "apt.conf"), "LC_ALL": "C"}
        program, *rest = command
        kept = [program, "-o", "Dir::Cache::pkgcache=pkgcache.bin", *rest]  # settings of images of containers have none
        return subprocess.run(kept, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def _line(entry: Mapping[str, str]) -> str:
    """The line of a lock for a package of which apt tells."""
    return f"{entry['Package']}={entry['Version']} {entry['SHA256']} {entry['Filename']}\n"


def check(packages: Sequence[Locked], folder: Path) -> list[Path]:
    """The .deb files of `folder`, as `packages` are ordered. Raises ToolError where bytes are not the locked ones."""
    found: Mapping[tuple[str, ...], Path] = {
        tuple(unquote(path.name).split("_")[:2]): path for path in folder.glob("*.deb")
    }
    debs = [found[each.package, each.version] for each in packages]
    for each, deb in zip(packages, debs, strict=True):
        if (sha256 := sha256_of(deb)) != each.sha256:
            raise ToolError(
                f"{each.package}={each.version} is not the locked file: sha256 {sha256}, expected {each.sha256}",
                hint="the mirror serves other bytes than the lock names; do not use them",
            )
    return debs


def unpack(debs: Sequence[Path], root: Path, left_out: re.Pattern[str]) -> None:
    """Fills `root`: files whose path begins with a match of `left_out` stay packed."""
    for name in MERGED:
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(f"usr/{name}")

    def is_wanted(path: PurePosixPath) -> bool:
        return not left_out.match(str(path))

    for deb in debs:
        unpack_deb(deb, root, is_wanted)
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/:/bin/sh\n", encoding="utf-8")
    (root / "etc" / "group").write_text("root:x:0:\n", encoding="utf-8")


def make_alone(folder: Path, make: Callable[[Path], None]) -> None:
    """As make_once; other processes wait for the one that makes it, as each would fetch hundreds of megabytes."""
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        make_once(folder, make)
