"""The size that files of variants add to a package that only some chips open."""

from collections.abc import Iterator
from dataclasses import dataclass

from packager.core.console import size
from packager.core.values import Plan
from packager.files.hashes import known_sha256


@dataclass(frozen=True, kw_only=True)
class Added:
    """The files of a model that only devices with certain chips open."""

    model: str
    place: str
    """the target, in words"""
    variant: str
    chips: tuple[str, ...]
    size_bytes: int
    """of those that no other device opens"""

    @property
    def words(self) -> str:
        where = f"{self.model} on {self.place}"
        return f"{where}: {self.variant} for {', '.join(self.chips)} adds {size(self.size_bytes)}"


def added(plan: Plan) -> Iterator[Added]:
    """One for each variant that some chips open; none for a plan without."""
    if len(plan.variants) == 1:
        return
    seen = dict(_files(plan, ""))
    for variant in plan.variants[1:]:
        own = dict(_files(plan, variant))
        more = sum(size_bytes for sha256, size_bytes in own.items() if sha256 not in seen)
        seen |= own
        chips = sorted({chip for each in plan.choices if each.variant == variant for chip in each.soc_models})
        yield Added(model=plan.model.name, place=plan.place, variant=variant, chips=tuple(chips), size_bytes=more)


def _files(plan: Plan, variant: str) -> Iterator[tuple[str, int]]:
    """SHA-256 and size of each file that devices with a variant open."""
    for each in plan.choices:
        if each.variant == variant:
            for path in (each.compiled.path, *each.compiled.data_files):
                yield known_sha256(path), path.stat().st_size
