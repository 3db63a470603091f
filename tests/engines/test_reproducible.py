"""Same input, same bytes: in any folder, with any hash seed, in any time zone, and as on any system."""

import json
import os
from pathlib import Path

import numpy
from PIL import Image

from packager.distribution.release import EVIDENCE, OF_ONE_MACHINE
from tests.cases.caches import OWN, empty_cache
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.cases.reproducible import contents, run
from tests.nights import at_night
from tests.toolchain.environments import have

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
""" + "".join(at_night("\n[target.react_native]\n", "\n[target.flutter]\n"))
"""A project with a contract, a variant and a gate, for targets of each language that is compiled or copied, with
providers that nobody names. The two that wrap Android's and Apple's packages are built at night."""

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
