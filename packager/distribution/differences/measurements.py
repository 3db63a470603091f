"""Compares what was measured: errors against the original, and how often the largest number is the original's."""

from collections.abc import Iterator

from packager.distribution.differences.manifests import Manifest, Measurement
from packager.distribution.differences.values import Change, Level

LEAST_AGREEMENT = 0.01
"""Change of a share of rows from which apps can notice it."""
DIGITS = 0.2
"""Share of an error below which another one is the same: the order of additions differs between machines."""


def changes(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Changes of a model's outputs on the same runner. A model may have several files there: the worst counts."""
    before = _worst(old)
    for key, found in _worst(new).items():
        known = before.get(key)
        if known:
            yield from _error(known, found)
            yield from _agreement(known, found)


def _worst(manifest: Manifest) -> dict[tuple[str, str, str], Measurement]:
    found: dict[tuple[str, str, str], Measurement] = {}
    for each in manifest.measurements:
        key = each.model, each.runner, each.output
        if key not in found or _distance(each) > _distance(found[key]):
            found[key] = each
    return found


def _distance(found: Measurement) -> float:
    """From the model as it was given, if that is known."""
    return found.error if found.from_original is None else found.from_original


def _error(old: Measurement, new: Measurement) -> Iterator[Change]:
    before, after = _distance(old), _distance(new)
    if abs(after - before) <= DIGITS * max(before, after):
        return
    change = f"worst error {after:.2g} of the scale, was {before:.2g}"
    if after - before > new.tolerance:
        reason = f"more than the package's own tolerance ({new.tolerance:g}): apps can notice it"
        yield Change(level=Level.MINOR, where=_where(new), change=change, reason=reason)
    else:
        reason = f"within the package's own tolerance ({new.tolerance:g})"
        yield Change(level=Level.PATCH, where=_where(new), change=change, reason=reason)


def _agreement(old: Measurement, new: Measurement) -> Iterator[Change]:
    if old.agreement is None or new.agreement is None or old.agreement == new.agreement:
        return
    change = f"largest number is the original's in {new.agreement:.1%} of rows, was {old.agreement:.1%}"
    if old.agreement - new.agreement >= LEAST_AGREEMENT:
        reason = "results that apps show differ more often from those of the model"
        yield Change(level=Level.MINOR, where=_where(new), change=change, reason=reason)
    else:
        yield Change(level=Level.PATCH, where=_where(new), change=change, reason="no less often than before, or hardly")


def _where(found: Measurement) -> str:
    return f"{found.model}: output {found.output} on {found.runner}"
