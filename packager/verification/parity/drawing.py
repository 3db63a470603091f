"""The samples that a file is compared on: those of the reference, and others where those tell nothing."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from packager.core.errors import ModelError
from packager.core.findings import IllConditioned
from packager.core.values import Variant
from packager.runners import Outcome
from packager.verification.parity.conditioning import Movement
from packager.verification.parity.judging import Judge
from packager.verification.parity.metrics import Comparison
from packager.verification.parity.reference import References
from packager.verification.parity.settings import ParitySettings

REDRAWS = 3
"""Times that all random samples are drawn anew at most."""
SEEDS = 1_000_003
"""From one draw to the next: seeds that people choose are closer to each other."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A sample, and what the original makes of it."""

    number: int
    path: Path
    expected: Outcome
    perturbed: Callable[[], Movement] = field(repr=False, compare=False)
    """what the original makes of it with its last bits changed; nothing where that cannot be done"""


def draw(original: Variant, settings: ParitySettings, references: References, times: int = 0) -> tuple[Drawn, ...]:
    """The samples in order; after `times` draws other random ones, or none: given ones are never drawn anew.

    Raises ModelError when the original does not run on the first ones.
    """
    if times and (settings.samples or times > REDRAWS):
        return ()
    own = replace(settings, seed=settings.seed + times * SEEDS)
    try:
        reference = references.of(original, own)
    except ModelError:
        if not times:
            raise
        return ()  # numbers that it does not take: there are no more samples than it has
    start = times * len(reference.outcomes)
    return tuple(
        Drawn(
            number=start + index,
            path=path,
            expected=expected,
            perturbed=partial(references.perturbed, original, own, index),
        )
        for index, (path, expected) in enumerate(zip(reference.samples.paths, reference.outcomes, strict=True))
    )


def movement(original: Variant, settings: ParitySettings, number: int, references: References) -> IllConditioned | None:
    """By how much the original moves on the sample `number` when its last bits change; None where that is within the
    tolerance of every output."""
    reference = references.of(original, settings)
    others = references.perturbed(original, settings, number)
    found = []
    for index, spec in enumerate(original.model.signature.outputs):
        if index in reference.unstable:
            continue
        judge = Judge(spec.name, index, settings, reference.scales[index])
        if own := judge.moves(reference.outcomes[number], others):
            found.append(ill_conditioned(judge, own, number))
    return max(found, key=lambda each: each.moves_by / each.scale, default=None)


def ill_conditioned(judge: Judge, own: Comparison, sample: int) -> IllConditioned:
    return IllConditioned(
        sample=sample, output=judge.output, moves_by=own.result().max_abs_error, scale=judge.scale.value
    )
