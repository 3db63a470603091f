"""Options that the commands of `mobpack device` share."""

from pathlib import Path

import click

from packager.cli.options import MODEL

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
