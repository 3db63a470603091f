"""`mobpack tune` on connected devices: searches for the fastest settings of a package."""

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from packager.core.console import Console
from packager.core.errors import ModelError, ToolError
from packager.engines.runners import Pace
from packager.measuring.devices.demotions import Demotions, left_out
from packager.measuring.devices.device_answers import PackagedModel
from packager.measuring.devices.device_opening import Equipped, of_package
from packager.measuring.devices.device_session import DeviceSession
from packager.measuring.devices.document import PackageEntry
from packager.measuring.devices.link import Device, GoneError
from packager.measuring.devices.rows import DeviceSample
from packager.measuring.devices.samples import sample_of
from packager.measuring.tuning.candidates import Candidate, candidates, shipped
from packager.measuring.tuning.journal import Journal
from packager.measuring.tuning.page import SearchBounds
from packager.measuring.tuning.search import SearchOutcome, SearchRound, search, what_ships, without
from packager.providers import CPU
from packager.workflows.device.preparing import Ready, Wanted, equipped, link, models_of, on_each, ready
from packager.workflows.tune_results import FoundSettings, error_of, share_of
from packager.workflows.tune_variants import Searched, nameable, shipped_variant

TARGET = "android"
"""whose packages run on devices that are connected, and whose settings are written"""


@dataclass(frozen=True, kw_only=True)
class TuneRequest:
    wanted: Wanted
    others: tuple[Path, ...] = ()
    """packages of the same models in other variants"""
    most: int = 40
    """candidates for a model on a device"""
    minutes: float = 20.0
    """for a model on a device"""
    pace: Pace = field(default_factory=Pace)
    journal: Path = Path("mobpack-tune")
    """folder"""
    project: Path = Path("mobpack.toml")
    """says which variants settings can name"""
    demotions: Demotions = field(default_factory=dict)
    """verdicts of phones"""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A package on a device."""

    ready: Ready
    equipped: Equipped
    model: PackagedModel
    sample: DeviceSample
    folder: Path


def tune(request: TuneRequest, console: Console) -> tuple[FoundSettings, ...]:
    """Searches for every model of the package on every device.

    Raises ToolError if a device goes, ConfigError if a model has no sample. What was measured stays in the journal: the
    same command goes on where it was.
    """
    with ExitStack() as stack:
        every = [replace(request.wanted, package=path) for path in (request.wanted.package, *request.others)]
        joined = link()
        packages = [stack.enter_context(ready(wanted, console, joined)) for wanted in every]
        devices = packages[0].chosen.devices
        done, failures = on_each(devices, lambda device: _on_device(device, packages, request, console), joined.halt)
    if joined.halt.is_set():
        raise KeyboardInterrupt("what was measured is kept: the same command goes on")
    if failures and not done:
        raise failures[0][1]
    for device, error in failures:
        console.caution(f"{device.name}: {error.message}")
    return tuple(each for _, found in done for each in found)


def _on_device(
    device: Device, packages: Sequence[Ready], request: TuneRequest, console: Console
) -> list[FoundSettings]:
    folder = packages[0].scratch / f"tune-{packages[0].chosen.devices.index(device)}"
    folder.mkdir()
    benches: dict[str, list[Bench]] = {}
    for number, each in enumerate(packages):
        made = equipped(each, device, request.wanted, Console(quiet=True))
        for model in models_of(each, made, request.wanted, folder):
            place = folder / f"{number}-{len(benches)}"
            place.mkdir()
            sample = sample_of(each.package, model, None, place)
            benches.setdefault(model.name, []).append(
                Bench(ready=each, equipped=made, model=model, sample=sample, folder=place)
            )
    name = re.sub(r"[^A-Za-z0-9.-]", "_", device.serial)
    journal = Journal(request.journal / f"{name}.jsonl", _subject(device, packages, request))
    package = packages[0].package
    entry = PackageEntry(file=package.path.name, sha256=package.sha256, runtime=package.runtime.words)
    return [
        FoundSettings(
            device=device,
            target=TARGET,
            model=name,
            package=entry,
            outcome=_searched(name, found, journal, request, console),
        )
        for name, found in sorted(benches.items())
    ]


def _subject(device: Device, packages: Sequence[Ready], request: TuneRequest) -> Mapping[str, str]:
    return {
        "device": device.fingerprint,
        "packages": ", ".join(each.package.sha256 for each in packages),
        "runtime": packages[0].package.runtime.words,
        "pace": f"{request.pace.seconds:g} s, {request.pace.runs} runs",
    }


def _searched(
    name: str, benches: Sequence[Bench], journal: Journal, request: TuneRequest, console: Console
) -> SearchOutcome:
    by_package = {str(each.ready.package.path): each for each in benches}
    end = time.monotonic() + 60 * request.minutes

    def measure(candidate: Candidate, number: int) -> SearchRound:
        known = journal.find(name, candidate, number)
        if known is None:
            known = _round(by_package[candidate.package], candidate, number, request.pace)
            journal.add(name, candidate, number, known)
            words = known.error or f"{min(known.times_ns) / 1e6:.3g} ms at best"
            console.say(f"  {benches[0].equipped.device.name}, {name}, {candidate.name}: {words}")
        return known

    first = benches[0]
    measured = without(left_out(request.demotions, first.equipped.device.soc, name), measure)
    providers = [each for each in first.model.providers if each != CPU.NAME]
    today = what_ships(shipped(str(first.ready.package.path), providers), measured)
    others = [
        candidate
        for path, bench in by_package.items()
        for candidate in candidates(path, [each for each in bench.model.providers if each != CPU.NAME], request.most)
        if candidate != today
    ]
    variants = nameable(request.project, TARGET, [_in_search(bench) for bench in benches])
    return search(today, others, measured, lambda: time.monotonic() < end, variants)


def _in_search(bench: Bench) -> Searched:
    package = bench.ready.package
    variant = shipped_variant(package.path, package.sha256, TARGET)
    return Searched(name=str(package.path), variant=variant, providers=bench.model.providers)


def _round(bench: Bench, candidate: Candidate, number: int, pace: Pace) -> SearchRound:
    """A load in a new process, the comparison with the build machine in the first round, and timed runs."""
    storage = bench.equipped.storage
    data = f"{storage.home}/data/{bench.model.class_name}.{candidate.provider}"
    storage.done(f"mkdir -p {data}")
    opening = of_package(
        bench.equipped,
        bench.model.class_name,
        candidate.provider,
        data,
        threads=candidate.threads,
        options=candidate.options,
    )
    try:
        with DeviceSession(bench.equipped, opening, bench.folder) as session:
            if session.opened.provider != candidate.provider:
                reason = "; ".join(session.opened.fallbacks) or "another provider started in its place"
                return SearchRound(error=reason, falls_back=True)
            share = None
            if number == 0 and bench.model.tests_itself:
                tests = session.self_test()
                share = share_of(tests)
                if error := error_of(tests):
                    return SearchRound(error=error, error_share=share)
            timed = session.timed(bench.sample.path, pace)
    except GoneError:
        raise
    except (ModelError, ToolError) as error:
        return SearchRound(error=error.message)
    return SearchRound(times_ns=timed.times.times_ns, error=timed.times.error, error_share=share)


def bounds_of(request: TuneRequest) -> SearchBounds:
    return SearchBounds(
        most=request.most, minutes=request.minutes, seconds=request.pace.seconds, runs=request.pace.runs
    )
