"""Options that several commands share."""

import re
from pathlib import Path
from typing import Any

import click

from packager.errors import ConfigError

MODEL = click.Path(path_type=Path)

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON on standard output.")
shape_option = click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="NAME=SIZE",
    help="Fix a dynamic dimension (batch=1) or a whole input (x=1x3x224x224). Repeatable.",
)


def parse_shapes(texts: tuple[str, ...]) -> dict[str, int | tuple[int, ...]]:
    """`batch=1` -> 1, `x=1x3x224x224` or `x=1,3,224,224` -> a tuple. Raises ConfigError for anything else."""
    shapes: dict[str, int | tuple[int, ...]] = {}
    for text in texts:
        name, separator, sizes = text.rpartition("=")
        if not separator or not name or not re.fullmatch(r"\d+([x,]\d+)*", sizes):
            raise ConfigError(
                f"--shape {text}: expected NAME=SIZE", hint="for example: --shape batch=1 --shape x=1x3x224x224"
            )
        numbers = tuple(int(part) for part in re.split("[x,]", sizes))
        shapes[name] = numbers if len(numbers) > 1 else numbers[0]
    return shapes


def print_json(document: dict[str, Any]) -> None:
    import json

    click.echo(json.dumps({"schema-version": 1, **document}, indent=2, ensure_ascii=False))
