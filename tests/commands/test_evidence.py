"""A failed comparison stops the build, names the first bad node, and leaves evidence in a folder."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

from packager.core.errors import ConfigError, ParityError
from tests.cases.caches import empty_cache
from tests.cases.cli import in_process
from tests.cases.onnx_text import onnx_model, saved, weight

Mobpack = Callable[..., "subprocess.CompletedProcess[str]"]

NET = """(float[1,16] x) => (float[1,8] y) {
    [one] a = MatMul (x, w1)
    [two] b = Relu (a)
    [three] c = MatMul (b, w2)
    [four] y = Tanh (c)
}"""
WEIGHTS = {"w1": weight(16, 16), "w2": weight(16, 8, seed=1)}
PROJECT = """[package]
name = "net"
[model.net]
path = "net.onnx"
[variant.int8]
quantizer = "static-qdq"
calibration = "calibration.npy"
[target.ios]
variant = "int8"
[parity]
samples = "typical"
[check]
gain = "skip"
kernels = "skip"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose ranges were measured on tiny inputs: the int8 variant saturates on everything."""
    folder = tmp_path_factory.mktemp("evidence")
    saved(folder / "net.onnx", onnx_model(NET, weights=WEIGHTS))
    (folder / "mobpack.toml").write_text(PROJECT)
    numpy.save(folder / "calibration.npy", numpy.full((4, 16), 1e-4, "f4"))
    (folder / "typical").mkdir()
    for number in range(3):
        numpy.savez(folder / "typical" / f"{number}.npz", x=weight(1, 16, seed=number))
    return folder


@pytest.fixture(scope="module")
def mobpack(folder: Path) -> Mobpack:
    cache = str(empty_cache(folder / ".cache"))

    def run(*arguments: str, cwd: Path = folder) -> "subprocess.CompletedProcess[str]":
        environment = {"XDG_CACHE_HOME": cache, "PATH": "/usr/bin:/bin", "COLUMNS": "120"}
        return in_process(*arguments, folder=cwd, environment=environment)

    return run


@pytest.fixture(scope="module")
def broken(mobpack: Mobpack, folder: Path) -> "subprocess.CompletedProcess[str]":
    return mobpack("build", "--out", "dist", "--set", "target.ios.providers=[]")


def test_a_broken_variant_is_named_with_sample_and_first_bad_node(broken: "subprocess.CompletedProcess[str]") -> None:
    assert broken.returncode == ParityError.EXIT_CODE
    error = broken.stderr.partition("mobpack: error: ")[2]
    assert error.startswith(
        "model 'net': the variant 'int8' is broken: its output 'y' differs from the original on sample "
    )
    assert "the variant 'int8' parts from the original at node 'one' (MatMul)" in error
    assert "hint: mobpack-evidence/net-int8 shows it; look at the node: " in error


def test_nothing_is_released_and_the_node_shows_why(broken: "subprocess.CompletedProcess[str]", folder: Path) -> None:
    assert not (folder / "dist").exists()
    node = folder / "mobpack-evidence" / "net-int8" / "node"
    command = [sys.executable, "reproduce.py"]
    shown = subprocess.run(command, cwd=node, capture_output=True, text=True, check=True)
    assert "recorded, the variant 'int8': 'a' is off by " in shown.stdout
    assert shown.stdout.count(", 1 of its largest value") == 2, "recorded, and computed again"


def test_the_evidence_holds_inputs_results_node_and_report(
    broken: "subprocess.CompletedProcess[str]", folder: Path
) -> None:
    evidence = folder / "mobpack-evidence"
    names = sorted(path.relative_to(evidence).as_posix() for path in evidence.rglob("*") if path.is_file())
    assert {"evidence.json", "report.html", "report.json", "net-int8/inputs.npz", "net-int8/variant.npz"} < set(names)
    assert {"net-int8/node/node.onnx", "net-int8/node/inputs.npz", "net-int8/node/reproduce.py"} < set(names)
    with (
        numpy.load(evidence / "net-int8" / "original.npz") as ours,
        numpy.load(evidence / "net-int8" / "variant.npz") as theirs,
    ):
        assert ours.files == theirs.files == ["y"]
        assert numpy.abs(ours["y"] - theirs["y"]).max() > 0.25 * numpy.abs(ours["y"]).max()
    report = json.loads((evidence / "report.json").read_text())
    assert len(report["failures"]) == 1


def test_a_later_failure_replaces_the_evidence_and_other_folders_are_left_alone(
    broken: "subprocess.CompletedProcess[str]", mobpack: Mobpack, folder: Path
) -> None:
    again = ("check", "--set", "target.ios.providers=[]")
    assert mobpack(*again).returncode == ParityError.EXIT_CODE
    assert (folder / "mobpack-evidence" / "net-int8" / "node").is_dir()
    (folder / "mine").mkdir()
    (folder / "mine" / "thesis.txt").write_text("x")
    refused = mobpack(*again, "--evidence", "mine")
    assert refused.returncode == ConfigError.EXIT_CODE
    assert "mine exists and is not mobpack's evidence" in refused.stderr
    assert "choose another folder with --evidence" in refused.stderr
    assert [path.name for path in (folder / "mine").iterdir()] == ["thesis.txt"]


def test_a_folder_that_cannot_be_written_loses_the_evidence_and_not_the_verdict(
    broken: "subprocess.CompletedProcess[str]", mobpack: Mobpack, folder: Path
) -> None:
    failed = mobpack("check", "--set", "target.ios.providers=[]", "--evidence", "/proc/none")
    assert failed.returncode == ParityError.EXIT_CODE
    assert "warning: the evidence could not be kept: cannot write to /proc" in failed.stderr
    assert "at node 'one' (MatMul)" in failed.stderr


def project(source: Path, folder: Path) -> None:
    """The same project in another folder."""
    shutil.copytree(source / "typical", folder / "typical")
    for name in ("net.onnx", "mobpack.toml"):
        shutil.copyfile(source / name, folder / name)


def test_good_ranges_pass_and_leave_no_evidence(mobpack: Mobpack, folder: Path, tmp_path: Path) -> None:
    project(folder, tmp_path)
    numpy.save(tmp_path / "calibration.npy", numpy.random.default_rng(0).standard_normal((64, 16)).astype("f4"))
    passed = mobpack("check", "--set", "target.ios.providers=[]", cwd=tmp_path)
    assert passed.returncode == 0, passed.stderr
    assert not (tmp_path / "mobpack-evidence").exists()


def test_without_samples_a_variant_is_judged_on_its_calibration(mobpack: Mobpack, folder: Path, tmp_path: Path) -> None:
    """Random numbers exceed the calibrated range; the difference there is a warning, not a failure."""
    project(folder, tmp_path)
    (tmp_path / "mobpack.toml").write_text(PROJECT.replace('samples = "typical"', ""))
    numbers = numpy.random.default_rng(0)
    numpy.save(tmp_path / "calibration.npy", numbers.uniform(0, 1e-4, (16, 16)).astype("f4"))
    passed = mobpack("build", "--set", "target.ios.providers=[]", cwd=tmp_path)
    assert passed.returncode == 0, passed.stderr
    (warning,) = (line for line in passed.stderr.splitlines() if "outside of the calibrated ranges" in line)
    assert "'int8' is a different model: its output 'y' differs from the original on 3 random, seed 0: " in warning
    assert "has no self-test" not in passed.stderr
    # A variant that errs where it was calibrated is broken all the same.
    close = ("--set", "target.ios.providers=[]", "--set", "parity.from-original=0.000001")
    failed = mobpack("check", *close, cwd=tmp_path)
    assert failed.returncode == ParityError.EXIT_CODE
    assert "differs from the original on sample " in failed.stderr
    assert " of 8 calibration samples: " in failed.stderr
