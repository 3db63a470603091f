"""`mobpack doctor`: which parts of the setup this machine has, and how to get the others."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from packager.cli.options import json_option, print_json
from packager.core.errors import MobpackError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packager.workflows.doctor import DoctorPart, EnvironmentState


@click.command(short_help="Show what is installed and what is missing.")
@click.option(
    "--install",
    "names",
    multiple=True,
    metavar="NAME",
    help="Install an isolated environment, those of the `project` in this folder, or `all` that have an ONNX Runtime. "
    "Repeatable.",
)
@click.option("--details", is_flag=True, help="Also list every part, environment and runner.")
@json_option
def doctor(names: tuple[str, ...], details: bool, as_json: bool) -> None:
    """Show what this machine can build and compare on, and how to get more."""
    from packager.core.console import Console
    from packager.workflows.doctor import (
        environments_to_install,
        examine,
        examine_builds,
        examine_environments,
        examine_frameworks,
        install_environment,
        overview,
    )
    from packager.workflows.limits import limits

    for name in environments_to_install(names):
        with Console(quiet=as_json).step(f"install {name}"):
            install_environment(name)
    parts, environments, runners = [*examine(), *shared_cache()], examine_environments(), examine_runners()
    builds, frameworks = examine_builds(), examine_frameworks()
    lacking = limits(sys.platform)
    if as_json:
        print_json(
            {
                "builds": [asdict(each) for each in builds],
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
    console = Console()
    for line in overview(builds, runners):
        console.result(line)
    for part in parts:
        if part.is_required and not part.is_present:
            console.result(f"missing: {part.name}, for {part.needed_for}: {part.how_to_get}")
    if details:
        show_details(parts, environments, frameworks, runners)
    else:
        console.result("`mobpack doctor --details` lists every part, environment and runner")
    if lacking:
        console.table("What this system lacks", ["what", "why"], [[limit.what, limit.reason] for limit in lacking])


def show_details(
    parts: "Sequence[DoctorPart]",
    environments: "Sequence[EnvironmentState]",
    frameworks: "Sequence[EnvironmentState]",
    runners: "Sequence[tuple[str, str, str]]",
) -> None:
    """Prints a table for each kind of thing."""
    from packager.core.console import Console

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


def shared_cache() -> "list[DoctorPart]":
    """The shared cache that MOBPACK_CACHE or the project in this folder names, which is asked for something; nothing if
    none is named."""
    from packager.cli.cache import project_table
    from packager.config.cache import OFF
    from packager.workflows.doctor import DoctorPart
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
    return [
        DoctorPart(
            name="shared cache",
            needed_for="results of other machines",
            found=found,
            how_to_get=problem,
            is_required=True,
        )
    ]


def examine_runners() -> list[tuple[str, str, str]]:
    """Every runner: name, description and what this machine lacks for it. `recorded` is omitted: it needs files of a
    project."""
    from packager.engines.runners import RECORDED, RUNNERS

    names = [name for name in RUNNERS if name != RECORDED]
    return [(each.label(), each.about, each.missing()) for name in names for each in RUNNERS[name]("")]
