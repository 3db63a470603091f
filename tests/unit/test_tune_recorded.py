"""`mobpack tune --from`: rounds that iPhones have taken are decided and written, and what is not a search says so."""

import json
import sys
import tomllib
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from packager.cli import main
from packager.measuring.devices.farms.carrier import lines_of
from packager.measuring.tuning.candidates import Candidate
from packager.measuring.tuning.search import SearchRound, search
from packager.targets.ios import Ios
from packager.workflows.device.iphone_tuning import Bounds, plan_of

PROJECT = """\
# Our models.
[package]
name = "nets"

[model.page-net]
path = "net.onnx"

[target.ios]
providers = ["coreml", "xnnpack"]
"""
SLOW = {"coreml": 7.0, "xnnpack": 8.0, "cpu": 9.0}
ENGINE = "coreml, MLComputeUnits=CPUAndNeuralEngine"
NAMES = {"coreml": "CoreML", "xnnpack": "XNNPACK", "cpu": "CPU"}


def document(
    milliseconds: Mapping[str, float],
    device: str = "iPhone17,1",
    *,
    sha256: str = "ab" * 32,
    failures: Mapping[str, str] | None = None,
    rounds: int = 1000,
    variant: str = "",
) -> dict[str, Any]:
    """The results of a device on which a candidate takes so long, by its name or its provider's; `failures` says why
    others fail, and it stops after so many rounds."""
    plan = plan_of("nets", ["CoreML", "XNNPACK"], Bounds())
    every = [
        Candidate(package="", provider=each.provider.lower(), threads=each.threads, options=dict(each.options))
        for each in plan.candidates
    ]
    exchanges: dict[tuple[str, int], dict[str, Any]] = {}

    def measure(candidate: Candidate, number: int) -> SearchRound:
        found = exchanges.get((candidate.name, number)) or exchange(candidate, number)
        exchanges[candidate.name, number] = found
        times = tuple(found["time"].get("times_ns", ()))
        failed = found["self-test"] and found["self-test"]["outputs"][0]["failure"]
        return SearchRound(times_ns=times, error="" if times and not failed else "it failed")

    def exchange(candidate: Candidate, number: int) -> dict[str, Any]:
        middle = milliseconds.get(candidate.name, milliseconds.get(candidate.provider, 0.0))
        drawn = np.random.default_rng(crc32(f"{candidate.name} {number} {sha256}".encode())).normal(1, 0.01, 20)
        about: dict[str, Any] = {
            "name": "page-net",
            "provider": NAMES[candidate.provider],
            "fallbacks": [],
            "assignment": None,
        }
        why = (failures or {}).get(candidate.name, "")
        wrong = why if why.startswith("differs") else ""
        output = {"name": "y", "sample": 0, "mismatchCount": 0, "maxAbsError": "0.0001", "maxRelError": "0"}
        limits = {"scale": "1", "tolerance": "0.001", "absoluteTolerance": "0", "failure": wrong}
        times = {
            "times_ns": [int(1e6 * middle * each) for each in drawn],
            "warm_up_ns": [9],
            "first_ns": 9,
            "cpu_ns": 0,
        }
        memory = {"peak_bytes": None, "pss_bytes": None, "mapped_bytes": None}
        failed = (
            {"error": "its outputs differ from those of the build: it was not timed"} if wrong else {"refused": why}
        )
        return {
            "model": "PageNet",
            "provider": NAMES[candidate.provider],
            "threads": candidate.threads,
            "options": candidate.options,
            "round": number,
            "open": {"refused": why}
            if why and not wrong
            else {**about, "file": "a.ort", "sha256": "cd" * 32, "size": 9, "version": "1.29.0", "load_ns": 9},
            "time": failed if why else {"error": "", **times, **memory},
            "self-test": {"outputs": [{**output, **limits}]} if number == 0 and (wrong or not why) else None,
        }

    measure(every[0], 0)
    search(every[0], every[1:], measure, lambda: len(exchanges) < rounds)
    about = {"maker": "Apple", "model": device, "soc": device, "api": 0, "release": "18.2.0", "abi": "arm64"}
    return {
        "schema-version": 1,
        "package": {"file": "nets", "sha256": sha256, "runtime": "of the package"},
        "device": {**about, "fingerprint": f"{device} 22C55"},
        "threads": 0,
        "exchanges": [*exchanges.values()],
        "tuning": {
            "most": 40,
            "minutes": 20.0,
            "seconds": 1.0,
            "runs": 500,
            "variant": variant,
            "candidates": [
                {"provider": each.provider, "threads": each.threads, "options": dict(each.options)}
                for each in plan.candidates
            ],
        },
    }


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        return " ".join((self.out + self.err).split())


