"""A device as a runner: comparisons and bisections run on it as on any other."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from packager.core.errors import ModelError
from packager.devices.device_session import DeviceSession, Equipped, of_file
from packager.environments import SIGNED
from packager.files.hashes import sha256_of
from packager.providers import provider_of
from packager.runners import Runnable, Runner, Session
from packager.runners.runner import SUMS_IN_16_BITS

HALF = "fp16"
"""Part of the names of options that let a provider compute in 16 bits."""


@dataclass(frozen=True, kw_only=True)
class DeviceRunner:
    equipped: Equipped
    provider: str
    keeps: frozenset[str] = frozenset()
    """sha256 of files that stay on the device"""

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
        return ""

    def cannot_open(self, model: Runnable) -> str:
        return ""

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        opening = of_file(
            self.equipped,
            model,
            self.provider,
            options=self._options(),
            entries=SIGNED,
            is_kept=sha256_of(model.path) in self.keeps,
        )
        session = DeviceSession(self.equipped, opening, folder)
        # Results of the CPU must not be taken for the provider's.
        if session.placed == 0 and not provider_of(self.provider).HIDES_NODES:
            session.__exit__(None, None, None)
            raise ModelError(f"{self.provider} takes no node of it", hint="disable this provider for this model")
        return session

    def _options(self) -> Mapping[str, str]:
        return provider_of(self.provider).options()


def device_runner(equipped: Equipped, provider: str, keeps: frozenset[str] = frozenset()) -> Runner:
    """The provider of a device. Its names differ from object to object, where those of other runners are fixed."""
    return cast(Runner, DeviceRunner(equipped=equipped, provider=provider, keeps=keeps))
