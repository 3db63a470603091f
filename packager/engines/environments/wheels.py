"""Environments that consist of wheels alone: a lock, and a program that tries them out."""

import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.core.errors import ToolError
from packager.engines.environments.environment import (
    folder_for,
    install_locked,
    isolated_command,
    isolated_variables,
    make_once,
    not_installed,
    try_out,
)

LINUX, ARM_LINUX, MAC = ("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")
"""Systems and processors, as Python names them."""


@dataclass(frozen=True, kw_only=True)
class Wheels:
    """An environment with the wheels of `LOCK`, in a folder named after its contents."""

    NAME: ClassVar[str]
    about: ClassVar[str]
    LOCK: ClassVar[Path]
    TRY: ClassVar[str]
    """Python code that fails if the wheels do not work here"""
    MACHINES: ClassVar[tuple[tuple[str, str], ...]]
    """systems and processors for which there are wheels"""

    def unsupported(self) -> str:
        here = (sys.platform, platform.machine())
        return "" if here in self.MACHINES else f"it has no wheels for {here[0]} on {here[1]}"

    def missing(self) -> str:
        return self.unsupported() or not_installed(self.NAME, self._folder())

    def install(self) -> None:
        if reason := self.unsupported():
            raise ToolError(f"the environment {self.NAME} cannot be installed: {reason}")
        make_once(self._folder(), self._make)

    def command(self) -> tuple[str, ...]:
        return isolated_command()

    def variables(self) -> Mapping[str, str]:
        return isolated_variables(self._folder())

    def identity(self) -> str:
        """The environment's contents, for keys of stored results."""
        return " ".join([*self.command(), *self.variables().values()])

    def _folder(self) -> Path:
        return folder_for(self.NAME, self.LOCK.read_text(encoding="utf-8"))

    def _make(self, folder: Path) -> None:
        install_locked(self.LOCK, folder)
        try_out(self.NAME, self.TRY, isolated_variables(folder))
