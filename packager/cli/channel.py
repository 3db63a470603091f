"""`mobpack channel`: publishes models to a folder or a store, from which apps that have shipped get them."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.cache import Size
from packager.cli.channel_options import (
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
    to_option,
    trusted_option,
)
from packager.cli.options import MODEL, json_option, print_json, subject_option
from packager.cli.project_options import into

if TYPE_CHECKING:
    from packager.distribution.channel.document import Document
    from packager.distribution.channel.log import ChannelPlace, Signing
    from packager.distribution.channel.publishing import Published

HOUR_S = 60 * 60


@dataclass(frozen=True, kw_only=True)
class SignedOptions:
    """Options of every command that signs a new document."""

    url: str
    name: str
    key: str
    trusted: tuple[Path, ...]
    subject: str | None
    days: int
    after: int = 0
    clock_is_right: bool
    is_dry: bool
    as_json: bool

    def signed_place(self) -> "tuple[ChannelPlace, Signing]":
        """The channel, trusted if the signer or one of the `trusted` keys has signed it."""
        from packager.distribution.channel.log import ChannelPlace, Signing
        from packager.distribution.channel.storage import open_storage
        from packager.workflows import signing

        signer = signing.signer(self.key, None)
        trust = signing.trust_of_signer(self.key, self.trusted, subject=self.subject)
        place = ChannelPlace(storage=open_storage(self.url), channel=self.name, trust=trust)
        now = datetime.now(UTC).replace(microsecond=0)
        return place, Signing(
            signer=signer, now=now, days=self.days, after=self.after, is_clock_trusted=self.clock_is_right
        )


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


@click.group(short_help="Publish models to apps that have shipped.")
def channel() -> None:
    """Publish models to a folder or a store, from which apps that have shipped get them."""


@channel.command(short_help="Publish the models of a release.")
@click.argument("release", type=MODEL, default=Path("dist"))
@to_option
@channel_option
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
    place, signing = options.signed_place()
    _tell(
        publishing.publish(
            place, options.release, terms, signing, models=options.models, limits=limits, is_dry=options.is_dry
        ),
        options,
    )


@channel.command(short_help="Give a release to more devices, or to another channel.")
@to_option
@channel_option
@key_option
@trusted_option
@subject_option
@click.option("--from-channel", metavar="NAME", help="Take the newest releases of this channel at the same address.")
@click.option("--percent", type=percent_type, help="Share of the devices that get the models; default: 100.")
@model_option
@contract_option
@days_option
@clock_option
@dry_option
@json_option
@into(PromoteOptions)
def promote(options: PromoteOptions) -> None:
    """Give the newest releases of a channel to more devices (--percent), or those of another channel to this one
    (--from-channel beta). No blob is written: channels at the same address share them."""
    from packager.distribution.channel import publishing
    from packager.distribution.channel.log import ChannelPlace

    place, signing = options.signed_place()
    source = None
    if options.from_channel:
        source = ChannelPlace(storage=place.storage, channel=options.from_channel, trust=place.trust)
    made = publishing.promote(
        place,
        signing,
        source=source,
        percent=options.percent,
        models=options.models,
        is_new_contract=options.new_contract,
        is_dry=options.is_dry,
    )
    _tell(made, options)


@channel.command(short_help="Publish older models again.")
@to_option
@channel_option
@key_option
@trusted_option
@subject_option
@click.option("--number", type=click.IntRange(min=1), help="Document to repeat; default: the one before the current.")
@model_option
@days_option
@clock_option
@dry_option
@json_option
@into(RollbackOptions)
def rollback(options: RollbackOptions) -> None:
    """Publish the models of an older document again, under a new and larger number: devices never go back to an older
    document, and go back to older models only this way."""
    from packager.distribution.channel import publishing

    place, signing = options.signed_place()
    made = publishing.rollback(place, signing, number=options.number, models=options.models, is_dry=options.is_dry)
    _tell(made, options)


@channel.command(short_help="Sign the same models anew, before the document expires.")
@to_option
@channel_option
@key_option
@trusted_option
@subject_option
@days_option
@after_option
@clock_option
@dry_option
@json_option
@into(SignedOptions)
def renew(options: SignedOptions) -> None:
    """Sign the same models anew, with a later end and a larger number. CI runs it on a schedule."""
    from packager.distribution.channel import publishing

    place, signing = options.signed_place()
    _tell(publishing.renew(place, signing, is_dry=options.is_dry), options)


@channel.command(short_help="Show the models of a channel.")
@from_option
@channel_option
@public_option
@subject_option
@click.option("--history", is_flag=True, help="Show all documents that are kept, not the current one alone.")
@json_option
def show(url: str, name: str, keys: tuple[Path, ...], subject: str | None, history: bool, as_json: bool) -> None:
    """Show the models that devices get from a channel, or its documents. Verifies signatures, and downloads no
    blobs."""
    from packager.core.to_json import plain
    from packager.distribution.channel import log

    place = _place(url, name, keys, subject)
    current = log.required(place)
    documents = log.documents(place, current) if history else [current]
    if as_json:
        print_json({"documents": [plain(each) for each in documents]})
        return
    for each in documents:
        _show(each)


@channel.command(short_help="Remove blobs and documents that are not needed.")
@to_option
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
def prune(
    url: str, keys: tuple[Path, ...], subject: str | None, keep: int, grace: float, is_dry: bool, as_json: bool
) -> None:
    """Remove the documents before the last ones of every channel, and the blobs that none of the others names.

    Files newer than the time of grace stay: a publisher may be about to name them.
    """
    from packager.core.console import Console, size
    from packager.core.errors import ConfigError
    from packager.core.to_json import plain
    from packager.distribution.channel import pruning
    from packager.distribution.channel.log import ChannelPlace
    from packager.distribution.channel.storage import open_storage
    from packager.workflows import signing

    storage = open_storage(url)
    trust = signing.trust(keys, None, subject=subject)
    places = [ChannelPlace(storage=storage, channel=each, trust=trust) for each in pruning.channels(storage)]
    if not places:
        raise ConfigError(f"there is no channel at {url}", hint="name the address that was published to")
    found = pruning.prune(places, documents=keep, grace_s=grace * HOUR_S, now=datetime.now(UTC), is_dry=is_dry)
    if as_json:
        print_json({"dry-run": is_dry, **plain(found)})
        return
    console = Console()
    for each in found.names:
        console.result(f"{'would remove' if is_dry else 'removed'} {each}")
    console.result(f"{len(found.names)} files, {size(found.size_bytes)}; {found.kept} blobs are left")


@channel.command(short_help="Verify the signatures and blobs of a channel.")
@from_option
@channel_option
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
def verify(url: str, name: str, keys: tuple[Path, ...], subject: str | None, at_least: int, as_json: bool) -> None:
    """Verify a channel as a device does, and read every blob.

    Fails with exit code 6 for a wrong signature, an expired document, a smaller number than before, and a blob that is
    missing or changed.
    """
    from packager.core.console import Console, size
    from packager.core.to_json import plain
    from packager.distribution.channel import checking

    found = checking.verify(_place(url, name, keys, subject), datetime.now(UTC), at_least=at_least)
    if as_json:
        print_json({"verified": plain(found)})
        return
    document = found.document
    Console().result(
        f"{document.channel} of {document.package}: document {document.number} is signed and valid until "
        f"{document.expires}; {found.blobs} blobs, {size(found.size_bytes)}, are those that it lists"
    )


def _place(url: str, name: str, keys: tuple[Path, ...], subject: str | None) -> "ChannelPlace":
    from packager.distribution.channel.log import ChannelPlace
    from packager.distribution.channel.storage import open_storage
    from packager.workflows import signing

    return ChannelPlace(storage=open_storage(url), channel=name, trust=signing.trust(keys, None, subject=subject))


def _tell(made: "Published", options: SignedOptions) -> None:
    from packager.core.console import Console, size
    from packager.core.to_json import plain

    is_dry = options.is_dry
    console = Console()
    for note in made.notes:
        console.caution(note)
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
