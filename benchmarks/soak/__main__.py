"""`python -m benchmarks.soak [--minutes N] [LANGUAGE ...]`: apps in random trouble, and what they keep of it.

In each language, a program with a generated package loads, runs, cancels, tests, closes and updates a model at random,
dozens of runs at once, under memory pressure and heat where a program can be told of them, from a server that fails at
random. A second device is killed at random moments. Every answer is compared with NumPy's. Memory, descriptors and
threads are counted while nothing is open. From ten minutes on, the results are written to docs/validation.md, each in
the place of the earlier one of its language.
"""

import argparse
import os
import platform
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from threading import Timer

from benchmarks.soak.app import App, Counts
from benchmarks.soak.measuring import Growth, Sample, growth, sample
from benchmarks.soak.network import Network
from tests.cases.delivery_language import Language, Start
from tests.cases.delivery_stage import Running
from tests.delivery_drivers import dart, kotlin, react_native, swift, web

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"
BEGIN, END = "<!-- written by python -m benchmarks.soak -->", "<!-- end of the soak -->"
HEAD = (
    *("runtime", "date", "minutes", "actions", "answers", "cancelled", "updates", "kills", "slowest"),
    *("MiB", "descriptors", "threads", "faults"),
)
ACTIONS = 40
"""between two samples"""
PAUSE_S = 0.1
"""after each action: five apps at once shall not wait for each other's processors"""
KILL_EVERY = 5
"""samples"""
KILLS_OF_A_DEVICE = 10
"""after which the app that is killed is a new one"""
NIGHT_MINUTES = 10
LEAST_SAMPLES = 4


@dataclass(frozen=True, kw_only=True)
class Program:
    """The app of a language, and what it can be told."""

    releases: Callable[[Path], AbstractContextManager[Language]]
    has_pressure: bool = True
    has_heat: bool = False


PROGRAMS: Mapping[str, Program] = {
    "Kotlin": Program(releases=kotlin.of_releases, has_heat=True),
    "Swift": Program(releases=swift.of_releases, has_heat=True),
    "React Native": Program(releases=react_native.of_releases, has_heat=True),
    "web": Program(releases=web.of_releases, has_pressure=False),
    "Dart": Program(releases=dart.of_releases),
}


@dataclass(kw_only=True)
class Soak:
    """One language for a while."""

    program: Program
    language: Language
    folder: Path
    chance: random.Random
    counts: Counts = field(default_factory=Counts)
    samples: list[Sample] = field(default_factory=list)

    def run(self, seconds: float) -> None:
        """Raises AssertionError where the program ends by itself."""
        network = Network(channel=self.language.channel)
        end = time.monotonic() + seconds
        with self._start(self.folder / "device") as running:
            app = self._app(running, network)
            while time.monotonic() < end:
                for _ in range(ACTIONS):
                    app.act()
                    time.sleep(PAUSE_S)
                app.rest()
                self.samples.append(sample(os.getpid()))
                if len(self.samples) % KILL_EVERY == 0:
                    self._kill(network)
            app.recover(is_killed=False)

    def _kill(self, network: Network) -> None:
        """Ends a second app in the middle of something, as a system does that needs memory."""
        device = self.folder / f"victim-{self.counts.kills // KILLS_OF_A_DEVICE}"
        with self._start(device) as running:
            timer = Timer(self.chance.uniform(0.05, 1.5), running.kill)
            timer.start()
            try:
                while running.send("load") and running.send("update force"):
                    network.change(self.chance)
            except (BrokenPipeError, OSError, AssertionError):
                pass  # it ended before it took the line
            finally:
                timer.cancel()
                timer.join()
        self.counts.kills += 1
        with self._start(device) as running:
            self._app(running, network).recover(is_killed=True)

    @property
    def _start(self) -> Start:
        """A process of its own for each device."""
        dying = self.language.dying
        return self.language.start if dying is None else lambda place: dying(place, {})

    def _app(self, running: Running, network: Network) -> App:
        return App(
            running=running,
            network=network,
            random=self.chance,
            counts=self.counts,
            has_pressure=self.program.has_pressure,
            has_heat=self.program.has_heat,
        )


@dataclass(frozen=True, kw_only=True)
class Row:
    """The result of one language."""

    name: str
    minutes: float
    counts: Counts
    growth: Growth | None
    """None where the time was too short for it, or the program ended"""

    @property
    def faults(self) -> tuple[str, ...]:
        grown = self.growth.faults() if self.growth else ("too few samples to tell whether memory grows",)
        return (*self.counts.faults, *grown)


def soaked(name: str, minutes: float, seed: int, folder: Path) -> Row:
    """Lets the app of a language run for some minutes."""
    program, counts = PROGRAMS[name], Counts()
    with program.releases(folder) as language:
        soak = Soak(program=program, language=language, folder=folder, chance=random.Random(seed), counts=counts)
        began = time.monotonic()
        try:
            soak.run(60 * minutes)
        except AssertionError as error:
            counts.faults.append(f"the program has ended: {error}")
        minutes = (time.monotonic() - began) / 60
    grown = growth(soak.samples) if len(soak.samples) >= LEAST_SAMPLES else None
    return Row(name=name, minutes=minutes, counts=counts, growth=grown)


def _alone(name: str, minutes: float, seed: int) -> Row:
    """Runs in a process of its own, below which nothing but this language is counted."""
    with tempfile.TemporaryDirectory() as scratch:
        return soaked(name, minutes, seed, Path(scratch))


def _line(row: Row) -> str:
    counts, grown = row.counts, row.growth
    pairs = ["-", "-", "-"]
    if grown:
        before, after = grown.before, grown.after
        pairs = [
            f"{before.memory_mib:.0f}, {after.memory_mib:.0f}",
            f"{before.descriptors}, {after.descriptors}",
            f"{before.threads}, {after.threads}",
        ]
    numbers = [counts.actions, counts.answers, counts.cancelled, counts.updates, counts.kills]
    day = f"{date.today()}, {platform.machine()}"
    cells = [
        row.name,
        day,
        f"{row.minutes:.0f}",
        *(f"{each:,}" for each in numbers),
        f"{counts.slowest_s:.1f} s",
        *pairs,
    ]
    said = "; ".join(dict.fromkeys(row.faults)) or "none"
    return f"| {' | '.join(cells)} | {said.replace('|', '/')} |"


def write(rows: Iterable[Row], page: Path) -> None:
    """Replaces what earlier runs have written of these languages."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    inside, _, after = rest.partition(END)
    lines = {line.split(" | ")[0]: line for line in inside.splitlines() if line.startswith("| ")}
    lines |= {f"| {row.name}": _line(row) for row in rows}
    head = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
    table = "\n".join([*head, *(lines[each] for name in PROGRAMS if (each := f"| {name}") in lines)])
    page.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*PROGRAMS, []], metavar="LANGUAGE", help=", ".join(PROGRAMS))
    parser.add_argument("--minutes", type=float, default=60.0, help="of each language; 60")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with ProcessPoolExecutor(max_workers=len(PROGRAMS), mp_context=get_context("fork")) as pool:
        names = asked.names or [*PROGRAMS]
        running = [pool.submit(_alone, name, asked.minutes, asked.seed) for name in names]
        for each in as_completed(running):
            print(each.exception() or _line(each.result()), flush=True)
        rows = [each.result() for each in running]
    if asked.minutes >= NIGHT_MINUTES:
        write(rows, PAGE)
    return 1 if any(row.faults for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
