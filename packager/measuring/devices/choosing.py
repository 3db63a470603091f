"""Chooses devices by their serial numbers, models, chips and API levels."""

import fnmatch
import operator
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from packager.core.errors import ConfigError, ToolError
from packager.core.parsing import whole_number
from packager.measuring.devices.link import READY, Device, GoneError, Link, ListedDevice

KEYS: Mapping[str, Callable[[Device], str]] = {
    "serial": lambda device: device.serial,
    "model": lambda device: device.model,
    "soc": lambda device: device.soc,
    "maker": lambda device: device.maker,
    "abi": lambda device: device.abis[0] if device.abis else "",
}
API = "api"
LIMIT = re.compile(r"(?P<key>[a-z]+)(?P<sign>>=|<=|=|>|<)(?P<value>.+)")
SIGNS: Mapping[str, Callable[[int, int], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "=": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
SERIAL = "ANDROID_SERIAL"
"""Variable with which users of adb choose a device."""
GONE = "gone"
"""State of a device that is listed as ready, and does not answer."""
SILENT = "silent"
"""State of a device that is ready, but does not report its properties."""
EXAMPLES = "--device 'Pixel*', --device soc=SM8650, --device 'api>=33', or --device '*' for all"


@dataclass(frozen=True, kw_only=True)
class Absent:
    """A device that takes no commands."""

    serial: str
    state: str
    advice: str


@dataclass(frozen=True, kw_only=True)
class ChosenDevices:
    devices: tuple[Device, ...]
    absent: tuple[Absent, ...] = ()
    """others that were asked for"""


def refuse_malformed(patterns: Sequence[str]) -> None:
    """Raises ConfigError for a pattern that can match nothing."""
    for pattern in patterns:
        found = LIMIT.fullmatch(pattern)
        if not found:
            continue
        if found["key"] not in (*KEYS, API):
            raise ConfigError(
                f"--device {pattern}: devices have no '{found['key']}'", hint=f"known: {', '.join((*KEYS, API))}"
            )
        if found["key"] == API and whole_number(found["value"]) is None:
            raise ConfigError(f"--device {pattern}: an API level is a number", hint="for example: --device 'api>=33'")
        if found["key"] != API and found["sign"] != "=":
            raise ConfigError(f"--device {pattern}: only api has an order", hint=EXAMPLES)


def matches(device: Device, pattern: str) -> bool:
    """Whether a glob fits its serial number, model or chip, or `key=glob` and `api>=33` what they name; upper and lower
    case are the same."""
    found = LIMIT.fullmatch(pattern)
    if found and found["key"] == API:
        return SIGNS[found["sign"]](device.api, whole_number(found["value"]) or 0)
    if found and found["key"] in KEYS:
        return _fits(KEYS[found["key"]](device), found["value"])
    return any(_fits(value, pattern) for value in (device.serial, device.model, device.soc))


def choose(link: Link, patterns: Sequence[str]) -> ChosenDevices:
    """The devices that fit one of `patterns`; without, the only one, or that of the variable ANDROID_SERIAL.

    Raises ToolError if there is none, ConfigError if none fits, or several are there and none was named.
    """
    listed = link.listed()
    if not listed:
        raise ToolError(
            "no device is connected",
            hint="connect one, turn on USB debugging in its developer options, and see it with `mobpack device list`",
        )
    named = tuple(patterns) or tuple(filter(None, (os.environ.get(SERIAL, ""),)))
    refuse_malformed(named)
    described = describe_all(link, listed)
    ready = [each for each in described if isinstance(each, Device)]
    absent = [each for each in described if isinstance(each, Absent)]
    if not named:
        return _only(ready, absent)
    fitting = tuple(each for each in ready if any(matches(each, pattern) for pattern in named))
    missing = tuple(each for each in absent if any(_fits(each.serial, _plain(pattern)) for pattern in named))
    if not fitting and missing:
        raise _unusable(missing)
    if not fitting:
        known = "; ".join(f"{each.serial}: {each.name}" for each in ready) or "none is ready"
        raise ConfigError(f"--device {', '.join(named)}: no device fits", hint=f"connected: {known}")
    return ChosenDevices(devices=fitting, absent=missing)


def describe_all(link: Link, listed: Sequence[ListedDevice]) -> list[Device | Absent]:
    """The answers of devices about themselves. All are asked at once, as one that hangs takes half a minute; one that
    does not answer is absent."""

    def described(each: ListedDevice) -> Device | Absent:
        if each.state != READY:
            return Absent(serial=each.serial, state=each.state, advice=link.advice(each))
        try:
            return link.describe(each.serial)
        except GoneError as error:
            return Absent(serial=each.serial, state=GONE, advice=error.hint)
        except ToolError as error:
            return Absent(serial=each.serial, state=SILENT, advice=f"{error.message} ({error.hint})")

    with ThreadPoolExecutor(max_workers=max(1, len(listed))) as pool:
        return list(pool.map(described, listed))


def _only(ready: Sequence[Device], absent: Sequence[Absent]) -> ChosenDevices:
    if not ready:
        raise _unusable(absent)
    if len(ready) > 1:
        names = ", ".join(f"{each.serial} ({each.model})" for each in ready)
        raise ConfigError(f"{len(ready)} devices are connected: {names}", hint=f"say which: {EXAMPLES}")
    return ChosenDevices(devices=(ready[0],))


def _unusable(absent: Sequence[Absent]) -> ToolError:
    first, *others = absent
    more = f", and {len(others)} more" if others else ""
    return ToolError(f"device {first.serial} is {first.state}{more}", hint=first.advice)


def _plain(pattern: str) -> str:
    return pattern.removeprefix("serial=")


def _fits(value: str, pattern: str) -> bool:
    return bool(value) and fnmatch.fnmatchcase(value.lower(), pattern.lower())
