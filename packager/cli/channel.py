"""`mobpack channel`: publishes models to a folder or a store, from which apps that have shipped get them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.cache import Size
from packager.cli.channel_options import (
    DatedOptions,
    after_option,
    channel_option,
    clock_option,
    contract_option,
    days_option,
    deltas_option,
    dry_option,
    keep_option,
    key_option,
    model_option,
    named_root,
    percent_type,
    root_option,
    timestamp_days_option,
    to_option,
)
from packager.cli.channel_reading import caution, prune, show, show_document, show_roles, verify
from packager.cli.channel_roots import init, revoke, rotate, sign
from packager.cli.options import MODEL, json_option, print_json
from packager.cli.project_options import into
from packager.core.errors import GateError

if TYPE_CHECKING:
    from packager.distribution.channel.publishing import Published
    from packager.distribution.channel.repository import Repository


@dataclass(frozen=True, kw_only=True)
class SignedOptions(DatedOptions):
    """Options of every command that signs something new."""

    url: str
    name: str
    root: Path | None
    is_dry: bool

    def repository(self, *, role: str | None = None, vouched: int = 0) -> "Repository":
        """The channel, which keys of a `role` sign."""
        from packager.workflows import channels

        return channels.opened(self.url, named_root(self.root, self.name), self.keys, role=role, vouched=vouched)


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


for each in (init, rotate, revoke, sign, show, prune, verify):
    channel.add_command(each)


@channel.command(short_help="Publish the models of a release.")
@click.argument("release", type=MODEL, default=Path("dist"))
@to_option
@channel_option
@root_option
@key_option
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

    def change(place: "Repository") -> "Published":
        return publishing.publish(
            place, options.release, terms, signing, models=options.models, limits=limits, is_dry=options.is_dry
        )

    _change(options, change)


@channel.command(short_help="Give a release to more devices, or to another channel.")
@to_option
@channel_option
@root_option
@key_option
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

    def change(place: "Repository") -> "Published":
        return publishing.promote(
            place,
            signing,
            source=_source(options) if options.from_channel else None,
            percent=options.percent,
            models=options.models,
            is_new_contract=options.new_contract,
            is_dry=options.is_dry,
        )

    _change(options, change)


def _source(options: PromoteOptions) -> "Repository":
    """The channel at the same address from which releases are promoted."""
    from packager.workflows import channels

    root = named_root(options.root, options.name).with_name(f"{options.from_channel}.root.json")
    return channels.opened(options.url, root)


@channel.command(short_help="Publish older models again.")
@to_option
@channel_option
@root_option
@key_option
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

    def change(place: "Repository") -> "Published":
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
    from packager.distribution.channel import rotating

    signing, repository = options.signing(), options.repository()
    renewed = rotating.renewed_roles(repository, signing.now, is_whole=options.whole)
    notes = () if options.is_dry else rotating.renew(repository, signing, is_whole=options.whole)
    caution(notes)
    found = rotating.states(repository)
    if options.as_json:
        from packager.core.to_json import plain

        print_json({"dry-run": options.is_dry, "roles": plain(found), "renewed": list(renewed), "notes": list(notes)})
        return
    show_roles(found, repository.channel)
    if options.is_dry:
        from packager.core.console import Console

        Console().result(f"would sign anew: {', '.join(renewed) or 'nothing'}; nothing was written (--dry-run)")


def _change(options: SignedOptions, change: Callable[["Repository"], "Published"], *, vouched: int = 0) -> None:
    """Changes the channel, and tells what became of it."""
    from packager.distribution.channel.places import LacksSignaturesError

    place = options.repository(role="targets", vouched=vouched)
    try:
        made = change(place)
    except LacksSignaturesError as error:
        from packager.workflows import channels

        path = channels.kept(error, place.channel)
        raise GateError(
            f"{error.message}; {path} has those that are there",
            hint=f"hand it on: mobpack channel sign {path} --key KEY --to {options.url}",
        ) from error
    _tell(made, options)


def _tell(made: "Published", options: SignedOptions) -> None:
    from packager.core.console import Console, size
    from packager.core.to_json import plain

    is_dry = options.is_dry
    console = Console()
    caution(made.notes)
    if options.as_json:
        print_json({"dry-run": is_dry, **plain(made)})
        return
    if not made.is_new:
        number, count = made.document.number, len(made.uploaded)
        written = "would be written again" if is_dry else "were written again"
        said = f"{count} blobs, {size(made.size_bytes)}, were missing or damaged and {written}"
        console.result(f"document {number} has all of this: {said if count else 'nothing was written'}")
        return
    show_document(made.document)
    console.result(f"{len(made.uploaded)} blobs, {size(made.size_bytes)}, and document {made.document.number}")
    if is_dry:
        console.result("nothing was written (--dry-run)")
