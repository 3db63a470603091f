"""Draws the samples for a comparison: those of the reference, and others if those are ill-conditioned."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from packager.core.errors import ModelError
from packager.core.findings import IllConditioned
from packager.core.values import Variant
from packager.engines.runners import Outcome
from packager.verification.parity.conditioning import Movement
from packager.verification.parity.judging import Judge
from packager.verification.parity.metrics import Comparison
from packager.verification.parity.reference import OriginalOutputs
from packager.verification.parity.settings import ParitySettings

REDRAWS = 3
"""Maximum number of times that all random samples are drawn again."""
SEEDS = 1_000_003
"""Distance between the seeds of two draws: seeds that people choose are closer together."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A sample, and the original's outputs for it."""

    number: int
    path: Path
    expected: Outcome
    perturbed: Callable[[], Movement] = field(repr=False, compare=False)
    """the original's outputs for the perturbed sample; empty if it cannot be perturbed"""


def draw(original: Variant, settings: ParitySettings, references: OriginalOutputs, times: int = 0) -> tuple[Drawn, ...]:
    """The samples in order; after `times` draws other random ones, or none: given ones are never drawn again.

    Raises ModelError if the original does not run on the first ones.
    """
    if times and (settings.samples or times > REDRAWS):
        return ()
    own = replace(settings, seed=settings.seed + times * SEEDS)
    try:
        reference = references.of(original, own)
    except ModelError:
        if not times:
            raise
        return ()  # the model rejects these numbers: there are no further samples
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


def movement(
    original: Variant,
    settings: ParitySettings,
    number: int,
    references: OriginalOutputs,
    *,
    but: frozenset[int] = frozenset(),
) -> IllConditioned | None:
    """Movement of the original on the sample `number` when its last bits change; None if every output stays within its
    tolerance, `but` for some."""
    reference = references.of(original, settings)
    others = references.perturbed(original, settings, number)
    found = []
    for index, spec in enumerate(original.model.signature.outputs):
        if index in reference.unstable | but:
            continue
        judge = Judge(spec.name, index, settings, reference.scales[index])
        if own := judge.moves(reference.outcomes[number], others):
            found.append(ill_conditioned(judge, own, number))
    return max(found, key=lambda each: each.moves_by / each.scale, default=None)


def ill_conditioned(judge: Judge, own: Comparison, sample: int) -> IllConditioned:
    return IllConditioned(
        sample=sample, output=judge.output, moves_by=own.result().max_abs_error, scale=judge.scale.value
    )
