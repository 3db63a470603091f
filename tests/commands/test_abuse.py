"""The attacks of `benchmarks/abuse` for half a minute, and a planted fault that they find."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from random import Random

import onnx
import pytest

from benchmarks.abuse import __main__ as abuse
from benchmarks.abuse import builds
from benchmarks.abuse.builds import Subject, damage, digest_of, session_of
from benchmarks.abuse.command import Answer, Place, run
from benchmarks.abuse.fuzzing import damaged, originals
from benchmarks.abuse.mutations import MUTATIONS
from benchmarks.abuse.result import Result, table

ROOT = Path(__file__).parents[2]


def test_what_is_attacked_for_half_a_minute_holds(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.abuse", "--short", "--keep", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" held  ") >= 14


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(code=0, text="fine"), ""),
        (Answer(code=3, text="mobpack: error: no\nhint: mend it"), ""),
        (Answer(code=70, text="mobpack: error: own fault\nhint: x"), "ended with 70: mobpack: error: own fault"),
        (Answer(code=-11, text=""), "ended with -11: nothing was said"),
        (Answer(code=1, text="x"), "ended with 1: x"),
        (Answer(code=3, text="Traceback (most recent call last):\n  x"), "printed a traceback:   x"),
        (Answer(code=-9, text="", is_hanging=True), "did not end within 120 s"),
    ],
)
def test_faults_are_told_from_errors(answer: Answer, fault: str) -> None:
    assert answer.fault == fault


@pytest.mark.parametrize("name", MUTATIONS)
def test_the_same_seed_damages_models_in_the_same_way(name: str) -> None:
    first, again, other = (list(damaged(MUTATIONS[name], 20, seed)) for seed in ("0", "0", "1"))
    assert first == again
    assert first != other
    assert sum(content not in originals() for content in first) >= 15


def test_changed_fields_are_still_a_message() -> None:
    for content in damaged(MUTATIONS["fields changed"], 30, "0"):
        assert onnx.ModelProto.FromString(content).ByteSize() >= 0


@pytest.mark.parametrize("how", ["flip", "cut", "remove"])
def test_damage_is_damage(tmp_path: Path, how: str) -> None:
    (tmp_path / "x").write_bytes(b"content")
    (tmp_path / "other").hardlink_to(tmp_path / "x")
    damage(tmp_path / "x", how, Random(1))
    assert not (tmp_path / "x").exists() or (tmp_path / "x").read_bytes() != b"content"
    assert (tmp_path / "other").read_bytes() == b"content"


def test_a_child_that_outlives_its_parent_is_seen(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as child:
        deadline = time.monotonic() + 60
        while session_of(child.pid) != ["sleep"]:
            assert time.monotonic() < deadline
        child.kill()
    assert session_of(child.pid) == []


def test_other_bytes_and_other_exit_codes_are_seen(tmp_path: Path) -> None:
    place = Place(folder=tmp_path / "work", cache=tmp_path)
    place.folder.mkdir()
    (place.folder / "out").write_text("new")
    one = Subject(command=["--version"], output="out", place=place, digest="", seconds=1)
    right = replace(one, digest=digest_of(place.folder / "out"))
    assert builds._as_ever(right) == ""
    assert builds._as_ever(one) == "the next one gave other bytes"
    assert "the next one ended with 3" in builds._as_ever(replace(right, command=["inspect", "absent.onnx"]))


def test_a_command_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.abuse.command.main", lambda: time.sleep(60))
    monkeypatch.setattr("benchmarks.abuse.command.TIMEOUT_S", 0.2)
    answer = run([], Place(folder=tmp_path, cache=tmp_path), tmp_path / "said")
    assert answer.is_hanging
    assert (tmp_path / "said").exists()


def test_the_table_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{abuse.BEGIN}\nold\n{abuse.END}\nafter\n")
    results = [
        Result(attack="a", tries=1000, exceptions=(), note="none; 3 refused"),
        Result(attack="b", tries=2, exceptions=("x | y",)),
    ]
    for _ in range(2):
        abuse.write(results, 7, page)
    assert page.read_text() == (
        f"before\n{abuse.BEGIN}\n`python -m benchmarks.abuse --seed 7`:\n\n"
        "| attack | how often | held | exceptions |\n|---|---|---|---|\n"
        f"| a | 1,000 | 1,000 | none; 3 refused |\n| b | 2 | 1 | x / y |\n\n{abuse.END}\nafter\n"
    )
    assert "b | 2" in table(results)
