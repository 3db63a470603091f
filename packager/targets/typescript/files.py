"""Lays out the files of a package's models: the same bytes have one name on all platforms."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from packager.core.names import file_part
from packager.core.values import Choice, Compiled, Plan, Precision, Style
from packager.files.hashes import sha256_of
from packager.targets import tuning
from packager.targets.apk import stored
from packager.targets.ends import ends_sha256
from packager.targets.target import licenses_of
from packager.targets.typescript.view import FileView, FlatFile, License, OptionView, PlacedFile, WeightsView
from packager.vectors import GoldenFile

ANDROID = "android"
"""platform whose files lie in an APK"""
BOTH = "both"
"""folder of files that several platforms open"""


@dataclass(frozen=True, kw_only=True)
class Platform:
    """The models as a target has built them."""

    name: str
    """`android`, `ios`, `web` or `node`"""
    variant: str
    """variant that ships"""
    plans: tuple[Plan, ...]


@dataclass(frozen=True)
class Layout:
    """Files of a package while they are collected: each name and each content occurs once."""

    files: dict[str, FlatFile] = field(default_factory=dict)
    """by sha256"""
    users: dict[str, set[str]] = field(default_factory=dict)
    """sha256 -> the platforms that open the file"""
    folder: str = ""
    """folder of the files, where weights have the names by which the model knows them; empty for a single folder of all
    models"""

    def add(self, platform: str, stem: str, suffix: str, file: Path, sha256: str, size_bytes: int) -> FlatFile:
        """Adds the file under a name that starts with `stem`, or returns the existing file with its bytes."""
        self.users.setdefault(sha256, set()).add(platform)
        if sha256 not in self.files:
            name = self._free_name(stem, suffix)
            self.files[sha256] = FlatFile(
                path=name, file=file, sha256=sha256, ends_sha256=ends_sha256(file), size_bytes=size_bytes
            )
        return self.files[sha256]

    def store(self, platform: str) -> None:
        """Renames the files that `platform` opens, so that Android's build stores them as they are."""
        for sha256, file in self.files.items():
            if platform in self.users[sha256]:
                self.files[sha256] = replace(file, path=stored(file.path))

    def placed(self) -> tuple[PlacedFile, ...]:
        """Every file with its folder, sorted by name."""
        found = [
            PlacedFile(folder=_folder(self.users[sha256]), content=content) for sha256, content in self.files.items()
        ]
        return tuple(sorted(found, key=lambda each: each.content.path))

    def _free_name(self, stem: str, suffix: str) -> str:
        """An unused name; names that differ in case only clash on macOS file systems."""
        taken = {each.path.lower() for each in self.files.values()}
        place = f"{self.folder}/{stem}" if self.folder else stem
        name, number = f"{place}{suffix}", 2
        while name.lower() in taken:
            name, number = f"{place}-{number}{suffix}", number + 1
        return name


def _folder(platforms: set[str]) -> str:
    return BOTH if len(platforms) > 1 else min(platforms)


def lay_out(platforms: Sequence[Platform], layout: Layout) -> dict[str, dict[str, tuple[FileView, ...]]]:
    """Platform -> model -> its files, all of them in `layout`."""
    plans = [plan for each in platforms for plan in each.plans]
    for plan in plans:
        _add_opened(plan, layout)
    for plan in plans:
        _add_weights(plan, layout)
    layout.store(ANDROID)
    return {each.name: {plan.model.name: tuple(_views(plan, layout)) for plan in each.plans} for each in platforms}


def _add_opened(plan: Plan, layout: Layout) -> None:
    """Adds the files that providers open. The CPU's file has the model's name."""
    model = plan.model.name
    for file in sorted(plan.files, key=lambda file: file.sha256 != plan.cpu.sha256):
        purpose = _purpose(file, plan)
        stem = f"{model}-{purpose}" if purpose else model
        size = file.path.stat().st_size if file.data_files else file.size_bytes
        layout.add(plan.target, stem, f".{file.format}", file.path, file.sha256, size)


def _add_weights(plan: Plan, layout: Layout) -> None:
    """Adds the weights of ONNX files. They may be in a file that a provider of any platform opens."""
    for file in plan.files:
        for data in file.data_files:
            stem = data.stem if layout.folder else f"{plan.model.name}-{data.stem}"
            layout.add(plan.target, stem, data.suffix, data, sha256_of(data), data.stat().st_size)


def _purpose(file: Compiled, plan: Plan) -> str:
    """`sm8650` for a chip, `fp16` for arithmetic that not every phone has, else `unfused`, `fixed` ..., empty for the
    CPU; after the variant where only some chips open it."""
    choice = next(each for each in plan.choices if each.compiled.sha256 == file.sha256)
    variant = file_part(choice.variant)
    if file.sha256 == plan.cpu_of(choice.variant).sha256:
        return variant
    is_for_chips = choice.soc_models and (not choice.variant or file.style is Style.CONTEXT)
    special = (choice.soc_models[0] if is_for_chips else file.processor) or str(file.style)
    return "-".join(filter(None, (variant, special.lower())))


def _views(plan: Plan, layout: Layout) -> Iterator[FileView]:
    """Merges choices with the same file, variant, chips and settings into one view with several providers."""
    users: dict[tuple[str, str, tuple[str, ...], tuple[OptionView, ...]], list[Choice]] = {}
    for choice in plan.choices:
        key = choice.compiled.sha256, choice.variant, choice.soc_models, _settings(choice.compiled)
        users.setdefault(key, []).append(choice)
    for (sha256, variant, chips, settings), choices in users.items():
        content = layout.files[sha256]
        yield FileView(
            path=content.path,
            sha256=sha256,
            ends_sha256=content.ends_sha256,
            size_bytes=content.size_bytes,
            providers=tuple(dict.fromkeys(choice.provider for choice in choices)),
            nodes={choice.provider: choice.nodes for choice in choices if choice.nodes},
            chips=chips,
            variant=variant,
            settings=settings,
            weights=tuple(_weights(file, layout.files) for file in choices[0].compiled.data_files),
            is_float16=tuning.precision_of(choices[0], plan) is Precision.FLOAT16,
        )


def _settings(compiled: Compiled) -> tuple[OptionView, ...]:
    return tuple(OptionView(key=key, value=value) for key, value in sorted(compiled.settings.items()))


def _weights(file: Path, known: Mapping[str, FlatFile]) -> WeightsView:
    content = known[sha256_of(file)]
    return WeightsView(
        name=file.name,
        path=content.path,
        sha256=content.sha256,
        ends_sha256=content.ends_sha256,
        size_bytes=content.size_bytes,
    )


def add_golden(golden: GoldenFile, model: str, platforms: Sequence[str], layout: Layout) -> FlatFile:
    """Adds a file of golden vectors that files of `platforms` must reproduce."""
    added = [
        layout.add(platform, f"{model}-golden", ".safetensors", golden.path, golden.sha256, golden.size_bytes)
        for platform in platforms
    ]
    return added[0]


def licenses(plans: Sequence[Plan]) -> tuple[License, ...]:
    return tuple(License(name=name, file=file) for name, file in licenses_of(plans).items())
