"""Publishes releases to a channel: files first, then the metadata that names them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from packager.core.errors import ConfigError, GateError
from packager.distribution.channel.contents import ReleasedModel, ReleasedModels, contents
from packager.distribution.channel.dates import refuse_implausible
from packager.distribution.channel.document import (
    TIME,
    ChannelModel,
    Document,
    DownloadConditions,
    ModelRelease,
    Rollout,
    salt_of,
    time_of,
)
from packager.distribution.channel.patches import Local, with_deltas, without_deltas
from packager.distribution.channel.places import Hosted, Signing
from packager.distribution.channel.repository import Repository

FRESH_S = 12 * 60 * 60
"""age up to which a blob that no document names is used: pruning keeps it for twice as long"""
ANY = DownloadConditions(wifi=False, charging=False, free_bytes=0)


@dataclass(frozen=True, kw_only=True)
class ReleasesKept:
    """Number of older releases of a model that count."""

    keep: int = 3
    """that a document lists, the newest included"""
    deltas: int = 2
    """that get deltas to the newest"""


DEFAULT = ReleasesKept()


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Who gets a release, and when."""

    percent: int = 100
    conditions: DownloadConditions = ANY
    min_app: str = ""
    notes: str = ""
    is_new_contract: bool = False
    """whether apps need other code for it than for the release before"""


@dataclass(frozen=True, kw_only=True)
class Published:
    """Result of a change of a channel."""

    document: Document
    uploaded: tuple[str, ...]
    """names of the blobs that were, or would be, written"""
    size_bytes: int
    """of these"""
    is_new: bool
    """whether there is a new document"""
    notes: tuple[str, ...] = ()
    """what apps with these packages cannot do, a sentence each"""


def publish(
    place: Repository,
    dist: Path,
    terms: Terms,
    signing: Signing,
    *,
    models: Sequence[str] = (),
    limits: ReleasesKept = DEFAULT,
    is_dry: bool = False,
) -> Published:
    """Publishes the models of the release in `dist`, or those named in `models`. The same release again changes
    nothing, and continues after a failure.

    Raises ConfigError for an unknown model or a package of another name; GateError for another contract than before,
    and if another publisher was faster.
    """
    with TemporaryDirectory() as scratch:
        found = contents(dist, Path(scratch))
        before = place.newest()
        if place.package != found.package:
            raise ConfigError(
                f"the channel '{place.channel}' is of the package '{place.package}', and the release is of "
                f"'{found.package}'",
                hint="publish it to a channel or an address of its own",
            )
        local = _local(place, Path(scratch), found.paths, before)
        known = {each.name: each for each in before.models} if before else {}
        for model in _chosen(found, models):
            release = _release(model, found, terms, place)
            entry = _with(known.get(model.name), model.name, release, terms, limits)
            known[model.name] = with_deltas(entry, local, count=limits.deltas)
        entries = tuple(known[name] for name in sorted(known))
        made = _change(place, before, entries, local.paths, signing, is_dry=is_dry)
        return replace(made, notes=(*_notes(dist, found, place), *made.notes))


def _local(place: Repository, scratch: Path, paths: Mapping[str, Path], *documents: Document | None) -> Local:
    """Blobs of this machine, and those that the documents name in the store."""
    named = [place.hosted(each) for each in documents if each]
    names = {file.sha256: name for each in named for name, file in each.items()}
    return Local(storage=place.storage, names=names, scratch=scratch, paths=dict(paths))


def _notes(dist: Path, found: ReleasedModels, place: Repository) -> Iterator[str]:
    if found.lacks:
        keys = " and ".join(f"`{key}`" for key in found.lacks)
        yield (
            f"the packages in {dist} were built without {keys} in [package]: apps that have them get no models from a "
            f'channel. Build them with trust = "release.pub" and channel = "{place.channel}.root.json" before apps ship'
        )


def _chosen(found: ReleasedModels, names: Sequence[str]) -> list[ReleasedModel]:
    known = {each.name: each for each in found.models}
    if odd := [name for name in names if name not in known]:
        raise ConfigError(f"the release has no model '{odd[0]}'", hint=f"it has: {', '.join(known)}")
    return [each for each in found.models if not names or each.name in names]


