"""Same input, same bytes: in any folder, with any hash seed, in any time zone, and as on any system."""

import os
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest
from PIL import Image

from tests.cases.caches import OWN, empty_cache
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.cases.reproducible import contents, run
from tests.nights import at_night
from tests.toolchain import models

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
