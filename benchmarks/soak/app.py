"""An app that loads, runs, cancels, updates and closes at random, and what is wrong with its answers."""

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.cases.delivery_releases import BUNDLED, MODEL, VERSIONS, sum_of
from tests.cases.delivery_stage import Running


class Network(Protocol):
    """Where the app's updates come from: `benchmarks/soak/network.py`."""

    def change(self, chance: random.Random) -> None:
        """Does something else from now on."""

    def heal(self) -> str:
        """Is honest from now on, and gives the newest version."""


HANG_S = 5.0
"""An answer that takes longer is a fault; updates have the patience that networks need."""
UPDATE_S = 120.0
HEAT_S = 120.0
"""at most, before heat may change: runtimes wait for up to a minute before they follow it"""
NEAR = 0.05
"""between sums of float32 numbers in another order"""
MOST_RUNS = 24
"""at once: options allow 32 to wait"""
ENDS = ("ready", "up-to-date", "failed", "waiting")
"""phases of an update that has ended"""


@dataclass(kw_only=True)
class Counts:
    """Numbers of what was done, and everything that was wrong."""

    actions: int = 0
    answers: int = 0
    cancelled: int = 0
    updates: int = 0
    kills: int = 0
    slowest_s: float = 0.0
    faults: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class App:
    """A program that runs, on a device."""

    running: Running
    network: Network
    random: random.Random
    counts: Counts
    has_pressure: bool
    has_heat: bool
    version: str = ""
    """of the open model; empty for none"""
    heat_ends: float = 0.0
    """on the clock of `time.monotonic`"""

    def act(self) -> None:
        """Does one thing at random."""
        actions = {self.runs: 12, self.load: 3, self.test: 1, self._close: 1, self._update: 2}
        if self.has_pressure:
            actions[self._pressure] = 2
        if self.has_heat:
            actions[self._heat] = 2
        [action] = self.random.choices(list(actions), list(actions.values()))
        action()
        self.counts.actions += 1

    def rest(self) -> None:
        """Nothing is open, nothing goes on: what is still there is the runtime's own."""
        self._close()

    def recover(self, is_killed: bool) -> None:
        """Checks that the app opens a verified model after anything, and that an honest network brings the newest."""
        self.load()
        number = self.network.heal()
        found = self._ask("update force", UPDATE_S)
        state = found.get("states", {}).get(MODEL, {})
        if state.get("phase") not in ("ready", "up-to-date") or state.get("version") != number:
            self._fault(f"an honest update to {number} gives {state or found}{' after a kill' if is_killed else ''}")
        self.load()
        if self.version != number:
            self._fault(f"a load opens {self.version}, the newest is {number}")

    def load(self) -> None:
        found = self._ask("load")
        self.version = str(found.get("version", ""))
        if self.version not in VERSIONS:
            self._fault(f"load: {found}")
            self.version = ""
            return
        self._compare("load", found["sum"])

    def runs(self, more: str = "") -> None:
        if not self.version:
            self.load()
        count = self.random.randint(1, MOST_RUNS)
        cancelled = self.random.choice((0, 0, self.random.randint(0, count)))
        found = self._ask(f"runs {count} {cancelled}{more}", UPDATE_S if more else HANG_S)
        if "sums" not in found:
            self._fault(f"runs: {found}")
            return
        for each in found["sums"]:
            self._compare("a run", each)
        if found["errors"]:
            self._fault(f"a run fails: {found['errors']}")
        if found["answers"] < count - cancelled:
            self._fault(f"{count - found['answers']} of {count} runs have no answer, {cancelled} were cancelled")
        self._took("a run", found["slowest"] / 1000, HANG_S)
        self.counts.answers += found["answers"]
        self.counts.cancelled += count - found["answers"]

    def _update(self) -> None:
        self.network.change(self.random)
        if self.random.random() < 0.5:
            self.runs(" update")
        else:
            found = self._ask("update force", UPDATE_S)
            phase = found.get("states", {}).get(MODEL, {}).get("phase")
            if phase not in ENDS:
                self._fault(f"update: {found}")
        self.counts.updates += 1

    def test(self) -> None:
        if not self.version:
            self.load()
        found = self._ask("test")
        if found.get("passed") is not True:
            self._fault(f"the self-test of {self.version} gives {found}")

    def _close(self) -> None:
        if self.version:
            self._ask("close")
        self.version = ""

    def _pressure(self) -> None:
        self._ask("pressure")

    def _heat(self) -> None:
        if time.monotonic() < self.heat_ends:
            return
        self.heat_ends = time.monotonic() + self.random.uniform(0.0, HEAT_S)
        self._ask(f"heat {self.random.choice(('hot', 'cool'))}")

    def _ask(self, line: str, limit_s: float = HANG_S) -> Mapping[str, Any]:
        began = time.monotonic()
        found = self.running.ask(line)
        self._took(f"`{line}`", time.monotonic() - began, limit_s)
        return found

    def _took(self, what: str, seconds: float, limit_s: float) -> None:
        if limit_s == HANG_S:
            self.counts.slowest_s = max(self.counts.slowest_s, seconds)
        if seconds > limit_s:
            self._fault(f"{what} takes {seconds:.1f} s")

    def _compare(self, what: str, found: float) -> None:
        expected = sum_of(self.version or BUNDLED)
        if abs(found - expected) > NEAR:
            self._fault(f"{what} of {self.version} gives {found}, not {expected:.3f}")

    def _fault(self, words: str) -> None:
        self.counts.faults.append(words)
