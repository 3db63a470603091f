"""Tells tales to the program of a language, on a new device each."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import delivery_releases
from tests.delivery_server import Channel, channel
from tests.delivery_tales import TALES, Device, Running, Tale, tell
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import Certificate

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
    """starts the program with variables that end it; None where it has none"""
    follows: bool = False
    """whether the platform follows redirects on its own"""

    def device(self, folder: Path) -> Device:
        kept = (lambda: self.kept(folder)) if self.kept else None
        return Device(start=lambda: self.start(folder), kept=kept, follows=self.follows)

    def tell(self, tale: Tale, folder: Path) -> None:
        tell(tale, self.channel, self.device(folder))


@contextmanager
def goes_on(running: Running, folder: Path) -> Iterator[Running]:
    """A program that runs, as the app on the device in a folder: starting another one takes longer."""
    assert running.ask(f"device {folder}") == {}
    yield running


@contextmanager
def serving(target: str, folder: Path) -> Iterator[tuple[Channel, Certificate]]:
    """A channel with the releases for a target."""
    pair = certificate(folder)
    with channel(delivery_releases.publish(target, folder / "channel"), pair) as served:
        yield served, pair


def told(*, has_folder: bool = True) -> pytest.MarkDecorator:
    """Has a test run for each tale that a language can be told."""
    tales = [each for each in TALES if has_folder or not each.needs_folder]
    return pytest.mark.parametrize("tale", tales, ids=lambda each: each.name)
