"""`mobpack tune --from`: decides searches whose rounds devices have taken on their own.

A device takes its rounds in the order of `packager.measuring.tuning.search`. The same search goes through
them here, as it goes through those of a journal, and ends where they end.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from packager import config as configuration
from packager.config.tables import Config
from packager.core.console import Console
from packager.core.errors import ConfigError, ToolError
from packager.measuring.bench import statistics
from packager.measuring.devices.device_answers import tests_of, timed_of
from packager.measuring.devices.document import PackageEntry
from packager.measuring.devices.farms import results
from packager.measuring.devices.farms.collecting import CollectedDocument
from packager.measuring.devices.farms.results import Exchange, FarmDocument, SearchEntry, Tried
from packager.measuring.devices.link import Device
from packager.measuring.tuning.candidates import Candidate
from packager.measuring.tuning.page import SearchBounds
from packager.measuring.tuning.search import SearchOutcome, SearchRound, Trial, search, what_ships
from packager.providers import CPU
from packager.targets import KNOWN_TARGETS
from packager.workflows.device import farming
from packager.workflows.tune_results import FoundSettings, error_of, share_of
from packager.workflows.tune_variants import Searched, nameable

TARGET = "ios"
"""whose packages such tests are made of, and whose settings are written"""
IDENTIFIER = re.compile(r"[A-Za-z]+\d+,\d+")
"""`iPhone17,1`; a simulator, and a Mac, tell the architecture"""
TUNE_HINT = "make the test with `mobpack device xcode PACKAGE --tune`"


@dataclass(frozen=True, kw_only=True)
class RecordedTuneRequest:
    results: tuple[Path, ...]
    """files, archives, folders, result bundles"""
    project: Path
    models: tuple[str, ...] = ()
    """empty for all"""
    is_dry: bool = False
    """whether nothing is written: no project is needed"""


@dataclass(frozen=True, kw_only=True)
class RecordedSearch:
    found: tuple[FoundSettings, ...]
    bounds: SearchBounds


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """Every round of a document."""

    device: Device
    place: str
    document: FarmDocument
    bounds: SearchEntry

    @property
    def package(self) -> PackageEntry:
        return self.document.package


@dataclass(kw_only=True)
class Replay:
    """The rounds of a model, as a device that is measured."""

    exchanges: Mapping[tuple[str, int], Exchange]
    """by the candidate's name and the number of the round"""
    place: str
    taken: set[tuple[str, int]] = field(default_factory=set)

    def measure(self, candidate: Candidate, number: int) -> SearchRound:
        """Raises ToolError for a round that the device has not taken where it should have."""
        key = (candidate.name, number)
        if key not in self.exchanges:
            raise ToolError(
                f"{self.place} lacks round {number + 1} of {candidate.name}: its rounds are not those of a search",
                hint="the test was made by another version of mobpack: make it anew, and run it again",
            )
        self.taken.add(key)
        return _round(self.exchanges[key])

    def has_time(self) -> bool:
        """Whether rounds are left: the device has stopped where they end."""
        return len(self.taken) < len(self.exchanges)


def recorded(request: RecordedTuneRequest, console: Console) -> RecordedSearch:
    """The searches in results that came back, by device and model.

    The first results are of the package that ships today; those of other packages of the same models, from the same
    devices, are compared with it. Raises ToolError for results without a search, ConfigError for those of another
    project's package.
    """
    every = _read(request.results, console)
    project = _project(request)
    if project:
        _refuse_others(every, project)
    first = every[0].package
    found: list[FoundSettings] = []
    for each in every:
        if each.package.sha256 == first.sha256:
            beside = [
                other
                for other in every
                if other.package.sha256 != first.sha256 and other.device.fingerprint == each.device.fingerprint
            ]
            found += _searched(each, beside, request)
        elif not any(_is_of(one, each, first.sha256) for one in every):
            console.caution(f"{each.place}: {each.device.name} has run {each.package.file} alone, not what ships")
    if not found:
        models = ", ".join(sorted({name for each in every for name in _by_model(each)})) or "no model that has started"
        raise ConfigError(f"--model {', '.join(request.models)}: the results have {models}", hint="name one of them")
    return RecordedSearch(found=tuple(found), bounds=_bounds(every[0].bounds))


def settled(found: Sequence[FoundSettings], project: Path, console: Console) -> tuple[FoundSettings, ...]:
    """Findings whose settings can be written; says why others cannot."""
    shipped = configuration.load(project, targets=(TARGET,)).targets()[TARGET].providers
    kept, unknown = [], dict.fromkeys(each.device for each in found if not IDENTIFIER.fullmatch(each.device.soc))
    for device in unknown:
        console.caution(
            f"{device.name} calls itself '{device.soc}', as a simulator or a Mac does: nothing is written for it; apps "
            "look settings up by an identifier such as iPhone17,1"
        )
    for each in found:
        others = [name for name in each.tuned.providers if name not in (*shipped, CPU.NAME)]
        if others:
            console.caution(
                f"{each.model} on {each.device.name}: nothing is written, as [target.{TARGET}] in {project} does not "
                f"ship {others[0]}"
            )
        elif each.device not in unknown:
            kept.append(each)
    return tuple(kept)


def _read(paths: Iterable[Path], console: Console) -> list[Rounds]:
    """Every search in the files, each once."""
    unique: dict[str, CollectedDocument] = {}
    for path in paths:
        for one in farming.collect(path, console).results:
            place = str(path) if path.is_file() else f"{path}: {one.place}"
            unique.setdefault(json.dumps(one.document, sort_keys=True), replace(one, place=place))
    found = [*unique.values()]
    searches = []
    for each, serial in zip(found, farming.serials(found), strict=True):
        document = results.document_of(each)
        if document.tuning and document.exchanges:
            device = replace(results.device_of(document, serial), model=serial)
            searches.append(Rounds(device=device, place=each.place, document=document, bounds=document.tuning))
        else:
            console.caution(f"{each.place} has times of a package as it is, and no search; {TUNE_HINT}")
    if not searches:
        raise ToolError(f"{', '.join(map(str, paths))}: no search is in these results", hint=TUNE_HINT)
    return searches


