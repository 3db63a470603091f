"""The channel from which apps update the models of a package, and the APIs that they can take."""

import json
from collections.abc import Sequence
from dataclasses import replace

from packager.config import Config
from packager.core.characters import to_json
from packager.core.errors import ConfigError
from packager.core.values import Delivery, Package, Plan
from packager.distribution.channel.contracts import contract_hash
from packager.distribution.release import model_entry
from packager.targets import KNOWN_TARGETS
from packager.workflows.options import contracts_of
from packager.workflows.trusted_keys import root_of


def refuse_undelivered(config: Config, targets: Sequence[str]) -> None:
    """Raises ConfigError for `[package] channel` without `trust`, and with a target whose code updates no models."""
    if not config.package.channel:
        return
    if not config.package.trusted:
        raise ConfigError(
            "package.channel needs package.trust: apps take only models that the holder of a key has signed",
            hint='add the public half of the key that publishes: trust = "release.pub" (docs/signing.md makes one)',
        )
    known = {**config.targets(), **config.wrappers()}
    unable = [name for name in targets if name in known and not known[name].UPDATES]
    if unable:
        able = [name for name, target in KNOWN_TARGETS.items() if target.UPDATES]
        raise ConfigError(
            f"package.channel: the code for {', '.join(unable)} cannot update models yet",
            hint=f"build it from a mobpack.toml without channel; these can: {', '.join(able) or 'none'}",
        )


def delivered(package: Package, config: Config, plans: Sequence[Plan]) -> Package:
    """The package with what its code needs to take models from a channel; unchanged without `[package] channel`."""
    root = root_of(config)
    if root is None:
        return package
    tables = json.loads(to_json(contracts_of(config))).get("contract", {})
    models = {plan.model.name: json.loads(to_json(model_entry(plan.model))) for plan in plans}
    contracts = {name: contract_hash(models[name], tables.get(name, {})) for name in sorted(models)}
    return replace(package, delivery=Delivery(channel=root.channel, root=root.text, contracts=contracts))
