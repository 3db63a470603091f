"""The search of `mobpack tune`, its journal, and what it writes into mobpack.toml, without a device."""

import json
import re
import tomllib
from collections.abc import Callable
from html import unescape
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from packager.core.errors import ConfigError
from packager.core.to_json import plain
from packager.core.tuned import Tuned
from packager.files.installed import templates_folder
from packager.measuring.devices import document
from packager.measuring.devices.demotions import UNDECIDED, left_out, read
from packager.measuring.devices.document import DeviceEntry, PackageEntry, Verdict
from packager.measuring.tuning.candidates import Candidate, candidates, shipped
from packager.measuring.tuning.journal import Journal
from packager.measuring.tuning.page import SearchBounds, TunedSearch, part
from packager.measuring.tuning.search import (
    FINAL_ROUNDS,
    Measure,
    SearchOutcome,
    SearchRound,
    search,
    what_ships,
    without,
)
from packager.measuring.tuning.words import verdict
from packager.measuring.tuning.writing import tables, with_tuned
from packager.render.pages.sections import with_section

USUAL = Candidate(package="net.aar", provider="xnnpack")
RUNS = 30


def always() -> bool:
    return True


def device(milliseconds: dict[str, float], calls: list[tuple[str, int]], noise: float = 0.02) -> Measure:
    """A device on which a candidate takes so long; those that are not named fail."""

    def measure(candidate: Candidate, number: int) -> SearchRound:
        calls.append((candidate.name, number))
        if candidate.name not in milliseconds:
            return SearchRound(error="took no node of the model")
        drawn = np.random.default_rng(crc32(f"{candidate.key} {number}".encode())).normal(1, noise, RUNS)
        times = tuple(int(milliseconds[candidate.name] * 1e6 * max(each, 0.5)) for each in drawn)
        return SearchRound(times_ns=times, error_share=None if number else 0.12)

    return measure


def searched(
    milliseconds: dict[str, float], has_time: Callable[[], bool] = always
) -> tuple[SearchOutcome, list[tuple[str, int]]]:
    calls: list[tuple[str, int]] = []
    others = candidates("net.aar", ["qnn", "xnnpack"], 40)
    return search(USUAL, others, device(milliseconds, calls), has_time), calls


def test_candidates_are_measured_until_chance_or_time_ends_the_search() -> None:
    found = candidates("net.aar", ["qnn", "xnnpack"], 100)
    assert [each.name for each in found[:3]] == ["qnn", "xnnpack", "cpu"]
    assert len({each.key for each in found}) == len(found)
    assert "xnnpack, 2 threads" in {each.name for each in found}
    assert "qnn, htp_performance_mode=balanced" in {each.name for each in found}
    assert "qnn, htp_performance_mode=burst" not in {each.name for each in found}, "that is what ships"
    assert candidates("net.aar", ["qnn", "xnnpack"], 5) == found[:5]
    times = {each.name: 8.0 + index / 5 for index, each in enumerate(candidates("net.aar", ["qnn", "xnnpack"], 40))}
    outcome, calls = searched({**times, "xnnpack": 6.0, "qnn, htp_performance_mode=balanced": 3.0})
    assert outcome.best.candidate.name == "qnn, htp_performance_mode=balanced"
    assert outcome.ratio
    assert outcome.ratio.value == pytest.approx(0.5, rel=0.05)
    assert outcome.is_complete
    counts = [sum(1 for name, _ in calls if name == trial.candidate.name) for trial in outcome.trials]
    assert counts[0] == counts[outcome.trials.index(outcome.today)] == FINAL_ROUNDS
    assert counts[-1] == 1
    outcome, _ = searched({"xnnpack": 5.0, "xnnpack, 2 threads": 4.999})
    assert outcome.best is outcome.today
    assert outcome.ratio
    assert outcome.ratio.verdict() == "no difference"
    left = iter([True] * 4)
    outcome, calls = searched({"xnnpack": 5.0, "qnn": 4.0, "cpu": 9.0}, lambda: next(left, False))
    assert len(calls) == 4
    assert not outcome.is_complete


