"""Isolated environments: a separate Python with another ONNX Runtime, made once and kept in the cache."""

import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar, Protocol

from packager.core.errors import ToolError
from packager.files.atomic import install_once
from packager.files.leftovers import remove_old
from packager.files.processes import children, commands, downloads
from packager.files.processes.children import python
from packager.files.processes.inherited import MODELS, PIP
from packager.files.store import key_of
from packager.files.user_cache import cache_folder

CHILD = Path(__file__).parents[1] / "session" / "session_child.py"
"""program that opens and runs models in any environment with Python"""
SIGNED = {"session.qdqisint8allowed": "1"}
"""session configuration that keeps S8S8 signed, as on ARM; by default ONNX Runtime converts it to U8S8 on x86"""
INSTALL_ATTEMPTS = 3


class Environment(Protocol):
    NAME: ClassVar[str]
    about: ClassVar[str]
    """contents and purpose, in one line"""

    def unsupported(self) -> str:
        """Why this machine cannot support it; empty if it can."""
        ...

    def missing(self) -> str:
        """Why it cannot be used yet, and how to install it; empty if it is installed."""
        ...

    def install(self) -> None:
        """Installs it, once. Raises ToolError; an interrupted install never counts as complete."""
        ...

    def command(self) -> tuple[str, ...]:
        """Command that runs a Python program there: append its path and arguments."""
        ...

    def variables(self) -> Mapping[str, str]:
        """Environment variables that `command` needs."""
        ...


class Shipped(Environment, Protocol):
    """An environment with the ONNX Runtime that the packages of a target contain or depend on."""

    PROGRAM: ClassVar[Path]
    """program that opens models there; uses the protocol of `session/session_child.py`"""
    ENTRIES: ClassVar[Mapping[str, str]]
    """session configuration with which it looks for the same kernels as on the users' devices"""
    INSTEAD: ClassVar[str]
    """what to ship for a kernel that it lacks, as the end of a hint"""

    @property
    def package(self) -> str:
        """Name and version of its package, in the notation of reports."""
        ...

    @property
    def display_name(self) -> str:
        """Name and version in messages."""
        ...

    def on(self, processor: str) -> Environment:
        """The same runtime on a processor with the feature `processor` (`Compiled.processor`), if there is a choice."""
        ...


def ensure(environment: Environment) -> None:
    """Installs `environment` if it is missing. Raises ToolError if this machine does not support it."""
    refuse_unsupported(environment)
    if environment.missing():
        environment.install()


def refuse_unsupported(environment: Environment) -> None:
    """Raises ToolError if this machine cannot have `environment`."""
    if reason := environment.unsupported():
        raise ToolError(f"this machine does not support the environment {environment.NAME}: {reason}")


INSTALL = re.compile(r"`mobpack doctor --install ([\w-]+)`")
"""The command in what `missing` says of an environment that is not installed."""


def not_installed(name: str, folder: Path) -> str:
    return "" if folder.is_dir() else f"not installed: run `mobpack doctor --install {name}`"


def folder_for(name: str, contents: object) -> Path:
    """Folder of the environment `name` with these `contents`, a JSON-compatible description of its parts.

    Other contents have another folder, so that a new pin never changes an environment in use.
    """
    python = [sys.implementation.cache_tag, sys.platform]
    return cache_folder() / "environments" / name / key_of([python, contents])[:16]


def make_once(folder: Path, make: Callable[[Path], None]) -> None:
    """Makes `make` fill `folder`, completely or not at all, unless it exists. Raises ToolError for a full or read-only
    disk."""
    try:
        remove_old(folder.parent.glob("tmp*"))  # of interrupted installs (install_once)
        install_once(folder, make)
    except OSError as error:
        raise ToolError(
            f"cannot make {folder}: {error.strerror or error}",
            hint="free some space on its disk, or set XDG_CACHE_HOME to a writable folder",
        ) from error


def install_locked(lock: Path, folder: Path, variables: Mapping[str, str] | None = None) -> None:
    """Unpacks the wheels of the hash-locked requirements file `lock` into `folder` with this Python's own pip.

    `variables` replace `${NAME}` in `lock`. No module is compiled: `try_out` compiles those that it imports.
    pip unpacks beside `folder` and renames: the system's temporary folder may be on another disk, or in memory.
    Raises ToolError; a wrong hash is not tried again.
    """
    command = [*python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-compile", "--require-hashes", "--no-deps", *downloads.WHEELS_ALONE]
    command += ["--target", str(folder), "-r", str(lock)]
    for attempt in range(1, INSTALL_ATTEMPTS + 1):
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            done = children.run(command, inherits=PIP, environment={"TMPDIR": scratch, **(variables or {})})
        output = done.stdout + done.stderr
        if done.returncode == 0:
            return
        if downloads.OTHER_HASH in output:
            raise ToolError(
                f"a package does not match the hash in {lock.name}:\n{commands.last_lines(output)}",
                hint="do not use the package: the registry serves a different file",
            )
        commands.refuse_full_disk(output, folder)
        if "No module named pip" in output:
            raise ToolError(f"{python()[0]} has no pip", hint="run: python -m ensurepip")
        shutil.rmtree(folder)
        folder.mkdir()
        time.sleep(2**attempt if attempt < INSTALL_ATTEMPTS else 0)
    raise ToolError(
        f"cannot install {lock.name} with pip:\n{commands.last_lines(downloads.without_retries(output))}",
        hint="check the network and the free disk space, then run again",
    )


def isolated_command() -> tuple[str, ...]:
    """Command of this Python without its site-packages (-S)."""
    return (*python(), "-S")


def isolated_variables(site: Path) -> dict[str, str]:
    """Variables that limit modules to `site` and the standard library, and keep the folder unchanged."""
    return {"PYTHONPATH": str(site), "PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONSAFEPATH": "1"}


def try_out(name: str, program: str, variables: Mapping[str, str]) -> None:
    """Runs the Python code `program` in a newly filled folder, which keeps the modules that it compiles.

    Raises ToolError when it fails.
    """
    commands.run(
        [*isolated_command(), "-c", program],
        what=f"trying out the environment {name}",
        inherits=MODELS,
        environment={**variables, "PYTHONDONTWRITEBYTECODE": ""},
        hint=f"run `mobpack doctor --install {name}` again; if it fails again, report it",
    )
