"""`mobpack doctor`: which parts of the machine's set-up are there, and how to get the rest."""

import click

from packager.cli.options import json_option, print_json


@click.command(short_help="Show what this machine has and lacks.")
@json_option
def doctor(as_json: bool) -> None:
    """Show what this machine can build and check, and how to get what is missing."""
    from packager.console import Console
    from packager.setup import examine

    parts = examine()
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
                ]
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
    Console().table("", ["", "part", "needed for", "found / how to get it"], rows)
