"""`mobpack doctor`: which parts of the setup this machine has, and how to get the others."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from packager.cli.options import json_option, print_json
from packager.core.errors import MobpackError

if TYPE_CHECKING:
    from packager.workflows.doctor import Part


@click.command(short_help="Show what is installed and what is missing.")
@click.option(
    "--install",
    "names",
    multiple=True,
    metavar="NAME",
    help="Install an isolated environment, or `all` that have an ONNX Runtime. Repeatable.",
)
@json_option
def doctor(names: tuple[str, ...], as_json: bool) -> None:
    """Show what this machine can build and check, and how to install what is missing."""
    from packager.core.console import Console
    from packager.workflows.doctor import (
        environments_to_install,
        examine,
        examine_environments,
        examine_frameworks,
        install_environment,
    )
    from packager.workflows.limits import limits

    for name in environments_to_install(names):
        with Console(quiet=as_json).step(f"install {name}"):
            install_environment(name)
    parts, environments, runners = [*examine(), *shared_cache()], examine_environments(), examine_runners()
    frameworks = examine_frameworks()
    lacking = limits(sys.platform)
    if as_json:
        print_json(
            {
                "parts": [
                    {
                        "name": part.name,
                        "present": part.is_present,
                        "needed-for": part.needed_for,
                        "found": part.found,
                        "how-to-get": part.how_to_get,
                    }
                    for part in parts
                ],
                "environments": [asdict(environment) for environment in environments],
                "frameworks": [asdict(framework) for framework in frameworks],
                "runners": [{"name": name, "about": about, "missing": missing} for name, about, missing in runners],
                "limits": [asdict(limit) for limit in lacking],
            }
        )
        return
    rows = [
        [
            "yes" if part.is_present else "no",
            part.name,
            part.needed_for,
            part.found if part.is_present else part.how_to_get,
        ]
        for part in parts
    ]
    console = Console()
    console.table("", ["", "part", "needed for", "found / how to get it"], rows)
    console.table(
        "Isolated environments, for checks with other builds of ONNX Runtime",
        ["", "name", "what it is", "how to get it"],
        [[each.state, each.name, each.about, each.reason] for each in environments],
    )
    console.table(
        "Isolated environments, for imports from other frameworks",
        ["", "name", "what it is", "how to get it"],
        [[each.state, each.name, each.about, each.reason] for each in frameworks],
    )
    console.table(
        "Runners, on which models are compared",
        ["", "name", "what it is", "what is missing"],
        [["no" if missing else "yes", name, about, missing] for name, about, missing in runners],
    )
    if lacking:
        console.table("What this system lacks", ["what", "why"], [[limit.what, limit.reason] for limit in lacking])


def shared_cache() -> "list[Part]":
    """The shared cache that MOBPACK_CACHE or the project in this folder names, which is asked for something; nothing if
    none is named."""
    from packager.cli.cache import project_table
    from packager.config.cache import OFF
    from packager.workflows.doctor import Part
    from packager.workflows.shared_store import answers

    found, problem = "", ""
    try:
        table = project_table(None)
        if table.remote in ("", OFF):
            return []
        problem = answers(table)
        found = "" if problem else table.remote
    except MobpackError as error:
        problem = f"{error.message}; {error.hint}"
    return [Part(name="shared cache", needed_for="results of other machines", found=found, how_to_get=problem)]


def examine_runners() -> list[tuple[str, str, str]]:
    """Every runner: name, description and what this machine lacks for it. `recorded` is omitted: it needs files of a
    project."""
    from packager.runners import RECORDED, RUNNERS

    names = [name for name in RUNNERS if name != RECORDED]
    return [(each.label(), each.about, each.missing()) for name in names for each in RUNNERS[name]("")]
