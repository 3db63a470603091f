"""Whole commands give the same results here and on an emulated Haswell, whose 8-bit products saturate."""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from numpy.typing import NDArray

from tests.cases import haswell
from tests.cases.caches import empty_cache
from tests.cases.onnx_text import onnx_model
from tests.toolchain.environments import have
from tests.toolchain.models import digits

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="qemu emulates x86_64 for x86_64 here")

NET = """(float[1,3,16,16] x) => (float[1,10] y) {
    c = Conv <pads = [1,1,1,1], strides = [2,2]> (x, k) s = Sigmoid (c) f = Flatten (s)
    m = MatMul (f, w) r = Relu (m) l = MatMul (r, v) y = Softmax (l)
}"""

PROJECT = """
[package]
name = "net"
license = "Apache-2.0"
[model.digits]
path = "digits.onnx"
[variant.int8]
quantizer = "static-qdq"
calibration = "digits.npz"
[target.android]
variant = "int8"
providers = []
[target.ios]
variant = "int8"
providers = []
[target.react_native]
[check]
gain = "skip"
"""

AUTO = ("-q", "auto", "--calibration", "net.npz", "--max-drop", "0.000001", "--set", "methods=['mse']")
"""A budget that some layers in integers exceed."""

COMMANDS = {"build": ("build",), "quantize": ("quantize", "net.onnx", *AUTO, "--force", "--json", "-o", "out/net.onnx")}


def large(seed: int, *shape: int) -> NDArray[Any]:
    """Weights near their channel's largest, most of one sign: their products saturate."""
    numbers = numpy.random.default_rng(seed)
    signs = numpy.where(numbers.random(shape) < 0.8, 1, -1)
    weights: NDArray[Any] = (numbers.uniform(0.8, 1, shape) * signs).astype(numpy.float32)
    return weights


def project(folder: Path) -> None:
    """A trained model to build for every target, and one whose 8-bit products saturate."""
    numbers = numpy.random.default_rng(0)
    shutil.copyfile(digits(), folder / "digits.onnx")
    numpy.savez(folder / "digits.npz", Input3=numbers.uniform(0, 255, (8, 1, 28, 28)).astype(numpy.float32))
    (folder / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
    weights = {"k": large(0, 8, 3, 3, 3), "w": large(1, 512, 64) / 64, "v": large(2, 64, 10) / 8}
    onnx.save(onnx_model(NET, weights=weights), folder / "net.onnx")
    numpy.savez(folder / "net.npz", x=numbers.standard_normal((8, 3, 16, 16)).astype(numpy.float32) + 1)


@dataclass(frozen=True)
class Side:
    """A command's output and files on one processor."""

    folder: Path
    said: str

    def files(self, under: str) -> Mapping[str, bytes]:
        top = self.folder / under
        return {path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*") if path.is_file()}


def sides(command: str, folder: Path) -> tuple[Side, Side]:
    """A command here and on a Haswell, at the same time."""
    have("x86_64")
    pythons = {"here": sys.executable, "there": str(haswell.interpreter(folder / "haswell"))}
    running = {
        where: started(folder / where, [python, "-P", "-m", "packager", *COMMANDS[command]])
        for where, python in pythons.items()
    }
    return finished(folder / "here", running["here"]), finished(folder / "there", running["there"])


def started(folder: Path, command: Sequence[str]) -> "subprocess.Popen[str]":
    folder.mkdir()
    project(folder)
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": str(empty_cache(folder / "cache", without=("arm64",)))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(folder: Path, program: "subprocess.Popen[str]") -> Side:
    said, complaints = program.communicate()
    assert program.returncode == 0, complaints
    return Side(folder, said)


def test_an_int8_build_leaves_the_same_bytes(tmp_path: Path) -> None:
    """Models, golden vectors, packages, the manifest and the report: everything that lies in dist."""
    here, there = (side.files("dist") for side in sides("build", tmp_path))
    assert any(each.endswith("golden.safetensors") for each in here)
    assert {".aar", ".zip", ".tgz"} <= {Path(each).suffix for each in here}
    assert here == there


def test_quantize_gives_the_same_figures_and_the_same_answer(tmp_path: Path) -> None:
    both = sides("quantize", tmp_path)
    here, there = (json.loads(side.said) for side in both)
    for found in (here, there):
        del found["latencies"]  # of the processor itself, and of one that `without` leaves out
        del found["warnings"]  # that it is slower
    assert {each["is-within"] for each in here["search"]["evaluations"]} == {True, False}
    assert here == there
    one, other = (side.files("out")["net.onnx"] for side in both)
    assert one == other
