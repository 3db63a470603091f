"""The conditions that a device runs under: heat, battery, clocks, screen, and what it does not tell."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from packager.core.parsing import whole_number
from packager.measuring.devices.device_opening import Equipped
from packager.measuring.devices.link import Link

SCRIPT = """
echo '@battery'; dumpsys battery 2>/dev/null
echo '@thermal'; dumpsys thermalservice 2>/dev/null
echo '@power'; dumpsys power 2>/dev/null
echo '@boot'; cat /proc/sys/kernel/random/boot_id 2>/dev/null
echo '@load'; cat /proc/loadavg 2>/dev/null
echo '@clocks'; for c in /sys/devices/system/cpu/cpu[0-9]*; do f=$c/cpufreq
[ -r $f/scaling_cur_freq ] || continue
echo "${c##*/cpu} $(cd $f && echo $(cat scaling_cur_freq cpuinfo_max_freq scaling_governor scaling_max_freq))"
done
echo '@end'
"""
"""Asks for all at once: a question takes some 30 ms."""
WAKE = "input keyevent KEYCODE_WAKEUP"
COOL = 0
"""Thermal status of a device that throttles nothing."""
WORDS = ("none", "light", "moderate", "severe", "critical", "emergency", "shutdown")
"""Android's names of the thermal status, from 0 on."""
TEMPERATURE = r"^\s*temperature: (-?\d+)"
Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class Clock:
    cpu: int
    mhz: int
    max_mhz: int
    governor: str
    limit_mhz: int = 0
    """to which the system limits it now, below `max_mhz` when it is hot or saves power; 0 if it does not tell"""


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Readings of a moment; None for those that the device does not give."""

    thermal_status: int | None = None
    """0 none, 1 light, 2 moderate, 3 severe, 4 critical, 5 emergency, 6 shutdown"""
    battery_temperature_c: float | None = None
    battery_level: int | None = None
    """percent"""
    is_charging: bool | None = None
    charge_uah: int | None = None
    """charge of the battery in microampere-hours"""
    is_awake: bool | None = None
    """whether the screen is on"""
    load: float | None = None
    """average number of running programs over a minute"""
    clocks: tuple[Clock, ...] = ()
    boot: str = ""
    """changes when the device restarts"""
    skipped: tuple[str, ...] = ()
    """readings that are missing, with the reason"""


def read(link: Link, serial: str) -> Conditions:
    """Asks the device. Raises GoneError if it is gone."""
    output = link.shell(serial, SCRIPT).output
    parts = dict(re.findall(r"^@(\w+)\n(.*?)(?=^@)", output, re.MULTILINE | re.DOTALL))
    battery = parts.get("battery", "")
    found = Conditions(
        thermal_status=_found(r"Thermal Status: (\d+)", parts.get("thermal", ""), whole_number),
        battery_temperature_c=None if (tenths := _found(TEMPERATURE, battery, whole_number)) is None else tenths / 10,
        battery_level=_found(r"^\s*level: (\d+)", battery, whole_number),
        is_charging=_charging(battery),
        charge_uah=_found(r"^\s*Charge counter: (\d+)", battery, whole_number),
        is_awake=_found(r"mWakefulness=(\w+)", parts.get("power", ""), lambda text: text == "Awake"),
        load=_found(r"^([0-9]{1,9}\.[0-9]{1,9})\s", parts.get("load", ""), float),
        clocks=tuple(filter(None, map(_clock, parts.get("clocks", "").splitlines()))),
        boot=parts.get("boot", "").strip(),
    )
    return Conditions(**{**vars(found), "skipped": tuple(_skipped(found))})


def words_of(status: int | None) -> str:
    """`none`, `severe`; `unknown`."""
    return WORDS[status] if status is not None and status < len(WORDS) else "unknown"


def wake(equipped: Equipped) -> None:
    """Turns the screen on: with a dark one, many devices leave their fast cores asleep."""
    equipped.link.shell(equipped.device.serial, WAKE)


def _skipped(found: Conditions) -> list[str]:
    reasons = {
        "thermal status": found.thermal_status is None and "the device has no thermalservice (Android 10 and later)",
        "battery": found.battery_level is None and "dumpsys battery tells nothing",
        "charge counter": found.battery_level is not None
        and found.charge_uah is None
        and "the battery has no counter of its charge",
        "screen": found.is_awake is None and "dumpsys power tells nothing",
        "clocks": not found.clocks and "the shell may not read the files of cpufreq",
    }
    return [f"{name}: {reason}" for name, reason in reasons.items() if reason]


def _found(pattern: str, text: str, convert: Callable[[str], Value | None]) -> Value | None:
    match = re.search(pattern, text, re.MULTILINE)
    return convert(match[1]) if match else None


def _charging(battery: str) -> bool | None:
    powered = re.findall(r"^\s*\w+ powered: (\w+)", battery, re.MULTILINE)
    return "true" in powered if powered else None


def _clock(line: str) -> Clock | None:
    """The clock that a line describes; None for one that describes none."""
    words = line.split()
    if len(words) not in (4, 5):
        return None
    cpu, current, most, limit = (whole_number(text) for text in (*words[:3], *words[4:], "0")[:4])
    if cpu is None or current is None or most is None or limit is None:
        return None
    return Clock(cpu=cpu, mhz=current // 1000, max_mhz=most // 1000, governor=words[3], limit_mhz=limit // 1000)


def fastest(clocks: Sequence[Clock]) -> Clock:
    """The core with the highest clock: times depend on it most."""
    return max(clocks, key=lambda clock: clock.max_mhz)
