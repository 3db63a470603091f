"""Scales of quantized variants that the version after a release is made with: `scales-from`, and `dist/scales/`."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from packager.config import Config
from packager.core import user_files
from packager.core.errors import ConfigError
from packager.distribution import release
from packager.files.hashes import sha256_of
from packager.quantization.scales import FOLDER, file_name
from packager.quantization.variants import BuiltVariant
from packager.workflows.requested import BuildRequest


def refuse_replaced(config: Config, request: BuildRequest) -> None:
    """Raises ConfigError for earlier scales in the folder that the build replaces: the next one would find others."""
    for name, recipe in config.variant.items():
        source: Path | None = getattr(recipe, "scales_from", None)
        if source and user_files.resolved(source).is_relative_to(user_files.resolved(request.out)):
            raise ConfigError(
                f"variant.{name}.scales-from: {source} is in {request.out}, which this build replaces",
                hint=f"copy the release before, or its folder {FOLDER}, to another place, such as released/1.0.0",
            )


def write_scales(variants: Sequence[BuiltVariant], staging: Path) -> list[release.ShippedScales]:
    """Writes the scales of the quantized variants to `staging`, for the version after this one."""
    found = []
    for each in (made.variant for made in variants if made.variant.scales):
        assert each.scales
        path = staging / FOLDER / file_name(each.model.name, each.name)
        path.parent.mkdir(exist_ok=True)
        shutil.copyfile(each.scales, path)
        found.append(
            release.ShippedScales(
                model=each.model.name,
                variant=each.name,
                path=path.relative_to(staging).as_posix(),
                sha256=sha256_of(path),
                kept=each.kept_scales,
            )
        )
    return sorted(found, key=lambda each: each.path)
