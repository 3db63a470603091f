"""Kills a program at each of its changes of the updater's folder, and looks what the app opens afterwards."""

import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from packager.engines.environments import zig
from tests.cases.delivery_language import Dying, Language, Start
from tests.cases.delivery_releases import BUNDLED, FIRST, MODEL, SECOND, sum_of
from tests.cases.delivery_server import Channel
from tests.nights import at_night
from tests.toolchain import c_library
from tests.toolchain.kept import kept

SOURCE = Path(__file__).parents[1] / "toolchain" / "killing.c"
SEED = 7


@cache
def library() -> Path:
    """The library that ends a process, for LD_PRELOAD."""

    def make(folder: Path) -> None:
        c_library.build(SOURCE, folder / "killing.so", "-O1")

    return kept("killing", make, SOURCE, zig.version()) / "killing.so"


@dataclass(frozen=True, kw_only=True)
class Victim:
    """A program that is killed, and one that is started after it."""

    channel: Channel
    start: Start
    dying: Dying
    kept: Callable[[Path], Path]
    """the folder with the state, on the device in a folder"""
    scratch: Path

    @classmethod
    def of(cls, language: Language, scratch: Path) -> "Victim":
        assert language.dying
        assert language.kept
        return cls(
            channel=language.channel, start=language.start, dying=language.dying, kept=language.kept, scratch=scratch
        )

    def variables(self, device: Path, at: int, *, is_half: bool = False) -> Mapping[str, str]:
        below = self.kept(device)
        half = {"MOBPACK_KILL_HALF": "1"} if is_half else {}
        return {
            "LD_PRELOAD": str(library()),
            "MOBPACK_KILL_BELOW": str(below),
            "MOBPACK_KILL_AT": str(at),
            "MOBPACK_KILL_COUNT": str(device / "changes.txt"),
            **half,
        }

    def installed(self, version: str) -> Path:
        """A device whose app has a version from the channel, or only its own."""
        device = self.scratch / f"with-{version}"
        if not device.exists():
            self.channel.reset()
            with self.start(device) as app:
                assert app.ask("load")["version"] == BUNDLED
                if version != BUNDLED:
                    assert app.ask("update force")["states"][MODEL]["phase"] == "ready"
                    assert app.ask("load")["version"] == version
            self.kept(device).mkdir(parents=True, exist_ok=True)
        return device

    def copied(self, version: str, name: str) -> Path:
        device = self.scratch / name
        shutil.rmtree(device, ignore_errors=True)
        shutil.copytree(self.installed(version), device, symlinks=True)
        return device

    def changes(self, version: str) -> list[str]:
        """The changes that an update to SECOND and the load after it make, in their order."""
        device = self.copied(version, "counted")
        self.channel.reset()
        self.channel.show(3)
        with self.dying(device, self.variables(device, 0)) as app:
            found = app.ask("update force")["states"][MODEL]
            assert (found["phase"], found["version"]) == ("ready", SECOND), found
            assert app.ask("load")["version"] == SECOND
        lines = (device / "changes.txt").read_text(encoding="utf-8").splitlines()
        return [each.partition(" ")[2] for each in lines]

    def _dies(self, device: Path, variables: Mapping[str, str]) -> bool:
        """Whether the program ends during an update and a load, or before it answers at all."""
        try:
            with self.dying(device, variables) as app:
                return app.send("update force") is None or app.send("load") is None
        except AssertionError as error:
            if "at its start" in str(error):
                return True
            raise

    def kill(self, version: str, at: int, *, is_half: bool = False) -> None:
        """The app opens a verified model after the program was ended at a change, and gets the newest one."""
        device = self.copied(version, "killed")
        self.channel.reset()
        self.channel.show(3)
        died = self._dies(device, self.variables(device, at, is_half=is_half))
        with self.start(device) as app:
            found = app.ask("load")
            assert found.get("version") in (version, SECOND), f"killed at {at} ({died}): {found}"
            assert found["sum"] == pytest.approx(sum_of(found["version"]), abs=0.05), found
            state = app.ask("update force")["states"][MODEL]
            assert (state["phase"] in ("ready", "up-to-date"), state["version"]) == (True, SECOND), f"{at}: {state}"
            found = app.ask("load")
            assert (found["version"], found["sum"]) == (SECOND, pytest.approx(sum_of(SECOND), abs=0.05)), found
        assert died, f"the program has survived change {at}"


def sampled(changes: list[str], count: int) -> list[int]:
    """Numbers of changes, spread over all of them: one of each part, and the last."""
    number = len(changes)
    if number <= count:
        return list(range(1, number + 1))
    chosen = random.Random(SEED)
    parts = [range(1 + number * part // count, 1 + number * (part + 1) // count) for part in range(count)]
    return sorted({*(chosen.choice(part) for part in parts)})


def kill_everywhere(victim: Victim, version: str, count: int) -> int:
    """Kills the program at `count` of its changes, spread over all, or at each for 0; gives how many there were.

    A write is cut in half.
    """
    changes = victim.changes(version)
    assert {"write", "pwrite"} & set(changes), changes
    assert "rename" in changes, changes
    for at in sampled(changes, count or len(changes)):
        victim.kill(version, at, is_half=changes[at - 1].endswith("write"))
    return len(changes)


SWEEPS = (
    pytest.param(FIRST, 5, id="from the release before"),
    pytest.param(BUNDLED, 2, id="from the app's own"),
    *at_night(
        pytest.param(FIRST, 0, id="everywhere, from the release before"),
        pytest.param(BUNDLED, 0, id="everywhere, from the app's own"),
    ),
)
"""what the app has before, and at how many changes it is killed; 0: at each"""
