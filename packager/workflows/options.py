"""The configuration of a build, as its manifest records it."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from packager.config import Config
from packager.core import names
from packager.files.hashes import sha256_of
from packager.quantization.variants import settings_of
from packager.targets.target import Printed, variants_of
from packager.workflows.requested import targets_of, wrappers_of
from packager.workflows.trusted_keys import root_of, trust_of


def options_of(config: Config, targets: Sequence[str]) -> dict[str, object]:
    """The configuration of the build, without paths of the build machine."""
    return {
        "shapes": {
            name: {key: value if isinstance(value, int) else list(value) for key, value in table.shapes.items()}
            for name, table in config.model.items()
        },
        "rename": {name: table.rename for name, table in config.model.items() if table.rename},
        **contracts_of(config),
        **trust_in(config),
        **channel_in(config),
        **({"encryption": config.package.encryption} if config.package.encryption else {}),
        "parity": {
            "runners": list(config.parity.runners),
            "require": list(config.parity.require),
            "random-samples": config.parity.random_samples,
            "seed": config.parity.seed,
            "tolerance": config.parity.tolerance,
            "atol": config.parity.atol,
            "golden": config.parity.golden,
            "golden-max-kib": config.parity.golden_max_kib,
        },
        "variant": {
            name: settings_of(config.quantizer_of(name))
            for name in dict.fromkeys(
                each for target in targets_of(config, targets).values() for each in variants_of(target)
            )
        },
        "target": {
            name: {names.kebab_case(key): value for key, value in target_settings(table).items()}
            for name, table in {**targets_of(config, targets), **wrappers_of(config, targets)}.items()
        },
    }


def trust_in(config: Config) -> dict[str, object]:
    """The trusted keys by the sha256 of their SubjectPublicKeyInfo, and the number of the release; empty without."""
    trust = trust_of(config)
    if trust is None:
        return {}
    keys = [hashlib.sha256(key).hexdigest() for key in trust.keys]
    return {"trust": {"keys": keys, "number": trust.number}}


def channel_in(config: Config) -> dict[str, object]:
    """The name of the channel and the sha256 of its root; empty without."""
    root = root_of(config)
    return {"channel": root.channel, "channel-root": hashlib.sha256(root.text.encode()).hexdigest()} if root else {}


def contracts_of(config: Config) -> dict[str, object]:
    """Tables of inputs and outputs by model, files by name and sha256; empty without contracts."""
    found = {
        name: {
            "inputs": {key: _settings_of_kind(kind) for key, kind in table.inputs.items()},
            "outputs": {key: _settings_of_kind(kind) for key, kind in table.outputs.items()},
        }
        for name, table in config.model.items()
        if table.inputs or table.outputs
    }
    return {"contract": found} if found else {}


def _settings_of_kind(kind: Any) -> dict[str, object]:
    settings = {names.kebab_case(key): value for key, value in asdict(kind).items() if value is not None}
    hashes = {f"{key}-sha256": sha256_of(value) for key, value in settings.items() if _is_file(value)}
    return {**{key: value.name if isinstance(value, Path) else value for key, value in settings.items()}, **hashes}


def _is_file(value: object) -> bool:
    return isinstance(value, Path) and value.is_file()


def target_settings(target: Printed) -> dict[str, object]:
    """Settings of a target by Python name."""
    return asdict(target)