def test_what_fails_never_wins() -> None:
    outcome, _ = searched({"xnnpack": 5.0, "cpu": 9.0})
    assert outcome.best is outcome.today
    failed = [trial for trial in outcome.trials if trial.error]
    assert {trial.error for trial in failed} == {"took no node of the model"}
    assert outcome.trials[-len(failed) :] == tuple(failed)
    outcome, _ = searched({"cpu": 9.0, "cpu, 2 threads": 7.0})
    assert outcome.best.candidate.name == "cpu, 2 threads"
    assert outcome.ratio is None
    known = device({"xnnpack": 5.0, "qnn": 3.0}, [])

    def measure(candidate: Candidate, number: int) -> SearchRound:
        failed = candidate.name == "qnn" and number == FINAL_ROUNDS - 1
        return SearchRound(error="it crashed") if failed else known(candidate, number)

    outcome = search(USUAL, candidates("net.aar", ["qnn"], 1), measure, always)
    assert outcome.best is outcome.today
    assert [each.error for each in outcome.trials] == ["", "it crashed"]
    outcome, _ = searched({})
    assert outcome.best is outcome.today
    assert outcome.today.error


@pytest.mark.parametrize(
    ("rounds", "ships"),
    [
        ([SearchRound(error="none here", falls_back=True), SearchRound(times_ns=(9,))], "xnnpack"),
        ([SearchRound(error="its numbers are off"), SearchRound(times_ns=(9,))], "qnn"),
        ([SearchRound(error="none here", falls_back=True)] * 3, "cpu"),
    ],
    ids=["the next one starts", "one that is off", "none starts"],
)
def test_what_ships_is_the_first_provider_that_starts(rounds: list[SearchRound], ships: str) -> None:
    every = shipped("net.aar", ["qnn", "xnnpack"])
    assert what_ships(every, lambda candidate, _: rounds[every.index(candidate)]).provider == ships


@pytest.mark.parametrize(
    ("milliseconds", "providers", "threads"),
    [
        ({"xnnpack": 9.0, "qnn": 8.0, "cpu": 7.0, "cpu, 2 threads": 3.0}, ("cpu",), 2),
        ({"xnnpack": 9.0, "qnn": 3.0, "cpu": 7.0}, ("qnn",), 0),
        ({"xnnpack": 6.0, "qnn": 3.0, "cpu": 7.0}, ("qnn", "xnnpack"), 0),
        ({"xnnpack": 6.0, "cpu": 7.0}, (), 0),
    ],
    ids=["the CPU is the fastest", "one is slower than the CPU", "none is", "what ships is the fastest"],
)
def test_settings_name_the_providers_that_are_faster_than_the_cpu(
    milliseconds: dict[str, float], providers: tuple[str, ...], threads: int
) -> None:
    outcome, _ = searched(milliseconds)
    tuned = outcome.tuned
    assert (tuned.providers, tuned.threads) == (providers, threads)


def test_reasons_that_decide_nothing_are_known_in_the_words_of_every_language() -> None:
    """Another proof may decide on such a provider."""
    places = {
        "android/kotlin/Proving.kt.j2": r'refuse\(start\.provider, "([^"]+)"',
        "android/kotlin/Proof.kt.j2": r'NO_SAMPLES = "([^"]+)"',
        "ios/swift/Prover.swift.j2": r'undecided\("([^"]+)"|isOver: String \{ "([^"]+)"',
        "flutter/lib/src/runtime/proving.dart": r"undecided\('([^']+)'|_isOver => '([^']+)'",
    }
    for name, pattern in places.items():
        found = re.findall(pattern, (templates_folder() / name).read_text(encoding="utf-8"))
        said = ["".join(each) for each in found]
        assert said, name
        assert [each for each in said if not each.startswith(UNDECIDED)] == [], name


