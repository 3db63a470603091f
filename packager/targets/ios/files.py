"""Lays out the files of a package's models: folder, name, and the providers that open each.

An ONNX file refers to its weights files by name, so they share a folder.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packager.core.names import file_part
from packager.core.values import Choice, Compiled, Format, Plan, Precision
from packager.files.hashes import sha256_of
from packager.providers import provider_of
from packager.targets import tuning
from packager.targets.ends import ends_sha256
from packager.targets.ios.view import FileView, OptionView, Resource

INITIALISM = re.compile(r"[A-Z]+(?![a-z])|[A-Z]")
MAIN = "model.ort"
"""name of the first file in ORT format, as used by ONNX files over its weights"""


@dataclass(frozen=True)
class Files:
    """Files of one model, for its Swift class and for the package."""

    folder: str
    """folder for further files of the model"""
    views: tuple[FileView, ...]
    resources: tuple[Resource, ...]


@dataclass(frozen=True)
class Folder:
    """A folder of the package while it is filled."""

    name: str
    files: dict[str, Resource] = field(default_factory=dict)
    """by name in the folder"""

    def fits(self, wanted: Mapping[str, str]) -> bool:
        """Whether files of these names and hashes can be in this folder: existing files must be identical."""
        return all(name not in self.files or self.files[name].sha256 == sha256 for name, sha256 in wanted.items())

    def add(self, name: str, file: Path, sha256: str, size_bytes: int) -> Resource:
        """Adds the file as `name`, which must be unused or hold the same file."""
        made = Resource(
            path=f"{self.name}/{name}",
            file=file,
            sha256=sha256,
            ends_sha256=ends_sha256(file),
            size_bytes=size_bytes,
        )
        return self.files.setdefault(name, made)

    def find(self, sha256: str) -> Resource | None:
        return next((each for each in self.files.values() if each.sha256 == sha256), None)

    def free_name(self, stem: str, suffix: str) -> str:
        name, number = f"{stem}.{suffix}", 2
        while name in self.files:
            name, number = f"{stem}-{number}.{suffix}", number + 1
        return name


def case_of(provider: str) -> str:
    """The case of the enum Provider, with an initialism in lower case as Swift has it: `coreML`, `xnnpack`."""
    return INITIALISM.sub(lambda first: first[0].lower(), provider_of(provider).REGISTERED_NAME, count=1)


def lay_out(plans: Sequence[Plan]) -> dict[str, Files]:
    """Model name -> its files. Files that need the same name for different bytes get separate folders."""
    taken = {plan.model.name.lower() for plan in plans}
    return {plan.model.name: _files(plan, taken) for plan in plans}


def _files(plan: Plan, taken: set[str]) -> Files:
    """Lays out the files of one plan; `taken` are names of folders in lower case, because macOS ignores case."""
    variants = tuning.variants_by_file(plan)
    folders = {each: [Folder(_folder_name(plan, each, taken))] for each in plan.variants}
    opened: dict[str, Resource] = {}
    weights: dict[str, tuple[Resource, ...]] = {}
    for file in _in_order(plan, variants):
        variant = variants[file.sha256]
        named = {each.name: sha256_of(each) for each in file.data_files}
        shared = _shared_folder(named, folders[""]) if variant else None
        folder = shared or _folder_for(named, file, folders[variant], taken)
        weights[file.sha256] = tuple(
            folder.add(each.name, each, named[each.name], each.stat().st_size) for each in file.data_files
        )
        found = folder.find(file.sha256)
        alone = file.path.stat().st_size if file.data_files else file.size_bytes
        opened[file.sha256] = found or folder.add(
            _name(file, folder, variant if shared else ""), file.path, file.sha256, alone
        )
    return Files(
        folder=plan.model.name,
        views=tuple(_views(plan, opened, weights)),
        resources=tuple(each for made in folders.values() for folder in made for each in folder.files.values()),
    )


def _in_order(plan: Plan, variants: Mapping[str, str]) -> list[Compiled]:
    """Sorts the files: those that refer to others come first, because they determine names; of the rest, the CPU's is
    first. Files of variants that only some devices open come last."""

    def place(file: Compiled) -> tuple[bool, bool, bool]:
        variant = variants[file.sha256]
        return bool(variant), not file.data_files, file.sha256 != plan.cpu_of(variant).sha256

    return sorted(plan.files, key=place)


def _folder_name(plan: Plan, variant: str, taken: set[str]) -> str:
    """The model's name, with that of a variant that some devices open; the name is added to `taken`."""
    name = plan.model.name
    if not variant:
        return name
    stem = "-".join(filter(None, (name, file_part(variant))))
    unique, number = stem, 2
    while unique.lower() in taken:
        unique, number = f"{stem}-{number}", number + 1
    taken.add(unique.lower())
    return unique


def _shared_folder(named: Mapping[str, str], folders: list[Folder]) -> Folder | None:
    """The folder of the target's own variant that has one of the files in `named` already: it does not ship twice."""
    fitting = (each for each in folders if each.fits(named) and named.keys() & each.files.keys())
    return next(fitting, None)


def _folder_for(named: Mapping[str, str], file: Compiled, folders: list[Folder], taken: set[str]) -> Folder:
    """The folder that has most of the files in `named` without a conflict; a new one if there is none."""
    fitting = [folder for folder in folders if folder.fits(named)]
    if fitting:
        known = {file.sha256, *named.values()}
        return max(fitting, key=lambda folder: len(known & {each.sha256 for each in folder.files.values()}))
    number = 2
    while (name := f"{folders[0].name}-{number}").lower() in taken:
        number += 1
    taken.add(name.lower())
    folders.append(Folder(name))
    return folders[-1]


def _name(file: Compiled, folder: Folder, variant: str) -> str:
    """`model.ort` for the first file in ORT format; the names of others state their style: `fixed.onnx`; in a folder of
    another variant, `int8-fixed.onnx`."""
    if file.format is Format.ORT and MAIN not in folder.files:
        return MAIN
    stem = "-".join(filter(None, (file_part(variant), str(file.style), file.processor)))
    return folder.free_name(stem.lower(), file.format)


def _views(
    plan: Plan, opened: Mapping[str, Resource], weights: Mapping[str, tuple[Resource, ...]]
) -> Iterator[FileView]:
    """Merges choices with the same file, devices and settings into one view with several providers."""
    users: dict[tuple[str, tuple[str, ...], tuple[OptionView, ...]], list[Choice]] = {}
    for choice in plan.choices:
        users.setdefault((choice.compiled.sha256, choice.soc_models, _settings(choice)), []).append(choice)
    for (sha256, devices, settings), same in users.items():
        yield FileView(
            providers=tuple(dict.fromkeys(case_of(choice.provider) for choice in same)),
            nodes={case_of(choice.provider): choice.nodes for choice in same if choice.nodes},
            resource=opened[sha256],
            settings=settings,
            weights=weights[sha256],
            is_float16=tuning.precision_of(same[0], plan) is Precision.FLOAT16,
            devices=devices,
        )


def _settings(choice: Choice) -> tuple[OptionView, ...]:
    return tuple(OptionView(key=key, value=value) for key, value in sorted(choice.compiled.settings.items()))
