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
    public_option,
    root_of,
    root_option,
    to_option,
)
from packager.cli.options import json_option, print_json, subject_option
from packager.cli.project_options import into
from packager.core.errors import ConfigError

if TYPE_CHECKING:
    from packager.distribution.channel.document import Document
    from packager.distribution.channel.log import ChannelPlace
    from packager.distribution.channel.places import Channel
    from packager.distribution.channel.repository import Repository
    from packager.distribution.channel.rotating import RoleState

HOUR_S = 60 * 60


@dataclass(frozen=True, kw_only=True)
class PruneOptions:
    """Options of `mobpack channel prune`."""

    url: str
    roots: tuple[Path, ...]
    keys: tuple[Path, ...]
    subject: str | None
    keep: int
    grace: float
    is_dry: bool
    as_json: bool

    def repositories(self) -> "list[Channel]":
        """The channels at the address that have roots."""
        from packager.distribution.channel.repository import channels as names
        from packager.distribution.channel.storage import open_storage
        from packager.workflows import channels

        roots = self.roots or [each for name in names(open_storage(self.url)) if (each := root_of(None, name))]
        return [channels.opened(self.url, each) for each in roots]

    def documents(self) -> "list[Channel]":
        """The channels at the address whose documents the keys have signed."""
        from packager.distribution.channel import log
        from packager.distribution.channel.storage import open_storage
        from packager.workflows import signing

        if not self.keys:
            return []
        storage, trust = open_storage(self.url), signing.trust(self.keys, None, subject=self.subject)
        return [log.ChannelPlace(storage=storage, channel=each, trust=trust) for each in log.channels(storage)]


@click.command(short_help="Show the models of a channel, and what ends when.")
@from_option
@channel_option
@root_option
@public_option
@subject_option
@click.option("--history", is_flag=True, help="Show all documents that are kept, not the current one alone.")
@json_option
def show(
    url: str,
    name: str,
    root: Path | None,
    keys: tuple[Path, ...],
    subject: str | None,
    history: bool,
    as_json: bool,
) -> None:
    """Show the models that devices get from a channel, the keys of its roles, and when their signatures end. Verifies
    signatures, and downloads no blobs."""
    from packager.core.to_json import plain
    from packager.distribution.channel.places import required

    place = _place(url, name, root, keys, subject)
    current = required(place)
    documents = [place.numbered(each) for each in place.numbers()] if history else [current]
    roles = _roles(place)
    if as_json:
        print_json({"documents": [plain(each) for each in documents], "roles": plain(roles)})
        return
    for each in documents:
        show_document(each)
    if roles:
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
@public_option
@subject_option
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

    forms = [each for each in (options.repositories(), options.documents()) if each]
    if not forms:
        raise ConfigError(
            f"there is no channel at {options.url} whose root or key is given",
            hint="name the address that was published to, and its --root",
        )
    now = datetime.now(UTC)
    made = [
        pruning.prune(each, documents=options.keep, grace_s=options.grace * HOUR_S, now=now, is_dry=options.is_dry)
        for each in forms
    ]
    found = pruning.Pruned(
        names=tuple(name for each in made for name in each.names),
        size_bytes=sum(each.size_bytes for each in made),
        kept=sum(each.kept for each in made),
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
@public_option
@subject_option
@click.option(
    "--at-least",
    type=click.IntRange(min=0),
    default=0,
    metavar="NUMBER",
    help="Lowest number that the channel may have: the one it had before.",
)
@json_option
def verify(
    url: str, name: str, root: Path | None, keys: tuple[Path, ...], subject: str | None, at_least: int, as_json: bool
) -> None:
    """Verify a channel as a device does, with python-tuf's client, and read every blob.

    Fails with exit code 6 for a wrong signature, an expired document, a smaller number than before, and a blob that is
    missing or changed.
    """
    from packager.core.console import Console, size
    from packager.core.to_json import plain
    from packager.distribution.channel import checking
    from packager.distribution.channel.log import ChannelPlace

    place = _place(url, name, root, keys, subject)
    if isinstance(place, ChannelPlace):
        found = checking.verify(place, datetime.now(UTC), at_least=at_least)
    else:
        from packager.distribution.channel import clients

        found = clients.verify(place, datetime.now(UTC), at_least=at_least)
    if as_json:
        print_json({"verified": plain(found)})
        return
    document = found.document
    Console().result(
        f"{document.channel} of {document.package}: document {document.number} is signed and valid until "
        f"{document.expires}; {found.blobs} blobs, {size(found.size_bytes)}, are those that it lists"
    )


def _place(
    url: str, name: str, root: Path | None, keys: tuple[Path, ...], subject: str | None
) -> "Repository | ChannelPlace":
    """The channel as a repository of TUF if it has a root, else with documents that one of `keys` has signed."""
    if path := root_of(root, name):
        from packager.workflows import channels

        return channels.opened(url, path)
    from packager.distribution.channel.log import ChannelPlace
    from packager.distribution.channel.storage import open_storage
    from packager.workflows import signing

    if not keys:
        raise ConfigError(
            f"nothing says who may sign the channel: there is no {name}.root.json", hint="give --root FILE"
        )
    return ChannelPlace(storage=open_storage(url), channel=name, trust=signing.trust(keys, None, subject=subject))


def _roles(place: "Repository | ChannelPlace") -> "tuple[RoleState, ...]":
    from packager.distribution.channel.log import ChannelPlace

    if isinstance(place, ChannelPlace):
        return ()
    from packager.distribution.channel import rotating

    return rotating.states(place)


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
