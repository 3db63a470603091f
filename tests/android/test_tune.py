"""`mobpack tune` on Android's own adbd: what is faster is found and written, and a search that was stopped goes on."""

import json
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pytest

from packager.cli import main
from packager.files.hashes import sha256_of
from tests.toolchain import adbd
from tests.toolchain.adbd import Phone, Rack, classes_for, interruption

PROJECT = """\
[package]
name = "models"

[model.silero-vad]
path = "silero_vad.onnx"

[target.android]
providers = ["qnn", "nnapi", "xnnpack"]
"""
QUICK = ("--model", "silero-vad", "--most", "6", "--seconds", "0.02")


@dataclass(frozen=True)
class Lab:
    rack: Rack
    phone: Phone
    aar: Path


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


Run = Callable[..., Answer]


@pytest.fixture(scope="module")
def lab(built_aar: Path, onnxruntime_android: object) -> Iterator[Lab]:
    with adbd.rack() as rack:
        yield Lab(rack, rack.phone(classes={**classes_for(None), **classes_for(built_aar)}), built_aar)


@pytest.fixture
def run(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mobpack.toml").write_text(PROJECT)
    for name, text in lab.rack.variables.items():
        monkeypatch.setenv(name, text)

    def run(*words: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["mobpack", "tune", "--package", str(lab.aar), *QUICK, *words])
        with pytest.raises(SystemExit) as exited:
            main()
        assert isinstance(exited.value.code, int)
        return Answer(exited.value.code, *capfd.readouterr())

    return run


def test_candidates_are_measured_and_the_end_is_said_and_written(run: Run, tmp_path: Path) -> None:
    answer = run("--json", "--report", "tune.html")
    assert answer.code == 0, answer.err
    [found] = json.loads(answer.out)["results"]
    assert (found["soc"], found["model"], found["is-complete"]) == ("Tensor G3", "silero-vad", True)
    trials = {trial["settings"]: trial for trial in found["trials"]}
    assert {"cpu", "xnnpack", "qnn", "nnapi"} <= trials.keys()
    assert len(trials["cpu"]["rounds"]) >= 1
    assert trials["cpu"]["error-share"] < 1, "of the package's self-test"
    failed = {name: trial["error"] for name, trial in trials.items() if trial["error"]}
    assert "qnn" in failed, "this runtime has none"
    page = (tmp_path / "tune.html").read_text()
    assert "Fastest settings: silero-vad" in page
    assert "Pixel 8 (Tensor G3, API 34): " in page
    assert f">failed: {failed['qnn'][:20]}" in unescape(page)
    tuned = tomllib.loads((tmp_path / "mobpack.toml").read_text())["target"]["android"].get("tuned", {})
    assert bool(tuned) == (found["best"] != found["today"])
    assert ("[target.android.tuned" in page) == bool(tuned)
    if tuned:
        assert set(tuned["Tensor G3"]["silero-vad"]) <= {"providers", "threads", "provider-options"}


def test_the_same_command_takes_no_time_again_and_explains_itself_in_the_report(
    lab: Lab, run: Run, tmp_path: Path
) -> None:
    release = tmp_path / "dist"
    release.mkdir()
    (release / "report.html").write_text("<main>\n</main>\n")
    (release / "manifest.json").write_text(json.dumps({"artifacts": [{"sha256": sha256_of(lab.aar)}]}))
    first = run("--dry-run", "--json", "--merge", "dist")
    once = (release / "report.html").read_text()
    assert "Fastest settings: silero-vad" in once
    assert "Pixel 8 (Tensor G3, API 34): " in once
    [journal] = (tmp_path / "mobpack-tune").iterdir()
    before = journal.read_bytes()
    again = run("--dry-run", "--json", "--merge", "dist")
    assert (release / "report.html").read_text() == once, "in the place of the first"
    assert json.loads(first.out) == json.loads(again.out)
    assert journal.read_bytes() == before
    assert (tmp_path / "mobpack.toml").read_text() == PROJECT, "a dry run writes nothing"


def test_verdicts_of_phones_with_the_chip_leave_a_provider_out(lab: Lab, run: Run, tmp_path: Path) -> None:
    device = {"serial": "elsewhere", "state": "measured", "reason": "", "model": "Pixel 8 Pro", "soc": "Tensor G3"}
    left_out = {"device": "elsewhere", "model": "silero-vad", "provider": "xnnpack", "is-proved": False}
    document = {
        "schema-version": 1,
        "mobpack": "0",
        "package": {"file": lab.aar.name, "sha256": sha256_of(lab.aar), "runtime": ""},
        "devices": [device],
        "rows": [],
        "verdicts": [{**left_out, "reason": "took 1 node; the build saw it take 9"}],
    }
    (tmp_path / "tested.json").write_text(json.dumps(document))
    answer = run("--dry-run", "--json", "--verdicts", "tested.json")
    assert answer.code == 0, answer.err
    [found] = json.loads(answer.out)["results"]
    trials = {trial["settings"]: trial for trial in found["trials"]}
    assert trials["xnnpack"]["error"] == "Pixel 8 Pro left it out: took 1 node; the build saw it take 9"
    assert trials["cpu"]["rounds"]


def test_a_search_without_time_says_so(run: Run) -> None:
    answer = run("--dry-run", "--minutes", "0.0001")
    assert answer.code == 0, answer.err
    assert "the time was over" in answer.out + answer.err


def test_a_search_that_is_interrupted_keeps_what_it_measured(lab: Lab, run: Run, tmp_path: Path) -> None:
    with interruption(lab.phone):
        answer = run("--seconds", "30")
    assert (answer.code, "the same command goes on" in answer.err) == (130, True), answer.err
    assert (tmp_path / "mobpack.toml").read_text() == PROJECT


def test_another_package_does_not_continue_a_journal(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mobpack-tune").mkdir()
    assert run("--dry-run", "--minutes", "0.0001").code == 0
    [journal] = (tmp_path / "mobpack-tune").iterdir()
    lines = journal.read_text().splitlines()
    about = json.loads(lines[0])
    about["subject"]["packages"] = "0" * 64
    journal.write_text("\n".join([json.dumps(about), *lines[1:]]) + "\n")
    answer = run("--dry-run")
    assert answer.code == 2
    assert "another device, other packages or another method" in answer.err


def test_another_release_is_no_place_for_the_search(run: Run, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("<main></main>")
    (tmp_path / "manifest.json").write_text('{"artifacts": []}')
    answer = run("--dry-run", "--minutes", "0.0001", "--merge", ".")
    assert (answer.code, "its packages are others" in answer.err) == (2, True)


def test_a_project_that_is_not_there_is_named(run: Run) -> None:
    answer = run("--config", "none.toml", "--minutes", "0.0001")
    assert answer.code == 2
    assert "none.toml" in answer.err
