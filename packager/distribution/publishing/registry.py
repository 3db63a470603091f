"""Protocol of registries, and the values that publishing passes along: requests, their states and outcomes."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Protocol

from packager.distribution.publishing.release import ReleaseToPublish


class State(StrEnum):
    """State of a request's content at the registry."""

    ABSENT = "absent"
    """nothing is there, or only the beginning of it: an upload that was cut"""
    STARTED = "started"
    """the registry has it and is at work: waiting for it is left"""
    SAME = "already there"
    OTHER = "other bytes"


@dataclass(frozen=True, kw_only=True)
class RegistryRequest:
    """A request that changes a registry."""

    registry: str
    """the registry's name, as in `--to`"""
    method: str
    """method of HTTP, or the command that sends it: `PUT`, `npm publish`"""
    address: str
    file: str
    """path in the release, or the name of what is made of it"""
    size_bytes: int | None
    """None if it depends on what the registry has"""
    sha256: str
    """of the content; empty if it depends on what the registry has"""
    parts: tuple[str, ...] = ()
    """names of the files inside, where it contains several"""
    note: str = ""
    content: bytes | Path | None = None
    """None if it depends on what the registry has"""
    version: str = ""
    """the version that a list gets; empty if the content is sent as it is"""

    @property
    def path(self) -> Path:
        """The file that is sent. For requests whose content is one."""
        assert isinstance(self.content, Path)
        return self.content


@dataclass(frozen=True, kw_only=True)
class RegistryOutcome:
    """A request, and how it ended: `sent`, `already there`, `not sent`, `planned`."""

    request: RegistryRequest
    result: str
    words: str = ""
    """the registry's next step, if there is one"""


@dataclass(frozen=True, kw_only=True)
class PublishingSession:
    """Surroundings of a run: variables of the environment, waiting, and messages for the user."""

    variables: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    sleep: Callable[[float], None] = time.sleep
    say: Callable[[str], None] = lambda text: None


class TransientError(Exception):
    """A failure that may be gone at the next attempt: a cut connection, 429 or 5xx."""

    def __init__(self, message: str, *, wait_s: float | None = None, is_refusal: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.is_refusal = is_refusal
        """whether the registry has surely not taken the request: 429 and 503"""
        self.wait_s = wait_s
        """the time that the registry asks to wait; None if it names none"""


class ConflictError(Exception):
    """The registry says that this version is there: its state is to be read again."""


class Registry(Protocol):
    """A kind of registry. Fields of a plug-in are its settings, all of them texts; `address` is what follows `--to
    NAME=`."""

    NAME: ClassVar[str]

    @property
    def address(self) -> str: ...

    def plan(self, release: ReleaseToPublish, folder: Path) -> tuple[RegistryRequest, ...]:
        """The requests in their order; what they send and is not in the release is written to `folder`. Asks nobody.

        Raises ConfigError if the release has nothing for this registry, or lacks something that it requires.
        """
        ...

    def state(self, request: RegistryRequest, session: PublishingSession) -> State:
        """Asks the registry and changes nothing. Raises ToolError, TransientError."""
        ...

    def send(self, request: RegistryRequest, session: PublishingSession) -> str:
        """Sends the request, once, and returns words about a next step, if there is one.

        Raises TransientError if another attempt may help, ConflictError if the version is there, ToolError.
        """
        ...
