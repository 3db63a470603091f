"""`mobpack tune`: searches on devices for the fastest settings of a package, and writes them into mobpack.toml."""

import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from packager.core.console import Console
from packager.core.errors import ConfigError, ModelError, ToolError
from packager.core.tuned import Tuned
from packager.devices import merging
from packager.devices.device_answers import OutputTest, PackagedModel
from packager.devices.device_opening import Equipped, of_package
from packager.devices.device_session import DeviceSession
from packager.devices.link import Device, GoneError
from packager.devices.package import DevicePackage
from packager.devices.rows import Sample
from packager.devices.samples import sample_of
from packager.files.atomic import atomic_file
from packager.pages import parts
from packager.pages.sections import with_section
from packager.providers import CPU
from packager.runners import Pace
from packager.tuning import page
from packager.tuning.candidates import Candidate, candidates
from packager.tuning.journal import Journal
from packager.tuning.page import Bounds, Searched
from packager.tuning.search import Outcome, Round, search
from packager.tuning.writing import TARGET, with_tuned
from packager.workflows.device.preparing import Ready, Wanted, equipped, link, models_of, on_each, ready

CHIP_HINT = "Android 12 and later name their chip: settings by chip reach no older device"


@dataclass(frozen=True, kw_only=True)
class Request:
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


@dataclass(frozen=True, kw_only=True)
class Found:
    """The end of the search for a model on a device."""

    device: Device
    model: str
    package: DevicePackage
    """the first that was searched, whose settings are written"""
    outcome: Outcome

    @property
    def tuned(self) -> Tuned:
        """Settings to write; empty where nothing is faster than what ships."""
        return self.outcome.tuned


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A package on a device."""

    ready: Ready
    equipped: Equipped
    model: PackagedModel
    sample: Sample
    folder: Path


def tune(request: Request, console: Console) -> tuple[Found, ...]:
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


def _on_device(device: Device, packages: Sequence[Ready], request: Request, console: Console) -> list[Found]:
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
    return [
        Found(
            device=device,
            model=name,
            package=packages[0].package,
            outcome=_searched(name, found, journal, request, console),
        )
        for name, found in sorted(benches.items())
    ]


def _subject(device: Device, packages: Sequence[Ready], request: Request) -> Mapping[str, str]:
    return {
        "device": device.fingerprint,
        "packages": ", ".join(each.package.sha256 for each in packages),
        "runtime": packages[0].package.runtime.words,
        "pace": f"{request.pace.seconds:g} s, {request.pace.runs} runs",
    }


def _searched(name: str, benches: Sequence[Bench], journal: Journal, request: Request, console: Console) -> Outcome:
    by_package = {str(each.ready.package.path): each for each in benches}
    end = time.monotonic() + 60 * request.minutes

    def measure(candidate: Candidate, number: int) -> Round:
        known = journal.find(name, candidate, number)
        if known is None:
            known = _round(by_package[candidate.package], candidate, number, request.pace)
            journal.add(name, candidate, number, known)
            words = known.error or f"{min(known.times_ns) / 1e6:.3g} ms at best"
            console.say(f"  {benches[0].equipped.device.name}, {name}, {candidate.name}: {words}")
        return known

    first = benches[0]
    providers = [each for each in first.model.providers if each != CPU.NAME]
    shipped = [Candidate(package=str(first.ready.package.path), provider=each) for each in (*providers, CPU.NAME)]
    today = next((each for each in shipped if not measure(each, 0).error), shipped[-1])
    others = [
        candidate
        for path, bench in by_package.items()
        for candidate in candidates(path, [each for each in bench.model.providers if each != CPU.NAME], request.most)
        if candidate != today
    ]
    return search(today, others, measure, lambda: time.monotonic() < end)


def _round(bench: Bench, candidate: Candidate, number: int, pace: Pace) -> Round:
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
                return Round(error="; ".join(session.opened.fallbacks) or "another provider started in its place")
            share = None
            if number == 0 and bench.model.tests_itself:
                tests = session.self_test()
                share = _share(tests)
                if failed := [f"{test.name}: {test.failure}" for test in tests if test.failure]:
                    return Round(error=f"its numbers are off: {failed[0]}", error_share=share)
            timed = session.timed(bench.sample.path, pace)
    except GoneError:
        raise
    except (ModelError, ToolError) as error:
        return Round(error=error.message)
    return Round(times_ns=timed.times.times_ns, error=timed.times.error, error_share=share)


def _share(tests: Sequence[OutputTest]) -> float | None:
    """The largest error, as a share of what the self-test allows; None where no output is measured by its distance."""
    allowed = [(each.max_abs_error, each.absolute_tolerance + each.tolerance * each.scale) for each in tests]
    shares = [error / most for error, most in allowed if most > 0 and math.isfinite(error)]
    return max(shares, default=None)


def searches(found: Sequence[Found]) -> tuple[Searched, ...]:
    """The searches as the page explains them."""
    return tuple(
        Searched(device=each.device.name, chip=each.device.soc, model=each.model, outcome=each.outcome)
        for each in found
    )


def write_page(path: Path, found: Sequence[Found], request: Request) -> None:
    """Raises ToolError if it cannot be written."""
    parts.write(path, page.page(searches(found), bounds_of(request)))


def bounds_of(request: Request) -> Bounds:
    return Bounds(most=request.most, minutes=request.minutes, seconds=request.pace.seconds, runs=request.pace.runs)


def merge(folder: Path, found: Sequence[Found], request: Request) -> None:
    """Adds the searches to the report of a release: each replaces an older one of its model on that build of a device.

    Raises ConfigError if the release has other packages than those that were measured.
    """
    report = folder / merging.REPORT
    text = report.read_text(encoding="utf-8")
    for each, searched in zip(found, searches(found), strict=True):
        merging.refuse_others(folder, each.package.sha256, each.package.path.name)
        name = sha256(f"{each.device.fingerprint or each.device.serial}, {each.model}".encode()).hexdigest()[:16]
        text = with_section(text, f"tuning {name}", page.part(searched, bounds_of(request)))
    parts.write(report, text)


def text_of(project: Path) -> str:
    """Raises ConfigError for a file that cannot be read."""
    try:
        return project.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {project}: {error}", hint="name a mobpack.toml with --config") from error


def write(project: Path, found: Sequence[Found], console: Console) -> bool:
    """Writes the settings into `project`; whether it changed. Settings on which devices with one chip disagree, and
    those of devices that do not name their chip, are left out and said.

    Raises ConfigError for a file that cannot be changed.
    """
    chips: dict[str, dict[str, Tuned]] = {}
    for chip, model, settings in _agreed(found, console):
        chips.setdefault(chip, {})[model] = settings
    before = text_of(project)
    after = with_tuned(before, TARGET, chips)
    if after != before:
        with atomic_file(project) as file:
            file.write(after.encode())
    return after != before


def _agreed(found: Sequence[Found], console: Console) -> Iterator[tuple[str, str, Tuned]]:
    by_chip: dict[tuple[str, str], list[Found]] = {}
    for each in found:
        if each.device.soc:
            by_chip.setdefault((each.device.soc, each.model), []).append(each)
        else:
            console.caution(f"{each.device.name} does not name its chip; {CHIP_HINT}")
    for (chip, model), same in sorted(by_chip.items()):
        if len({repr(each.tuned) for each in same}) == 1:
            yield chip, model, same[0].tuned
        else:
            names = ", ".join(each.device.serial for each in same)
            console.caution(f"{model} on {chip}: {names} disagree; nothing is written for this chip")
