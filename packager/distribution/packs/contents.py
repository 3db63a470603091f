"""The model files of a release, and which devices need them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packager.core import parsing, user_files
from packager.core.errors import ConfigError
from packager.distribution.packs.groups import Chip, DeviceGroup
from packager.distribution.release.extract import NO_LIST, Extracted, unpack
from packager.distribution.release.publish import MANIFEST, MAX_MANIFEST_BYTES
from packager.providers import CPU, provider_of

MOST_CHARACTERS = 40
"""of a chip's name in that of a group"""


@dataclass(frozen=True, kw_only=True, order=True)
class PackedFile:
    """A model file, named by its SHA-256 in the folder of the pack."""

    sha256: str
    size_bytes: int
    names: tuple[str, ...]
    """names that the package gives it"""
    uses: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """each provider that opens it, and the chips for which it does, or none for all; empty for a file that all
    devices need"""


Placed = Mapping[str, tuple[PackedFile, ...]]
"""The files of each group of devices, by its name, and under "" those of all."""


@dataclass(frozen=True, kw_only=True)
class PackContents:
    """The model files of a release for one target."""

    package: str
    version: str
    files: tuple[PackedFile, ...]

    @property
    def providers(self) -> tuple[str, ...]:
        """The providers with files, the CPU left out."""
        found = {provider for file in self.files for provider, _ in file.uses}
        return tuple(sorted(found - {CPU.NAME}))


def read(release: Path, folder: Path, *, target: str) -> PackContents:
    """Unpacks the model files of the package for `target` into `folder`, and says who needs which.

    Raises ConfigError if `release` has no such package, ToolError if the package is damaged.
    """
    found = unpack(release, folder, target=target)
    uses = _uses(release, target)
    by_digest: dict[str, list[Extracted]] = {}
    for each in found:
        by_digest.setdefault(each.sha256, []).append(each)
    files = tuple(
        PackedFile(
            sha256=sha256,
            size_bytes=same[0].size_bytes,
            names=tuple(sorted(each.file for each in same)),
            uses=tuple(sorted(uses.get(sha256, ()))),
        )
        for sha256, same in sorted(by_digest.items())
    )
    return PackContents(package=found[0].package, version=found[0].version, files=files)


def with_chips(groups: Sequence[DeviceGroup], files: Iterable[PackedFile]) -> tuple[DeviceGroup, ...]:
    """`groups`, after one for each chip of a maker whose provider has files for it, and that no group names."""
    named = {chip.model for group in groups for chip in group.chips}
    wanted = {
        (chip, provider)
        for file in files
        for provider, chips in file.uses
        for chip in chips
        if chip not in named and provider_of(provider).CHIP_MAKERS
    }
    made = [
        DeviceGroup(
            name=_group_name(model),
            chips=tuple(Chip(maker=maker, model=model) for maker in provider_of(provider).CHIP_MAKERS),
        )
        for model, provider in sorted(wanted)
    ]
    names = [group.name for group in (*made, *groups)]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two groups of devices have the name {name}", hint="rename one in --group")
    return (*made, *groups)


def placed(files: Iterable[PackedFile], groups: Sequence[DeviceGroup]) -> Placed:
    """The files of each group, by its name, and under "" those that every device gets.

    A file of a provider that groups name goes to these alone, one for certain chips to the groups with these chips, and
    to all devices if a chip is in no group: nothing says who made it. Whatever the CPU opens on any chip goes to all.
    """
    restricted = {provider for group in groups for provider in group.providers}
    result: dict[str, list[PackedFile]] = {"": [], **{group.name: [] for group in groups}}
    for file in files:
        if not file.uses or any(
            provider not in restricted if not chips else not _are_in(groups, provider, chips)
            for provider, chips in file.uses
        ):
            result[""].append(file)
            continue
        for group in groups:
            if any(_is_for(group, provider, chips) for provider, chips in file.uses):
                result[group.name].append(file)
    return {name: tuple(each) for name, each in result.items()}


def _are_in(groups: Sequence[DeviceGroup], provider: str, chips: tuple[str, ...]) -> bool:
    """Whether every one of `chips` is in a group that gets files of the provider."""
    return all(any(_is_for(group, provider, (chip,)) for group in groups) for chip in chips)


def _is_for(group: DeviceGroup, provider: str, chips: tuple[str, ...]) -> bool:
    if group.providers and provider not in group.providers:
        return False
    if chips:
        return any(chip.model in chips for chip in group.chips)
    return provider in group.providers


def _group_name(model: str) -> str:
    return "soc_" + re.sub(r"[^a-z0-9_]", "_", model.lower())[:MOST_CHARACTERS]


def _uses(release: Path, target: str) -> Mapping[str, set[tuple[str, tuple[str, ...]]]]:
    """By SHA-256 of each file: its providers, with the chips. Files with weights are needed by whoever needs the graph
    over them; golden vectors are in no plan."""
    try:
        document = parsing.json_of(user_files.read(release / MANIFEST, limit_bytes=MAX_MANIFEST_BYTES))
        weights = {each["sha256"]: each.get("data-sha256", []) for each in document["compiled"]}
        found: dict[str, set[tuple[str, tuple[str, ...]]]] = {}
        for plan in document["plans"]:
            if plan["target"] != target or plan["inside"]:
                continue
            for choice in plan["choices"]:
                for sha256 in (choice["sha256"], *weights.get(choice["sha256"], [])):
                    found.setdefault(sha256, set()).add((choice["provider"], tuple(choice["chips"])))
    except NO_LIST as error:
        raise ConfigError(
            f"{release / MANIFEST} does not say which provider opens which file", hint="build the packages again"
        ) from error
    return found
