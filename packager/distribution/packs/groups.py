"""Groups of devices that get files of their own, in the forms in which Play reads them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from packager.core.characters import to_json
from packager.core.errors import ConfigError, nearest
from packager.render.templates import xml_attribute

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")
FALLBACK = "other"
"""group of the devices that are in none, which Play makes by itself"""
UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
KEYS = ("soc", "ram-min", "ram-max", "provider")
EXAMPLE = "for example: --group large:ram-min=8GB,provider=webgpu or --group sm8650:soc=QTI/SM8650"


@dataclass(frozen=True, kw_only=True, order=True)
class Chip:
    """A system on a chip, as Android names it: Build.SOC_MANUFACTURER and Build.SOC_MODEL."""

    maker: str
    model: str


@dataclass(frozen=True, kw_only=True)
class DeviceGroup:
    """Devices that have one of `chips`, if there are any, and memory within the limits."""

    name: str
    chips: tuple[Chip, ...] = ()
    min_ram_bytes: int = 0
    max_ram_bytes: int = 0
    """exclusive; 0 for no limit"""
    providers: tuple[str, ...] = ()
    """providers whose files only such groups get"""


def parse(text: str, providers: Iterable[str]) -> DeviceGroup:
    """`NAME:KEY=VALUE,...`, with the keys soc, ram-min, ram-max and provider. Raises ConfigError for anything else."""
    name, colon, rest = text.partition(":")
    if not NAME.fullmatch(name) or name == FALLBACK or not colon or not rest:
        raise ConfigError(f"--group {text}: expected NAME:KEY=VALUE,...", hint=EXAMPLE)
    found: dict[str, list[str]] = {key: [] for key in KEYS}
    for part in rest.split(","):
        key, equals, value = part.partition("=")
        if key not in found:
            raise ConfigError(f"--group {text}: unknown key '{key}'", hint=nearest(key, KEYS))
        if not equals or not value or (found[key] and key.startswith("ram")):
            raise ConfigError(f"--group {text}: '{part}' is not a valid setting", hint=EXAMPLE)
        found[key].append(value)
    known = list(providers)
    for provider in found["provider"]:
        if provider not in known:
            raise ConfigError(
                f"--group {text}: the models have no file for '{provider}'", hint=nearest(provider, known)
            )
    group = DeviceGroup(
        name=name,
        chips=tuple(_chip(value, text) for value in found["soc"]),
        min_ram_bytes=_bytes(found["ram-min"], text),
        max_ram_bytes=_bytes(found["ram-max"], text),
        providers=tuple(found["provider"]),
    )
    if not (group.chips or group.min_ram_bytes or group.max_ram_bytes):
        raise ConfigError(f"--group {text}: it selects no devices", hint=EXAMPLE)
    if group.max_ram_bytes and group.max_ram_bytes <= group.min_ram_bytes:
        raise ConfigError(f"--group {text}: ram-min is not below ram-max", hint=EXAMPLE)
    return group


def targeting_config(groups: Sequence[DeviceGroup]) -> str:
    """The XML file that an app's `android.bundle.deviceTargetingConfig` names (Android Gradle plugin 8.10 and later).

    The first group that a device is in counts.
    """
    lines = ["<config:device-targeting-config", '    xmlns:config="http://schemas.android.com/apk/config">']
    for group in groups:
        limits = {"ram-min-bytes": group.min_ram_bytes, "ram-max-bytes": group.max_ram_bytes}
        written = "".join(f' {name}="{value}"' for name, value in limits.items() if value)
        lines.append(f'    <config:device-group name="{group.name}">')
        if group.chips:
            lines.append(f"        <config:device-selector{written}>")
            for chip in group.chips:
                maker, model = xml_attribute(chip.maker), xml_attribute(chip.model)
                lines.append(f"            <config:system-on-chip manufacturer={maker} model={model}/>")
            lines.append("        </config:device-selector>")
        else:
            lines.append(f"        <config:device-selector{written}/>")
        lines.append("    </config:device-group>")
    lines.append("</config:device-targeting-config>")
    return "\n".join(lines) + "\n"


def tier_config(groups: Sequence[DeviceGroup]) -> str:
    """The groups and a tier for each as a DeviceTierConfig in JSON, which Play's publishing API takes and bundletool
    evaluates.

    The first group has the highest tier, which counts where a device is in several. Tier 0 is that of all others.
    """
    document = {
        "deviceGroups": [{"name": group.name, "deviceSelectors": [_selector(group)]} for group in groups],
        "deviceTierSet": {
            "deviceTiers": [
                {"level": level, "deviceGroupNames": [group.name]} for level, group in sorted(tiers(groups).items())
            ]
        },
    }
    return to_json(document, indent=2) + "\n"


def tiers(groups: Sequence[DeviceGroup]) -> Mapping[int, DeviceGroup]:
    """The group of each tier but 0."""
    return {len(groups) - index: group for index, group in enumerate(groups)}


def _selector(group: DeviceGroup) -> dict[str, object]:
    """Numbers of 64 bits are texts in protobuf's JSON."""
    limits = {"minBytes": group.min_ram_bytes, "maxBytes": group.max_ram_bytes}
    ram = {name: str(value) for name, value in limits.items() if value}
    chips = [{"manufacturer": chip.maker, "model": chip.model} for chip in group.chips]
    return {**({"deviceRam": ram} if ram else {}), **({"systemOnChips": chips} if chips else {})}


def _chip(value: str, text: str) -> Chip:
    found = re.fullmatch(r"([\w .-]{1,64})/([\w .-]{1,64})", value, re.ASCII)
    if found is None:
        raise ConfigError(f"--group {text}: '{value}' is not of the form MAKER/MODEL", hint=EXAMPLE)
    return Chip(maker=found[1], model=found[2])


def _bytes(values: Sequence[str], text: str) -> int:
    """0 without a value."""
    if not values:
        return 0
    found = re.fullmatch(r"(\d{1,15})(KB|MB|GB)?", values[0], re.IGNORECASE | re.ASCII)
    if found is None or not int(found[1]):
        raise ConfigError(f"--group {text}: '{values[0]}' is not a size", hint=EXAMPLE)
    return int(found[1]) * UNITS[(found[2] or "").upper()]
