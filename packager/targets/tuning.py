"""Tuned settings as packages print them, and the files of variants that only some chips open."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from packager.core.tuned import Chips, Tuned
from packager.core.values import Choice, Plan, Precision


@dataclass(frozen=True, kw_only=True)
class TunedOptionsView:
    provider: str
    """constant of the provider"""
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class TunedView:
    model: str
    """its name in mobpack.toml"""
    providers: tuple[str, ...]
    """constants, that of the CPU alone where no other is tried; empty where the package's own order holds"""
    threads: int
    options: tuple[TunedOptionsView, ...]


@dataclass(frozen=True, kw_only=True)
class ChipView:
    chip: str
    tuned: tuple[TunedView, ...]


def precision_of(choice: Choice, plan: Plan) -> Precision:
    """The precision of the variant that a choice of `plan` belongs to."""
    return choice.compiled.variant.traits.precision if choice.variant else plan.precision


def variants_by_file(plan: Plan) -> Mapping[str, str]:
    """sha256 of every file -> the variant that only some chips open; empty for the target's own files, also where they
    are those of another variant, too."""
    return {choice.compiled.sha256: choice.variant for choice in reversed(plan.choices)}


def chips(tuned: Chips, constant: Callable[[str], str]) -> tuple[ChipView, ...]:
    """The settings of each chip; `constant` makes a provider's constant of its name."""
    return tuple(
        ChipView(chip=chip, tuned=tuple(_tuned(model, each, constant) for model, each in sorted(models.items())))
        for chip, models in sorted(tuned.items())
    )


def _tuned(model: str, settings: Tuned, constant: Callable[[str], str]) -> TunedView:
    return TunedView(
        model=model,
        providers=tuple(map(constant, settings.providers)),
        threads=settings.threads,
        options=tuple(
            TunedOptionsView(provider=constant(provider), entries=tuple(sorted(entries.items())))
            for provider, entries in sorted(settings.provider_options.items())
        ),
    )
