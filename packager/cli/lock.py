"""`mobpack lock`: lists everything that a project is built from in mobpack.lock."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import (
    config_option,
    json_option,
    print_json,
    require_option,
    runners_option,
    set_option,
    shape_option,
    target_option,
    with_runners,
)
from packager.cli.project_options import ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packager.distribution.locking import Lock, LockChange

SIGNS = {"added": "+", "changed": "~", "removed": "-"}


@click.command(short_help="List all that a project is built from, for review.")
@target_option
@config_option
@set_option
@shape_option
@runners_option
@require_option
@click.option("--check", is_flag=True, help="Write nothing; fail with exit code 6 if the lock would change.")
@json_option
def lock(
    targets: tuple[str, ...],
    config_path: Path,
    settings: tuple[str, ...],
    shapes: tuple[str, ...],
    runners: str,
    require: str,
    check: bool,
    as_json: bool,
) -> None:
    """Write mobpack.lock beside mobpack.toml: every input file, tool, runtime and Python package that the packages are
    built from, with version, origin and sha256; and print what has changed since the last one.

    `mobpack build --locked` then uses nothing else. The options are those of the build.
    """
    from packager.core.console import Console
    from packager.core.to_json import plain
    from packager.distribution.locking import compare, write
    from packager.distribution.locking.changes import NO_LOCK
    from packager.distribution.locking.text import read
    from packager.workflows.ingredients import BuildProject, ingredients, refuse, refuse_without_environments
    from packager.workflows.requested import requested_targets

    settings = with_runners(settings, runners, require)
    config = ProjectOptions(config_path=config_path, targets=targets, settings=settings, shapes=shapes).config()
    project = BuildProject(config=config, file=config_path, settings=settings, shapes=shapes)
    refuse_without_environments(config, requested_targets(config, targets), "--check" if check else "mobpack lock")
    with Console(quiet=as_json).step("read what the packages are built from"):
        found = ingredients(project, requested_targets(config, targets))
    before = read(project.lock) if check or project.lock.exists() else NO_LOCK
    changes = compare(before, found)
    if check:
        refuse(changes, f"--check: {project.lock}")
    elif changes or not project.lock.exists():
        write(project.lock, found)
    if as_json:
        document = {"lock": str(project.lock), "entries": found.count, "not-locked": list(found.not_locked)}
        print_json({**document, "changes": [plain(each) for each in changes]})
        return
    show(project.lock, found, changes)


def show(path: Path, found: "Lock", changes: "Sequence[LockChange]") -> None:
    """Prints the changes, a line each, and their number."""
    from packager.core.console import Console

    console = Console()
    for each in changes:
        words = {"added": each.now, "removed": each.before, "changed": f"{each.before} -> {each.now}"}[each.kind]
        console.result(f"{SIGNS[each.kind]} {each.thing}: {words}")
    for beyond in found.not_locked:
        console.say(f"not locked: {beyond}")
    counts = ", ".join(f"{sum(each.kind == kind for each in changes)} {kind}" for kind in SIGNS)
    console.result(f"{path}: {found.count} entries; {counts}")
