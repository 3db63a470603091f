"""A device as a runner: comparisons and bisections run on it as on any other."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from packager.core.errors import ModelError
from packager.engines.environments import SIGNED
from packager.engines.runners import Outcome, Runnable, Runner, Session
from packager.engines.runners.runner import SUMS_IN_16_BITS
from packager.files.hashes import sha256_of
from packager.measuring.devices.device_opening import Equipped, of_file
from packager.measuring.devices.device_session import DeviceSession
from packager.measuring.devices.link import GoneError
from packager.providers import provider_of

HALF = "fp16"
"""Part of the names of options that let a provider compute in 16 bits."""


@dataclass(frozen=True, kw_only=True)
class DeviceRunner:
    equipped: Equipped
    provider: str
    keeps: frozenset[str] = frozenset()
    """sha256 of files that stay on the device"""
    losses: list[str] = field(default_factory=list, compare=False)
    """why the device has gone, once it has: nothing is tried after that"""

    @property
    def NAME(self) -> str:  # noqa: N802
        return "device"

    @property
    def OPENS(self) -> str:  # noqa: N802
        return self.provider

    @property
    def ROUNDING(self) -> float:  # noqa: N802
        options = self._options()
        is_half = any(HALF in name.lower() and value == "1" for name, value in options.items())
        return SUMS_IN_16_BITS if is_half else 0.0

    @property
    def ENGINE(self) -> str:  # noqa: N802
        return ""

    @property
    def about(self) -> str:
        return f"{self.provider} on {self.equipped.device.name}"

    def label(self) -> str:
        return f"device {self.equipped.device.serial} {self.provider}"

    def identity(self) -> str:
        """None: what a device computes is asked every time."""
        return ""

    def missing(self) -> str:
        return self.losses[0] if self.losses else ""

    def cannot_open(self, model: Runnable) -> str:
        return ""

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        with _noted(self.losses):
            opening = of_file(
                self.equipped,
                model,
                self.provider,
                options=self._options(),
                entries=SIGNED,
                is_kept=sha256_of(model.path) in self.keeps,
            )
            session = _Session(self.equipped, opening, folder)
        session.losses = self.losses
        # Results of the CPU must not be taken for the provider's.
        if session.placed == 0 and not provider_of(self.provider).HIDES_NODES:
            session.__exit__(None, None, None)
            raise ModelError(f"{self.provider} takes no node of it", hint="disable this provider for this model")
        return session

    def _options(self) -> Mapping[str, str]:
        return provider_of(self.provider).options()


class _Session(DeviceSession):
    losses: list[str]

    def run(self, sample: Path, folder: Path) -> Outcome:
        with _noted(self.losses):
            return super().run(sample, folder)


@contextmanager
def _noted(losses: list[str]) -> Iterator[None]:
    """Notes that the device has gone in the block."""
    try:
        yield
    except GoneError as error:
        losses.append(error.message)
        raise


def device_runners(
    equipped: Equipped, providers: Iterable[str], keeps: frozenset[str] = frozenset()
) -> tuple[list[Runner], list[str]]:
    """Providers of a device as runners, and the list to which they add the reason if it goes. Their names differ from
    object to object, where those of other runners are fixed."""
    losses: list[str] = []
    made = [DeviceRunner(equipped=equipped, provider=name, keeps=keeps, losses=losses) for name in providers]
    return [cast(Runner, each) for each in made], losses
