"""Compares two releases, target by target."""

from collections.abc import Iterator

from packager.core.errors import ConfigError
from packager.distribution.differences import cards, described, interfaces, measurements, models, shipping
from packager.distribution.differences.values import ORDER, Change, Comparison, Level, Release, heaviest
from packager.distribution.differences.versions import bump

LATENCY = "latency: builds give the same bytes on every machine and measure none (`mobpack check --report` does)"
ALONE = (
    "what happens before and after a run, errors and files of providers: packages alone do not say them; name the dist "
    "folders that they come from"
)


def compare(old: Release, new: Release) -> Comparison:
    """Raises ConfigError for releases of different kinds, or without a target in common."""
    _refuse_other_kinds(old, new)
    distinct = dict.fromkeys(_all(old, new))  # overloads often change alike
    found = tuple(sorted(distinct, key=lambda each: ORDER.index(each.level)))
    verdict = heaviest(*(each.level for each in found))
    return Comparison(
        verdict=verdict,
        bump=bump(old.version, new.version, verdict),
        changes=found,
        not_compared=tuple(_not_compared(old, new)),
    )


def _refuse_other_kinds(old: Release, new: Release) -> None:
    if (old.manifest is None) != (new.manifest is None):
        folder, package = (old, new) if old.manifest else (new, old)
        raise ConfigError(
            f"{folder.place} is the folder of a build and {package.place} a single package",
            hint="compare two dist folders, or two packages of the same kind",
        )
    if not set(old.packages) & set(new.packages):
        before, after = (", ".join(each.packages) or "no package" for each in (old, new))
        raise ConfigError(
            f"nothing to compare: {old.place} has {before}, {new.place} has {after}",
            hint="name two releases with a target in common",
        )


def _all(old: Release, new: Release) -> Iterator[Change]:
    for target in old.packages:
        if target not in new.packages:
            reason = "apps of that platform have nothing to move to"
            yield Change(level=Level.MAJOR, where=target, change="package is gone", reason=reason)
            continue
        before, after = old.packages[target], new.packages[target]
        yield from interfaces.changes(before.api, after.api)
        yield from shipping.packages(before, after)
        if not old.manifest:
            yield from models.changes(described.models(before.api), described.models(after.api))
            yield from cards.changes(before.models, after.models)
    for target in new.packages:
        if target not in old.packages:
            yield Change(level=Level.MINOR, where=target, change="new package", reason="the others are as they were")
    if old.manifest and new.manifest:
        yield from models.changes(old.manifest.models, new.manifest.models)
        yield from shipping.manifests(old.manifest, new.manifest)
        yield from measurements.changes(old.manifest, new.manifest)


def _not_compared(old: Release, new: Release) -> Iterator[str]:
    if not old.manifest or not new.manifest:
        yield ALONE
        return
    for name in models.unknown(old.manifest.models, new.manifest.models):
        yield f"labels and kinds of {name}: the manifest of an earlier mobpack does not have them; build it again"
    yield LATENCY
