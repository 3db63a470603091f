"""`mobpack cache`: lists the cached build results; removes old, excess and damaged ones."""

import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import cache_option, cache_table, json_option, print_json
from packager.core.errors import ConfigError, ToolError

if TYPE_CHECKING:
    from packager.config import CacheTable
    from packager.files.store.pruning import Entry
    from packager.files.store.remote import Counts

    Removed = tuple[Entry, str]

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
DAY_S = 24 * 60 * 60


class Size(click.ParamType):  # type: ignore[type-arg]
    """A size in decimal units, in bytes: `20GB`, `500 MB`, `0`."""

    name = "SIZE"

    def convert(self, value: object, param: click.Parameter | None, context: click.Context | None) -> int:
        found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?B|)", str(value).upper())
        if not found:
            self.fail(f"'{value}' is not a size: write it as in 20GB or 500MB", param, context)
        return int(float(found[1]) * UNITS[found[2]])


@click.command(short_help="Show and clear the build cache.")
@click.option("--max-size", type=Size(), help="Remove the least recently used results until the cache fits: 20GB.")
@click.option(
    "--max-age", type=click.FloatRange(min=0), metavar="DAYS", help="Remove results that were not used for DAYS days."
)
@click.option("--verify", "is_verified", is_flag=True, help="Read every result and remove damaged ones.")
@click.option(
    "--remote",
    "is_remote",
    is_flag=True,
    help="Show what the shared cache has; with --max-age, remove from it what was written more than DAYS days ago.",
)
@click.option(
    "--push",
    "is_pushed",
    is_flag=True,
    help="Send results made on this machine to the shared cache: those used in the last day, or in --max-age DAYS.",
)
@cache_option
@json_option
def cache(
    max_size: int | None,
    max_age: float | None,
    is_verified: bool,
    is_remote: bool,
    is_pushed: bool,
    cache_url: str | None,
    as_json: bool,
) -> None:
    """Show the cached results of earlier builds by build step, and remove those that are not needed.

    Removing results is safe: a build makes them again. Results used within the last hour, and those of running builds,
    are kept. Every build limits the cache to 20GB when it ends.

    Shared caches are those of --cache; the command lists what they have saved.
    """
    if is_remote or is_pushed:
        if (max_size is not None) or is_verified or (is_remote and is_pushed):
            raise ConfigError(
                "--remote and --push cannot be combined with other options than --max-age",
                hint="run one after the other",
            )
        with_remote(cache_url, None if max_age is None else max_age * DAY_S, is_pushed=is_pushed, as_json=as_json)
        return
    from packager.files.store import Store
    from packager.files.store.pruning import entries, prune, verify
    from packager.files.user_cache import cache_folder

    store = Store(cache_folder() / "store")
    removed = [(entry, f"damaged: {damage}") for entry, damage in (verify(store) if is_verified else ())]
    if max_size is not None or max_age is not None:
        max_age_s = None if max_age is None else max_age * DAY_S
        removed += [(entry, "not needed") for entry in prune(store, max_bytes=max_size, max_age_s=max_age_s)]
    if as_json:
        print_json(_document(store.root, entries(store), removed))
        return
    _show(store.root, entries(store), removed)


def _document(root: Path, left: "Sequence[Entry]", removed: "Sequence[Removed]") -> dict[str, object]:
    from packager.workflows.shared_store import all_totals, described

    return {
        "folder": str(root),
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
        "shared": [{"cache": name, **described(counts)} for name, counts in all_totals().items()],
    }


def _show(root: Path, left: "Sequence[Entry]", removed: "Sequence[Removed]") -> None:
    from packager.core.console import Console, size
    from packager.workflows.shared_store import all_totals

    console = Console()
    rows = [
        [name, str(len(found)), size(sum(entry.size_bytes for entry in found)), day_and_time(found)]
        for name, found in by_step(left)
    ]
    console.table(str(root), ["step", "results", "size", "oldest use"], rows)
    console.result(f"{len(left)} results, {size(sum(entry.size_bytes for entry in left))}")
    if shared := all_totals():
        columns = ["shared cache", "asked for", "fetched", "received", "sent", "bytes sent", "refused", "not sent"]
        console.table("", columns, [shared_row(name, counts) for name, counts in shared.items()])
    for entry, reason in removed:
        console.result(f"removed {entry.step}/{entry.key[:12]}, {size(entry.size_bytes)}: {reason}")


def with_remote(option: str | None, max_age_s: float | None, *, is_pushed: bool, as_json: bool) -> None:
    """Sends results to the shared cache, or lists it; removes what is older than `max_age_s`."""
    from packager.core.console import Console, size
    from packager.files.store import Store
    from packager.files.user_cache import cache_folder
    from packager.workflows import shared_store

    console = Console(quiet=as_json)
    remote = shared_store.remote_of(project_table(option), console)
    if remote is None:
        raise ConfigError(
            "no shared cache is named", hint="give --cache s3://bucket/prefix, MOBPACK_CACHE, or [cache] remote"
        )
    if is_pushed and shared_store.encrypts_here():
        raise ConfigError(
            f"nothing is sent to {remote.name}: {shared_store.PRIVATE}",
            hint="results of other projects: run it in another folder, where those of encrypted ones are left out, too",
        )
    if is_pushed:
        since_s = time.time() - (DAY_S if max_age_s is None else max_age_s)
        shared_store.push(Store(cache_folder() / "store", remote=remote), since_s)
        shared_store.finish(remote, console)
        if remote.problem:
            raise ToolError(f"{remote.name}: {remote.problem}", hint=shared_store.CHECK)
        if as_json:
            print_json({"cache": remote.name, **shared_store.described(remote.counts)})
        return
    removed = () if max_age_s is None else shared_store.prune(remote, max_age_s)
    found = shared_store.contents(remote)
    if as_json:
        listed = [{"name": name, "objects": count, "size-bytes": of} for name, (count, of) in found.items()]
        print_json({"cache": remote.name, "contents": listed, "removed": [each.name for each in removed]})
        return
    console.table(
        remote.name, ["results of", "objects", "size"], [[name, str(n), size(of)] for name, (n, of) in found.items()]
    )
    if max_age_s is not None:
        console.result(f"removed {len(removed)} objects, {size(sum(each.size_bytes for each in removed))}")


def project_table(option: str | None) -> "CacheTable":
    """The `[cache]` table of the project in this folder, if there is one, with `--cache` and the environment."""
    from packager import config
    from packager.workflows.shared_store import named

    project = Path(config.FILE_NAME)
    return named(config.load(project).cache, option) if project.is_file() else cache_table(option)


def shared_row(name: str, counts: "Counts") -> list[str]:
    from packager.core.console import size

    numbers = [counts.hits + counts.misses + counts.refused, counts.hits]
    return [
        name,
        *map(str, numbers),
        size(counts.received_bytes),
        str(counts.sent),
        size(counts.sent_bytes),
        str(counts.refused),
        str(counts.unsent),
    ]


def by_step(found: "Sequence[Entry]") -> "list[tuple[str, list[Entry]]]":
    """The results of each step, by its name."""
    return [(name, [each for each in found if each.step == name]) for name in sorted({each.step for each in found})]


def day_and_time(found: "Sequence[Entry]") -> str:
    """Time of the least recent use, in UTC: `2026-01-31T23:59:59Z`."""
    return datetime.fromtimestamp(min(each.used_s for each in found), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
