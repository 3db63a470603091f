"""Packages prove their providers on a device, as apps have them do with the option `proof`."""

from pathlib import Path

from packager.core.errors import ModelError, ToolError
from packager.measuring.devices.device_answers import OpenedModel, PackagedModel
from packager.measuring.devices.device_opening import Equipped, of_package
from packager.measuring.devices.device_session import DeviceSession
from packager.measuring.devices.document import Verdict
from packager.measuring.devices.link import GoneError
from packager.providers import CPU

STARTS = 2
"""The second start of a provider that ended the process reads so in the package's record."""


def prove(equipped: Equipped, model: PackagedModel, provider: str, folder: Path) -> tuple[Verdict, ...]:
    """The verdict on `provider` by the package's own code; empty for the CPU, and for a package that proves nothing.

    Raises GoneError for a device that goes away.
    """
    if provider == CPU.NAME or not model.proves:
        return ()
    data = f"{equipped.storage.home}/data/{model.class_name}.{provider}.proof"
    reason = ""
    equipped.storage.remove(data)
    equipped.storage.done(f"mkdir -p {data}")
    for _ in range(STARTS):
        try:
            opening = of_package(equipped, model.class_name, provider, data, is_proved=True)
            with DeviceSession(equipped, opening, folder) as session:
                return verdicts(session.opened, equipped.device.serial, model.name, provider)
        except GoneError:
            raise
        except (ModelError, ToolError) as error:
            reason = error.message
    return (
        Verdict(device=equipped.device.serial, model=model.name, provider=provider, is_proved=False, reason=reason),
    )


def verdicts(opened: OpenedModel, device: str, model: str, provider: str) -> tuple[Verdict, ...]:
    """The verdict of a model that was opened with a proof of one provider."""
    return tuple(
        Verdict(
            device=device,
            model=model,
            provider=provider,
            is_proved=each.is_proved,
            reason=each.reason,
            ms=each.ms,
            cpu_ms=each.cpu_ms,
        )
        for each in opened.proofs
    )
