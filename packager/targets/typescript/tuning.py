"""Tuned settings of a model as the TypeScript of its module has them."""

from collections.abc import Iterator, Mapping

from packager.core.tuned import Chips
from packager.targets.tuning import chips
from packager.targets.typescript.view import TunedChipView, TunedPlatformView


def platforms(model: str, tuned: Mapping[str, Chips]) -> tuple[TunedPlatformView, ...]:
    """The settings of one model by platform and chip, those of platforms without any left out."""
    found = ((name, tuple(_chips(model, each))) for name, each in tuned.items())
    return tuple(TunedPlatformView(name=name, chips=measured) for name, measured in found if measured)


def _chips(model: str, tuned: Chips) -> Iterator[TunedChipView]:
    for chip in chips(tuned, str):
        for each in chip.tuned:
            if each.model == model:
                yield TunedChipView(
                    chip=chip.chip, providers=each.providers, threads=each.threads, options=each.options
                )
