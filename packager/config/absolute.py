"""Makes the paths of a configuration absolute."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from packager.config.cache import OFF, CacheTable
from packager.config.runtime import RuntimeTable
from packager.config.tables import Config
from packager.quantizers import Recipe


def absolute(config: Config, folder: Path) -> Config:
    models = {
        name: table.model_copy(
            update={
                "path": folder / table.path,
                "importer": table.importer.model_copy(
                    update={"samples": folder / table.importer.samples if table.importer.samples else None}
                ),
                "encoder": folder / table.encoder if table.encoder else None,
                "with_past": folder / table.with_past if table.with_past else None,
                "license": folder / table.license if table.license else None,
                "inputs": {key: kind.within(folder) for key, kind in table.inputs.items()},
                "outputs": {key: kind.within(folder) for key, kind in table.outputs.items()},
            }
        )
        for name, table in config.model.items()
    }
    paths = {key: getattr(config.parity, key) for key in ("samples", "recorded")}
    found = {name: _program(folder, text) for name, text in config.parity.interpreters.items()}
    within = {key: folder / path if path else None for key, path in paths.items()}
    parity = config.parity.model_copy(update={**within, "interpreters": found})
    variants = {name: _with_absolute_paths(table, folder) for name, table in config.variant.items()}
    keys = tuple(folder / path for path in config.package.trusted)
    channel = folder / config.package.channel if config.package.channel else None
    package = config.package.model_copy(update={"trust": keys, "channel": channel})
    changed = {
        "package": package,
        "model": models,
        "variant": variants,
        "parity": parity,
        "runtime": _in(folder, config.runtime),
        "cache": _cache_in(folder, config.cache),
    }
    return config.model_copy(update=changed)


def _program(folder: Path, text: str) -> str:
    """A program with a path relative to `folder` made absolute; a bare name is kept, to be found on PATH."""
    return str(folder / text) if "/" in text else text


def _with_absolute_paths(quantizer: Recipe, folder: Path) -> Recipe:
    """`quantizer` with absolute paths of its samples and of the earlier scales."""
    found = {key: getattr(quantizer, key, None) for key in ("calibration", "scales_from")}
    changes: dict[str, Any] = {key: value for key, value in found.items() if value is not None}
    if "calibration" in changes:
        changes["calibration"] = changes["calibration"].within(folder)
    if "scales_from" in changes:
        changes["scales_from"] = folder / changes["scales_from"]
    return replace(quantizer, **changes) if changes else quantizer  # type: ignore[type-var]


def _cache_in(folder: Path, table: CacheTable) -> CacheTable:
    """`table` with the paths of its keys, and of its store if that is a folder, made absolute."""
    is_folder = table.remote not in ("", OFF) and "://" not in table.remote
    keys = tuple(folder / path for path in table.trusted)
    return table.model_copy(update={"remote": str(folder / table.remote) if is_folder else table.remote, "trust": keys})


def _in(folder: Path, table: RuntimeTable) -> RuntimeTable:
    """`table` with the paths in it made absolute."""
    files = {name: str(folder / path) for name, path in table.local.items()}
    config = folder / table.config if table.config else None
    return table.model_copy(update={**files, "config": config})
