"""The report in a real browser: it fits on a phone, loads nothing from elsewhere, and has a dark mode."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from packager.distribution.differences import write_page as write_differences
from packager.distribution.differences.values import Bump, Change, Comparison, Level
from packager.measuring.bench.writing import write as write_times
from packager.measuring.tuning.candidates import Candidate
from packager.measuring.tuning.page import SearchBounds, TunedSearch
from packager.measuring.tuning.page import page as tuned_page
from packager.measuring.tuning.search import SearchOutcome, Trial
from packager.quantization.measurement import write_report
from packager.render.pages.parts import write
from packager.reporting import document, write_page
from tests.cases.bench_cases import results, row
from tests.cases.reporting_cases import EXTRAS, PLANS, REPORT
from tests.toolchain.chromium import Browser, browser
from tests.unit.test_measurement_report import FULL

VALUES = {
    "define": "globalThis.size = element => parseFloat(getComputedStyle(element).fontSize); null",
    "width": "document.documentElement.scrollWidth",  # innerWidth grows with it on a phone, which zooms out
    "ground": "getComputedStyle(document.body).backgroundColor",
    "smallest": "Math.min(...[...document.querySelectorAll('main *')].map(size))",
    "bars": "[...document.querySelectorAll('rect')].filter(e => e.getBoundingClientRect().height > 0).length",
}
LONG = "encoder." * 20
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(20, 24, 29)"


@pytest.fixture(scope="module")
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    found = document(PLANS, REPORT, EXTRAS)
    models = (replace(found.models[0], name=LONG),)
    write_page(path, replace(found, models=models, warnings=(LONG,)))
    return path


@pytest.mark.parametrize(
    ("width", "scheme", "ground"), [(320, "light", LIGHT), (768, "dark", DARK), (1280, "light", LIGHT)]
)
def test_the_page_fits_and_asks_nobody(
    open_browser: Browser, report: Path, width: int, scheme: str, ground: str
) -> None:
    seen = open_browser.open(report, width=width, scheme=scheme, values=VALUES)
    assert seen.complaints == ()
    assert seen.requests == (report.as_uri(),)
    assert seen.values["width"] == width
    assert seen.values["ground"] == ground
    assert seen.values["smallest"] >= 12
    assert seen.values["bars"] > 10


@pytest.mark.parametrize("width", [320, 1280])
def test_the_page_of_diff_fits_and_asks_nobody(open_browser: Browser, tmp_path: Path, width: int) -> None:
    change = Change(level=Level.MAJOR, where=LONG, change=f"{LONG} is gone", reason="apps no longer compile")
    bump = Bump(old="1.0.0", new="1.0.1", is_enough=False, needed="2.0.0", sentence="too small a step")
    found = Comparison(verdict=Level.MAJOR, bump=bump, changes=(change,), not_compared=("latency",))
    write_differences(tmp_path / "diff.html", found, LONG, "dist")
    seen = open_browser.open(tmp_path / "diff.html", width=width, scheme="light", values=VALUES)
    assert (seen.complaints, seen.requests) == ((), ((tmp_path / "diff.html").as_uri(),))
    assert (seen.values["width"], seen.values["ground"]) == (width, LIGHT)
    assert seen.values["smallest"] >= 12


@pytest.mark.parametrize(("width", "scheme", "ground"), [(320, "dark", DARK), (1280, "light", LIGHT)])
def test_the_page_of_bench_fits_and_asks_nobody(
    open_browser: Browser, tmp_path: Path, width: int, scheme: str, ground: str
) -> None:
    path = tmp_path / "bench.html"
    slow = ((2.0,) * 90 + (50.0,) * 10, (3.0,) * 100)
    rows = (row(1), row(2, runner="web", variant=LONG, is_original=False, is_noisy=True, rounds=slow, outliers=10))
    write_times(path, results(*rows, failed_gates=(LONG,)))
    seen = open_browser.open(path, width=width, scheme=scheme, values=VALUES)
    assert (seen.complaints, seen.requests) == ((), (path.as_uri(),))
    assert (seen.values["width"], seen.values["ground"]) == (width, ground)
    assert seen.values["smallest"] >= 12
    assert seen.values["bars"] >= 2 + 3


@pytest.mark.parametrize("width", [320, 1280])
def test_the_page_of_quantize_fits_and_asks_nobody(open_browser: Browser, tmp_path: Path, width: int) -> None:
    path = tmp_path / "quantize.html"
    write_report(path, replace(FULL, variant=LONG, warnings=(LONG,)))
    seen = open_browser.open(path, width=width, scheme="dark", values=VALUES)
    assert (seen.complaints, seen.requests) == ((), (path.as_uri(),))
    assert (seen.values["width"], seen.values["ground"]) == (width, DARK)


@pytest.mark.parametrize(("width", "scheme", "ground"), [(320, "dark", DARK), (1280, "light", LIGHT)])
def test_the_page_of_tune_fits_and_asks_nobody(
    open_browser: Browser, tmp_path: Path, width: int, scheme: str, ground: str
) -> None:
    path = tmp_path / "tune.html"
    usual, other, failed = (Candidate(package="net.aar", provider=each) for each in ("xnnpack", "cpu", LONG))
    trials = (
        Trial(candidate=usual, rounds=[(4_000_000,) * 9] * 5, error_share=0.2),
        Trial(candidate=other, rounds=[(9_000_000,) * 9] * 2, left=LONG),
        Trial(candidate=failed, error=LONG),
    )
    outcome = SearchOutcome(
        trials=trials, today=trials[1], best=trials[0], rival=trials[0], ratio=None, is_complete=False
    )
    found = TunedSearch(target="android", device=LONG, chip="SM8650", model="net", outcome=outcome)
    write(path, tuned_page([found], SearchBounds(most=40, minutes=20, seconds=1, runs=1000)))
    seen = open_browser.open(path, width=width, scheme=scheme, values=VALUES)
    assert (seen.complaints, seen.requests) == ((), (path.as_uri(),))
    assert (seen.values["width"], seen.values["ground"]) == (width, ground)
    assert seen.values["smallest"] >= 12


def test_a_link_to_a_folded_comparison_unfolds_it(open_browser: Browser, report: Path) -> None:
    is_open = {"open": "document.querySelector('#comparison-1').closest('details').open"}
    assert open_browser.open(report, width=360, scheme="light", values=is_open).values == {"open": False}
    found = open_browser.open(report, width=360, scheme="light", values=is_open, fragment="#comparison-1")
    assert found.values == {"open": True}