def test_a_provider_that_a_phone_left_out_is_in_no_settings_of_its_chip(tmp_path: Path) -> None:
    phones = [DeviceEntry(serial=str(at), state="measured", reason="", model="S24", soc="SM8650") for at in range(2)]
    unnamed = DeviceEntry(serial="old", state="measured", reason="", model="Old")
    verdicts = (
        Verdict(device="0", model="net", provider="qnn", is_proved=True, reason=""),
        Verdict(device="1", model="net", provider="qnn", is_proved=False, reason="slower than the CPU: 9 ms"),
        Verdict(
            device="0", model="net", provider="xnnpack", is_proved=False, reason="was not examined: the 3.0 s were"
        ),
        Verdict(device="old", model="net", provider="xnnpack", is_proved=False, reason="took 3 nodes"),
    )
    package = PackageEntry(file="net.aar", sha256="0" * 64, runtime="onnxruntime-android-1.29.0.aar")
    tested = document.TestDocument(
        schema_version=1, mobpack="0", package=package, devices=(*phones, unnamed), rows=(), verdicts=verdicts
    )
    results = tmp_path / "verdicts.json"
    results.write_text(json.dumps({**plain(tested), "error": {"message": "qnn is off", "exit-code": 5}}))
    known = read([results])
    reason = "S24 left it out: slower than the CPU: 9 ms"
    assert left_out(known, "SM8650", "net") == {"qnn": reason}
    assert left_out(known, "SM8550", "net") == left_out(known, "SM8650", "other") == left_out(known, "", "net") == {}

    calls: list[tuple[str, int]] = []
    measure = without({"qnn": reason}, device({"qnn": 3.0, "xnnpack": 6.0, "cpu": 7.0}, calls))
    every = shipped("net.aar", ["qnn", "xnnpack"])
    outcome = search(what_ships(every, measure), every, measure, always)
    assert outcome.tuned.providers == ("xnnpack",)
    assert "qnn" not in {name for name, _ in calls}
    assert f"what ships, qnn, fails: {reason}" in verdict(outcome)

    results.write_text('{"devices": []}')
    with pytest.raises(ConfigError, match="it holds no results of devices"):
        read([results])


BOUNDS = SearchBounds(most=40, minutes=20, seconds=1, runs=1000)


@pytest.mark.parametrize(
    ("variants", "settings", "words"),
    [
        (
            {"int8.aar": "int8"},
            Tuned(variant="int8", providers=("qnn", "xnnpack"), threads=2),
            "This chip gets its variant, int8, whose files a build adds for it",
        ),
        ({}, Tuned(), "It is in int8.aar: ship that variant, then tune again"),
    ],
    ids=["settings can name it", "they cannot"],
)
def test_a_variant_in_another_package_is_written_where_settings_can_name_it(
    variants: dict[str, str], settings: Tuned, words: str
) -> None:
    """Providers are those that are faster than the CPU in that package: `nnapi` is so in the other one alone."""
    times = {"net.aar: nnapi": 5.0, "net.aar: cpu": 9.0, "int8.aar: cpu": 4.0, "int8.aar: xnnpack": 3.0}
    known = {**times, "int8.aar: qnn, 2 threads": 1.0}

    def measure(candidate: Candidate, number: int) -> SearchRound:
        if candidate.key not in known:
            return SearchRound(error="took no node of the model")
        return SearchRound(times_ns=tuple(int(known[candidate.key] * 1e6) + each for each in range(9)))

    today = Candidate(package="net.aar", provider="nnapi")
    others = [*candidates("net.aar", ["nnapi"], 4)[1:], *candidates("int8.aar", ["qnn", "xnnpack"], 40)]
    outcome = search(today, others, measure, always, variants)
    assert outcome.tuned == settings
    assert verdict(outcome).endswith(words)
    assert ('variant = "int8"' in tables("android", {"SM8650": {"net": outcome.tuned}})) == bool(variants)


