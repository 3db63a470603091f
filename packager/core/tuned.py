"""Settings that `mobpack tune` has measured to be the best for a model on a chip."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

from packager.core.errors import ConfigError, SettingError, nearest
from packager.core.strict_tables import STRICT

CHIP = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._,()/+-]{0,79}")
MOST_THREADS = 256


@dataclass(frozen=True, kw_only=True)
class Tuned:
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    providers: tuple[str, ...] = ()
    """providers of the target, in the order in which they are tried on this chip; the CPU is always last: `["cpu"]` for
    it alone. Without the key, the target's own order holds"""
    threads: int = 0
    """threads per run, 0 for the package's own choice"""
    provider_options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """settings by provider, under ONNX Runtime's names for them"""
    variant: str = ""
    """variant of the model that devices with this chip open in the place of the target's: the package has its files for
    the providers above, for these devices alone. Without the key, they open what all devices do"""

    def __post_init__(self) -> None:
        """Raises SettingError for a number of threads that no device has."""
        if not 0 <= self.threads <= MOST_THREADS:
            raise SettingError(f"threads is {self.threads}", hint=f"0 to {MOST_THREADS}")


Chips = Mapping[str, Mapping[str, Tuned]]
"""by the chip's name, then the model's"""


@runtime_checkable
class Tunable(Protocol):
    """A target whose packages follow such settings."""

    tuned: Chips


def refuse_chips(chips: Chips, providers: Iterable[str], *, last: str, variant: str) -> None:
    """Raises SettingError for a chip without a name, for providers that the target does not ship, for what stands
    behind `last`: the provider that every package has, that always starts and that takes no settings; and for
    `variant`, which the target ships for all chips."""
    known = list(providers)
    for chip, models in chips.items():
        if not CHIP.fullmatch(chip):
            raise SettingError(
                f"'{chip}' is not the name of a chip", hint="write it as the device says it: SM8650, iPhone17,1"
            )
        for model, tuned in models.items():
            if last in tuned.providers[:-1]:
                raise SettingError(
                    f"tuned.{chip}.{model} lists providers after '{last}', which always starts",
                    hint=f"remove '{last}', or the providers after it",
                )
            if tuned.variant == variant:
                raise SettingError(
                    f"tuned.{chip}.{model} has the variant '{variant}', which the target ships for every chip",
                    hint="leave the key out: it changes nothing",
                )
            if last in tuned.provider_options:
                raise SettingError(
                    f"tuned.{chip}.{model} has provider-options of '{last}', which takes none",
                    hint="set threads instead",
                )
            for name in (*tuned.providers, *tuned.provider_options):
                if name not in (*known, last):
                    raise SettingError(
                        f"tuned.{chip}.{model} has the provider '{name}', which the target does not ship",
                        hint=nearest(name, known) or f"add '{name}' to providers, or run mobpack tune again",
                    )


def settings_of(model: str, chips: Chips) -> dict[str, Tuned]:
    """Settings of a model by chip."""
    return {chip: models[model] for chip, models in chips.items() if model in models}


def settings_by_variant(model: str, chips: Chips) -> dict[str, dict[str, Tuned]]:
    """Settings of a model by variant, then chip: of the chips that open another variant than the target's."""
    found: dict[str, dict[str, Tuned]] = {}
    for chip, tuned in sorted(settings_of(model, chips).items()):
        if tuned.variant:
            found.setdefault(tuned.variant, {})[chip] = tuned
    return dict(sorted(found.items()))


def names_of(chips: Chips) -> tuple[str, ...]:
    """The variants that some chips open in the place of the target's, sorted."""
    return tuple(sorted({tuned.variant for models in chips.values() for tuned in models.values() if tuned.variant}))


def refuse_unknown(chips: Chips, models: Iterable[str], variants: Iterable[str], where: str) -> None:
    """Raises ConfigError if `chips` name a model, or a variant, that the project does not have."""
    known, made = list(models), list(variants)
    for chip, tuned in chips.items():
        for name, settings in tuned.items():
            if name not in known:
                raise ConfigError(f"{where}.tuned.{chip}: unknown model '{name}'", hint=nearest(name, known))
            if settings.variant and settings.variant not in made:
                raise ConfigError(
                    f"{where}.tuned.{chip}.{name}: unknown variant '{settings.variant}'",
                    hint=f"{nearest(settings.variant, made)} (a [variant.NAME] table defines one)",
                )
