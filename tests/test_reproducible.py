"""Same input, same bytes: in any folder, with any hash seed, in any time zone, and as on any system."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest
from PIL import Image

from packager.distribution.release import EVIDENCE, OF_ONE_MACHINE
from packager.files.hashes import sha256_of
from tests import hosts
from tests.caches import OWN, empty_cache
from tests.elsewhere.__main__ import variables
from tests.nights import at_night
from tests.onnx_text import linear, onnx_model, saved, weight
from tests.toolchain import command, forks, models
from tests.toolchain.environments import have

PROJECT = """\
[package]
name = "page"
license = "Apache-2.0"

[model.orientation]
path = "page.onnx"

[variant.int8]
quantizer = "static-qdq"
calibration = { samples = "samples.npz", method = "entropy" }

[target.android]
providers = ["qnn", "nnapi", "xnnpack"]
variant = "int8"

[target.ios]
providers = ["coreml", "xnnpack"]

[target.react_native]
"""
"""The model in both formats, with every provider, for every target."""


@dataclass(frozen=True, kw_only=True)
class Net:
    """A trained model."""

    path: Callable[[], Path]
    name: str
    """of its input"""
    shape: tuple[int, ...]
    settings: str = ""


NETS: Mapping[str, Net] = {
    "digits": Net(path=models.digits, name="Input3", shape=(1, 28, 28), settings='[check]\ngain = "skip"\n'),
    "orientation": Net(path=models.orientation, name="x", shape=(3, 224, 224)),
}


def run(*arguments: str, folder: Path, environment: Mapping[str, str]) -> None:
    """`mobpack` in a Python that starts with these variables; the command and its programs are forks of it."""
    with forks.served((*forks.LIBRARIES, *command.MODULES, *command.LIBRARIES), environment=environment) as (client, _):
        program = [*client, "-m", "packager.cli", *arguments]
        done = subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def build(net: Net, folder: Path, environment: dict[str, str]) -> dict[str, bytes]:
    """All files of `mobpack build --emit-project`, made from nothing in `folder`."""
    folder.mkdir(parents=True)
    shutil.copy(net.path(), folder / "page.onnx")
    pictures = numpy.random.default_rng(0).standard_normal((8, *net.shape)).astype(numpy.float32)
    numpy.savez(folder / "samples.npz", allow_pickle=False, **{net.name: pictures})
    (folder / "mobpack.toml").write_text(PROJECT + net.settings, encoding="utf-8", newline="\n")
    cache = {"XDG_CACHE_HOME": str(empty_cache(folder.parent / f"{folder.name}-cache"))}
    run("build", "--emit-project", folder=folder, environment={**os.environ, **cache, **environment})
    dist = folder / "dist"
    return {path.relative_to(dist).as_posix(): path.read_bytes() for path in sorted(dist.rglob("*")) if path.is_file()}


@pytest.mark.kotlin
@pytest.mark.parametrize("net", ["digits", *at_night("orientation")])
def test_two_builds_in_different_folders_give_identical_releases(net: str, tmp_path: Path) -> None:
    """From nothing: the same files, among them a package for each target, and no path of this machine."""
    first = build(NETS[net], tmp_path / "one", {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"})
    elsewhere = tmp_path / "another folder ünïcode" / "two"
    second = build(NETS[net], elsewhere, {"PYTHONHASHSEED": "4242", "TZ": "America/New_York"})
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []
    for suffix in (".aar", ".zip", ".tgz"):
        assert any(name.endswith(suffix) for name in first), suffix
    for name, content in first.items():
        assert str(tmp_path).encode() not in content, name


ALL_TARGETS = """\
[package]
name = "shapes"
license = "Apache-2.0"

[model.shapes]
path = "shapes.onnx"

[model.shapes.inputs.image]
kind = "image"
mean = [0.5, 0.5, 0.5]
std = [0.5, 0.5, 0.5]

[model.shapes.outputs.logits]
kind = "classes"
activation = "softmax"

[variant.int8]
quantizer = "static-qdq"
calibration = "samples"

[target.android]
group = "com.acme"
variant = "int8"

