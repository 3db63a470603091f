"""`mobpack channel`: publishes models to a folder or a store, from which apps that have shipped get them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.cache import Size
from packager.cli.channel_options import (
    PEM,
    after_option,
    channel_option,
    clock_option,
    contract_option,
    days_option,
    deltas_option,
    dry_option,
    from_option,
    keep_option,
    key_option,
    model_option,
    percent_type,
    public_option,
    root_of,
    root_option,
    timestamp_days_option,
    to_option,
    trusted_option,
)
from packager.cli.channel_roots import init, revoke, rotate, sign
from packager.cli.options import MODEL, json_option, print_json, subject_option
from packager.cli.project_options import into
from packager.core.errors import ConfigError, GateError

if TYPE_CHECKING:
    from packager.distribution.channel.document import Document
    from packager.distribution.channel.log import ChannelPlace
    from packager.distribution.channel.places import Channel, Signing
    from packager.distribution.channel.publishing import Published
    from packager.distribution.channel.repository import Repository
    from packager.distribution.channel.rotating import RoleState

HOUR_S = 60 * 60


@dataclass(frozen=True, kw_only=True)
class SignedOptions:
    """Options of every command that signs something new."""

    url: str
    name: str
    root: Path | None
    keys: tuple[str, ...]
    trusted: tuple[Path, ...]
    subject: str | None
    days: int
    timestamp_days: int
    after: int = 0
    clock_is_right: bool
    is_dry: bool
    as_json: bool

    def repository(self, *, role: str | None = None, vouched: int = 0) -> "Repository | None":
        """The channel as a repository of TUF, which keys of a `role` sign; None without a root."""
        root = root_of(self.root, self.name)
        if root is None:
            return None
        from packager.workflows import channels

        return channels.opened(self.url, root, self.keys, role=role, vouched=vouched)

    def signing(self) -> "Signing":
        from packager.distribution.channel.places import Signing
        from packager.workflows import signing

        return Signing(
            signer=signing.signer(self.keys[0], None),
            now=datetime.now(UTC).replace(microsecond=0),
            days=self.days,
            timestamp_days=self.timestamp_days,
            after=self.after,
            is_clock_trusted=self.clock_is_right,
        )

    def signed_places(self, *, vouched: int = 0) -> "list[Channel]":
        """The channel as a repository of TUF if it has a root, and with documents that the signer or one of the
        `trusted` keys has signed."""
        from packager.distribution.channel.log import ChannelPlace
        from packager.distribution.channel.storage import open_storage
        from packager.workflows import signing

        repository = self.repository(role="targets", vouched=vouched)
        trust = signing.trust_of_signer(self.keys[0], self.trusted, subject=self.subject)
        name = repository.channel if repository else self.name
        documents = ChannelPlace(storage=open_storage(self.url), channel=name, trust=trust)
        return [repository, documents] if repository else [documents]


@dataclass(frozen=True, kw_only=True)
class PublishOptions(SignedOptions):
    """Options of `mobpack channel publish`."""

    release: Path
    models: tuple[str, ...]
    percent: int
    wifi: bool
    charging: bool
    free: int
    min_app: str
    notes: str
    new_contract: bool
    keep: int
    deltas: int


@dataclass(frozen=True, kw_only=True)
class PromoteOptions(SignedOptions):
    """Options of `mobpack channel promote`."""

    from_channel: str | None
    percent: int | None
    models: tuple[str, ...]
    new_contract: bool


@dataclass(frozen=True, kw_only=True)
class RollbackOptions(SignedOptions):
    """Options of `mobpack channel rollback`."""

    number: int | None
    models: tuple[str, ...]


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


@click.group(short_help="Publish models to apps that have shipped.")
def channel() -> None:
    """Publish models to a folder or a store, from which apps that have shipped get them."""


for each in (init, rotate, revoke, sign):
    channel.add_command(each)


@channel.command(short_help="Publish the models of a release.")
@click.argument("release", type=MODEL, default=Path("dist"))
@to_option
@channel_option
@root_option
@key_option
@trusted_option
@subject_option
@model_option
@click.option(
    "--percent", type=percent_type, default=100, show_default=True, help="Share of the devices that get the release."
)
@click.option("--wifi", is_flag=True, help="Download on networks without a data limit only.")
@click.option("--charging", is_flag=True, help="Download while the device is charged only.")
@click.option("--free", type=Size(), default="0", metavar="SIZE", help="Free space that a device must have: 500MB.")
@click.option("--min-app", default="", metavar="VERSION", help="Oldest version of the app's package that may take it.")
@click.option("--notes", default="", help="Notes about the release, which apps can show.")
@contract_option
@keep_option
@deltas_option
@days_option
@timestamp_days_option
@after_option
@clock_option
@dry_option
@json_option
@into(PublishOptions)
def publish(options: PublishOptions) -> None:
    """Publish the models of RELEASE (default: dist). The same command again continues after a failure, and changes
    nothing when all is there.

    Fails with exit code 6 for a model with another contract, an older version, and if somebody else has published
    meanwhile.
    """
    from packager.distribution.channel import publishing
    from packager.distribution.channel.document import DownloadConditions

    terms = publishing.Terms(
        percent=options.percent,
        conditions=DownloadConditions(wifi=options.wifi, charging=options.charging, free_bytes=options.free),
        min_app=options.min_app,
        notes=options.notes,
        is_new_contract=options.new_contract,
    )
    limits = publishing.ReleasesKept(keep=options.keep, deltas=options.deltas)
    signing = options.signing()

    def change(place: "Channel") -> "Published":
        return publishing.publish(
            place, options.release, terms, signing, models=options.models, limits=limits, is_dry=options.is_dry
        )

    _change(options, change)


@channel.command(short_help="Give a release to more devices, or to another channel.")
@to_option
@channel_option
@root_option
@key_option
@trusted_option
@subject_option
@click.option("--from-channel", metavar="NAME", help="Take the newest releases of this channel at the same address.")
@click.option("--percent", type=percent_type, help="Share of the devices that get the models; default: 100.")
@model_option
@contract_option
@days_option
@timestamp_days_option
@clock_option
@dry_option
@json_option
@into(PromoteOptions)
def promote(options: PromoteOptions) -> None:
    """Give the newest releases of a channel to more devices (--percent), or those of another channel to this one
    (--from-channel beta). No blob is written: channels at the same address share them."""
    from packager.distribution.channel import publishing

    signing = options.signing()

    def change(place: "Channel") -> "Published":
        return publishing.promote(
            place,
            signing,
            source=_source(place, options) if options.from_channel else None,
            percent=options.percent,
            models=options.models,
            is_new_contract=options.new_contract,
            is_dry=options.is_dry,
        )

    _change(options, change)


def _source(place: "Channel", options: PromoteOptions) -> "Channel":
    """The channel at the same address from which releases are promoted."""
    from packager.distribution.channel.log import ChannelPlace

    name = options.from_channel or ""
    if isinstance(place, ChannelPlace):
        return ChannelPlace(storage=place.storage, channel=name, trust=place.trust)
    from packager.workflows import channels

    root = root_of(options.root, options.name)
    return channels.opened(options.url, (root or Path()).with_name(f"{name}.root.json"))


@channel.command(short_help="Publish older models again.")
@to_option
@channel_option
@root_option
@key_option
@trusted_option
@subject_option
@click.option("--number", type=click.IntRange(min=1), help="Document to repeat; default: the one before the current.")
@model_option
@days_option
@timestamp_days_option
@clock_option
@dry_option
@json_option
@into(RollbackOptions)
def rollback(options: RollbackOptions) -> None:
    """Publish the models of an older document again, under a new and larger number: devices never go back to an older
    document, and go back to older models only this way."""
    from packager.distribution.channel import publishing

    signing = options.signing()

    def change(place: "Channel") -> "Published":
        return publishing.rollback(place, signing, number=options.number, models=options.models, is_dry=options.is_dry)

    _change(options, change, vouched=options.number or 0)


@dataclass(frozen=True, kw_only=True)
class RenewOptions(SignedOptions):
    """Options of `mobpack channel renew`."""

    whole: bool


@channel.command(short_help="Sign the same models anew, before their metadata ends.")
@to_option
@channel_option
@root_option
@key_option
@trusted_option
@subject_option
@click.option("--all", "whole", is_flag=True, help="Sign targets and snapshot anew, too, though they do not end soon.")
@days_option
@timestamp_days_option
@after_option
@clock_option
@dry_option
@json_option
@into(RenewOptions)
def renew(options: RenewOptions) -> None:
    """Sign the timestamp anew, with a later end; targets and snapshot, too, if they end soon and the keys may. CI runs
    it every day, with a key of the role 'timestamp' alone."""
    from packager.distribution.channel import publishing

    signing = options.signing()
    repository = options.repository()
    if repository is None:
        _change(options, lambda place: publishing.renew(place, signing, is_dry=options.is_dry))
        return
    from packager.distribution.channel import rotating

    notes = () if options.is_dry else rotating.renew(repository, signing, is_whole=options.whole)
    found = rotating.states(repository)
    if options.as_json:
        from packager.core.to_json import plain

        print_json({"dry-run": options.is_dry, "roles": plain(found), "notes": list(notes)})
        return
    _caution(notes)
    _show_roles(found, repository.channel)


@channel.command(short_help="Show the models of a channel, and what ends when.")
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
        _show(each)
    if roles:
        _show_roles(roles, place.channel)


@channel.command(short_help="Remove blobs and documents that are not needed.")
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


@channel.command(short_help="Verify the signatures and blobs of a channel.")
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


def _change(options: SignedOptions, change: Callable[["Channel"], "Published"], *, vouched: int = 0) -> None:
    """Changes the channel in all its forms, and tells what became of the first."""
    from packager.distribution.channel.places import LacksSignaturesError

    places = options.signed_places(vouched=vouched)
    try:
        made = [change(place) for place in places]
    except LacksSignaturesError as error:
        from packager.workflows import channels

        path = channels.kept(error, places[0].channel)
        raise GateError(
            f"{error.message}; {path} has those that are there",
            hint=f"hand it on: mobpack channel sign {path} --key KEY --to {options.url}",
        ) from error
    _tell(made[0], options)


def _tell(made: "Published", options: SignedOptions) -> None:
    from packager.core.console import Console, size
    from packager.core.to_json import plain

    is_dry = options.is_dry
    console = Console()
    _caution(made.notes)
    if options.as_json:
        print_json({"dry-run": is_dry, **plain(made)})
        return
    if not made.is_new:
        number, count = made.document.number, len(made.uploaded)
        written = "would be written again" if is_dry else "were written again"
        said = f"{count} blobs, {size(made.size_bytes)}, were missing or damaged and {written}"
        console.result(f"document {number} has all of this: {said if count else 'nothing was written'}")
        return
    _show(made.document)
    console.result(f"{len(made.uploaded)} blobs, {size(made.size_bytes)}, and document {made.document.number}")
    if is_dry:
        console.result("nothing was written (--dry-run)")


def _caution(notes: Sequence[str]) -> None:
    from packager.core.console import Console

    console = Console()
    for note in notes:
        console.caution(note)


def _show_roles(roles: Sequence["RoleState"], name: str) -> None:
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


def _show(document: "Document") -> None:
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
