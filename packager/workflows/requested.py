"""The package, the targets and the options that a build was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packager.config import Config
from packager.core.errors import ConfigError
from packager.core.values import Package
from packager.signing.encryption import ModelKey
from packager.targets import WRAPPERS, Target, Wrapper, included
from packager.workflows.gates import Rules
from packager.workflows.trusted_keys import trust_of

NO_RULES = Rules()


@dataclass(frozen=True, kw_only=True)
class BuildRequest:
    """Options of the command line for a build, in addition to the Config."""

    targets: tuple[str, ...]
    """targets to build packages for, including those that wrappers need"""
    out: Path
    emit_project: bool = False
    emit_ort_package: bool = False
    emit_spdx: bool = False
    rules: Rules = NO_RULES
    model_key: ModelKey | None = None
    """key that models are encrypted with"""
    has_project: bool = False
    """whether a mobpack.toml says what to build, in which a user can set keys"""


def requested_targets(config: Config, asked: Sequence[str]) -> tuple[str, ...]:
    """The targets of the command line, else those of mobpack.toml, preceded by the targets that wrappers include.

    Raises ConfigError when there are none.
    """
    chosen = tuple(dict.fromkeys(asked)) or (*config.targets(), *config.wrappers())
    if not chosen:
        raise ConfigError(
            "no target to build", hint="add --target android, or a [target.android] table to mobpack.toml"
        )
    wrappers = [WRAPPERS[name] for name in chosen if name in WRAPPERS]
    needed = [name for wrapper in wrappers for name in included(wrapper, config.targets())]
    return tuple(dict.fromkeys((*needed, *chosen)))


def package_of(config: Config) -> Package:
    """Raises ConfigError for keys that cannot be trusted."""
    return Package(
        name=config.package.name,
        version=config.package.version,
        license=config.package.license,
        description=config.package.description,
        url=config.package.url,
        scm=config.package.scm,
        developers=config.package.developers,
        npm_registry=config.package.npm_registry,
        trust=trust_of(config),
        encryption=config.package.encryption,
    )


def targets_of(config: Config, names: Sequence[str]) -> dict[str, Target]:
    """The targets among `names` that models are planned for."""
    found = config.targets()
    return {name: found[name] for name in names if name in found}


def wrappers_of(config: Config, names: Sequence[str]) -> dict[str, Wrapper]:
    """The wrappers among `names`."""
    found = config.wrappers()
    return {name: found[name] for name in names if name in found}
