"""Lays out the files of a package's models: the asset of each file, and the providers that open it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.core.errors import ModelError
from packager.core.names import file_part
from packager.core.values import Choice, Package, Plan, Style
from packager.files.hashes import sha256_of
from packager.targets.apk import stored
from packager.targets.ends import ends_sha256
from packager.targets.kotlin.view import Asset, FileView, OptionView, WeightsView

MAX_ASSET_BYTES = 2**31 - 1
"""limit of a memory-mapped Java buffer"""
MAX_PACKAGE_BYTES = 2**32 - 1
"""limit of a zip archive without 64-bit extensions, the only kind that Android reads"""


@dataclass(frozen=True)
class Files:
    """Files of one model, for its Kotlin class and for the package."""

    views: tuple[FileView, ...]
    assets: tuple[Asset, ...]


def models_folder(package: Package) -> PurePosixPath:
    """The folder with the models of `package`, below assets/."""
    return PurePosixPath("mobpack", package.name)


def refuse_apart(plans: Sequence[Plan], package: Package) -> None:
    """Raises ModelError for an encrypted package with weights in files of their own: ONNX Runtime opens these by
    itself, and cannot decrypt them."""
    apart = [plan.model.name for plan in plans if any(file.data_files for file in plan.files)]
    if package.encryption and apart:
        raise ModelError(
            f"package.encryption: files of {', '.join(apart)} have weights in other files, which cannot be decrypted",
            hint='set format = "ort" in [target.android]: then each file has its weights inside',
        )


def lay_out(plans: Sequence[Plan], package: Package, *, is_android: bool = True) -> dict[str, Files]:
    """Model name -> its files. Raises ModelError if they exceed the platform's limits."""
    names = _names(plans)
    laid_out = {
        plan.model.name: _files(plan, names, models_folder(package), stored if is_android else str) for plan in plans
    }
    assets = [asset for files in laid_out.values() for asset in files.assets]
    _refuse_too_large(assets, "Android" if is_android else "Java")
    return laid_out


def _names(plans: Sequence[Plan]) -> Mapping[tuple[str, str], str]:
    """(model, sha256) -> the file's name in the package, without its suffix.

    The file for the CPU has the model's name, with the variant where only some chips open it; the names of the others
    state their purpose.
    """
    names = {(plan.model.name, plan.cpu.sha256): plan.model.name for plan in plans}
    for plan in plans:
        for variant in plan.variants[1:]:
            key = plan.model.name, plan.cpu_of(variant).sha256
            if key not in names:
                names[key] = _free(f"{plan.model.name}-{file_part(variant)}", taken=names.values())
        for choice in plan.choices:
            key = plan.model.name, choice.compiled.sha256
            if key not in names:
                names[key] = _free(f"{plan.model.name}-{_purpose(choice)}", taken=names.values())
    return names


def _purpose(choice: Choice) -> str:
    """`sm8650` for a chip, `fp16` for arithmetic that not every phone has, else `unfused`, `fixed` ...; after the
    variant where only some chips open it."""
    is_for_chips = choice.soc_models and (not choice.variant or choice.compiled.style is Style.CONTEXT)
    special = choice.soc_models[0] if is_for_chips else choice.compiled.processor
    return "-".join(filter(None, (file_part(choice.variant), special.lower() or str(choice.compiled.style))))


def _free(name: str, *, taken: Iterable[str]) -> str:
    used, unique, number = set(taken), name, 2
    while unique in used:
        unique, number = f"{name}-{number}", number + 1
    return unique


def _files(
    plan: Plan, names: Mapping[tuple[str, str], str], folder: PurePosixPath, placed: Callable[[str], str]
) -> Files:
    """Merges choices with the same file, chips, variant and settings into one view with several providers. `placed`
    makes the path of an asset."""
    users: dict[tuple[str, tuple[str, ...], str, tuple[OptionView, ...]], list[Choice]] = {}
    for choice in plan.choices:
        key = (choice.compiled.sha256, choice.soc_models, choice.variant, _settings(choice))
        users.setdefault(key, []).append(choice)
    assets = {
        each.sha256: Asset(
            path=placed(f"{folder / names[plan.model.name, each.sha256]}.{each.format}"),
            file=each.path,
            sha256=each.sha256,
            ends_sha256=ends_sha256(each.path),
            size_bytes=each.path.stat().st_size if each.data_files else each.size_bytes,
        )
        for each in plan.files
    }
    views = []
    for (sha256, chips, variant, settings), choices in users.items():
        views.append(
            FileView(
                providers=tuple(dict.fromkeys(choice.provider.upper() for choice in choices)),
                nodes={choice.provider.upper(): choice.nodes for choice in choices if choice.nodes},
                asset=assets[sha256],
                chips=chips,
                variant=variant,
                settings=settings,
                weights=tuple(
                    WeightsView(
                        name=file.name,
                        asset=_weights(file, placed(str(folder / names[plan.model.name, sha256] / file.name)), assets),
                    )
                    for file in choices[0].compiled.data_files
                ),
            )
        )
    return Files(tuple(views), tuple(assets.values()))


def _settings(choice: Choice) -> tuple[OptionView, ...]:
    return tuple(OptionView(key=key, value=value) for key, value in sorted(choice.compiled.settings.items()))


def _weights(file: Path, path: str, assets: dict[str, Asset]) -> Asset:
    """The asset with the bytes of `file`: an existing one, often the CPU's file, or a new one."""
    sha256 = sha256_of(file)
    if sha256 not in assets:
        assets[sha256] = Asset(
            path=path, file=file, sha256=sha256, ends_sha256=ends_sha256(file), size_bytes=file.stat().st_size
        )
    return assets[sha256]


def _refuse_too_large(assets: Sequence[Asset], platform: str) -> None:
    for asset in assets:
        if asset.size_bytes > MAX_ASSET_BYTES:
            raise ModelError(
                f"{asset.path} has {asset.size_bytes:,} bytes: {platform} cannot map 2 GiB or more at once",
                hint='ship it as ONNX, which splits the weights over several files: format = "onnx"',
            )
    total = sum(asset.size_bytes for asset in assets)
    package = "an Android app" if platform == "Android" else "a jar"
    if total > MAX_PACKAGE_BYTES:
        raise ModelError(
            f"the models of the package have {total:,} bytes together: the limit of {package} is 4 GiB",
            hint="ship quantized variants, or one package per model",
        )
