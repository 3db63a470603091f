"""The searches of `mobpack tune` explained: a self-contained HTML page, and a section for the report of a release."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packager.core.tuned import Tuned
from packager.measuring.bench.statistics import TEST_CONFIDENCE
from packager.measuring.tuning import words
from packager.measuring.tuning.search import FINAL_ROUNDS, SHARE, SearchOutcome, Trial
from packager.measuring.tuning.writing import tables
from packager.render.pages.numbers import plural
from packager.render.pages.parts import FactView
from packager.render.templates import render

TEMPLATE = "report/tune.html.j2"
PART = "report/tuned.html.j2"


@dataclass(frozen=True, kw_only=True)
class SearchBounds:
    """Bounds of the search for a model on a device."""

    most: int
    """candidates"""
    minutes: float
    seconds: float
    """of timed runs in a round"""
    runs: int
    """in a round, at most"""
    is_one_process: bool = False
    """whether rounds share a process, as in the test of an app"""


@dataclass(frozen=True, kw_only=True)
class TunedSearch:
    device: str
    """its name"""
    target: str
    """whose settings are written: `android`"""
    chip: str
    """empty if it does not tell"""
    model: str
    outcome: SearchOutcome


@dataclass(frozen=True, kw_only=True)
class TrialView:
    cells: tuple[str, ...]
    tone: str
    """CSS class of the result"""


@dataclass(frozen=True, kw_only=True)
class TunedSearchView:
    title: str
    verdict: str
    toml: str
    """settings for mobpack.toml; empty where nothing is written"""
    columns: tuple[str, ...]
    trials: tuple[TrialView, ...]
    facts: tuple[FactView, ...]


@dataclass(frozen=True, kw_only=True)
class TuningPartView:
    searches: tuple[TunedSearchView, ...]


@dataclass(frozen=True, kw_only=True)
class WinnerView:
    """A model on a chip, and its settings."""

    model: str
    device: str
    settings: str
    ratio: str


@dataclass(frozen=True, kw_only=True)
class TuningPageView:
    winners: tuple[WinnerView, ...]
    searches: tuple[TunedSearchView, ...]


def page(found: Sequence[TunedSearch], bounds: SearchBounds) -> str:
    view = TuningPageView(winners=tuple(map(_winner, found)), searches=tuple(_search(each, bounds) for each in found))
    return render(TEMPLATE, view)


def part(found: TunedSearch, bounds: SearchBounds) -> str:
    """One search, as a section for another page."""
    return render(PART, TuningPartView(searches=(_search(found, bounds),)))


def _winner(found: TunedSearch) -> WinnerView:
    best, today, ratio = found.outcome.best, found.outcome.today, found.outcome.ratio
    return WinnerView(
        model=found.model,
        device=found.device,
        settings=words.name_of(best, found.outcome),
        ratio=words.ratio_of(ratio) if best is not today and ratio else "what ships",
    )


def _search(found: TunedSearch, bounds: SearchBounds) -> TunedSearchView:
    return TunedSearchView(
        title=found.model,
        verdict=f"{found.device}: {words.verdict(found.outcome)}",
        toml=tables(found.target, {found.chip: {found.model: found.outcome.tuned}}) if found.chip else "",
        columns=words.COLUMNS,
        trials=tuple(_trial(each, found.outcome) for each in found.outcome.trials),
        facts=tuple(_facts(found, bounds)),
    )


def _trial(trial: Trial, outcome: SearchOutcome) -> TrialView:
    tone = "poor" if trial.error else "pass" if trial is outcome.best else "plain"
    return TrialView(cells=words.cells(trial, outcome), tone=tone)


def _facts(found: TunedSearch, bounds: SearchBounds) -> Iterator[FactView]:
    outcome = found.outcome
    failed = sum(1 for each in outcome.trials if each.error)
    unmeasured = sum(1 for each in outcome.trials if not each.error and not each.rounds)
    counts = [f"{plural(len(outcome.trials), 'candidate')}, {bounds.most} at most of a package", f"{failed} failed"]
    if unmeasured:
        counts.append(f"{unmeasured} not measured")
    yield FactView(label="Candidates", value="; ".join(counts))
    end = "it came to its end" if outcome.is_complete else "the time was over before its end"
    yield FactView(label="Time", value=f"{bounds.minutes:g} min at most; {end}")
    process = "each a load in one process" if bounds.is_one_process else "each in a new process"
    yield FactView(
        label="Rounds",
        value=f"{process}, up to {bounds.runs:,} runs or {bounds.seconds:g} s. After each, the fastest third goes on, "
        f"until {SHARE} are left; then the fastest and what ships take turns, up to {FINAL_ROUNDS} rounds each",
    )
    yield FactView(
        label="Accuracy",
        value="in its first round a candidate has to pass the package's self-test on the device; one that fails is out",
    )
    yield FactView(
        label="Decision",
        value=f"the fastest wins if the {TEST_CONFIDENCE:.0%} interval of the ratio of medians lies below 1 (two-stage "
        "bootstrap over rounds and runs)",
    )
    if found.outcome.tuned == Tuned():
        yield FactView(label="Written", value="nothing for this chip and model")
    elif not found.chip:
        yield FactView(label="Written", value="nothing: the device does not name its chip")
