"""Imports without another framework: refusals, ONNX of old versions, samples, layouts and names."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy
import onnx
import onnx.helper
import pytest
from click.testing import CliRunner

from packager.cli import commands
from packager.core.console import Console
from packager.core.errors import ConfigError, MobpackError, ModelError, ToolError
from packager.core.parsing import Json
from packager.engines.environments.framework import Framework
from packager.files.store import Store
from packager.importers import IMPORTERS, Arrays, Converted, ImportSource, Input
from packager.importers.importer import dimensions
from packager.importers.keras import Keras
from packager.workflows import doctor
from packager.workflows.conversion.graph import name_outputs, ports
from packager.workflows.importing import layout, project, run, sampling, starting, steps
from packager.workflows.importing.request import ImportJob
from tests.cases.imported import old_model, request
from tests.cases.onnx_text import onnx_model


@pytest.mark.parametrize(
    ("source", "more", "kind", "words"),
    [
        ("absent.keras", {}, ConfigError, "absent.keras: no such file or folder"),
        ("m" * 5000, {}, ConfigError, "mmm: File name too long"),
        ("hf:owner", {}, ConfigError, "hf:owner: not the name of a model on the hub"),
        ("weights.bin", {}, ConfigError, "weights.bin: no importer reads it"),
        ("weights.pt", {}, ConfigError, "weights.pt: PyTorch needs the code of the model, too"),
        ("empty.txt", {}, ModelError, "empty.txt: the file is empty"),
        ("old.onnx", {"importer": "kears"}, ConfigError, "unknown importer 'kears'"),
        ("old.onnx", {"samples": Path("absent")}, ConfigError, "--samples absent: no such file"),
        ("old.onnx", {"sample_count": 0}, ConfigError, "--count 0: at least one is needed"),
    ],
)
def test_requests_that_cannot_succeed_are_refused_first(
    source: str, more: dict[str, object], kind: type[MobpackError], words: str, tmp_path: Path
) -> None:
    old_model(tmp_path)
    (tmp_path / "empty.txt").touch()
    with pytest.raises(kind, match=words) as error:
        run(request(tmp_path, source, **more), Store(tmp_path / "store"), Console(quiet=True))
    assert error.value.hint


def test_projects_name_no_hub_and_import_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from packager.config import ImporterTable

    assert not project.is_imported(tmp_path / "m.onnx", ImporterTable())
    assert not project.is_imported(tmp_path / "m.ort", ImporterTable())
    assert project.is_imported(tmp_path / "m.onnx", ImporterTable(name="onnx"))
    assert project.is_imported(tmp_path / "m.keras", ImporterTable())
    monkeypatch.chdir(tmp_path)
    text = '[package]\nname = "p"\n[model.scorer]\npath = "hf:acme/scorer@v1"\n[target.ios]\nproviders = []\n'
    Path("mobpack.toml").write_text(text, encoding="utf-8", newline="\n")
    result = CliRunner().invoke(commands, ["build"])
    assert isinstance(result.exception, ConfigError)
    assert "hf:acme/scorer@v1 is on the hub" in result.exception.message
    assert "mobpack import hf:acme/scorer@v1 -o scorer.onnx" in result.exception.hint
    (tmp_path / "net.bin").write_bytes(b"PK\x03\x04")
    with pytest.raises(ConfigError, match=r"net\.bin: Keras reads \.keras, \.h5, \.hdf5 alone"):
        Keras().load(ImportSource(text="net.bin", path=tmp_path / "net.bin"))


def test_every_importer_is_described_with_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in IMPORTERS:
        importer = IMPORTERS[name]
        assert name == importer.NAME
        assert importer.FRAMEWORK
        assert importer.SOURCES
        assert isinstance(importer.ENVIRONMENT, Framework | None)
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "saved_model.pb").write_bytes(b"")
    for name in ("m.keras", "m.h5", "m.tflite", "m.onnx", "saved", "m.bin"):
        found = [
            each.NAME for each in IMPORTERS.values() if each().reads(ImportSource(text=name, path=tmp_path / name))
        ]
        assert len(found) == (name != "m.bin"), found
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "m.keras").write_bytes(b"PK\x03\x04")
    with pytest.raises(ToolError, match="Keras is not installed") as error:
        run(request(tmp_path, "m.keras"), Store(tmp_path / "store"), Console(quiet=True))
    assert error.value.hint == "run: mobpack doctor --install keras"
    for name in doctor.FRAMEWORKS:
        text = doctor.FRAMEWORKS[name].lock.read_text(encoding="utf-8").replace("\\\n", "")
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        assert lines
        assert all("==" in line and "--hash=sha256:" in line for line in lines)
    root = Path(__file__).parents[2]
    page = (root / "benchmarks" / "results" / "import_table.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ") and " samples" in line]
    assert {row[0].removeprefix("| ") for row in rows} == IMPORTERS.keys()
    assert all(row[3] and row[4] and row[5] for row in rows)
    listed = (root / "docs" / "import.md").read_text(encoding="utf-8")
    assert [name for name in IMPORTERS if f"| `{name}`" not in listed and f", `{name}`" not in listed] == []


def test_doctor_lists_every_framework_and_all_leaves_them_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    states = {each.name: each for each in doctor.examine_frameworks()}
    assert states.keys() == doctor.FRAMEWORKS.keys()
    assert states["keras"].state == "missing"
    assert not {*doctor.environments_to_install(("all",))} & doctor.FRAMEWORKS.keys()
    assert doctor.environments_to_install(("keras",)) == ["keras"]
    with pytest.raises(ConfigError) as error:
        doctor.environments_to_install(("kears",))
    assert error.value.hint == "did you mean 'keras'?"


def test_dimensions_and_inputs_vary(tmp_path: Path) -> None:
    assert dimensions("image", (None, None, None, 3)) == ("batch", "image_1", "image_2", 3)
    job = ImportJob(importer="", text="", path="", folder="", samples="", sample_count=4, sizes={"x_1": 9})
    found = list(sampling.random(Sums(), job))
    assert [each["x"].shape for each in found] == [(2, 9, 3), (1, 9, 3), (3, 9, 3), (5, 9, 3)]
    assert all(each["n"].max() < 7 for each in found)
    assert not numpy.array_equal(found[0]["x"][0], found[1]["x"][0])
    with pytest.raises(ConfigError, match="no dynamic dimension has that name") as error:
        sampling.refuse_unknown_sizes(Sums().inputs, {"x1": 9})
    assert error.value.hint == "did you mean 'x_1'?"
    # Before each size the parent is told the next one: some frameworks crash on what is too small.
    for kind in ("samples", "recorded"):
        (tmp_path / kind).mkdir()
    told: list[Json] = []
    job = ImportJob(importer="", text="", path="", folder=str(tmp_path), samples="", sample_count=2, sizes={})
    varied = sampling.record(Listens(), job, told.append)
    assert [each["x_1"] for each in varied.sizes] == [512 * 32, 512 * 40]
    assert [each["larger"] for each in told if "loaded" in each] == [16, 512, 0]
    with pytest.raises(ModelError, match="rejects random inputs with batch = 2, x_1 = 9: ValueError: too short"):
        sampling.record(Listens(), replace(job, sizes={"x_1": 9}), told.append)
    proto = onnx_model(
        "(float[n, 4] x) => (float[1] label, float[unk__1, 3] scores) { label = Relu (x) scores = Relu (x) }"
    )
    sizes = [{"batch": 2}, {"batch": 5}]
    name_outputs(proto, sizes, [[[2], [2, 3]], [[5], [5, 3]]])
    assert [each.dimensions for each in ports(proto.graph.output)] == [("batch",), ("batch", 3)]


@dataclass(frozen=True)
class Sums:
    """A model of a framework that needs no package."""

    made_with = "sums 1"
    inputs = (
        Input(name="x", dtype="float32", shape=("batch", "x_1", 3)),
        Input(name="n", dtype="int64", shape=("batch",), limit=7),
    )

    def run(self, inputs: Arrays) -> Arrays:
        return {"sum": inputs["x"].sum() + inputs["n"]}

    def convert(self, path: Path) -> Converted:
        raise NotImplementedError


@dataclass(frozen=True)
class Listens(Sums):
    """A model that takes sound of 0.3 s and more."""

    def run(self, inputs: Arrays) -> Arrays:
        if inputs["x"].shape[1] < 5000:
            raise ValueError("too short")
        return super().run(inputs)


def test_transposes_are_taken_off_at_the_border_alone() -> None:
    text = """(float[batch, 8, 6, 3] x, float[2, 3] other) => (float[batch, 8, 6, 3] y, float[3, 2] z) {
        a = Transpose <perm = [0, 3, 1, 2]> (x)
        b = Relu (a)
        y = Transpose <perm = [0, 2, 3, 1]> (b)
        z = Transpose <perm = [1, 0]> (other)
    }"""
    proto = onnx_model(text)
    taken = layout.take_off(proto)
    assert (taken.inputs, taken.outputs) == ({"x": (0, 3, 1, 2)}, {"y": (0, 3, 1, 2)})
    assert [node.op_type for node in proto.graph.node] == ["Relu", "Transpose"]
    shapes = {each.name: each.dimensions for each in (*ports(proto.graph.input), *ports(proto.graph.output))}
    assert shapes == {"x": ("batch", 3, 8, 6), "other": (2, 3), "y": ("batch", 3, 8, 6), "z": (3, 2)}
    onnx.checker.check_model(proto)
    text = """(float[1, 8, 6, 3] x) => (float[1, 3, 8, 6] y, float[1, 8, 6, 3] z) {
        a = Transpose <perm = [0, 3, 1, 2]> (x)
        y = Relu (a)
        z = Relu (x)
    }"""
    assert layout.take_off(onnx_model(text)).names == ()
    text = """(float[1, 8, 6] x) => (float[1, 8, 6] y) {
        a = Relu (x)
        b = Transpose <perm = [0, 2, 1]> (a)
        c = Transpose <perm = [0, 2, 1]> (b)
        y = Relu (c)
    }"""
    proto = onnx_model(text)
    layout.remove_pairs(proto.graph)
    assert [node.op_type for node in proto.graph.node] == ["Relu", "Relu"]
    onnx.checker.check_model(proto)


def test_operators_without_onnx_are_named() -> None:
    proto = onnx_model("(float[1] x) => (float[1] y) { y = Erfc (x) }")
    answer = starting.answer_of(
        {
            "inputs": [],
            "outputs": [],
            "sizes": [],
            "shapes": [],
            "framework": "Keras 3",
            "converter": "tf2onnx 1",
            "names": {},
        }
    )
    with pytest.raises(ModelError, match="tf2onnx 1 has no ONNX operator for Erfc"):
        steps.refuse_unknown_operators(proto, answer)


def test_reasons_leave_out_places_in_code() -> None:
    error = ValueError('in user code:\n\n    File "x.py", line 1, in f\n        y = f(x)\n\n    ValueError: too large')
    assert sampling.reason(error) == "ValueError: too large"
