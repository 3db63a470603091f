"""Options of `mobpack channel`."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from packager.distribution.channel.places import Signing

PEM = click.Path(path_type=Path, dir_okay=False)

to_option = click.option(
    "--to", "url", required=True, metavar="URL", help="Folder, or an address of S3, GCS, Azure ..."
)
from_option = click.option("--from", "url", required=True, metavar="URL", help="Folder, or an address, of the channel.")
channel_option = click.option("--channel", "name", default="stable", show_default=True, help="Name of the channel.")
root_option = click.option(
    "--root", type=PEM, metavar="FILE", help="Root of the channel, which apps have; default: CHANNEL.root.json."
)
key_option = click.option(
    "--key",
    "keys",
    multiple=True,
    required=True,
    metavar="FILE|URI",
    help="Private key, as for mobpack sign. Repeatable: keys of several roles.",
)
timestamp_days_option = click.option(
    "--timestamp-days",
    type=click.IntRange(1, 3650),
    default=30,
    show_default=True,
    help="Number of days for which devices accept the timestamp.",
)
root_days_option = click.option(
    "--days",
    "root_days",
    type=click.IntRange(1, 3650),
    default=365,
    show_default=True,
    help="Number of days for which devices accept the root.",
)
root_key_option, targets_key_option, snapshot_key_option, timestamp_key_option = (
    click.option(
        f"--{role}-key",
        f"{role}_keys",
        multiple=True,
        metavar="FILE|URI",
        help=f"Key that may sign the role '{role}': a public key is enough. Repeatable.",
    )
    for role in ("root", "targets", "snapshot", "timestamp")
)
threshold_option = click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="ROLE=COUNT",
    help="How many keys of a role have to sign: root=2. Repeatable.",
)
number_option = click.option(
    "--number",
    type=click.IntRange(min=1),
    help="Targets to keep, where keys of targets change; default: the newest.",
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


@dataclass(frozen=True, kw_only=True)
class DatedOptions:
    """Options of every command that signs something with a date."""

    keys: tuple[str, ...]
    days: int = 90
    timestamp_days: int = 30
    after: int = 0
    clock_is_right: bool = False
    as_json: bool

    def signing(self) -> "Signing":
        from packager.distribution.channel.places import Signing

        return Signing(
            now=datetime.now(UTC).replace(microsecond=0),
            days=self.days,
            timestamp_days=self.timestamp_days,
            after=self.after,
            is_clock_trusted=self.clock_is_right,
        )


def root_of(root: Path | None, name: str) -> Path | None:
    """The file of a channel's root: the one that is named, or that of the channel in the current folder, if any."""
    default = Path(f"{name}.root.json")
    return root or (default if default.is_file() else None)


def named_root(root: Path | None, name: str) -> Path:
    """Like `root_of`; the name of the missing file if there is none."""
    return root or Path(f"{name}.root.json")