@pytest.mark.parametrize(
    ("times", "best"),
    [
        ({"net.aar: xnnpack": 9.0, "net.aar: cpu": 5.0, "int8.aar: cpu": 4.97}, "net.aar: cpu"),
        ({"net.aar: xnnpack": 9.0, "net.aar: cpu": 5.0, "int8.aar: cpu": 4.0}, "int8.aar: cpu"),
        ({"net.aar: cpu": 5.0, "int8.aar: cpu": 4.97}, "net.aar: cpu"),
        ({"net.aar: xnnpack": 5.0, "net.aar: cpu": 5.0, "int8.aar: cpu": 4.97}, "net.aar: xnnpack"),
    ],
    ids=["as fast", "faster", "as fast, and what ships fails", "all are as fast"],
)
def test_a_variant_no_faster_than_settings_of_the_package_is_not_added(times: dict[str, float], best: str) -> None:
    def measure(candidate: Candidate, number: int) -> SearchRound:
        if candidate.key not in times:
            return SearchRound(error="took no node of the model")
        drawn = np.random.default_rng(crc32(f"{candidate.key} {number}".encode())).normal(1, 0.02, RUNS)
        return SearchRound(times_ns=tuple(int(times[candidate.key] * 1e6 * each) for each in drawn))

    others = [*candidates("net.aar", ["xnnpack"], 2), *candidates("int8.aar", ["xnnpack"], 2)]
    outcome = search(USUAL, [each for each in others if each != USUAL], measure, always, {"int8.aar": "int8"})
    assert outcome.best.candidate.key == best
    assert outcome.tuned.variant == ("int8" if best.startswith("int8") else "")
    if best.startswith("net.aar: cpu"):
        left = next(each.left for each in outcome.trials if each.candidate.key == "int8.aar: cpu")
        assert left == "no faster beyond chance than net.aar: cpu, which adds no files"


def explained(
    milliseconds: dict[str, float], chip: str = "SM8650", has_time: Callable[[], bool] = always
) -> tuple[str, dict[str, list[str]]]:
    """The words of the section, and the cells of its rows by the settings."""
    outcome, _ = searched(milliseconds, has_time)
    found = part(TunedSearch(device="Pixel 8 <b>", target="android", chip=chip, model="net", outcome=outcome), BOUNDS)
    rows = [re.findall("<td[^>]*>(.*?)</td>", each) for each in re.findall("<tr>(.*?)</tr>", found)]
    return unescape(re.sub(r"<[^>]*>", "", found)), {row[0]: row[1:] for row in rows if row}


def test_pages_say_what_is_written_and_why() -> None:
    names = [each.name for each in candidates("net.aar", ["qnn", "xnnpack"], 40)]
    times = {name: 8.0 + index / 5 for index, name in enumerate(names)}
    text, rows = explained({**times, "xnnpack": 6.0, "qnn": 3.0, "qnn, 2 threads": 5.0} | {"cpu": 20.0})
    assert "Fastest settings: net\nPixel 8 <b>: " in text
    assert re.search(r"qnn takes 0\.\d\d \(0\.\d\d to 0\.\d\d\) of the time of xnnpack, which ships\.", text)
    assert '[target.android.tuned.SM8650.net]\n# Measured by mobpack tune.\nproviders = ["qnn", "xnnpack"]' in text
    p50, p90, half, by_round, error, result = rows["qnn"]
    assert (error, result) == ("12 %", "the fastest")
    assert float(half.split()[0]) < float(p50.split()[0]) < float(p90.split()[0])
    assert by_round.count(" ms") == FINAL_ROUNDS, "the median of every round"
    assert rows["xnnpack"][-1] == "ships"
    last = len(names)
    assert rows["cpu"][-1] == f"place {last} of {last} in round 1"
    assert rows["qnn, 1 thread"][-1].startswith("place ")
    assert any(re.fullmatch("slower than qnn when [23] were left", each[-1]) for each in rows.values())
    assert "40 at most of a package; 0 failed" in text
    assert "20 min at most; it came to its end" in text
    left = iter([True] * 9)
    text, rows = explained({"xnnpack": 5.0, "xnnpack, 2 threads": 6.0, "cpu": 9.0}, "", lambda: next(left, False))
    assert "Nothing is faster than what ships, xnnpack." in text
    assert rows["qnn"][-1] == "failed: took no node of the model"
    assert "not measured: the time was over" in {each[-1] for each in rows.values()}
    assert "the time was over before its end" in text
    assert "nothing for this chip and model" in text
    assert "[target." not in text
    assert "works; what ships, xnnpack, fails: took no node" in explained({"cpu": 9.0})[0]


