"""Plays visits with the program of a language, on a new device each."""

import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.cases import delivery_releases
from tests.cases.delivery_releases import BUNDLED, FIRST, MODEL, SECOND, sum_of
from tests.cases.delivery_scenarios import VISITS
from tests.cases.delivery_server import Channel, channel
from tests.cases.delivery_stage import Device, Running, Visit, play
from tests.cases.disks import tiny_disk
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import Certificate, Fault, trickle, trickled_headers

PATIENCE_MS = 1000
"""for what trickles"""
PLENTY_MS = 30_000
ENDED_S = 100.0
"""an update of a trickle has ended, on a busy machine, too; the whole of it takes minutes"""
Start = Callable[[Path], AbstractContextManager[Running]]
"""starts the program on the device whose storage is a folder"""


Dying = Callable[[Path, Mapping[str, str]], AbstractContextManager[Running]]
"""the same, with variables of its environment"""


@dataclass(frozen=True, kw_only=True)
class Language:
    """A channel, and a program that updates from it."""

    channel: Channel
    start: Start
    kept: Callable[[Path], Path] | None = None
    """the folder with the state, on the device in a folder"""

    dying: Dying | None = None
    """starts a process of the program with variables that end it; None where it has none"""
    impatient: Start | None = None
    """the same as `start` with `impatient` code; None where the program has a command for that"""
    follows: bool = False
    """whether the platform follows redirects on its own"""

    def device(self, folder: Path, *, needs_process: bool) -> Device:
        kept = partial(self.kept, folder) if self.kept else None
        process = partial(self.dying, folder, {}) if self.dying and needs_process else None
        return Device(start=process or partial(self.start, folder), kept=kept, follows=self.follows)

    def process(self, folder: Path) -> AbstractContextManager[Running]:
        """Starts a process of its own, for the app on the device in a folder."""
        assert self.dying
        return self.dying(folder, {})

    def play(self, visit: Visit, folder: Path) -> None:
        play(visit, self.channel, self.device(folder, needs_process=visit.needs_process))


@contextmanager
def goes_on(running: Running, folder: Path) -> Iterator[Running]:
    """A program that runs, as the app on the device in a folder: starting another one takes longer."""
    found = running.ask(f"device {folder}")
    assert "error" not in found, found
    yield running


@contextmanager
def serving_pages(target: str, folder: Path) -> Iterator[Channel]:
    """The same for a browser, for which this machine is as good as an address with https."""
    with channel(delivery_releases.publish(target, folder / "channel"), None) as served:
        yield served


@contextmanager
def serving(target: str, folder: Path) -> Iterator[tuple[Channel, Certificate]]:
    """A channel with the releases for a target."""
    pair = certificate(folder)
    with channel(delivery_releases.publish(target, folder / "channel"), pair) as served:
        yield served, pair


def visits(chosen: Iterable[Visit] = VISITS) -> pytest.MarkDecorator:
    """Has a test run for each visit."""
    return pytest.mark.parametrize("visit", chosen, ids=lambda each: each.name)


def fills_up(language: Language, folder: Path) -> None:
    """The disk of the updater's folder is full while it updates, and has room afterwards."""
    assert language.kept
    assert language.dying
    language.channel.reset()
    place, aside = folder / "device", folder / "aside"
    with language.dying(place, {}) as app:
        assert app.ask("update force")["states"][MODEL]["version"] == FIRST
    kept = language.kept(place)
    shutil.move(kept, aside)
    kept.mkdir()
    with tiny_disk(kept, kilobytes=800):
        shutil.copytree(aside, kept, dirs_exist_ok=True)
        filler = kept / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(bytes(512)):
                pass
        language.channel.show(3)
        with language.dying(place, {}) as app:
            _is(app, "load", BUNDLED, FIRST)
            found = app.ask("update force")["states"][MODEL]
            assert (found["phase"], found["version"]) == ("failed", FIRST), found
            assert found["reason"], found
            _is(app, "load", BUNDLED, FIRST)
            filler.unlink()
            found = app.ask("update force")["states"][MODEL]
            assert (found["phase"], found["version"]) == ("ready", SECOND), found
            _is(app, "load", SECOND)


def trickles(language: Language, folder: Path, fault: Fault, *, is_document: bool) -> None:
    """A server sends a byte now and then, which none of the timeouts of connections ends: the update does so itself."""
    channel, place = language.channel, folder / "device"
    channel.reset()
    with language.start(place) as app:
        assert app.ask("update force")["states"][MODEL]["version"] == FIRST
    channel.show(3)
    channel.on_every_document(fault) if is_document else channel.on_blobs(fault)
    with (language.impatient or partial(_impatient, language, is_document))(place) as app:
        began = time.monotonic()
        found = app.ask("update force")["states"][MODEL]
        assert (found["phase"], found["version"]) == ("failed", FIRST), found
        assert "takes too long" in found["reason"], found
        assert PATIENCE_MS / 1000 <= time.monotonic() - began < ENDED_S
        _is(app, "load", FIRST)
    channel.address.files.faults_by_path.clear()
    with language.start(place) as app:
        found = app.ask("update force")["states"][MODEL]
        assert (found["phase"], found["version"]) == ("ready", SECOND), found
        _is(app, "load", SECOND)


@contextmanager
def _impatient(language: Language, is_document: bool, folder: Path) -> Iterator[Running]:
    with language.start(folder) as app:
        app.ask("patience {} {}".format(*((PATIENCE_MS, PLENTY_MS) if is_document else (PLENTY_MS, PATIENCE_MS))))
        yield app


def impatient(script: str) -> tuple[str, int]:
    """The JavaScript of a package with less patience for files, and a little for documents: the one before a file must
    come. The second value counts the numbers that were changed."""
    text, documents = re.subn(r"\b(DOCUMENT_MS\d*) = [\d_e]+", rf"\1 = {3 * PATIENCE_MS}", script)
    text, files = re.subn(r"\b(FILE_MS\d*) = [\d_e]+", rf"\1 = {PATIENCE_MS}", text)
    return text, documents + files


TRICKLED: Mapping[str, tuple[Fault, bool]] = {
    "a document": (trickle, True),
    "headers of a document": (trickled_headers, True),
    "a file": (trickle, False),
    "headers of a file": (trickled_headers, False),
}


def trickling(*answers: str) -> pytest.MarkDecorator:
    """Has a test run for these answers that trickle, or for all: JavaScript has one clock for headers and content."""
    chosen = answers or tuple(TRICKLED)
    return pytest.mark.parametrize(("fault", "is_document"), [TRICKLED[each] for each in chosen], ids=chosen)


def _is(app: Running, line: str, *versions: str) -> None:
    """A load opens one of the versions: where nothing can be written down, it may be the app's own."""
    found = app.ask(line)
    assert found.get("version") in versions, found
    assert found["sum"] == pytest.approx(sum_of(found["version"]), abs=0.05), found
