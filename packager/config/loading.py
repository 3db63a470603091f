"""Makes a Config of a file or a document: applies `--set`, adds what targets need, checks, and makes paths absolute."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import combinations
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from packager.config.absolute import absolute
from packager.config.mistakes import MissingKeyError, config_error
from packager.config.pipelines import check_stages
from packager.config.tables import FILE_NAME, SOURCE, Config
from packager.core import class_names, names, toml
from packager.core.errors import ConfigError, nearest
from packager.core.tuned import Tunable, refuse_unknown
from packager.quantizers import QUANTIZERS, REWRITES, NoQuantizer, Recipe
from packager.targets import KNOWN_TARGETS, WRAPPERS, included

QUANTIZER = "quantizer"
"""Name of the variant that the command line describes."""


def load(path: Path, *, targets: Sequence[str] = (), settings: Sequence[str] = ()) -> Config:
    """The Config in the file `path`, with `key=value` settings applied and missing `targets` added with defaults.

    Paths in it are made absolute. Raises ConfigError that names the key and, if misspelt, the nearest known one.
    """
    return from_document(toml.read(path), path.parent, targets=targets, settings=settings)


def for_model(model: Path, *, targets: Sequence[str], settings: Sequence[str] = ()) -> Config:
    """The Config for a model file without mobpack.toml; names derive from the file's name."""
    document = {
        "package": {"name": names.package_name(model)},
        "model": {names.model_name(model): {"path": str(model.absolute())}},
    }
    return from_document(document, Path.cwd(), targets=targets, settings=settings)


def keys_of(quantizer: str) -> tuple[str, ...]:
    """Keys of a quantizer's table; none for an unknown name."""
    kind: Any = QUANTIZERS.get(quantizer)
    return tuple(names.kebab_case(key.name) for key in fields(kind)) if kind else ()


def quantizer_names() -> tuple[str, ...]:
    """Quantizers that change a model; rewrites that providers need are none."""
    return tuple(name for name in QUANTIZERS if name not in (*REWRITES, NoQuantizer.NAME))


def recipe(table: Mapping[str, Any], settings: Sequence[str]) -> Recipe:
    """The quantizer of a `[variant.NAME]` table, with `key=value` settings applied; paths are not resolved.

    Raises the same ConfigError as a file with such a table.
    """
    document: dict[str, Any] = {
        "package": {"name": "any"},
        "model": {"any": {"path": "any.onnx"}},
        "variant": {QUANTIZER: {**table}},
    }
    calibration = table.get("calibration")
    if isinstance(calibration, str):
        document["variant"][QUANTIZER]["calibration"] = {"samples": calibration}
    for setting in settings:
        apply_setting(document, f"variant.{QUANTIZER}.{setting.strip()}" if "=" in setting else setting)
    try:
        return from_document(document, Path.cwd(), targets=(), settings=()).variant[QUANTIZER]
    except ConfigError as error:
        name = table.get("quantizer", NoQuantizer.NAME)
        message = error.message.replace(f"variant.{QUANTIZER}", f"quantizer '{name}'")
        hint = error.hint.replace(f"add it to {FILE_NAME}", _option_for(error))
        raise ConfigError(message, hint=hint.replace(f"correct it in {FILE_NAME}", "correct it")) from error


def _option_for(error: ConfigError) -> str:
    """How to give the key that is missing, on a command line."""
    if isinstance(error, MissingKeyError) and error.key == "calibration":
        return "give samples: --calibration SAMPLES"
    return "give it as an option, or as --set KEY=VALUE"


def from_document(document: dict[str, Any], folder: Path, *, targets: Sequence[str], settings: Sequence[str]) -> Config:
    for setting in settings:
        apply_setting(document, setting)
    for target in targets:
        if target not in KNOWN_TARGETS:
            raise ConfigError(f"unknown target '{target}'", hint=nearest(target, KNOWN_TARGETS, cutoff=0.7))
        tables = document.setdefault("target", {})
        if isinstance(tables, dict):  # other types are rejected by the validation below
            tables.setdefault(target, {})
    toml.refuse(document)
    _add_needed(document)
    _spell_out(document)
    try:
        # As JSON, because strict JSON mode accepts a list for a tuple and text for a path, but never text for a number.
        config = Config.model_validate_json(json.dumps(document, default=str))
    except ValidationError as error:
        raise config_error(error.errors()[0], document, has_settings=bool(settings)) from error
    _check_names(config)
    check_stages(config.pipeline, tuple(config.model))
    for name, table in config.targets().items():
        if isinstance(table, Tunable):
            refuse_unknown(table.tuned, config.model, (SOURCE, *config.variant), f"target.{name}")
    return absolute(config, folder)


def _add_needed(document: dict[str, Any]) -> None:
    """Adds a table with defaults for every target that a wrapper needs."""
    tables = document.get("target")
    for wrapper in WRAPPERS.values():
        if isinstance(tables, dict) and wrapper.NAME in tables:
            for name in included(wrapper, tables):
                tables.setdefault(name, {})


def _spell_out(document: dict[str, Any]) -> None:
    """Expands `calibration = "samples/"` of a variant to a table."""
    tables = document.get("variant")
    for table in tables.values() if isinstance(tables, dict) else ():
        if isinstance(table, dict) and isinstance(table.get("calibration"), str):
            table["calibration"] = {"samples": table["calibration"]}


def apply_setting(document: dict[str, Any], setting: str) -> None:
    """Writes `target.android.min-sdk=26` into the document; the value is parsed as TOML, else taken as text."""
    key, separator, text = setting.partition("=")
    parts = key.strip().split(".")
    if not separator or not all(parts):
        raise ConfigError(f"--set {setting}: expected key=value", hint="for example: --set target.android.min-sdk=26")
    value = toml.value_of(text)
    table = document
    for part in parts[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise ConfigError(f"--set {setting}: '{part}' is not a table", hint="see the keys of mobpack.toml")
    table[parts[-1]] = value


def _check_names(config: Config) -> None:
    for kind, tables in (("model", config.model), ("pipeline", config.pipeline)):
        for name in tables:
            if not names.MODEL_NAME.fullmatch(name):
                raise ConfigError(
                    f"{kind}.{name}: invalid {kind} name",
                    hint="use letters, digits, hyphens and underscores, starting with a letter; Windows reserves aux, "
                    "con and nul",
                )
    types = {
        **{f"model.{name}": class_names.types_of_model(name) for name in config.model},
        **{f"pipeline.{name}": class_names.types_of_pipeline(name) for name in config.pipeline},
    }
    for other, name in combinations(types, 2):
        if shared := class_names.clash(types[other], types[name]):
            raise ConfigError(
                f"{name} and {other} have the same class name in generated code, {shared}",
                hint="rename one of them",
            )