def test_sections_and_empty_settings_replace_what_was_there() -> None:
    page = with_section(with_section("<main>\n</main>\n", "a", "old\n"), "b", "other\n")
    assert with_section(page, "a", "new\n") == (
        "<main>\n<!-- b -->\nother\n<!-- end of b -->\n<!-- a -->\nnew\n<!-- end of a -->\n</main>\n"
    )
    made = with_tuned(TEXT, "android", {"SM8650": {"classifier": Tuned()}})
    assert "SM8650" not in made
    assert "Tensor G3" in made
    for text in (TEXT, TEXT.rstrip("\n"), f"{TEXT}\n\n"):
        assert with_tuned(text, "android", {"SM8550": {"classifier": Tuned()}}) == text, "nothing was there"


SUBJECT = {"device": "a/b:14", "packages": "0123"}


def test_a_search_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "journal" / "tune.jsonl"
    journal = Journal(path, SUBJECT)
    found = SearchRound(times_ns=(1, 2, 3), error_share=0.5)
    journal.add("net", USUAL, 0, found)
    journal.add("net", USUAL, 1, SearchRound(error="no"))
    journal.add("net", USUAL, 3, SearchRound(error="no", falls_back=True))
    with path.open("a") as file:
        file.write('{"model": "net", "candi')  # the power went
    again = Journal(path, SUBJECT)
    assert again.find("net", USUAL, 0) == found
    assert again.find("net", USUAL, 1) == SearchRound(error="no")
    assert again.find("net", USUAL, 3) == SearchRound(error="no", falls_back=True)
    assert again.find("other", USUAL, 0) is None
    again.add("net", USUAL, 2, found)
    assert Journal(path, SUBJECT).find("net", USUAL, 2) == found


@pytest.mark.parametrize("content", ["", "nothing\n", "[]\n", '{"schema": 9}\n'])
def test_another_file_is_no_journal(content: str, tmp_path: Path) -> None:
    path = tmp_path / "tune.jsonl"
    path.write_text(content)
    if not content:
        Journal(path, SUBJECT)
        return
    with pytest.raises(ConfigError, match="is not a journal"):
        Journal(path, SUBJECT)
    assert path.read_text() == content


def test_a_journal_of_another_device_is_refused(tmp_path: Path) -> None:
    Journal(tmp_path / "tune.jsonl", SUBJECT)
    with pytest.raises(ConfigError, match="another device") as refused:
        Journal(tmp_path / "tune.jsonl", {**SUBJECT, "device": "c"})
    assert "--journal" in refused.value.hint


TEXT = """\
# Our models.
[package]
name = "vision"   # a note

[target.android]
providers = ["qnn", "xnnpack"]

[target.android.tuned.SM8650.classifier]
# Measured by mobpack tune.
threads = 4

[target.android.tuned."Tensor G3".classifier]
threads = 1

[model.classifier]
path = "net.onnx"
"""
NEW = {
    "SM8650": {
        "classifier": Tuned(providers=("xnnpack",), threads=2, provider_options={"xnnpack": {"a.b": "1"}}),
        "other": Tuned(threads=3),
    }
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_settings_are_written_and_all_else_stays(end: str) -> None:
    text = TEXT.replace("\n", end)
    made = with_tuned(text, "android", NEW)
    tuned = tomllib.loads(made)["target"]["android"]["tuned"]
    assert tuned["SM8650"] == {
        "classifier": {"providers": ["xnnpack"], "threads": 2, "provider-options": {"xnnpack": {"a.b": "1"}}},
        "other": {"threads": 3},
    }
    assert tuned["Tensor G3"] == {"classifier": {"threads": 1}}
    for line in ("# Our models.", 'name = "vision"   # a note', 'path = "net.onnx"'):
        assert line + end in made
    assert with_tuned(made, "android", NEW) == made, "the same settings change nothing"
    assert made.endswith(f"threads = 3{end}")
    assert ("\r" in made) == (end == "\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "[target.android.tuned]\nSM8650 = { classifier = { threads = 1 } }\n",
        "target.android.tuned.SM8650.classifier.threads = 1\n",
    ],
)
def test_an_unusual_form_is_refused_and_named(text: str) -> None:
    with pytest.raises(ConfigError, match="unusual form") as refused:
        with_tuned(text, "android", NEW)
    assert "SM8650" in refused.value.hint
