"""Divides samples into those that a search uses and those that judge its result."""

from dataclasses import replace

from packager.files.store import key_of
from packager.samples.reading import READER
from packager.samples.sample import Samples
from packager.samples.source import HELD_OUT_EACH, Part

LEAST = 16
"""samples that can be divided: fewer would leave too few for ranges, or none to judge by"""


def divided(samples: Samples) -> tuple[Samples, Samples] | None:
    """The samples to search with, and those that are held out; None for too few."""
    if samples.count < LEAST or samples.reader != READER:
        return None
    held_out = samples.count // HELD_OUT_EACH
    return _part(samples, "searched", samples.count - held_out), _part(samples, "held-out", held_out)


def _part(samples: Samples, part: Part, count: int) -> Samples:
    fingerprint = key_of([samples.fingerprint, part]) if samples.fingerprint else ""
    return replace(samples, description={**samples.description, "part": part}, count=count, fingerprint=fingerprint)


def first(count: int, samples: Samples) -> Samples:
    """The first `count` of `samples`."""
    count = min(count, samples.count)
    others = HELD_OUT_EACH - 1
    limits = {"searched": count + (count - 1) // others, "held-out": count * HELD_OUT_EACH}
    limit = limits.get(str(samples.description.get("part")), count)
    return replace(samples, count=count, description={**samples.description, "limit": limit})
