"""The calibration API: ranges, a cache, and errors with a remedy."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

from packager.core.errors import ConfigError, ModelError
from packager.files.store import Store
from packager.quantization.calibration import CalibrationRequest, Range, RangeMethod, calibrate, warnings
from packager.quantization.calibration.calibrate import _inputs, unfinished_file
from tests.cases.calibration_cases import BLOCK, normal, request, written
from tests.cases.onnx_text import onnx_model, weight

BLOCK_MODEL = onnx_model(BLOCK, weights={"w": weight(4, 4, 3, 3)})


@pytest.fixture(autouse=True)
def reader_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "samples", normal(4, 1, 4, 8, 8))


def silent(done: int, count: int) -> None:
    pass


def emptied(folder: Path, asked: CalibrationRequest) -> CalibrationRequest:
    """The same request, with samples that can no longer be read."""
    for path in folder.glob("*.npz"):
        path.unlink()
    return asked


def test_one_run_serves_every_method_and_the_next_call_reads_it(folder: Path, tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    values = numpy.concatenate([numpy.load(path)["x"].ravel() for path in sorted(folder.glob("*.npz"))])
    asked = {
        name: request(BLOCK_MODEL, ["y", "x", "r"], folder, method=RangeMethod(name=name))
        for name in ("entropy", "minmax", "moving-average", "percentile", "mse")
    }
    store = Store(tmp_path / "store")
    first = calibrate(asked["entropy"], store, lambda done, count: steps.append((done, count)))
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    emptied(folder, asked["entropy"])
    assert calibrate(asked["entropy"], store, silent) == first
    found = {name: calibrate(each, store, silent) for name, each in asked.items()}
    assert found["minmax"]["x"] == Range(low=float(values.min()), high=float(values.max()))
    assert list(found["mse"]) == ["y", "x", "r"]
    assert found["moving-average"]["x"].high < found["minmax"]["x"].high
    assert not list((tmp_path / "store" / "unfinished").glob("*"))


def test_it_goes_on_from_what_another_run_left_and_clears_that_away(folder: Path, tmp_path: Path) -> None:
    asked = request(BLOCK_MODEL, ["r"], folder)
    store, other = Store(tmp_path / "store"), Store(tmp_path / "other")
    first = calibrate(asked, store, silent)
    left = unfinished_file(asked, other)
    left.parent.mkdir(parents=True)
    next((tmp_path / "store" / "calibration").glob("*/files/*.npz")).rename(left)
    assert calibrate(emptied(folder, asked), other, silent) == first
    assert not left.exists()


@pytest.mark.parametrize("change", ["graph", "weights_sha256", "tensors", "fingerprint", "count"])
def test_another_input_is_another_entry(change: str, folder: Path, tmp_path: Path) -> None:
    asked = request(BLOCK_MODEL, ["r"], folder)
    other = {
        "graph": replace(asked, graph=asked.graph + b"\0"),
        "weights_sha256": replace(asked, weights_sha256="2" * 64),
        "tensors": replace(asked, tensors=("c",)),
        "fingerprint": replace(asked, samples=replace(asked.samples, fingerprint="3")),
        "count": replace(asked, samples=replace(asked.samples, count=9)),
    }[change]
    assert _inputs(other) != _inputs(asked)


def test_what_fails_keeps_nothing(folder: Path, tmp_path: Path) -> None:
    asked = request(BLOCK_MODEL, ["r"], folder, description={"at": 2, "does": "refuse"})
    with pytest.raises(ConfigError, match="sample 3 is torn") as caught:
        calibrate(asked, Store(tmp_path / "store"), silent)
    assert caught.value.hint == "mend it"
    assert not (tmp_path / "store" / "calibration").exists()
    asked = request(BLOCK_MODEL, ["r"], folder, description={"at": 1, "does": "SIGSEGV"})
    with pytest.raises(ModelError, match=r"crashed while it ran the calibration samples \(SIGSEGV\)"):
        calibrate(asked, Store(tmp_path / "store"), silent)
    folder = written(tmp_path / "none", [])
    with pytest.raises(ConfigError, match="no samples"):
        calibrate(request(BLOCK_MODEL, ["r"], folder), Store(tmp_path / "store"), silent)
    some = written(tmp_path / "some", normal(1, 1, 4, 8, 8))
    assert calibrate(request(BLOCK_MODEL, [], some), Store(tmp_path / "store"), silent) == {}


def test_ctrl_c_ends_the_child(folder: Path, tmp_path: Path) -> None:
    asked = request(BLOCK_MODEL, ["r"], folder, description={"at": 3, "does": "SIGSTOP"})
    children: list[int] = []

    def programs() -> set[int]:
        """Children of this process that calibrate, or serve those who do."""
        mine = map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())
        return {each for each in mine if b"calibration" in Path(f"/proc/{each}/cmdline").read_bytes()}

    def interrupt(done: int, count: int) -> None:
        children.extend(programs() - before)
        raise KeyboardInterrupt

    if not Path("/proc/self/task").exists():
        pytest.skip("only Linux lists the children of a process")
    before = programs()
    with pytest.raises(KeyboardInterrupt):
        calibrate(asked, Store(tmp_path / "store"), interrupt)
    assert children
    for child in children:
        with pytest.raises(ProcessLookupError):
            os.kill(child, signal.SIGCONT)


def test_constant_and_empty_tensors_are_warned_about(tmp_path: Path) -> None:
    asked = request(BLOCK_MODEL, ["r", "s", "m"], tmp_path)
    ranges = {"r": Range(low=0, high=0), "s": Range(low=0, high=1)}
    assert warnings(asked, ranges) == ("tensor 'm' has no elements in any sample", "tensor 'r' is 0 in every sample")
