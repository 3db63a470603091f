"""`mobpack release`: from a project to published packages, in one command that stops where something is wrong."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import (
    MODEL,
    cache_option,
    config_option,
    json_option,
    model_key_option,
    no_code_option,
    print_json,
    set_option,
    shape_option,
    target_option,
)
from packager.cli.project_options import ProjectOptions, into
from packager.core.errors import ConfigError

if TYPE_CHECKING:
    from packager.config import Config
    from packager.workflows.release import Order, Released

FILE = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions(ProjectOptions):
    """Options of `mobpack release`."""

    previous: Path | None
    is_first: bool
    bump: bool
    changelog: Path | None
    rebuild: bool
    key: str | None
    model_key: str | None
    certificate: Path | None
    named: tuple[str, ...]
    registry_settings: tuple[str, ...]
    out: Path
    is_dry: bool
    as_json: bool


@click.command(short_help="Build, compare, sign and publish a new version.")
@target_option
@click.option("--previous", type=MODEL, metavar="OLD", help="The dist folder of the release before.")
@click.option("--first", "is_first", is_flag=True, help="Release a first version, which has none to compare with.")
@click.option("--bump", is_flag=True, help="Raise the version in mobpack.toml if it is too low.")
@click.option("--changelog", type=FILE, help="Changelog that gets an entry; default: CHANGELOG.md beside mobpack.toml.")
@click.option("--rebuild", is_flag=True, help="Build twice, the second time in an empty store, and compare the bytes.")
@click.option("--key", metavar="FILE|URI", help="Private key to sign with, as for mobpack sign.")
@model_key_option
@click.option("--certificate", type=FILE, metavar="FILE", help="The key's X.509 certificate.")
@click.option(
    "--to",
    "named",
    multiple=True,
    metavar="REGISTRY",
    help="Registry to publish to, as for mobpack publish. Repeatable.",
)
@click.option(
    "--registry-set",
    "registry_settings",
    multiple=True,
    metavar="REGISTRY.KEY=VALUE",
    help="A setting of a registry, such as npm.access=public. Repeatable.",
)
@click.option(
    "--out", "-o", type=MODEL, default=Path("dist"), show_default=True, help="Output folder; its contents are replaced."
)
@click.option(
    "--dry-run", "is_dry", is_flag=True, help="Build into a temporary folder; change nothing and send nothing."
)
@config_option
@set_option
@shape_option
@cache_option
@no_code_option
@json_option
@into(ReleaseOptions)
def release(options: ReleaseOptions) -> None:
    """Make a release of the project: build it, compare it with the one before, enter the changes in the changelog,
    verify, sign and publish.

    A version that is too low for what has changed is refused (exit code 6). After a failure, the same command
    continues. Each step is a command, too: build, diff, verify, sign, publish.
    """
    if bool(options.previous) == options.is_first:
        raise ConfigError(
            "either --previous names the release before, or --first says that there is none",
            hint="for example: --previous released/1.0.0",
        )
    if options.certificate and not options.key:
        raise ConfigError("--certificate belongs to a key", hint="give --key, too")
    from packager.core.console import Console
    from packager.workflows import release as workflow
    from packager.workflows.confinement import refuse_outside

    def read() -> "Config":
        config = options.config()
        refuse_outside(config, options.folder, is_outside_allowed=False)
        return config

    made = workflow.release(_order(options), read, Console(quiet=options.as_json))
    if options.as_json:
        print_json(_document(made, is_dry=options.is_dry))
        return
    _print(made, is_dry=options.is_dry)


def _order(options: ReleaseOptions) -> "Order":
    from packager.cli.build import read_key
    from packager.distribution import publishing
    from packager.workflows import signing
    from packager.workflows.release import Order

    registries = publishing.registries(options.named, options.registry_settings)
    return Order(
        project=options.config_path,
        targets=options.targets,
        settings=options.settings,
        shapes=options.shapes,
        out=options.out,
        previous=options.previous,
        changelog=options.changelog or options.config_path.with_name("CHANGELOG.md"),
        day=datetime.now(UTC).date().isoformat(),
        signer=signing.signer(options.key, options.certificate) if options.key else None,
        model_key=read_key(options.model_key, options.folder) if options.model_key else None,
        registries=registries,
        raises_version=options.bump,
        is_rebuilt=options.rebuild,
        is_dry=options.is_dry,
    )


def _document(made: "Released", *, is_dry: bool) -> dict[str, object]:
    from packager.core.to_json import plain
    from packager.distribution import publishing

    return {
        "dry-run": is_dry,
        "package": made.package,
        "version": made.version,
        "changes": plain(made.found) if made.found else None,
        "changelog": made.entry,
        "steps": [plain(each) for each in made.steps],
        "requests": publishing.document(made.outcomes),
    }


def _print(made: "Released", *, is_dry: bool) -> None:
    from packager.core.console import Console

    console = Console()
    console.table("", ["step", "", ""], [[each.name, each.result, each.words] for each in made.steps])
    for words in dict.fromkeys(each.words for each in made.outcomes if each.words):
        console.result(words)
    if is_dry:
        console.result("nothing was written or sent (--dry-run)")
