"""`mobpack channel init`, `rotate`, `revoke` and `sign`: which keys a channel has, and who has signed."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.channel_options import (
    PEM,
    DatedOptions,
    channel_option,
    clock_option,
    days_option,
    dry_option,
    key_option,
    named_root,
    number_option,
    root_days_option,
    root_key_option,
    root_of,
    root_option,
    snapshot_key_option,
    targets_key_option,
    threshold_option,
    timestamp_days_option,
    timestamp_key_option,
)
from packager.cli.channel_options import to_option as required_to_option
from packager.cli.options import json_option, print_json
from packager.cli.project_options import into

if TYPE_CHECKING:
    from packager.workflows.channels import AskedKeys, Rooted

optional_to_option = click.option("--to", "url", metavar="URL", help="Folder, or an address, of the channel.")
out_option = click.option("--out", type=PEM, metavar="FILE", help="File of the root; default: CHANNEL.root.json.")


@dataclass(frozen=True, kw_only=True)
class RootOptions(DatedOptions):
    """Options of every command that signs a root."""

    url: str | None


@dataclass(frozen=True, kw_only=True)
class KeysOptions(RootOptions):
    """Options of the commands that give keys to roles."""

    name: str
    out: Path | None
    root_days: int
    root_keys: tuple[str, ...] = ()
    targets_keys: tuple[str, ...] = ()
    snapshot_keys: tuple[str, ...] = ()
    timestamp_keys: tuple[str, ...] = ()
    thresholds: tuple[str, ...] = ()

    def asked(self) -> "AskedKeys":
        from packager.workflows.channels import AskedKeys

        keys = {
            "root": self.root_keys,
            "targets": self.targets_keys,
            "snapshot": self.snapshot_keys,
            "timestamp": self.timestamp_keys,
        }
        return AskedKeys(keys=keys, thresholds=self.thresholds)


@dataclass(frozen=True, kw_only=True)
class InitOptions(KeysOptions):
    """Options of `mobpack channel init`."""

    package: str


@click.command(short_help="Make the root of a channel.")
@click.option("--package", required=True, metavar="NAME", help="Name of the package: [package] name.")
@optional_to_option
@channel_option
@key_option
@root_key_option
@targets_key_option
@snapshot_key_option
@timestamp_key_option
@threshold_option
@root_days_option
@out_option
@json_option
@into(InitOptions)
def init(options: InitOptions) -> None:
    """Make the root of a channel: which keys may sign what. Projects name the file in [package] channel, and apps ship
    it.

    The keys that sign (--key) are those of all roles, but for roles that get others. With --to, the root is put into
    the store.
    """
    from packager.workflows import channels

    path = options.out or Path(f"{options.name}.root.json")
    made = channels.init(
        options.package,
        options.name,
        options.asked(),
        options.keys,
        replace(options.signing(), days=options.root_days),
        path,
        options.url,
    )
    tell(made, as_json=options.as_json)


@dataclass(frozen=True, kw_only=True)
class RotateOptions(KeysOptions):
    """Options of `mobpack channel rotate` and `revoke`."""

    root: Path | None
    number: int | None
    is_dry: bool
    revoked: tuple[str, ...] = ()


@click.command(short_help="Give roles other keys.")
@required_to_option
@channel_option
@root_option
@key_option
@root_key_option
@targets_key_option
@snapshot_key_option
@timestamp_key_option
@threshold_option
@number_option
@root_days_option
@timestamp_days_option
@clock_option
@out_option
@dry_option
@json_option
@into(RotateOptions)
def rotate(options: RotateOptions) -> None:
    """Give roles other keys, or other thresholds, by a new version of the root; without any, sign the same keys anew.

    Keys of the root before, and of the new one, have to sign it (--key); if others have to, too, it is written to a
    file for them: mobpack channel sign. What the new keys have not signed is signed by those of --key that may.
    """
    _rotate(options)


@click.command(short_help="Take a key from all roles.")
@click.argument("revoked", nargs=-1, required=True, metavar="KEY...")
@required_to_option
@channel_option
@root_option
@key_option
@threshold_option
@number_option
@root_days_option
@timestamp_days_option
@clock_option
@out_option
@dry_option
@json_option
@into(RotateOptions)
def revoke(options: RotateOptions) -> None:
    """Take KEY, a public key, from all roles, by a new version of the root. A role that would have too few keys gets
    others by `rotate` instead."""
    _rotate(options)


def _rotate(options: RotateOptions) -> None:
    from packager.workflows import channels

    place = channels.opened(options.url or "", named_root(options.root, options.name), options.keys, has_new_keys=True)
    made = channels.rotate(
        place,
        options.asked(),
        options.revoked,
        options.signing(),
        days=options.root_days,
        path=options.out,
        number=options.number or 0,
        is_dry=options.is_dry,
    )
    tell(made, as_json=options.as_json, is_dry=options.is_dry)


@dataclass(frozen=True, kw_only=True)
class SignOptions(RootOptions):
    """Options of `mobpack channel sign`."""

    file: Path
    name: str
    root: Path | None
    number: int | None


@click.command(short_help="Add a signature to metadata that others have begun.")
@click.argument("file", type=PEM)
@optional_to_option
@channel_option
@root_option
@key_option
@number_option
@days_option
@timestamp_days_option
@clock_option
@json_option
@into(SignOptions)
def sign(options: SignOptions) -> None:
    """Add a signature to FILE: a root or targets that more people have to sign. With the last one, it is published."""
    from packager.workflows import channels

    made = channels.sign(
        options.file,
        options.keys,
        options.signing(),
        options.url,
        root_of(options.root, options.name),
        number=options.number or 0,
    )
    tell(made, as_json=options.as_json)


def tell(made: "Rooted", *, as_json: bool, is_dry: bool = False) -> None:
    from packager.core.console import Console
    from packager.core.to_json import plain

    signed = made.metadata.signed
    name = f"{signed.type} {signed.version}"
    if as_json:
        print_json(
            {
                "dry-run": is_dry,
                "role": signed.type,
                "number": signed.version,
                "file": plain(made.path),
                "missing": made.missing,
                "is-published": made.is_published,
                "notes": list(made.notes),
            }
        )
        return
    console = Console()
    for note in made.notes:
        console.caution(note)
    if is_dry:
        console.result(f"{name} would need {_more(made.missing)}; nothing was written (--dry-run)")
    elif made.is_published:
        console.result(f"{made.path}: {name} is published")
    elif made.missing:
        console.result(f"{made.path}: {name} needs {_more(made.missing)}: mobpack channel sign {made.path}")
    else:
        console.result(f"{made.path}: {name} is signed")


def _more(missing: int) -> str:
    return f"{missing} more signature{'s' if missing != 1 else ''}"
