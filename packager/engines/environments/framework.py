"""Isolated environments with frameworks whose models mobpack imports.

Frameworks need other versions of protobuf and NumPy than mobpack and than each other, and locked wheels give the same
file in later years. Therefore they are no extras of mobpack.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from packager.engines.environments.environment import (
    folder_for,
    install_locked,
    isolated_command,
    isolated_variables,
    make_once,
    not_installed,
    try_out,
)


@dataclass(frozen=True, kw_only=True)
class Framework:
    """The wheels of one lock, in a folder of their own."""

    name: str
    about: str
    """contents and size on disk, in one line"""
    lock: Path
    """hash-locked requirements, without packages that need compiling"""
    trial: str
    """Python code that runs once after the installation, and must succeed"""
    borrowed: str = ""
    """a package that is too large to install again: that of mobpack's own Python, found behind those of the lock"""
    borrowed_from: str = ""
    """how to install it"""
    settings: tuple[tuple[str, str], ...] = ()
    """environment variables of the framework's own"""

    def missing(self) -> str:
        """Why it cannot be used yet, and how to install it; empty if it is installed."""
        if self.borrowed and find_spec(self.borrowed) is None:
            return f"without the package {self.borrowed}: run `{self.borrowed_from}`"
        return not_installed(self.name, self.folder())

    def install(self) -> None:
        """Installs it, once. Raises ToolError; an interrupted install never counts as complete."""
        make_once(self.folder(), self._make)

    def command(self) -> tuple[str, ...]:
        """Command that runs a Python program there: append its path and arguments."""
        return isolated_command()

    def variables(self) -> Mapping[str, str]:
        """Environment variables that `command` needs."""
        return self.variables_in(self.folder())

    def folder(self) -> Path:
        """Where it lies once it is installed."""
        return folder_for(self.name, self.lock.read_text(encoding="utf-8"))

    def variables_in(self, folder: Path) -> dict[str, str]:
        """Like `variables`, for an installation in `folder`."""
        found = find_spec(self.borrowed) if self.borrowed else None
        behind = [str(Path(found.origin).parents[1])] if found and found.origin else []
        places = os.pathsep.join([str(folder), *behind])
        return {**isolated_variables(folder), "PYTHONPATH": places, **dict(self.settings)}

    def _make(self, folder: Path) -> None:
        install_locked(self.lock, folder)
        try_out(self.name, self.trial, self.variables_in(folder))