Run = Callable[..., Answer]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs `mobpack tune --from` on documents, which it writes to logs, and on files, with further words."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    (tmp_path / "mobpack.toml").write_text(PROJECT)

    def run(*given: dict[str, Any] | str) -> Answer:
        words: list[str] = []
        for number, each in enumerate(given):
            if isinstance(each, dict):
                lines = "\n".join(lines_of(json.dumps(each).encode()))
                (tmp_path / f"{number}.txt").write_text(f"xcodebuild says so\n{lines}\n")
                words += ["--from", f"{number}.txt"]
            else:
                words.append(each)
        monkeypatch.setattr(sys, "argv", ["mobpack", "tune", *words])
        with pytest.raises(SystemExit) as exited:
            main()
        assert isinstance(exited.value.code, int)
        return Answer(exited.value.code, *capfd.readouterr())

    return run


def tuned(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((folder / "mobpack.toml").read_text())["target"]["ios"].get("tuned", {})
    return found


def test_what_is_faster_is_written_by_identifier_and_explained(run: Run, tmp_path: Path) -> None:
    release = tmp_path / "dist"
    release.mkdir()
    (release / "report.html").write_text("<main>\n</main>\n")
    (release / "manifest.json").write_text(json.dumps({"artifacts": [{"sha256": "ab" * 32}]}))
    crash = "the process ended in this round, twice: it crashed, or the system has ended it"
    failures = {
        "coreml, MLComputeUnits=CPUAndGPU": "differs by 0.4",
        "coreml, 4 threads": crash,
        "xnnpack, 4 threads": crash,
    }
    first = document({**SLOW, ENGINE: 3.0}, failures=failures)
    second = document({**SLOW, "cpu, 2 threads": 2.0}, "iPad14,3")
    answer = run(first, second, "--report", "tune.html", "--merge", "dist")
    assert answer.code == 0, answer.err
    assert tuned(tmp_path) == {
        "iPhone17,1": {
            "page-net": {
                "providers": ["coreml", "xnnpack"],
                "provider-options": {"coreml": {"MLComputeUnits": "CPUAndNeuralEngine"}},
            }
        },
        "iPad14,3": {"page-net": {"providers": ["cpu"], "threads": 2}},
    }
    assert (tmp_path / "mobpack.toml").read_text().startswith(PROJECT), "all else stays"
    assert f"coreml, 4 threads failed: {crash}" in answer.words
    assert "failed: its numbers are off: y: differs by 0.4" in answer.words
    assert "of the time of coreml, which ships" in answer.words
    for page in ((tmp_path / "tune.html").read_text(), (release / "report.html").read_text()):
        assert '[target.ios.tuned."iPhone17,1".page-net]' in unescape(page)
        assert "each a load in one process, up to 500 runs or 1 s" in page

    before = (tmp_path / "mobpack.toml").read_text()
    again = run(first, second, first, "--json")
    found = json.loads(again.out)["results"]
    assert [(each["device"], each["best"], each["is-complete"]) for each in found] == [
        ("iPhone17,1", ENGINE, True),
        ("iPad14,3", "cpu, 2 threads", True),
    ]
    assert "nothing to change" in again.words or again.out, "the same results change nothing"
    assert (tmp_path / "mobpack.toml").read_text() == before


def named(document: dict[str, Any], model: str) -> dict[str, Any]:
    for each in document["exchanges"]:
        each["open"]["name"] = model
    return document


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda: [document(SLOW)], ["Nothing is faster than what ships, coreml", "mobpack.toml: nothing to change"]),
        (lambda: [document({**SLOW, ENGINE: 3.0}, "arm64")], ["calls itself 'arm64', as a simulator or a Mac does"]),
        (
            lambda: [document({**SLOW, ENGINE: 3.0}), document({**SLOW, "cpu": 2.0})],
            ["page-net on iPhone17,1: iPhone17,1, iPhone17,1 #2 disagree; nothing is written"],
        ),
        (
            lambda: [document({**SLOW, ENGINE: 3.0}, rounds=9)],
            [
                "the time was over before the end: give the test more --minutes",
                "Nothing is faster than what ships",
                "nothing to change",
            ],
        ),
        (
            lambda: [document(SLOW), document({**SLOW, ENGINE: 1.0}, "iPhone15,2", sha256="ef" * 32)],
            ["iPhone15,2 has run nets alone, not what ships"],
        ),
    ],
    ids=["nothing is faster", "a simulator", "devices disagree", "no time", "a device without what ships"],
)
def test_nothing_is_written_and_the_reason_is_said(
    given: Callable[[], list[dict[str, Any]]], words: list[str], run: Run, tmp_path: Path
) -> None:
    answer = run(*given())
    assert answer.code == 0, answer.err
    for each in words:
        assert each in answer.words
    assert (tmp_path / "mobpack.toml").read_text() == PROJECT


