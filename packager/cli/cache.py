"""`mobpack cache`: lists the cached build results; removes old, excess and damaged ones."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from packager.cli.options import json_option, print_json

if TYPE_CHECKING:
    from packager.files.store.pruning import Entry

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
DAY_S = 24 * 60 * 60


class Size(click.ParamType):  # type: ignore[type-arg]
    """A size in decimal units, in bytes: `20GB`, `500 MB`, `0`."""

    name = "SIZE"

    def convert(self, value: object, param: click.Parameter | None, context: click.Context | None) -> int:
        found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?B|)", str(value).upper())
        if not found:
            self.fail(f"'{value}' is no size: write it as in 20GB or 500MB", param, context)
        return int(float(found[1]) * UNITS[found[2]])


@click.command(short_help="Show and clear the build cache.")
@click.option("--max-size", type=Size(), help="Remove the least recently used results until the cache fits: 20GB.")
@click.option(
    "--max-age", type=click.FloatRange(min=0), metavar="DAYS", help="Remove results that were not used for DAYS days."
)
@click.option("--verify", "is_verified", is_flag=True, help="Read every result and remove damaged ones.")
@json_option
def cache(max_size: int | None, max_age: float | None, is_verified: bool, as_json: bool) -> None:
    """Show the cached results of earlier builds by build step, and remove those that are not needed.

    Removing results is safe: a build makes them again. Results used within the last hour, and those of running builds,
    are kept. Every build limits the cache to 20GB when it ends.
    """
    from packager.core.console import Console, size
    from packager.files.store import Store
    from packager.files.store.pruning import entries, prune, verify
    from packager.files.user_cache import cache_folder

    store = Store(cache_folder() / "store")
    removed = [(entry, f"damaged: {damage}") for entry, damage in (verify(store) if is_verified else ())]
    if max_size is not None or max_age is not None:
        max_age_s = None if max_age is None else max_age * DAY_S
        removed += [(entry, "not needed") for entry in prune(store, max_bytes=max_size, max_age_s=max_age_s)]
    left = entries(store)
    if as_json:
        print_json(
            {
                "folder": str(store.root),
                "size-bytes": sum(entry.size_bytes for entry in left),
                "steps": [
                    {
                        "name": name,
                        "entries": len(found),
                        "size-bytes": sum(entry.size_bytes for entry in found),
                        "oldest-use": day_and_time(found),
                    }
                    for name, found in by_step(left)
                ],
                "removed": [
                    {"step": entry.step, "key": entry.key, "size-bytes": entry.size_bytes, "reason": reason}
                    for entry, reason in removed
                ],
            }
        )
        return
    console = Console()
    rows = [
        [name, str(len(found)), size(sum(entry.size_bytes for entry in found)), day_and_time(found)]
        for name, found in by_step(left)
    ]
    console.table(str(store.root), ["step", "results", "size", "oldest use"], rows)
    console.result(f"{len(left)} results, {size(sum(entry.size_bytes for entry in left))}")
    for entry, reason in removed:
        console.result(f"removed {entry.step}/{entry.key[:12]}, {size(entry.size_bytes)}: {reason}")


def by_step(found: "Sequence[Entry]") -> "list[tuple[str, list[Entry]]]":
    """The results of each step, by its name."""
    return [(name, [each for each in found if each.step == name]) for name in sorted({each.step for each in found})]


def day_and_time(found: "Sequence[Entry]") -> str:
    """Time of the least recent use, in UTC: `2026-01-31T23:59:59Z`."""
    return datetime.fromtimestamp(min(each.used_s for each in found), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