def _release(model: ReleasedModel, found: ReleasedModels, terms: Terms, place: Repository) -> ModelRelease:
    names = {"package": found.package, "channel": place.channel, "model": model.name, "version": found.version}
    return ModelRelease(
        version=found.version,
        number=found.number,
        contract=model.contract,
        min_app=terms.min_app,
        rollout=Rollout(percent=terms.percent, salt=salt_of(names)),
        conditions=terms.conditions,
        notes=terms.notes,
        files=model.files,
    )


def _with(
    before: ChannelModel | None, name: str, release: ModelRelease, terms: Terms, limits: ReleasesKept
) -> ChannelModel:
    """The entry with a release in front. Raises GateError for an older or changed version, and for another contract."""
    others = [each for each in before.releases if each.version != release.version] if before else []
    same = next((each for each in before.releases if each.version == release.version), None) if before else None
    if same and without_deltas(same) != without_deltas(release):
        raise GateError(
            f"{name} {release.version} is in the channel with other files", hint="raise the version and build again"
        )
    if same:
        release = replace(release, files=same.files)
    if others and others[0].number > release.number:
        raise GateError(
            f"{name} {release.version} is older than {others[0].version}, which is in the channel",
            hint="to go back, use mobpack channel rollback",
        )
    if others and others[0].contract != release.contract and not terms.is_new_contract:
        raise GateError(
            f"{name} {release.version} has another contract than {others[0].version}: released apps cannot use it "
            "(mobpack diff says where)",
            hint="with --new-contract, apps built from it get it, and the others keep the models that fit them",
        )
    return ChannelModel(name=name, releases=_kept((release, *others), limits.keep))


def _kept(releases: Sequence[ModelRelease], keep: int) -> tuple[ModelRelease, ...]:
    """The newest `keep` releases, and for every contract the newest that all devices may take."""
    whole = {each.contract: each for each in reversed(releases) if each.rollout.percent == 100 and not each.min_app}
    return tuple(each for index, each in enumerate(releases) if index < keep or whole.get(each.contract) is each)


def promote(
    place: Repository,
    signing: Signing,
    *,
    source: Repository | None = None,
    percent: int | None = None,
    models: Sequence[str] = (),
    is_new_contract: bool = False,
    limits: ReleasesKept = DEFAULT,
    is_dry: bool = False,
) -> Published:
    """Gives the newest release of each model to `percent` of the devices; with `source`, the newest releases of that
    channel in the same store.

    Raises ConfigError for a model that is not there; GateError like `publish`.
    """
    before = place.newest()
    origin = required(source) if source else before or required(place)
    if place.package != origin.package:
        raise ConfigError(
            f"the channels belong to different packages: {place.package}, {origin.package}",
            hint="promote between channels of one package",
        )
    named = [each for each in origin.models if not models or each.name in models]
    if odd := sorted(set(models) - {each.name for each in named}):
        raise ConfigError(f"the channel has no model '{odd[0]}'", hint="see mobpack channel show")
    known = {each.name: each for each in before.models} if before else {}
    terms = Terms(is_new_contract=is_new_contract or source is None)
    with TemporaryDirectory() as scratch:
        local = _local(place, Path(scratch), {}, before, origin)
        for model in named:
            release = _promoted(model, origin.package, place, 100 if percent is None else percent)
            entry = _with(known.get(model.name), model.name, release, terms, limits)
            known[model.name] = with_deltas(entry, local, count=limits.deltas)
        entries = tuple(known[name] for name in sorted(known))
        return _change(place, before, entries, local.paths, signing, is_dry=is_dry)


def _promoted(model: ChannelModel, package: str, place: Repository, percent: int) -> ModelRelease:
    """The newest release of a model, for so many devices of a channel."""
    newest_release = model.releases[0]
    names = {"package": package, "channel": place.channel, "model": model.name, "version": newest_release.version}
    return replace(newest_release, rollout=Rollout(percent=percent, salt=salt_of(names)))