def test_unknown_providers_and_cut_logs_are_told(run: Run, tmp_path: Path) -> None:
    project = PROJECT.replace('"coreml", ', "")
    (tmp_path / "mobpack.toml").write_text(project)
    answer = run(document({**SLOW, ENGINE: 3.0}))
    assert (answer.code, "[target.ios] in mobpack.toml does not ship coreml" in answer.words) == (0, True), answer.words
    assert (tmp_path / "mobpack.toml").read_text() == project
    lines = [*lines_of(json.dumps(document(SLOW)).encode())]
    (tmp_path / "cut.txt").write_text("\n".join(lines[:-2]) + "\n")
    answer = run("--from", "cut.txt")
    assert (answer.code, f"2 of {len(lines)} lines are missing" in answer.words) == (4, True), answer.words


def plain() -> dict[str, Any]:
    found = document(SLOW)
    return {key: each for key, each in found.items() if key != "tuning"}


def out_of_order() -> dict[str, Any]:
    found = document(SLOW)
    found["exchanges"][4]["round"] = 7
    return found


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        (lambda: [plain()], 4, "no search is in these results"),
        (lambda: [named(document(SLOW), "other")], 2, "with a model 'other'; the project nets has page-net"),
        (lambda: [document(SLOW), "--model", "mine"], 2, "--model mine: the results have page-net"),
        (lambda: [out_of_order()], 4, "its rounds are not those of a search"),
        (lambda: [{**document(SLOW), "schema-version": 9}], 4, "results that mobpack does not know"),
        (lambda: ["--from", "none.txt"], 4, "none.txt does not exist"),
        (lambda: [document(SLOW), "--config", "none.toml"], 2, "none.toml"),
        (lambda: [document(SLOW), "--device", "*"], 2, "--device is for devices that are connected"),
        (lambda: [document(SLOW), "--minutes", "3"], 2, "--minutes is for devices that are connected"),
        (lambda: [document(SLOW), "--merge", "."], 2, "it holds no release"),
    ],
    ids=["none", "another project", "model", "order", "version", "file", "config", "device", "minutes", "merge"],
)
def test_what_is_no_search_of_the_project_says(given: Callable[[], list[Any]], code: int, words: str, run: Run) -> None:
    answer = run(*given())
    assert (answer.code, words in answer.words) == (code, True), answer.words