[target.ios]
[target.react_native]
[target.web]
[target.flutter]
"""
"""A contract, a quantized variant and every target, with the providers of the defaults."""
SHAPES = """(float[1, 3, 96, 96] image) => (float[1, 4] logits) {
    [c1] a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (image, w1)
    [r1] b = Relu (a)
    [c2] c = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (b, w2)
    [r2] d = Relu (c)
    [pool] e = GlobalAveragePool (d)
    [flat] f = Flatten (e)
    [fc] logits = Gemm (f, w3)
}"""
SHIP = ("runtime", "web", "web-webgpu", "zig")
"""Environments that builds make by themselves: what packages contain and depend on, and their compiler."""


@pytest.mark.kotlin
def test_what_is_installed_decides_nothing_that_ships(tmp_path: Path) -> None:
    """Five targets, built with what a build makes for itself alone, with every environment of this machine, and with
    an old Node.js first on PATH: the same bytes, decisions and gates."""
    optional = {path.name for path in (OWN / "environments").iterdir()} - {*SHIP}
    old = tmp_path / "programs"
    old.mkdir()
    (old / "node").write_text("#!/bin/sh\necho v20.11.1\n", encoding="utf-8", newline="\n")
    (old / "node").chmod(0o755)
    machines: dict[str, tuple[Collection[str], str]] = {
        "bare": (optional, os.environ["PATH"]),
        "everything": ((), os.environ["PATH"]),
        "old node": (optional, f"{old}{os.pathsep}{os.environ['PATH']}"),
    }
    releases = {}
    for name, (without, path) in machines.items():
        folder = tmp_path / name
        sizes = {"w1": (16, 3, 3, 3), "w2": (64, 16, 3, 3), "w3": (64, 4)}
        weights = {key: weight(*size, seed=len(key)) for key, size in sizes.items()}
        saved(folder / "shapes.onnx", onnx_model(SHAPES, weights=weights))
        (folder / "samples").mkdir()
        for number, picture in enumerate(numpy.random.default_rng(0).integers(0, 256, (4, 96, 96, 3), numpy.uint8)):
            Image.fromarray(picture).save(folder / "samples" / f"{number}.png")
        (folder / "mobpack.toml").write_text(ALL_TARGETS, encoding="utf-8", newline="\n")
        cache = {"XDG_CACHE_HOME": str(empty_cache(tmp_path / f"{name}-cache", without=without)), "PATH": path}
        run("build", "--fail-on", "max-partitions=9", folder=folder, environment={**os.environ, **cache})
        releases[name] = contents(folder / "dist")
    first, *others = releases.values()
    assert {Path(name).suffix for name in first} >= {".aar", ".zip", ".tgz"}
    for each in others:
        assert [name for name in first.keys() | each.keys() if first.get(name) != each.get(name)] in (
            [],
            ["evidence.json"],
        )


@pytest.mark.processes
def test_a_package_is_the_same_bytes_whatever_system_builds_it(tmp_path: Path) -> None:
    """Manifest and report say what the system could not check."""
    saved(tmp_path / "net.onnx", linear())
    releases = []
    for system in ("linux", *hosts.OTHERS):
        folder = tmp_path / system
        folder.mkdir()
        environment = {} if system == "linux" else variables(system, folder)
        store = {"XDG_CACHE_HOME": str(empty_cache(folder / "cache"))}
        arguments = ("build", "net.onnx", "--target", "ios", "--out", f"{system}/dist")
        run(*arguments, folder=tmp_path, environment={**os.environ, **environment, **store})
        releases.append(contents(folder / "dist" / "swift"))
    assert len(releases[0]) > 3
    assert releases == [releases[0]] * 3


EVERYWHERE = """\
[package]
name = "photos"
license = "Apache-2.0"

[model.net]
path = "net.onnx"

[model.net.inputs.image]
kind = "image"
size = [32, 32]

[model.net.outputs.scores]
kind = "classes"
activation = "softmax"

[variant.int8]
quantizer = "static-qdq"
calibration = "pictures"

[parity]
runners = ["cpu", "xnnpack", "webgpu"]
samples = "pictures"

[check]
gain = "skip"
min-share = 0.5

[target.android]
variant = "int8"

[target.ios]

[target.web]

[target.react_native]

[target.flutter]
"""
"""A project with a contract, a variant and a gate, for every target, with providers that nobody names."""
PICTURES = """(float[1, 3, 32, 32] image) => (float[1, 4] scores) {
    a = Conv <pads = [1, 1, 1, 1]> (image, first) b = Relu (a) c = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (b)
    d = Conv <pads = [1, 1, 1, 1]> (c, second) e = Relu (d) f = GlobalAveragePool (e) g = Flatten (f)
    scores = Gemm (g, third)
}"""
NEEDED = ("runtime", "web")
"""Environments with the runtimes that ship, which a build makes where they are missing."""


@pytest.mark.kotlin
@pytest.mark.environments
def test_a_release_is_the_same_bytes_whatever_is_installed(tmp_path: Path) -> None:
    """Measurements of the machine are in its evidence alone, and the same gate is passed."""
    have("android")
    have("webgpu")
    optional = [each.name for each in (OWN / "environments").iterdir() if each.name not in NEEDED]
    weights = {"first": weight(8, 3, 3, 3), "second": weight(16, 8, 3, 3), "third": weight(16, 4)}
    releases = []
    for name, without in (("everything", ()), ("nothing", optional)):
        folder = tmp_path / name
        folder.mkdir()
        saved(folder / "net.onnx", onnx_model(PICTURES, weights=weights))
        (folder / "pictures").mkdir()
        for number in range(4):
            pixels = numpy.random.default_rng(number).integers(0, 256, (32, 32, 3), numpy.uint8)
            Image.fromarray(pixels).save(folder / "pictures" / f"{number}.png")
        (folder / "mobpack.toml").write_text(EVERYWHERE, encoding="utf-8", newline="\n")
        cache = {"XDG_CACHE_HOME": str(empty_cache(tmp_path / f"{name}-cache", without=without))}
        run("build", folder=folder, environment={**os.environ, **cache})
        releases.append(contents(folder / "dist"))
    everything, nothing = releases
    assert list(everything) == list(nothing)
    assert [name for name in everything if everything[name] != nothing[name]] == [*OF_ONE_MACHINE]
    evidence = [json.loads((tmp_path / name / "dist" / EVIDENCE).read_text()) for name in ("everything", "nothing")]
    skipped = [{each["runner"] for each in found["parity"] if "skipped" in each} for found in evidence]
    assert (skipped[0], skipped[1] >= {"xnnpack", "webgpu"}) == (set(), True)
    assert [found["contradictions"] for found in evidence] == [[], []]


def contents(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in paths}
