"""Options that several commands share."""

import functools
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.core.errors import ConfigError, UnprovenError, nearest

if TYPE_CHECKING:
    from packager.config import CacheTable, CheckTable
    from packager.verification.partition.report import Gates

MODEL = click.Path(path_type=Path)
Command = Callable[..., object]

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON on standard output.")
shape_option = click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="NAME=SIZE",
    help="Fix a dynamic dimension (batch=1) or an input's shape (x=1x3x224x224). Repeatable.",
)

target_option = click.option(
    "--target",
    "-t",
    "targets",
    multiple=True,
    metavar="NAME",
    help="android, ios, web, react_native or flutter; the last two bring android and ios. Repeatable; default: "
    "those of mobpack.toml.",
)
config_option = click.option(
    "--config", "-c", "config_path", type=MODEL, default=Path("mobpack.toml"), show_default=True, help="Project file."
)
set_option = click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Override a key of mobpack.toml. Repeatable."
)
fail_on_option = click.option(
    "--fail-on",
    "gates",
    multiple=True,
    metavar="GATE",
    help="Fail when a provider runs too little of a model: max-partitions=4, min-share=0.9. Repeatable.",
)

runners_option = click.option(
    "--runners",
    metavar="NAMES",
    default="",
    help="Runners to compare on, instead of [parity] runners: cpu,arm64,qnn. `mobpack doctor` lists them.",
)
require_option = click.option(
    "--require", metavar="NAMES", default="", help="Runners that must run, instead of [parity] require."
)
no_code_option = click.option(
    "--no-code",
    is_flag=True,
    help="Refuse projects that name code to run: functions (module:function) or interpreters.",
)
evidence_option = click.option(
    "--evidence",
    type=MODEL,
    default=Path("mobpack-evidence"),
    show_default=True,
    help="Folder for the evidence of failed comparisons; written only when one fails, and replaced as a whole.",
)


subject_option = click.option(
    "--subject",
    metavar="NAME",
    help="Subject of the signer's certificate, where keys are certificates: CN=releases,O=Example.",
)
model_key_option = click.option(
    "--model-key",
    metavar="env:NAME|FILE",
    help="Key of [package] encryption: 32 bytes, as 64 hexadecimal digits or in Base64.",
)
outside_option = click.option(
    "--allow-outside",
    is_flag=True,
    help="Allow shipping licences, labels and alphabets that are hidden or outside the project and the model's folder.",
)


def cache_option(function: Command) -> Command:
    """`--cache`. A command never fails because of its cache: what fails with results of other machines is done again
    without them."""

    @functools.wraps(function)
    def run(*arguments: object, **options: object) -> object:
        try:
            return function(*arguments, **options)
        except UnprovenError as error:
            from packager.cli import interrupts
            from packager.core.console import Console

            if interrupts.were_received():  # what fails then is no cache
                raise
            Console().caution(str(error))
            return function(*arguments, **{**options, "cache_url": "off"})

    option = click.option(
        "--cache",
        "cache_url",
        metavar="URL",
        help="Share results with other machines: s3://bucket/prefix, gs://, az://, https:// (read only), a folder; or "
        "off. Default: MOBPACK_CACHE, then [cache] of mobpack.toml.",
    )
    return option(run)


def with_runners(settings: tuple[str, ...], runners: str, require: str) -> tuple[str, ...]:
    """`--runners` and `--require` as settings of `[parity]`."""
    given = {"runners": runners, "require": require}
    lists = {key: [name.strip() for name in text.split(",") if name.strip()] for key, text in given.items() if text}
    return (*settings, *(f"parity.{key}={json.dumps(names)}" for key, names in lists.items()))


def parse_gates(texts: tuple[str, ...], table: "CheckTable") -> "Gates":
    """The `[check]` table with `--fail-on` applied. Raises ConfigError for an unknown gate or an invalid number."""
    from packager.verification.partition.report import Gates

    limits: dict[str, float | None] = {"max-partitions": table.max_partitions, "min-share": table.min_share}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in limits:
            raise ConfigError(f"--fail-on {text}: unknown gate '{name}'", hint=nearest(name, limits))
        pattern, example = (r"[1-9]\d{0,5}", "4") if name == "max-partitions" else (r"0(\.\d+)?|1(\.0+)?|\.\d+", "0.9")
        if not re.fullmatch(pattern, number):
            raise ConfigError(
                f"--fail-on {text}: '{number}' is not a valid number", hint=f"for example: {name}={example}"
            )
        limits[name] = float(number)
    pieces = limits["max-partitions"]
    return Gates(max_partitions=None if pieces is None else int(pieces), min_share=limits["min-share"])


def parse_shapes(texts: tuple[str, ...]) -> dict[str, int | tuple[int, ...]]:
    """Parses `batch=1` to 1, and `x=1x3x224x224` or `x=1,3,224,224` to a tuple. Raises ConfigError for anything
    else."""
    shapes: dict[str, int | tuple[int, ...]] = {}
    for text in texts:
        name, separator, sizes = text.rpartition("=")
        if not separator or not name or not re.fullmatch(r"\d{1,20}([x,]\d{1,20})*", sizes):
            raise ConfigError(
                f"--shape {text}: expected NAME=SIZE", hint="for example: --shape batch=1 --shape x=1x3x224x224"
            )
        numbers = tuple(int(part) for part in re.split("[x,]", sizes))
        shapes[name] = numbers if len(numbers) > 1 else numbers[0]
    return shapes


def cache_table(option: str | None) -> "CacheTable":
    """The `[cache]` table of a command without a project file. Raises ConfigError for what the environment says."""
    from packager.config import CacheTable
    from packager.workflows.shared_store import named

    return named(CacheTable(), option)


def print_json(document: Mapping[str, object]) -> None:
    from packager.core.characters import to_json

    click.echo(to_json({"schema-version": 1, **document}, indent=2))