@pytest.mark.parametrize("why", ["differs by 0.4", "the process ended in this round, twice"])
def test_where_what_ships_fails_what_works_is_written(why: str, run: Run, tmp_path: Path) -> None:
    units = [f"coreml, MLComputeUnits={each}" for each in ("CPUAndNeuralEngine", "CPUAndGPU", "CPUOnly")]
    wrong = ["coreml", *(f"coreml, {each}" for each in ("1 thread", "2 threads", "4 threads")), *units[:2]]
    answer = run(document({**SLOW, "coreml": 20.0}, failures=dict.fromkeys(wrong, why)))
    assert answer.code == 0
    assert "what ships, coreml, fails: " in answer.words
    assert why in answer.words
    assert "coreml" not in tuned(tmp_path)["iPhone17,1"]["page-net"]["providers"]


def test_a_dry_run_needs_no_project_and_archives_are_read(run: Run, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "results.zip", "w") as archive:
        archive.writestr("a/mobpack-results.json", json.dumps(document({**SLOW, ENGINE: 3.0})))
    answer = run("--from", "results.zip", "--dry-run")
    assert (answer.code, tuned(tmp_path)) == (0, {})
    assert "of the time of coreml, which ships" in answer.words
    (tmp_path / "mobpack.toml").unlink()
    assert run("--from", "results.zip", "--dry-run").code == 0
    assert run("--from", "results.zip").code == 2


def test_the_reader_of_other_results_says_that_they_are_a_search(
    run: Run, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run(document({**SLOW, ENGINE: 3.0}), "--dry-run")
    shown = []
    for words in ((), ("--json",)):
        monkeypatch.setattr(sys, "argv", ["mobpack", "device", "read", "0.txt", *words])
        with pytest.raises(SystemExit) as exited:
            main()
        assert exited.value.code == 0
        shown.append(capfd.readouterr())
    assert "`mobpack tune --from 0.txt` evaluates it" in shown[0].err
    times = {each["provider"]: each["row"]["p50-ms"] for each in json.loads(shown[1].out)["rows"]}
    assert times == {name: pytest.approx(each, rel=0.02) for name, each in SLOW.items()}, "without settings alone"


def test_a_result_bundle_needs_apples_tools(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "results.xcresult").mkdir()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    answer = run("--from", "results.xcresult")
    assert answer.code == 4
    assert "xcrun xcresulttool export attachments --path results.xcresult" in answer.words


def test_another_package_is_compared_with_what_ships(run: Run, tmp_path: Path) -> None:
    ships = document({**SLOW, ENGINE: 5.0})
    answer = run(ships, document({**SLOW, ENGINE: 4.99}, sha256="ef" * 32))
    assert tuned(tmp_path)["iPhone17,1"]["page-net"]["providers"] == ["coreml", "xnnpack"], "two runs differ by more"
    assert "no faster than the best" in answer.words
    (tmp_path / "mobpack.toml").write_text(PROJECT)
    answer = run(ships, document({**SLOW, ENGINE: 3.0}, sha256="ef" * 32))
    assert answer.code == 0
    assert "It is in nets efefefef: ship that variant" in answer.words
    assert tuned(tmp_path) == {}


def test_the_variant_of_another_package_is_written_where_packages_can_have_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = f'{PROJECT}\n[variant.int8]\nquantizer = "dynamic"\n'
    given = (
        document({**SLOW, ENGINE: 5.0}, variant="source"),
        document({**SLOW, ENGINE: 3.0}, sha256="ef" * 32, variant="int8"),
    )
    for varies in (False, True):
        monkeypatch.setattr(Ios, "VARIES", varies)
        (tmp_path / "mobpack.toml").write_text(project)
        answer = run(*given)
        assert answer.code == 0, answer.err
        settings = {
            "variant": "int8",
            "providers": ["coreml", "xnnpack"],
            "provider-options": {"coreml": {"MLComputeUnits": "CPUAndNeuralEngine"}},
        }
        assert tuned(tmp_path) == ({"iPhone17,1": {"page-net": settings}} if varies else {})
        assert ("This chip gets its variant, int8" in answer.words) == varies
