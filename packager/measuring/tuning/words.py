"""A search in words, for the terminal and the page."""

from collections.abc import Sequence

from packager.measuring.bench import statistics
from packager.measuring.bench.words import between, duration
from packager.measuring.tuning.search import SearchOutcome, Trial

COLUMNS = ("settings", "p50", "p90", "middle half", "p50 by round", "error of the allowed", "result")
SHORT = (0, 1, 2, 5, 6)
"""columns for a terminal, whose lines are short"""
NS_PER_MS = 1e6


def cells(trial: Trial, outcome: SearchOutcome) -> tuple[str, ...]:
    """Cells of COLUMNS; times of all runs of all rounds. The error is a share of what the self-test allows."""
    error = "" if trial.error_share is None else share(trial.error_share)
    times = [each / NS_PER_MS for each in statistics.all_of(trial.rounds)]
    if not times:
        return (name_of(trial, outcome), "", "", "", "", error, result(trial, outcome))
    quantiles = [statistics.quantile(times, each) for each in (0.5, 0.9, 0.25, 0.75)]
    return (
        name_of(trial, outcome),
        duration(quantiles[0]),
        duration(quantiles[1]),
        between(quantiles[2], quantiles[3]),
        ", ".join(duration(statistics.median(each) / NS_PER_MS) for each in trial.rounds),
        error,
        result(trial, outcome),
    )


def short(cells: Sequence[str]) -> tuple[str, ...]:
    """Cells of SHORT."""
    return tuple(cells[each] for each in SHORT)


def name_of(trial: Trial, outcome: SearchOutcome) -> str:
    """Its settings, and its package where the search had several."""
    has_others = len({each.candidate.package for each in outcome.trials}) > 1
    return trial.candidate.key if has_others else trial.candidate.name


def share(value: float) -> str:
    """`12 %`, `0.31 %`, `0 %`"""
    if value == 0 or value >= 0.1:
        return f"{value:.0%}".replace("%", " %")
    return f"{100 * value:.2g} %" if value >= 1e-5 else "under 0.001 %"


def result(trial: Trial, outcome: SearchOutcome) -> str:
    """Whether it won, ships today, failed, or why it was left."""
    if trial is outcome.best:
        fate = "the fastest" if trial is not outcome.today else "ships, and stays"
        return f"{fate}: {trial.error}" if trial.error else fate
    if trial is outcome.today:
        return f"ships: {trial.error}" if trial.error else "ships"
    if trial.error:
        return f"failed: {trial.error}"
    if not trial.rounds:
        return "not measured: the time was over"
    if trial is outcome.rival and outcome.ratio:
        ratio = outcome.ratio
        return f"no faster than what ships beyond chance: {ratio_of(ratio)} of its time"
    return trial.left or "the time was over"


def ratio_of(ratio: statistics.Ratio) -> str:
    """`0.62 (0.60 to 0.65)`"""
    return f"{ratio.value:.2f} ({ratio.interval.low:.2f} to {ratio.interval.high:.2f})"


def verdict(outcome: SearchOutcome) -> str:
    """The result of the search as a sentence, without its period."""
    best, today = outcome.best, outcome.today
    if best is today:
        if today.error:
            return f"Nothing works here; what ships fails: {today.error}"
        return f"Nothing is faster than what ships, {today.candidate.name}"
    if outcome.ratio:
        gain = (
            f"{best.candidate.name} takes {ratio_of(outcome.ratio)} of the time of {today.candidate.name}, which ships"
        )
    else:
        gain = f"{best.candidate.name} works; what ships, {today.candidate.name}, fails: {today.error}"
    if not outcome.is_elsewhere:
        return gain
    if outcome.tuned.variant:
        return f"{gain}. This chip gets its variant, {outcome.tuned.variant}, whose files a build adds for it"
    return f"{gain}. It is in {best.candidate.package}: ship that variant, then tune again"
