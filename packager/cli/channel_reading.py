"""`mobpack channel show`, `verify` and `prune`, and how a channel is printed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.channel_options import (
    PEM,
    channel_option,
    dry_option,
    from_option,
    named_root,
    root_option,
    to_option,
)
from packager.cli.options import json_option, print_json
from packager.cli.project_options import into
from packager.core.errors import ConfigError

if TYPE_CHECKING:
    from packager.distribution.channel.document import Document
    from packager.distribution.channel.repository import Repository
    from packager.distribution.channel.rotating import RoleState

HOUR_S = 60 * 60


@dataclass(frozen=True, kw_only=True)
class PruneOptions:
    """Options of `mobpack channel prune`."""

    url: str
    roots: tuple[Path, ...]
    keep: int
    grace: float
    is_dry: bool
    as_json: bool

    def repositories(self) -> "list[Repository]":
        """The channels at the address. Raises ConfigError if there is none."""
        from packager.distribution.channel.repository import channels as names
        from packager.distribution.channel.storage import open_storage
        from packager.workflows import channels

        roots = self.roots or [named_root(None, each) for each in names(open_storage(self.url))]
        if not roots:
            raise ConfigError(
                f"there is no channel at {self.url}", hint="name the address that was published to, and its --root"
            )
        return [channels.opened(self.url, each) for each in roots]


@click.command(short_help="Show the models of a channel, and what ends when.")
@from_option
@channel_option
@root_option
@click.option("--history", is_flag=True, help="Show all documents that are kept, not the current one alone.")
@json_option
def show(
    url: str,
    name: str,
    root: Path | None,
    history: bool,
    as_json: bool,
) -> None:
    """Show the models that devices get from a channel, the keys of its roles, and when their signatures end. Verifies
    signatures, and downloads no blobs."""
    from packager.core.to_json import plain
    from packager.distribution.channel import rotating
    from packager.distribution.channel.publishing import required

    place = _place(url, name, root)
    current = required(place)
    documents = [place.numbered(each) for each in sorted(place.numbers())] if history else [current]
    roles = rotating.states(place)
    if as_json:
        print_json({"documents": [plain(each) for each in documents], "roles": plain(roles)})
        return
    for each in documents:
        show_document(each)
    show_roles(roles, place.channel)


@click.command(short_help="Remove blobs and documents that are not needed.")
@to_option
@click.option(
    "--root",
    "roots",
    type=PEM,
    multiple=True,
    metavar="FILE",
    help="Roots of all channels at the address; default: CHANNEL.root.json of each. Repeatable.",
)
@click.option("--keep", type=click.IntRange(1), default=10, show_default=True, help="Documents of a channel to keep.")
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=24.0,
    show_default=True,
    metavar="HOURS",
    help="Keep files that are not older than this.",
)
@dry_option
@json_option
@into(PruneOptions)
def prune(options: PruneOptions) -> None:
    """Remove the documents before the last ones of every channel, and the blobs that none of the others names.

    Files newer than the time of grace stay: a publisher may be about to name them.
    """
    from packager.core.console import Console, size
    from packager.core.to_json import plain
    from packager.distribution.channel import pruning

    found = pruning.prune(
        options.repositories(),
        documents=options.keep,
        grace_s=options.grace * HOUR_S,
        now=datetime.now(UTC),
        is_dry=options.is_dry,
    )
    if options.as_json:
        print_json({"dry-run": options.is_dry, **plain(found)})
        return
    console = Console()
    for each in found.names:
        console.result(f"{'would remove' if options.is_dry else 'removed'} {each}")
    console.result(f"{len(found.names)} files, {size(found.size_bytes)}; {found.kept} blobs are left")


@click.command(short_help="Verify the signatures and blobs of a channel.")
@from_option
@channel_option
@root_option
@click.option(
    "--at-least",
    type=click.IntRange(min=0),
    default=0,
    metavar="NUMBER",
    help="Lowest number that the channel may have: the one it had before.",
)
@json_option
def verify(url: str, name: str, root: Path | None, at_least: int, as_json: bool) -> None:
    """Verify a channel as a device does, with python-tuf's client, and read every blob.

    Fails with exit code 6 for a wrong signature, an expired document, a smaller number than before, and a blob that is
    missing or changed.
    """
    from packager.core.console import Console, size
    from packager.core.to_json import plain
    from packager.distribution.channel import clients

    found = clients.verify(_place(url, name, root), datetime.now(UTC), at_least=at_least)
    if as_json:
        print_json({"verified": plain(found)})
        return
    document = found.document
    Console().result(
        f"{document.channel} of {document.package}: document {document.number} is signed and valid until "
        f"{document.expires}; {found.blobs} blobs, {size(found.size_bytes)}, are those that it lists"
    )


def _place(url: str, name: str, root: Path | None) -> "Repository":
    from packager.workflows import channels

    return channels.opened(url, named_root(root, name))


def caution(notes: Sequence[str]) -> None:
    from packager.core.console import Console

    console = Console()
    for note in notes:
        console.caution(note)


def show_roles(roles: Sequence["RoleState"], name: str) -> None:
    from packager.core.console import Console

    rows = [
        [
            each.role,
            str(each.number),
            each.expires,
            f"{each.threshold} of {len(each.keys)}",
            " ".join(_short(each.keys)),
        ]
        for each in roles
    ]
    Console().table(f"{name}: what was signed", ["role", "number", "ends", "signatures", "keys"], rows)


def _short(keys: Sequence[str]) -> list[str]:
    return [each[:12] for each in keys]


def show_document(document: "Document") -> None:
    from packager.core.console import Console, size
    from packager.distribution.channel.document import model_blobs

    rows = [
        [
            model.name,
            release.version,
            f"{release.rollout.percent} %",
            release.contract[:12],
            ", ".join(dict.fromkeys(each.inside or each.target for each in release.files)),
            size(sum(file.size_bytes for each in release.files for file in each.files)),
        ]
        for model in document.models
        for release in model.releases
    ]
    restores = f", restores {document.restores}" if document.restores else ""
    title = f"{document.channel} of {document.package}: document {document.number}{restores}, until {document.expires}"
    Console().table(title, ["model", "version", "devices", "contract", "for", "files"], rows)
    total = sum(sum(model_blobs(each).values()) for each in document.models)
    Console().result(f"{len(document.models)} models, {size(total)} of blobs")
