"""Tuned settings as Kotlin and Swift print them."""

from collections.abc import Callable
from dataclasses import dataclass

from packager.core.tuned import Chips


@dataclass(frozen=True, kw_only=True)
class TunedOptionsView:
    provider: str
    """constant of the provider"""
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class TunedView:
    chip: str
    model: str
    """its name in mobpack.toml"""
    providers: tuple[str, ...]
    """constants; empty where the package's own order holds"""
    threads: int
    options: tuple[TunedOptionsView, ...]


def chips(tuned: Chips, constant: Callable[[str], str]) -> tuple[TunedView, ...]:
    """One for each chip and model; `constant` makes a provider's constant of its name."""
    return tuple(
        TunedView(
            chip=chip,
            model=model,
            providers=tuple(map(constant, each.providers)),
            threads=each.threads,
            options=tuple(
                TunedOptionsView(provider=constant(provider), entries=tuple(sorted(entries.items())))
                for provider, entries in sorted(each.provider_options.items())
            ),
        )
        for chip, models in sorted(tuned.items())
        for model, each in sorted(models.items())
    )
