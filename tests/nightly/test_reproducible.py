"""Same input, same bytes: in any folder, with any hash seed, in any time zone, whatever else is installed."""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest
from PIL import Image

from packager.distribution.release import EVIDENCE, OF_ONE_MACHINE
from tests.cases.caches import OWN, empty_cache
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.cases.reproducible import beside_each_other, contents, run
from tests.toolchain import models
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


@pytest.mark.parametrize("net", NETS)
def test_two_builds_in_different_folders_give_identical_releases(net: str, tmp_path: Path) -> None:
    """From nothing: the same files, among them a package for each target, and no path of this machine."""
    places = [
        (tmp_path / "one", {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"}),
        (tmp_path / "another folder ünïcode" / "two", {"PYTHONHASHSEED": "4242", "TZ": "America/New_York"}),
    ]
    first, second = beside_each_other(lambda place: build(NETS[net], *place), places)
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []
    for suffix in (".aar", ".zip", ".tgz"):
        assert any(name.endswith(suffix) for name in first), suffix
    for name, content in first.items():
        assert str(tmp_path).encode() not in content, name


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
"""A project with a contract, a variant and a gate, with providers that nobody names."""

PICTURES = """(float[1, 3, 32, 32] image) => (float[1, 4] scores) {
    a = Conv <pads = [1, 1, 1, 1]> (image, first) b = Relu (a) c = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (b)
    d = Conv <pads = [1, 1, 1, 1]> (c, second) e = Relu (d) f = GlobalAveragePool (e) g = Flatten (f)
    scores = Gemm (g, third)
}"""

NEEDED = ("runtime", "web")
"""Environments with the runtimes that ship, which a build makes where they are missing."""


def test_a_release_is_the_same_bytes_whatever_is_installed(tmp_path: Path) -> None:
    """A machine with every environment; one with what a build makes by itself, an old Node.js first on PATH, and
    another folder, hash seed and time zone.

    No file has a path of the machine. Its measurements are in its evidence alone, and the same gate is passed.
    """
    have("android")
    have("webgpu")
    optional = [each.name for each in (OWN / "environments").iterdir() if each.name not in NEEDED]
    weights = {"first": weight(8, 3, 3, 3), "second": weight(16, 8, 3, 3), "third": weight(16, 4)}
    old = tmp_path / "programs"
    old.mkdir()
    (old / "node").write_text("#!/bin/sh\necho v20.11.1\n", encoding="utf-8", newline="\n")
    (old / "node").chmod(0o755)
    path = os.environ["PATH"]
    releases = []
    machines = (
        ("everything", (), path, "1", "Asia/Tokyo"),
        ("nothing ünïcode", optional, f"{old}{os.pathsep}{path}", "4242", "America/New_York"),
    )
    for name, without, programs, seed, zone in machines:
        folder = tmp_path / name
        folder.mkdir()
        saved(folder / "net.onnx", onnx_model(PICTURES, weights=weights))
        (folder / "pictures").mkdir()
        for number in range(4):
            pixels = numpy.random.default_rng(number).integers(0, 256, (32, 32, 3), numpy.uint8)
            Image.fromarray(pixels).save(folder / "pictures" / f"{number}.png")
        (folder / "mobpack.toml").write_text(EVERYWHERE, encoding="utf-8", newline="\n")
        cache = {"XDG_CACHE_HOME": str(empty_cache(tmp_path / f"{name}-cache", without=without)), "PATH": programs}
        variables = {"PYTHONHASHSEED": seed, "TZ": zone}
        run("build", "--emit-project", folder=folder, environment={**os.environ, **cache, **variables})
        files = [each for each in (folder / "dist").rglob("*") if each.is_file()]
        assert [each for each in files if str(tmp_path).encode() in each.read_bytes()] == []
        releases.append(contents(folder / "dist"))
    everything, nothing = releases
    assert list(everything) == list(nothing)
    assert [name for name in everything if everything[name] != nothing[name]] == [*OF_ONE_MACHINE]
    evidence = [json.loads((tmp_path / each[0] / "dist" / EVIDENCE).read_text()) for each in machines]
    skipped = [{each["runner"] for each in found["parity"] if "skipped" in each} for found in evidence]
    assert (skipped[0], skipped[1] >= {"xnnpack", "webgpu"}) == (set(), True)
    assert [found["contradictions"] for found in evidence] == [[], []]
