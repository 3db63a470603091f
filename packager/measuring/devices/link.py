"""The interface of links to devices: a plug-in lists devices, runs programs there, and copies files."""

import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from packager.core.errors import ToolError
from packager.files.store import Store

READY = "device"
"""State of a device that takes commands."""


class GoneError(ToolError):
    """The device does not answer any more: its cable was pulled, it restarts, or its battery is empty."""


@dataclass(frozen=True, kw_only=True)
class ListedDevice:
    """A device as its link lists it, before it was asked anything."""

    serial: str
    state: str
    """`READY`, or why it takes no commands, in the link's word: `offline`, `unauthorized`"""


@dataclass(frozen=True, kw_only=True)
class Device:
    """A device that takes commands, and its answers about itself."""

    serial: str
    maker: str
    """`Google`"""
    model: str
    """`Pixel 8`"""
    soc: str
    """the chip as the system names it: `SM8650`, `Tensor G3`; empty if it does not tell"""
    api: int
    """API level of Android; 0 for another system"""
    release: str
    """version of the system: `14`"""
    abis: tuple[str, ...]
    """processors that it has native code for, the best first: `arm64-v8a`"""
    fingerprint: str
    """names the build of its system"""

    @property
    def name(self) -> str:
        """`Pixel 8 (SM8650, API 34)`"""
        chip = "" if self.soc == self.model else self.soc
        facts = ", ".join(filter(None, (chip, f"API {self.api}" if self.api else "")))
        return f"{self.model or self.serial} ({facts})" if facts else self.model or self.serial


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A command that has ended on a device."""

    code: int
    output: str
    complaints: str
    """its standard error"""


@dataclass(frozen=True, kw_only=True)
class DeviceProgram:
    """A program of mobpack's on a device: the class `main_class` of the archives `classes`."""

    main_class: str
    classes: tuple[str, ...]
    """paths on the device"""
    libraries: str
    """folder on the device with the native libraries"""
    folder: str
    """working folder, which exists"""
    abi: str
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


class Link(Protocol):
    """Each method raises `GoneError` for a device that does not answer, and ToolError for all else that fails."""

    NAME: ClassVar[str]
    HOME: ClassVar[str]
    """folder of mobpack's on every device"""
    MAIN_CLASS: ClassVar[str]
    """entry of the program that runs models there"""

    @property
    def halt(self) -> threading.Event:
        """Is set when the user interrupts: threads that wait for a device raise KeyboardInterrupt then, and leave it
        clean."""
        ...

    def listed(self) -> tuple[ListedDevice, ...]:
        """Every device of the link, by serial. Raises ToolError if its program is missing or does not work."""
        ...

    def advice(self, found: ListedDevice) -> str:
        """How to make a device ready that is not."""
        ...

    def describe(self, serial: str) -> Device: ...

    def shell(self, serial: str, script: str, *, timeout_s: float = ...) -> Finished:
        """Runs a script of the device's shell to its end."""
        ...

    def archives(self, classes: Sequence[Path], beside: Sequence[Path], store: Store) -> tuple[Path, ...]:
        """The program that runs models, with the `classes` of a package and those `beside` it, ONNX Runtime's first, in
        the form that devices load: a few archives, whose order is that of the class path."""
        ...

    def push(self, serial: str, source: Path, place: str) -> None:
        """Copies a file to the path `place` on the device, whose folder exists."""
        ...

    def pull(self, serial: str, place: str, target: Path) -> None: ...

    def start(self, serial: str, program: DeviceProgram, folder: Path, stderr: Any) -> "subprocess.Popen[Any]":
        """Starts a program that reads and writes lines of text. `folder` is the working folder of the link's own
        program, which ends with it. Pass the process to `children.end` when done."""
        ...

    def reconnect(self, serial: str) -> None:
        """Tries to reach a device again that has gone."""
        ...


def pause(link: Link, seconds: float) -> None:
    """Waits. Raises KeyboardInterrupt when the user interrupts."""
    if link.halt.wait(seconds):
        raise KeyboardInterrupt
