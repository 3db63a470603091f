"""A device on which scenarios of delivery happen, and what must be true after them."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

from tests.cases.delivery_releases import BUNDLED, FIRST, MODEL, SECOND, sum_of
from tests.cases.delivery_server import HONEST, Channel, releases

LOADS, FAILS, EXPIRED, WAITS, SAME, FROZEN = "ready", "failed", "expired", "waiting", "up-to-date", "frozen"


class Running(Protocol):
    """A program that runs: `tests/delivery_drivers/`."""

    def ask(self, command: str, /) -> Mapping[str, Any]: ...

    def send(self, command: str, /) -> Mapping[str, Any] | None: ...

    def kill(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Device:
    """A language's program on a device with storage of its own."""

    start: Callable[[], AbstractContextManager[Running]]
    """starts the app, for the first time or again"""
    kept: Callable[[], Path] | None = None
    """the folder with the state; None where it is no folder"""
    follows: bool = False
    """whether the platform follows redirects before the app hears of them, by rules of its own for http"""


@dataclass(kw_only=True)
class Stage:
    """A visit that goes on."""

    channel: Channel
    device: Device
    opened: AbstractContextManager[Running] | None = None
    app: Running | None = None
    version: str = BUNDLED
    """what a load must open"""

    def start(self) -> None:
        self.end()
        self.opened = self.device.start()
        self.app = self.opened.__enter__()

    def end(self) -> None:
        if self.opened:
            self.opened.__exit__(None, None, None)
        self.opened = self.app = None

    def ask(self, line: str) -> Mapping[str, Any]:
        assert self.app
        found = self.app.ask(line)
        assert "error" not in found, f"`{line}`: {found}"
        return found

    def update(self, phase: str, version: str, line: str = "update force") -> None:
        """An update ends in a phase, with a version in use: a new one is opened at once, others at the end."""
        found = self.ask(line)["states"][MODEL]
        assert (found["phase"], found["version"]) == (phase, version), found
        assert found["reason"] or phase in (LOADS, SAME, FROZEN), f"nobody knows why: {found}"
        if version != self.version or phase == LOADS:
            self.load(version)

    def load(self, version: str) -> None:
        """A load opens a version and it computes what that one computes."""
        found = self.ask("load")
        source = "bundled" if version == BUNDLED else "updater"
        assert (found["version"], found["source"]) == (version, source), found
        assert found["sum"] == pytest.approx(sum_of(version), abs=0.05), found
        self.version = version

    def begin_anew(self) -> None:
        """The app has FIRST alone, as at the beginning of the visit."""
        self.ask("remove")
        self.load(BUNDLED)
        self.ask("remove")
        self.channel.publish(lambda document: releases(document).pop(0))
        self.update(LOADS, FIRST)
        self.channel.reset()

    @property
    def folder(self) -> Path:
        assert self.device.kept
        return self.device.kept()


class Scenario(NamedTuple):
    """A server, publisher or disk does something to a device."""

    name: str
    attack: str
    """row of the table in docs/threats.md that it proves; empty where it is no attack"""
    happens: Callable[[Stage], object]


@dataclass(frozen=True, kw_only=True)
class Visit:
    """Scenarios on one device."""

    name: str
    scenarios: tuple[Scenario, ...]
    ends: str = SECOND
    """what an honest document brings afterwards"""
    is_new: bool = False
    """whether the app has nothing from the channel yet"""
    needs_folder: bool = False
    """whether it changes files of the device"""
    needs_process: bool = False
    """whether it is about starts of the app that only a process of its own counts"""
    is_apart: bool = False
    """whether the app forgets between scenarios what has come of a file"""
    on_pages: bool = True
    """whether a page runs code of its own in it: React Native runs the TypeScript that both have"""


def play(visit: Visit, channel: Channel, device: Device) -> None:
    """Raises AssertionError where the device does something else."""
    channel.restart()
    stage = Stage(channel=channel, device=device)
    try:
        stage.start()
        stage.load(BUNDLED)
        if not visit.is_new:
            stage.update(LOADS, FIRST)
        for each in visit.scenarios:
            _play(each, stage, visit)
        stage.start()
        stage.load(stage.version)
        channel.reset()
        channel.publish(number=HONEST)
        found = stage.ask("update force")["states"][MODEL]
        assert (found["phase"] in (LOADS, SAME), found["version"]) == (True, visit.ends), found
        stage.load(visit.ends)
    finally:
        stage.end()


def _play(scenario: Scenario, stage: Stage, visit: Visit) -> None:
    stage.channel.reset()
    try:
        if visit.is_apart or (stage.version != FIRST and not visit.is_new):
            stage.begin_anew()
        stage.channel.forget()
        scenario.happens(stage)
    except AssertionError as error:
        raise AssertionError(f"{scenario.name}: {error}") from error