def rollback(
    place: Repository,
    signing: Signing,
    *,
    number: int | None = None,
    models: Sequence[str] = (),
    is_dry: bool = False,
) -> Published:
    """Publishes the models of an older document again, under a new and larger number. Without `number`, the document
    before the current one, or before the one that it restores.

    Raises ConfigError if there is none, GateError if a blob of it was pruned.
    """
    before = place.newest() or required(place)
    older = (each for each in place.numbers() if each < (before.restores or before.number))
    wanted = number if number is not None else next(older, 0)
    if not wanted:
        raise ConfigError("there is no document before this one", hint="see mobpack channel show --history")
    old = place.numbered(wanted)
    known = {each.name: each for each in before.models}
    returned = {each.name: each for each in old.models if not models or each.name in models}
    if odd := sorted(set(models) - returned.keys()):
        raise ConfigError(f"document {wanted} has no model '{odd[0]}'", hint="see mobpack channel show --history")
    entries = tuple({**known, **returned}[name] for name in sorted({**known, **returned}) if models or name in returned)
    restores = old.restores or old.number
    is_forced = old.number == before.number  # signed by a key that is gone, or newer releases are lost
    if is_forced:
        signing = replace(signing, after=max([signing.after, *place.numbers()]))
    return _change(place, before, entries, {}, signing, restores=restores, is_forced=is_forced, is_dry=is_dry)


def _change(
    place: Repository,
    before: Document | None,
    entries: tuple[ChannelModel, ...],
    paths: Mapping[str, Path],
    signing: Signing,
    *,
    restores: int = 0,
    is_forced: bool = False,
    is_dry: bool = False,
) -> Published:
    is_expired = before is not None and signing.now >= time_of(before.expires)
    document = before
    if document is None or document.models != entries or is_forced or is_expired:
        document = following(place, before, entries, signing, restores=restores)
    missing = _missing(place, before, document, paths, signing)
    if odd := sorted(each.sha256 for each in missing.values() if each.content is None and each.sha256 not in paths):
        raise GateError(
            f"the blob {odd[0][:16]}... is not in the store any more", hint="publish the release that has it again"
        )
    size_bytes = sum(each.size_bytes for each in missing.values())
    is_new = document is not before
    made = Published(document=document, uploaded=tuple(sorted(missing)), size_bytes=size_bytes, is_new=is_new)
    if is_dry:
        return made
    _upload(place, missing, paths)
    if is_new:
        made = replace(made, document=place.commit(document, signing))
    return replace(made, notes=place.announce(signing))


def _missing(
    place: Repository, before: Document | None, document: Document, paths: Mapping[str, Path], signing: Signing
) -> dict[str, Hosted]:
    """The files of `document` that have to be written: those that are not there or have another size, and those of this
    machine that `before` does not name and that may be pruned soon."""
    stored = {each.name: each for each in place.storage.listed(place.folder)}
    named = place.hosted(before) if before else {}
    missing = {}
    for name, each in place.hosted(document).items():
        found = stored.get(name)
        is_kept = name in named or (
            found is not None and found.changed_s is not None and signing.now.timestamp() - found.changed_s < FRESH_S
        )
        is_here = each.content is not None or each.sha256 in paths
        if found is None or found.size_bytes != each.size_bytes or (is_here and not is_kept):
            missing[name] = each
    return missing


def _upload(place: Repository, missing: Mapping[str, Hosted], paths: Mapping[str, Path]) -> None:
    with TemporaryDirectory() as scratch:
        for name, each in sorted(missing.items()):
            path = paths.get(each.sha256, Path(scratch) / each.sha256)
            if each.content is not None:
                path.write_bytes(each.content)
            place.storage.upload(name, path)


def required(place: Repository) -> Document:
    """The document that devices get. Raises ConfigError if there is none."""
    found = place.current()
    if found is None:
        raise ConfigError(
            f"there is no channel '{place.channel}': {place.pointer} is missing",
            hint="publish a release there first: mobpack channel publish dist --to URL",
        )
    return found


def following(
    place: Repository,
    before: Document | None,
    models: Iterable[ChannelModel],
    signing: Signing,
    *,
    restores: int = 0,
) -> Document:
    """The document that follows `before`, with other models. Raises GateError for a date that cannot be."""
    if not signing.is_clock_trusted:
        refuse_implausible(before, signing.now)
    return Document(
        package=place.package,
        channel=place.channel,
        number=max(before.number if before else 0, signing.after) + 1,
        restores=restores,
        published=signing.now.strftime(TIME),
        expires=(signing.now + timedelta(days=signing.days)).strftime(TIME),
        models=tuple(models),
    )
