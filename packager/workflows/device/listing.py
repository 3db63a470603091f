"""`mobpack device list` and `clean`: the devices that are connected, and mobpack's files on them."""

from collections.abc import Sequence
from dataclasses import dataclass

from packager.core.errors import ToolError
from packager.core.to_json import plain
from packager.measuring.devices import READY, Device
from packager.measuring.devices.choosing import Absent, choose, describe_all
from packager.measuring.devices.iphones import has_apples_tools, iphones
from packager.measuring.devices.storage import DeviceStorage
from packager.workflows.device.preparing import link, on_each

COLUMNS = ("serial", "state", "device", "chip", "Android", "API", "processors")


@dataclass(frozen=True, kw_only=True)
class ListedDevice:
    serial: str
    state: str
    advice: str
    """how to make it ready; empty if it is"""
    device: Device | None


def listing() -> tuple[ListedDevice, ...]:
    """Every device, iPhones after the others where Xcode's tools are. Raises ToolError if there is no adb and no
    iPhone."""
    described: list[Device | Absent] = []
    problems: list[ToolError] = []
    for found in (_androids, iphones) if has_apples_tools() else (_androids,):
        try:
            described += found()
        except ToolError as error:
            problems.append(error)
    if problems and not described:
        raise problems[0]
    return tuple(
        ListedDevice(serial=each.serial, state=READY, advice="", device=each)
        if isinstance(each, Device)
        else ListedDevice(serial=each.serial, state=each.state, advice=each.advice, device=None)
        for each in described
    )


def _androids() -> list[Device | Absent]:
    joined = link()
    return describe_all(joined, joined.listed())


def cells(each: ListedDevice) -> list[str]:
    known = each.device
    if not known:
        return [each.serial, each.state, each.advice, "", "", "", ""]
    maker = "" if known.model.startswith(known.maker) else f"{known.maker} "
    state = "ready" if each.state == READY else each.state
    return [
        each.serial,
        state,
        f"{maker}{known.model}",
        known.soc,
        known.release,
        str(known.api or ""),
        ", ".join(known.abis),
    ]


def document(each: ListedDevice) -> dict[str, object]:
    known: dict[str, object] = plain(each.device) if each.device else {}
    return {"serial": each.serial, "state": each.state, "advice": each.advice, **known}


def clean(patterns: Sequence[str]) -> list[tuple[str, int]]:
    """Name of each device -> bytes that were removed. Raises ToolError for a device that fails, once the others are
    done."""
    joined = link()
    done, failures = on_each(
        choose(joined, patterns).devices, lambda device: DeviceStorage(link=joined, device=device).clean(), joined.halt
    )
    if failures:
        device, error = failures[0]
        cleaned = f"; {', '.join(each.name for each, _ in done)}: removed" if done else ""
        raise ToolError(f"{device.name}: {error.message}{cleaned}", hint=error.hint) from error
    return [(device.name, removed) for device, removed in done]
