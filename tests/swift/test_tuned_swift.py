"""Settings by chip in Swift: a package follows those that were measured for its device, and opens the variant that was
the fastest there, unless the app sets its own.

The device's identifier is that of the machine (`uname`), in whose place a library stands that has any name.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.cases.onnx_text import onnx_model, saved, weight
from tests.toolchain import chip
from tests.toolchain.swift import swift
from tests.toolchain.swift_app import HOME, App
from tests.toolchain.swift_projects import build as swift_app

CHAIN = "(float[8, 64] x) => (float[8, 64] y) { h = MatMul (x, w) y = Relu (h) }"
PROJECT = """\
[package]
name = "models"

[model.chain]
path = "chain.onnx"

[model.plain]
path = "plain.onnx"

[variant.int8]
quantizer = "static-qdq"
calibration = "samples.npy"

[parity]
random-samples = 1

[check]
gain = "skip"

[target.ios]
providers = ["coreml", "xnnpack"]

[target.ios.tuned."iPhone17,1".chain]
providers = ["xnnpack"]
threads = 2
provider-options = { xnnpack = { intra_op_num_threads = "3" } }
variant = "int8"

[target.ios.tuned."iPhone17,1".plain]
providers = ["cpu"]
variant = "int8"

[target.ios.tuned."iPhone15,2".chain]
providers = ["xnnpack"]
"""
TUNED, OTHER, UNKNOWN = "iPhone17,1", "iPhone15,2", "iPhone1,1"
RESOURCE = r'path: "{}",\s+sha256: ("\w+"),\s+endsSha256: ("\w+"),\s+sizeBytes: (\d+)'


def exchange(package: Path) -> None:
    """Puts the int8 file of `chain` in the place of that of `plain`, and has the code expect it."""
    sources = package / "Sources/ModelsKit"
    models = sources / "Resources/Models"
    (models / "plain-int8/model.ort").write_bytes((models / "chain-int8/model.ort").read_bytes())
    right = re.search(RESOURCE.format("chain-int8/model.ort"), (sources / "Chain.swift").read_text())
    text = (sources / "Plain.swift").read_text()
    wrong = re.search(RESOURCE.format("plain-int8/model.ort"), text)
    assert right
    assert wrong
    for place, value in sorted(((wrong.span(each), right[each]) for each in (1, 2, 3)), reverse=True):
        text = text[: place[0]] + value + text[place[1] :]
    (sources / "Plain.swift").write_text(text, encoding="utf-8", newline="\n")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    swift()
    folder = tmp_path_factory.mktemp("tuned")
    saved(folder / "chain.onnx", onnx_model(CHAIN, weights={"w": weight(64, 64)}))
    saved(folder / "plain.onnx", onnx_model(CHAIN.replace("h", "g"), weights={"w": weight(64, 64, seed=1)}))
    np.save(folder / "samples.npy", np.random.default_rng(1).standard_normal((32, 8, 64)).astype(np.float32))
    (folder / "mobpack.toml").write_text(PROJECT, encoding="utf-8", newline="\n")
    return swift_app(folder, "ModelsKit", {"main.swift": HOME / "tuned.swift"}, exchange)


@pytest.fixture(scope="module")
def said(app: App, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, str]]:
    """Words of the app on each device, by the name of the load."""
    found = {}
    for device in (TUNED, OTHER, UNKNOWN):
        scratch = tmp_path_factory.mktemp("scratch")
        done = app.run(scratch=scratch, mounts=(chip.library().parent,), environment=chip.variables(device))
        assert done.returncode == 0, done.output
        found[device] = dict(line.split(": ", 1) for line in done.output.splitlines())
    return found


def test_a_device_opens_what_was_the_fastest_on_it(said: Mapping[str, Mapping[str, str]]) -> None:
    assert said[TUNED]["usual"] == "chain-int8/model.ort, fell back from XNNPACK: passed"
    assert said[OTHER]["usual"] == "chain/fixed.onnx, fell back from XNNPACK: passed"
    assert said[UNKNOWN]["usual"] == "chain/fixed.onnx, fell back from CoreML, XNNPACK: passed"


def test_an_app_s_own_settings_stay(said: Mapping[str, Mapping[str, str]]) -> None:
    assert said[TUNED]["off"] == "chain/fixed.onnx, fell back from CoreML, XNNPACK: passed"
    assert said[TUNED]["own order"] == "chain/fixed.onnx, fell back from CoreML: passed"
    assert said[TUNED]["own threads"] == said[TUNED]["usual"], "threads leave the variant as it is"


def test_the_self_test_is_about_the_file_that_is_open(said: Mapping[str, Mapping[str, str]]) -> None:
    """The int8 file of `plain` is that of another model, its own file is right."""
    assert said[TUNED]["the CPU alone"] == "plain-int8/model.ort, fell back from : failed"
    assert said[OTHER]["the CPU alone"] == "plain/fixed.onnx, fell back from CoreML, XNNPACK: passed"
