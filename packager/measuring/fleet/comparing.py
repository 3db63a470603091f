"""Finds changes since the last run of a fleet: regressions first."""

from collections.abc import Iterator, Sequence

from packager.core.console import size
from packager.measuring.fleet.document import CellEntry, ChangeEntry, FleetDocument, ProjectEntry

GOOD = ("built", "unchanged")
LARGER = 1.01
"""Ratio of sizes from which a package counts as larger."""
WORSE = 1.1
"""Ratio of errors from which they count as larger."""
LEAST_ERROR = 1e-5
"""Errors below it are rounding: a change of them says nothing."""


def changes(before: FleetDocument | None, projects: Sequence[ProjectEntry]) -> tuple[ChangeEntry, ...]:
    if before is None:
        return ()
    known = {each.name: each for each in before.projects}
    found = [change for each in projects for change in _project(known.get(each.name), each)]
    names = {each.name for each in projects}
    found += [_change(name, "", False, "is no longer in the fleet") for name in known if name not in names]
    return tuple(sorted(found, key=lambda each: not each.is_regression))


def _change(project: str, target: str, is_regression: bool, text: str) -> ChangeEntry:
    return ChangeEntry(project=project, target=target, is_regression=is_regression, text=text)


def _project(before: ProjectEntry | None, now: ProjectEntry) -> Iterator[ChangeEntry]:
    if before is None:
        yield _change(now.name, "", False, "is new")
        return
    if before.state in GOOD and now.state not in GOOD:
        yield _change(now.name, "", True, f"was built before, and is {now.state} now: {now.message}")
    elif before.state not in GOOD and now.state in GOOD:
        yield _change(now.name, "", False, f"is built now; it was {before.state}")
    elif before.state not in GOOD and before.message != now.message:
        yield _change(now.name, "", False, f"is {now.state} for another reason: {now.message}")
    known = {each.target: each for each in before.cells}
    for cell in now.cells:
        if now.state in GOOD and (earlier := known.get(cell.target)):
            yield from _cell(now.name, earlier, cell)
        elif now.state in GOOD and cell.target not in known:
            yield _change(now.name, cell.target, False, "has a package now")


def _cell(project: str, before: CellEntry, now: CellEntry) -> Iterator[ChangeEntry]:
    if before.size_bytes and now.size_bytes and before.size_bytes != now.size_bytes:
        ratio = now.size_bytes / before.size_bytes
        if ratio >= LARGER or ratio <= 1 / LARGER:
            text = f"{size(before.size_bytes)} became {size(now.size_bytes)} ({ratio - 1:+.1%})"
            yield _change(project, now.target, ratio > 1, text)
    for what, earlier, later in (
        ("error", before.error, now.error),
        ("distance from the model", before.distance, now.distance),
    ):
        if earlier is None or later is None or max(earlier, later) <= LEAST_ERROR:
            continue
        if later > earlier * WORSE or earlier > later * WORSE:
            yield _change(project, now.target, later > earlier, f"{what}: {earlier:.2g} became {later:.2g}")
    if before.partitions is not None and now.partitions is not None and before.partitions != now.partitions:
        text = f"{before.partitions} partitions became {now.partitions}"
        yield _change(project, now.target, now.partitions > before.partitions, text)
    if before.share is not None and now.share is not None and abs(before.share - now.share) >= 0.001:
        text = f"the provider's share of the arithmetic: {before.share:.1%} became {now.share:.1%}"
        yield _change(project, now.target, now.share < before.share, text)
    if before.variant != now.variant:
        yield _change(project, now.target, False, f"variant {before.variant} became {now.variant}")
