"""`mobpack check --bisect A B`: valid sides, output and files."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

from packager.core.errors import ConfigError, ParityError, ToolError
from tests.cases.caches import empty_cache
from tests.cases.cli import in_process
from tests.cases.onnx_text import onnx_model, saved, weight

Answer = subprocess.CompletedProcess[str]
NET = """(float[1,16] x) => (float[1,8] y) {
    [one] a = MatMul (x, w1)
    [two] b = Relu (a)
    [three] c = MatMul (b, w2)
    [four] y = Tanh (c)
}"""
PROJECT = """[package]
name = "net"
[model.net]
path = "net.onnx"
[variant.good]
quantizer = "static-qdq"
calibration = "good.npy"
[variant.bad]
quantizer = "static-qdq"
calibration = "bad.npy"
[target.android]
providers = []
[check]
gain = "skip"
kernels = "skip"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two variants: the ranges of one fit its inputs, those of the other are far too small."""
    folder = tmp_path_factory.mktemp("bisect")
    saved(
        folder / "net.onnx",
        onnx_model(NET, weights={"w1": weight(16, 16), "w2": numpy.multiply(weight(16, 8, seed=1), 0.2, dtype="f4")}),
    )
    (folder / "mobpack.toml").write_text(PROJECT)
    numpy.save(folder / "good.npy", numpy.random.default_rng(0).uniform(-1, 1, (64, 16)).astype("f4"))
    numpy.save(folder / "bad.npy", numpy.full((4, 16), 1e-4, "f4"))
    return folder


@pytest.fixture(scope="module")
def bisect(folder: Path) -> Callable[..., Answer]:
    cache = str(empty_cache(folder / ".cache"))

    def run(*arguments: str) -> Answer:
        environment = {"XDG_CACHE_HOME": cache, "PATH": "/usr/bin:/bin", "COLUMNS": "140"}
        return in_process("check", "--bisect", *arguments, folder=folder, environment=environment)

    return run


def test_sides_that_agree_leave_nothing_and_good_ranges_a_table(bisect: Callable[..., Answer], folder: Path) -> None:
    answer = bisect("original", "cpu")
    assert answer.returncode == 0, answer.stderr
    assert "net (3 random, seed 0; 1e-05 + 0.001 x scale allowed)" in answer.stdout
    assert not (folder / "mobpack-evidence").exists()
    answer = bisect("original", "good", "--json")
    assert answer.returncode == 0, answer.stderr
    (found,) = json.loads(answer.stdout)["bisections"]
    assert (found["model"], found["kind"], found["tolerance"]) == ("net", "agreement", 0.05)
    assert [each["value"] for each in found["layers"]][-1] == "y"
    assert all(20 < each["sqnr-db"] < 80 for each in found["layers"])


def test_a_variant_in_wrong_ranges_is_brought_down_to_the_node(bisect: Callable[..., Answer], folder: Path) -> None:
    answer = bisect("original", "bad")
    assert answer.returncode == ParityError.EXIT_CODE
    assert "mobpack: error: net: bad parts from the original at node 'one' (MatMul)" in answer.stderr
    assert "hint: mobpack-evidence/net holds the node" in answer.stderr
    assert (folder / "mobpack-evidence" / "net" / "node.onnx").is_file()
    assert (folder / "mobpack-evidence" / "evidence.json").is_file()


def test_runners_are_named_with_their_processor_or_are_missing(bisect: Callable[..., Answer]) -> None:
    answer = bisect("good@cpu", "good@arm64:cortex-a99")
    assert answer.returncode == ConfigError.EXIT_CODE
    assert "--bisect good@arm64:cortex-a99: arm64 has no 'cortex-a99'" in answer.stderr
    answer = bisect("cpu", "tensorrt-native")
    assert answer.returncode == ToolError.EXIT_CODE
    assert "mobpack: error: runner 'tensorrt-native' cannot run: " in answer.stderr