def _project(request: RecordedTuneRequest) -> Config | None:
    if request.is_dry and not request.project.exists():
        return None
    return configuration.load(request.project, targets=(TARGET,))


def _refuse_others(every: Iterable[Rounds], project: Config) -> None:
    for each in every:
        for name in _by_model(each):
            if name not in project.model:
                raise ConfigError(
                    f"{each.place} has results of the package {each.package.file} with a model '{name}'; the project "
                    f"{project.package.name} has {', '.join(sorted(project.model))}",
                    hint="name its mobpack.toml with --config",
                )


def _is_of(one: Rounds, other: Rounds, sha256: str) -> bool:
    return one.package.sha256 == sha256 and one.device.fingerprint == other.device.fingerprint


def _bounds(entry: SearchEntry) -> SearchBounds:
    return SearchBounds(
        most=entry.most, minutes=entry.minutes, seconds=entry.seconds, runs=entry.runs, is_one_process=True
    )


def _searched(each: Rounds, beside: Sequence[Rounds], request: RecordedTuneRequest) -> Iterator[FoundSettings]:
    has_others = bool(beside)
    variants = _variants([each, *beside], request.project) if beside else {}
    for model, exchanges in _by_model(each).items():
        if request.models and model not in request.models:
            continue
        outcome = _replayed(each, exchanges, has_others=has_others)
        for other in beside:
            if rounds := _by_model(other).get(model):
                outcome = _better(outcome, _replayed(other, rounds, has_others=True))
        outcome = replace(outcome, variants=variants)
        yield FoundSettings(device=each.device, target=TARGET, model=model, package=each.package, outcome=outcome)


def _variants(every: Iterable[Rounds], project: Path) -> dict[str, str]:
    """Variants of other packages that settings of the project can name."""
    if not KNOWN_TARGETS[TARGET].VARIES:
        return {}
    searched = [
        Searched(
            name=_name(each, has_others=True),
            variant=each.bounds.variant,
            providers=list(dict.fromkeys(one.provider for one in each.bounds.candidates)),
        )
        for each in every
    ]
    return nameable(project, TARGET, searched)


def _name(each: Rounds, *, has_others: bool) -> str:
    """Name of a package for its candidates."""
    return each.package.file + (f" {each.package.sha256[:8]}" if has_others else "")


def _by_model(each: Rounds) -> dict[str, list[Exchange]]:
    """The rounds of each model, by its name in mobpack.toml: of those that have started once, which tell it."""
    names = {one.model: str(one.open["name"]) for one in each.document.exchanges if one.open.get("name")}
    found: dict[str, list[Exchange]] = {}
    for one in each.document.exchanges:
        if one.model in names:
            found.setdefault(names[one.model], []).append(one)
    return found


def _replayed(each: Rounds, exchanges: Iterable[Exchange], *, has_others: bool) -> SearchOutcome:
    package = _name(each, has_others=has_others)

    def candidate(one: Tried | Exchange) -> Candidate:
        return Candidate(package=package, provider=one.provider.lower(), threads=one.threads, options=one.options)

    tried = [candidate(one) for one in each.bounds.candidates]
    replay = Replay(exchanges={(candidate(one).name, one.round): one for one in exchanges}, place=each.place)
    shipped = [one for one in tried if not one.threads and not one.options]
    if not shipped:
        raise ToolError(f"{each.place} has a search that lacks the settings that ship", hint=TUNE_HINT)
    today = what_ships(shipped, replay.measure)
    return search(today, [one for one in tried if one != today], replay.measure, replay.has_time)


def _round(each: Exchange) -> SearchRound:
    share = None
    if each.self_test is not None:
        tests = tests_of(each.self_test)
        share = share_of(tests)
        if error := error_of(tests):
            return SearchRound(error=error, error_share=share)
    if failure := results.failure_of(each):
        falls_back = str(each.open.get("provider", each.provider)).lower() != each.provider.lower()
        return SearchRound(error=failure, error_share=share, falls_back=falls_back)
    return SearchRound(times_ns=timed_of(each.time).times.times_ns, error_share=share)


def _better(ours: SearchOutcome, theirs: SearchOutcome) -> SearchOutcome:
    """The search in what ships, with that in another package beside it: its best is the best of both if it is faster
    beyond what varies from one run of a test to the next."""
    best, other = ours.best, theirs.best
    trials = tuple(sorted((*ours.trials, *theirs.trials), key=lambda each: each.median_ns))
    if not other.rounds:
        return replace(ours, trials=trials)
    against = _ratio(other, best)
    wins = against is None or against.verdict(statistics.LEAST_DIFFERENCE) == "faster"
    first, second = (other, best) if wins else (best, other)
    for each in trials:
        if each.rounds and not each.left and each not in (first, ours.today, None if wins else ours.rival):
            each.left = f"slower than {first.candidate.name}" if each is not second else "no faster than the best"
    if not wins:
        return replace(ours, trials=trials)
    return replace(ours, trials=trials, best=other, rival=other, ratio=_ratio(other, ours.today))


def _ratio(first: Trial, second: Trial) -> statistics.Ratio | None:
    """Ratio of times that were taken in two runs of a test."""
    return statistics.ratio(first.rounds, second.rounds, is_paired=False) if second.rounds else None
