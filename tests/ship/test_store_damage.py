"""A build over a damaged store: the release of a clean build, and a warning for each entry made anew."""

import hashlib
import itertools
import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest

from packager.files.store import damage_of
from packager.files.store.pruning import EVERY_S, PRUNED
from tests.cases.caches import empty_cache
from tests.cases.onnx_text import linear, saved
from tests.nights import at_night
from tests.toolchain import command

PROJECT = """\
[package]
name = "small"
license = "Apache-2.0"

[model.small]
path = "small.onnx"

[variant.int8]
quantizer = "static-qdq"
calibration = { samples = "samples.npz", method = "entropy" }

[target.ios]
providers = ["coreml"]

[target.web]
variant = "int8"
"""
OTHERS = """
[target.android]
variant = "int8"
providers = []

[target.react_native]
"""
STEPS = frozenset("calibration compile golden ios kernels layers over parity prepare quantize ranges web".split())
PLATFORMS = {
    "iOS and the web": ("", STEPS),
    "all": (OTHERS, STEPS | {"android", "kotlin", "kotlin-libraries", "react-native"}),
}
"""Further targets of PROJECT, and the steps whose results a build stores."""
NO_STEPS = {"scratch", "unfinished"}


def flip(path: Path) -> None:
    """Flip one bit in the middle, in place, under all names of the file."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        byte = file.read(1)[0] ^ 1
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte]))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


DAMAGE: dict[str, Callable[[Path], None]] = {"flip": flip, "cut": cut, "remove": Path.unlink}


@dataclass(frozen=True)
class Project:
    folder: Path
    cache: Path
    clean: dict[str, str]
    """file of the release -> its sha256, built from nothing"""
    steps: frozenset[str]
    """steps whose results the build stores"""

    @property
    def store(self) -> Path:
        return self.cache / "mobpack" / "store"


def built(folder: Path, cache: Path) -> tuple[dict[str, str], str]:
    """The release, and the output of the build."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(empty_cache(cache))}
    done = command.run("build", "--verify", folder=folder, environment=environment)
    assert done.returncode == 0, done.stderr
    dist = folder / "dist"
    files = sorted(path for path in dist.rglob("*") if path.is_file())
    return {str(path.relative_to(dist)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}, done.stderr


@pytest.fixture(scope="module", params=["iOS and the web", *at_night("all")])
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    targets, steps = PLATFORMS[request.param]
    folder, cache = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("cache")
    saved(folder / "small.onnx", linear(columns=512))
    numpy.savez(folder / "samples.npz", x=numpy.random.default_rng(0).standard_normal((8, 1, 64), numpy.float32))
    (folder / "mobpack.toml").write_text(PROJECT + targets)
    clean, said = built(folder, cache)
    assert "damaged" not in said
    return Project(folder, cache, clean, steps)


def entries(store: Path) -> list[Path]:
    steps = [step for step in store.iterdir() if step.is_dir() and step.name not in NO_STEPS]
    return sorted(entry for step in steps for entry in step.iterdir())


def content(entry: Path) -> list[Path]:
    """The non-empty files of an entry, its index last."""
    return sorted(path for path in entry.rglob("*") if path.is_file() and path.stat().st_size)


def test_every_step_of_the_build_is_looked_at(project: Project) -> None:
    assert {entry.parent.name for entry in entries(project.store)} == project.steps


@pytest.mark.parametrize(
    "kinds",
    [pytest.param(tuple(DAMAGE), id="each in turn"), *at_night(*(pytest.param((kind,), id=kind) for kind in DAMAGE))],
)
def test_a_build_over_damaged_entries_ships_what_a_clean_one_does(project: Project, kinds: tuple[str, ...]) -> None:
    """One file of every entry, damaged in one of `kinds`."""
    damaged = entries(project.store)
    for number, entry in enumerate(damaged):
        files, kind = content(entry), kinds[number % len(kinds)]
        DAMAGE[kind](files[list(DAMAGE).index(kind) % len(files)])

    release, said = built(project.folder, project.cache)

    assert release == project.clean
    named = re.findall(r"warning: stored result (\S+) is damaged", said)
    assert sorted(named) == sorted(f"{entry.parent.name}/{entry.name[:12]}" for entry in damaged)
    assert [damage_of(entry) for entry in entries(project.store)] == [""] * len(damaged)


def test_a_build_ends_with_pruning_to_20_gb(project: Project) -> None:
    """Of entries that it did not use itself: a sparse file that was unused for a day counts as 21 GB."""
    known = entries(project.store)
    old = project.store / "compile" / "old"
    (old / "files").mkdir(parents=True)
    (old / "files" / "model.ort").touch()
    os.truncate(old / "files" / "model.ort", 21 * 10**9)
    (old / "index.json").write_text("{}")
    os.utime(old / "index.json", (time.time() - 24 * 60 * 60,) * 2)
    os.utime(project.store / PRUNED, (time.time() - EVERY_S,) * 2)
    assert built(project.folder, project.cache)[0] == project.clean
    assert entries(project.store) == known


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_to_any_file_of_any_entry_shows(project: Project, damage: str, tmp_path: Path) -> None:
    unseen, moments = [], itertools.count(10**9)
    for number, entry in enumerate(entries(project.store)):
        copy = tmp_path / str(number)
        shutil.copytree(entry, copy)
        for file in content(entry):
            victim, twin = copy / file.relative_to(entry), copy / "twin"
            whole = victim.read_bytes()
            assert damage_of(copy) == ""
            twin.write_bytes(whole)
            if damage == "remove":
                twin.unlink()
                victim.unlink()
            else:
                DAMAGE[damage](twin)
                os.utime(twin, ns=(moment := next(moments), moment))  # never that of another file, as clocks give
                twin.replace(victim)
            if not damage_of(copy):
                unseen.append(file)
            twin.write_bytes(whole)
            os.utime(twin, ns=(moment := next(moments), moment))
            twin.replace(victim)
    assert unseen == []
