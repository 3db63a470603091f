"""Options of `mobpack channel`."""

from pathlib import Path

import click

PEM = click.Path(path_type=Path, dir_okay=False)

to_option = click.option(
    "--to", "url", required=True, metavar="URL", help="Folder, or an address of S3, GCS, Azure ..."
)
from_option = click.option("--from", "url", required=True, metavar="URL", help="Folder, or an address, of the channel.")
channel_option = click.option("--channel", "name", default="stable", show_default=True, help="Name of the channel.")
key_option = click.option("--key", required=True, metavar="FILE|URI", help="Private key, as for mobpack sign.")
trusted_option = click.option(
    "--trusted",
    type=PEM,
    multiple=True,
    metavar="FILE",
    help="Public key or certificate that has signed until now. Repeatable.",
)
public_option = click.option(
    "--key",
    "keys",
    type=PEM,
    multiple=True,
    required=True,
    metavar="FILE",
    help="Trusted public key, or certificate. Repeatable.",
)
days_option = click.option(
    "--days",
    type=click.IntRange(1, 3650),
    default=90,
    show_default=True,
    help="Number of days for which devices accept the document.",
)
after_option = click.option(
    "--after",
    type=click.IntRange(min=0),
    default=0,
    metavar="NUMBER",
    help="Give the document a larger number than this.",
)
model_option = click.option("--model", "models", multiple=True, metavar="NAME", help="Only this model. Repeatable.")
keep_option = click.option(
    "--keep", type=click.IntRange(1, 50), default=3, show_default=True, help="Releases of a model to list."
)
deltas_option = click.option(
    "--deltas", type=click.IntRange(0, 50), default=2, show_default=True, help="Releases to make deltas from."
)
percent_type = click.IntRange(0, 100)
contract_option = click.option(
    "--new-contract", is_flag=True, help="Allow a model that needs other code in the app than the one before."
)
dry_option = click.option("--dry-run", "is_dry", is_flag=True, help="Say what would be written, and write nothing.")
clock_option = click.option(
    "--clock-is-right", is_flag=True, help="Sign a date that does not fit that of the document before."
)
