"""`mobpack device`: lists connected devices, and tests, compares and times there what ships."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import MODEL, json_option, print_json

if TYPE_CHECKING:
    from packager.core.console import Console
    from packager.workflows.device.preparing import Wanted

package_option = click.option(
    "--package",
    type=MODEL,
    default=Path("dist"),
    show_default=True,
    help="Folder of a release, or its library for Android.",
)
device_option = click.option(
    "--device",
    "devices",
    multiple=True,
    metavar="PATTERN",
    help="Serial number, model or chip, with * and ?; or soc=SM8650, api>=33. Repeatable; default: the only one.",
)
provider_option = click.option(
    "--provider", "providers", multiple=True, metavar="NAME", help="cpu, qnn, nnapi ... Repeatable; default: all."
)
model_option = click.option(
    "--model", "models", multiple=True, metavar="NAME", help="Model of the package. Repeatable; default: all."
)
runtime_option = click.option(
    "--runtime", type=MODEL, help="An onnxruntime-android .aar to run on, instead of the published one."
)
timeout_option = click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(1, 86400),
    default=300.0,
    show_default=True,
    help="Longest time in seconds to open a model, or to run it once.",
)


@click.group(short_help="Run what ships on connected devices.")
def device() -> None:
    """Run what ships on the devices that are connected: no app is needed.

    Start with: mobpack device list
    """


@device.command("list", short_help="List connected devices.")
@json_option
def list_devices(as_json: bool) -> None:
    """List the devices that are connected, and what to do about those that take no commands."""
    from packager.core.console import Console
    from packager.workflows.device import listing

    found = listing.listing()
    if as_json:
        print_json({"devices": [listing.document(each) for each in found]})
        return
    console = Console()
    if not found:
        console.say("no device is connected: plug one in, and turn on USB debugging in its developer options")
        return
    console.table("", listing.COLUMNS, [listing.cells(each) for each in found])


@device.command("self-test", short_help="Have the models of a package test themselves.")
@package_option
@device_option
@provider_option
@model_option
@runtime_option
@timeout_option
@json_option
def self_test(
    package: Path,
    devices: tuple[str, ...],
    providers: tuple[str, ...],
    models: tuple[str, ...],
    runtime: Path | None,
    timeout_s: float,
    as_json: bool,
) -> None:
    """Run the samples that travel with a package on devices, with every provider, by the package's own code."""
    from packager.core.console import Console
    from packager.core.errors import MobpackError
    from packager.core.to_json import plain
    from packager.devices import words
    from packager.workflows.device import self_testing

    console = Console(quiet=as_json)
    found = self_testing.self_test(_wanted(package, devices, providers, models, runtime, timeout_s), console)
    if not as_json:
        _tables(words.test_tables(found), console)
        for line in words.device_notes(found.devices):
            console.result(line)
    try:
        self_testing.judge(found)
    except MobpackError as error:
        error.document = plain(found)
        raise
    if as_json:
        print_json(plain(found))


@device.command(short_help="Remove mobpack's files from devices.")
@device_option
def clean(devices: tuple[str, ...]) -> None:
    """Remove everything that mobpack has left on devices."""
    from packager.core.console import Console, size
    from packager.workflows.device import listing

    console = Console()
    for name, count in listing.clean(devices):
        console.result(f"{name}: removed {size(count)}")


def _wanted(
    package: Path,
    devices: tuple[str, ...],
    providers: tuple[str, ...],
    models: tuple[str, ...],
    runtime: Path | None,
    timeout_s: float,
) -> "Wanted":
    from packager.core.errors import ConfigError, nearest
    from packager.providers import PROVIDERS
    from packager.workflows.device.preparing import Wanted

    known = ["cpu", *PROVIDERS]
    for name in providers:
        if name not in known:
            raise ConfigError(f"--provider {name}: unknown provider", hint=nearest(name, known))
    return Wanted(
        package=package, devices=devices, providers=providers, models=models, runtime=runtime, timeout_s=timeout_s
    )


def _tables(tables: "object", console: "Console") -> None:
    for title, columns, rows in tables:  # type: ignore[attr-defined]
        console.table(title, columns, rows)
