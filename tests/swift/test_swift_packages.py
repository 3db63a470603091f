"""The Swift package that `mobpack build` makes gives the original's numbers, and refuses invalid input.

Everything is real but the system: the archive of the pipeline, Swift's own compiler and package manager, ONNX Runtime
for Linux, OpenSSL in the place of CryptoKit. The right numbers come from the original .onnx file in Python's ONNX
Runtime. Each test in the files of `toolchain/swift_tests/` is one here.
"""

import hashlib
import json
import re
import struct
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from tests.toolchain import models, projects, swift_packages
from tests.toolchain.projects import GENERATED_TYPES
from tests.toolchain.swift import swift
from tests.toolchain.swift_packages import MODULE, Compiled, Outcomes
from tests.toolchain.swift_stand_ins import with_crypto

Arrays = Mapping[str, NDArray[Any]]

SOURCES = (
    "PageOrientationTests",
    "VoiceActivityTests",
    "SentenceEmbeddingTests",
    "CornersTests",
    "GeneratedTests",
    "FilesTests",
)
SELF_TESTS = {
    name: f"SelfTests.test{title}ComputesWhatItDidWhereItWasBuilt"
    for name, title in {
        "orientation": "OrientationModel",
        "silero-vad": "SileroVad",
        "minilm": "Minilm",
        "corners": "Corners",
        "generated": "Generated",
    }.items()
}
EDGES = (0, -0.0, 1e-45, 65519.99, 65520, np.inf)
APART = 1e-3
"""Least difference between answers for orientations that a model must tell apart."""


@pytest.fixture(scope="module")
def swift_tests(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """The package, compiled with its own tests and with those of `swift_tests/`, as its manifest wants it compiled.

    Checksums of its models come from CryptoKit, as on Apple's systems. Its own code for others, which nobody optimizes
    here, took most of a run; the programs of small nets (`swift_nets.py`) have it.
    """
    swift()  # before anything is built that could not be compiled
    folder = tmp_path_factory.mktemp("swift-tests")
    package = swift_packages.with_tests(swift_packages.unpack(projects.IOS.folder(), folder / "package"))
    with_crypto(package)
    return swift_packages.compiled(package, folder / "scratch")


@pytest.fixture(scope="module")
def values(swift_tests: Compiled, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inputs, and the originals' outputs for them."""
    arrays = {**pages(), **speech(), **sentences(), **numbers(), **sixteen_bits()}
    graph = described(swift_tests, "orientation/fixed.onnx", weights="orientation/model.ort")
    files = json.dumps(graph | described(swift_tests, "orientation/model.ort"))
    arrays["orientation.files"] = np.frombuffer(files.encode(), np.uint8)
    return swift_packages.write_values(tmp_path_factory.mktemp("values"), arrays)


@pytest.fixture(scope="module")
def tested(swift_tests: Compiled, values: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """All tests in Swift, run once."""
    every = ",".join(f"{MODULE}Tests.{source}" for source in (*SOURCES, "SelfTests"))
    return swift_tests.run(every, tmp_path_factory.mktemp("run"), environment={"MOBPACK_VALUES": str(values)})


def described(package: Compiled, path: str, *, weights: str = "") -> dict[str, str]:
    """A package's entry for a model's file: its SHA-256, and its size with its weights."""
    content = package.read(path)
    size_bytes = len(content) + (len(package.read(weights)) if weights else 0)
    return {path: sha256(content), f"size of {path}": str(size_bytes)}


def pages() -> Arrays:
    pages = np.random.default_rng(1).normal(size=(2, 3, 224, 224)).astype(np.float32)
    pages[1, :, ::16] += 3  # lines of text, as it were
    (scores,) = session(models.orientation()).run(None, {"x": pages})
    assert np.abs(scores[0] - scores[1]).max() > APART
    return {"orientation.x": pages, "orientation.fetch_name_0": scores}


def speech() -> Arrays:
    time = np.arange(6 * 576) / 16000
    audio = (np.sin(2 * np.pi * 160 * time * (1 + time)) * np.sin(2 * np.pi * 4 * time)).astype(np.float32)
    vad = session(models.silero_vad())
    state, found = np.zeros((2, 1, 128), np.float32), []
    for window in audio.reshape(6, 1, 576):
        probability, state = vad.run(None, {"input": window, "state": state, "sr": np.array(16000, np.int64)})
        found.append(probability[0, 0])
    assert np.abs(state).max() > 0.1, "the state must have moved"
    return {"silero.audio": audio, "silero.output": np.array(found, np.float32), "silero.stateN": state}


def sentences() -> Arrays:
    mask = np.ones((2, 9), np.int64)
    mask[1, 6:] = 0
    inputs = {
        "input_ids": np.random.default_rng(2).integers(1000, 30000, (2, 9)),
        "attention_mask": mask,
        "token_type_ids": np.zeros((2, 9), np.int64),
    }
    (states,) = session(models.minilm()).run(None, inputs)
    assert np.abs(states[0] - states[1]).max() > APART
    return {**{f"minilm.{name}": array for name, array in inputs.items()}, "minilm.last_hidden_state": states}


def numbers() -> Arrays:
    """All bits of every type."""
    random = np.random.default_rng(3)
    made: dict[str, NDArray[Any]] = {}
    for name in GENERATED_TYPES:
        element = np.dtype({"float": "float32", "double": "float64"}.get(name, name))
        whole = random.integers(0, 256, 3 * 67 * element.itemsize).astype(np.uint8).view(element)
        made[f"generated.{name}"] = random.normal(size=(3, 67)).astype(element) if element.kind == "f" else whole
    made["generated.bool"] = random.integers(0, 2, (3, 67)).astype(np.bool_)
    return made


def sixteen_bits() -> Arrays:
    every = np.arange(1 << 16).astype(np.uint16).view(np.float16)
    ties = every[np.isfinite(every)].astype(np.float32)
    halfway = (ties[:-1] + ties[1:]) / 2
    random = np.random.default_rng(4).integers(0, 1 << 32, 20_000, np.uint32).view(np.float32)
    many = np.concatenate([halfway, random[~np.isnan(random)], np.array(EDGES, np.float32)])
    bits = many.view(np.uint32).astype(np.uint64)
    with np.errstate(over="ignore"):
        halves = many.astype(np.float16)
    upper = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return {
        "half.floats": every.astype(np.float32),
        "rounded.floats": many,
        "rounded.halves": halves.view(np.uint16),
        "rounded.upper": upper,
    }


def session(model: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("case", [case for source in SOURCES for case in swift_packages.cases(source)])
def test_in_swift(tested: Outcomes, case: str) -> None:
    assert tested.by_case.get(case) == "passed", tested.words(case) or tested.output[-2000:]


@pytest.mark.parametrize("model", SELF_TESTS)
def test_a_model_passes_the_test_that_its_package_brings(tested: Outcomes, model: str) -> None:
    words = tested.words(SELF_TESTS[model])

    assert tested.by_case.get(SELF_TESTS[model]) == "passed", words
    assert re.search(rf"Self-test of {model} on CPU \({model}/\S+\): passed\n", words)


def test_every_test_that_the_package_brings_ran(tested: Outcomes) -> None:
    assert {case for case in tested.by_case if case.startswith("SelfTests.")} == set(SELF_TESTS.values())


def test_random_inputs_of_every_type_are_made_bit_for_bit(tested: Outcomes) -> None:
    words = tested.words(SELF_TESTS["generated"])

    for name in GENERATED_TYPES:
        assert f"{name}_out, sample 0: values compared for equality" in words or (
            f"{name}_out, sample 0: error 0.0e+00" in words
        ), name


@pytest.fixture
def altered(swift_tests: Compiled, tmp_path: Path) -> Compiled:
    """A copy of the tests whose files may be replaced."""
    return swift_tests.copy(tmp_path / "altered")


def self_test(package: Compiled, model: str, scratch: Path) -> Outcomes:
    return package.run(f"{MODULE}Tests.{SELF_TESTS[model].replace('.', '/')}", scratch)


@pytest.mark.parametrize(
    ("model", "tensor", "index", "value", "failed"),
    [
        ("orientation", "0.output.fetch_name_0", 2, struct.pack("<f", 9.0), "fetch_name_0, sample 0"),
        ("silero-vad", "0.output.stateN", 7, struct.pack("<f", 9.0), "stateN, sample 0"),
        ("generated", "0.output.float_out", 0, struct.pack("<f", np.nan), "float_out, sample 0"),
        ("generated", "0.recipe.uint16_in", 0, struct.pack("<q", 12345), "uint16_out, sample 0"),
        ("generated", "0.recipe.double_in", 0, struct.pack("<q", 12345), "double_out, sample 0"),
        ("generated", "0.output.int64_out", 3, struct.pack("<q", 2**40), "int64_out, sample 0"),
        ("corners", "0.output.doubled", 0, struct.pack("<f", 2.4), "doubled, sample 0"),
    ],
)
def test_other_golden_values_fail_and_name_output_and_sample(
    altered: Compiled, tmp_path: Path, model: str, tensor: str, index: int, value: bytes, failed: str
) -> None:
    place = f"{model}/golden.safetensors"
    content = edited(altered.read(place), tensor, index, value)
    altered.admit(sha256(altered.read(place)), sha256(content))
    altered.replace(place, content)

    found = self_test(altered, model, tmp_path / "run")

    assert found.by_case == {SELF_TESTS[model]: "failed"}, found.output
    assert re.search(rf"Self-test of {model} on CPU \({model}/\S+\): FAILED\n", found.output)
    assert f"{failed}: FAILED, " in found.output
    assert found.output.count(": FAILED, ") == found.output.count(f"{failed}: FAILED, ")


def test_golden_values_that_were_tampered_with_are_refused(altered: Compiled, tmp_path: Path) -> None:
    place = "orientation/golden.safetensors"
    altered.replace(place, edited(altered.read(place), "0.output.fetch_name_0", 0, struct.pack("<f", 9.0)))

    found = self_test(altered, "orientation", tmp_path / "run")

    assert found.by_case == {SELF_TESTS["orientation"]: "failed"}
    assert f"{place} has sha256 " in found.output


def test_a_model_in_the_package_that_was_tampered_with_is_refused(altered: Compiled, tmp_path: Path) -> None:
    content = bytearray(altered.read("orientation/model.ort"))
    content[len(content) // 2] ^= 1
    altered.replace("orientation/model.ort", bytes(content))

    found = self_test(altered, "orientation", tmp_path / "run")

    assert found.by_case == {SELF_TESTS["orientation"]: "failed"}
    assert f"orientation/model.ort has sha256 {sha256(bytes(content))}" in found.output


def test_a_model_with_another_weight_fails(altered: Compiled, tmp_path: Path) -> None:
    content = altered.read("orientation/model.ort")
    other = bytearray(content)
    weights = np.frombuffer(other, np.float32, offset=len(content) // 2 // 4 * 4, count=2000)
    weights *= np.float32(-4)  # in place
    altered.admit(sha256(content), sha256(bytes(other)))
    altered.replace("orientation/model.ort", bytes(other))

    found = self_test(altered, "orientation", tmp_path / "run")

    assert found.by_case == {SELF_TESTS["orientation"]: "failed"}
    assert "fetch_name_0, sample 0: FAILED, error " in found.output


def test_a_file_that_is_missing_in_the_package_is_named(altered: Compiled, tmp_path: Path) -> None:
    (altered.folder / swift_packages.BUNDLE / "Models" / "silero-vad" / "model.ort").unlink()

    found = self_test(altered, "silero-vad", tmp_path / "run")

    assert found.by_case == {SELF_TESTS["silero-vad"]: "failed"}
    assert "silero-vad/model.ort is missing, or cannot be read or written" in found.output


def test_processes_may_load_for_the_first_time_at_once_and_keep_what_they_checked(
    altered: Compiled, tmp_path: Path
) -> None:
    caches = tmp_path / "caches"
    caches.mkdir()
    case = SELF_TESTS["orientation"]

    def run(name: str) -> Mapping[str, str]:
        cases = f"{MODULE}Tests.{case.replace('.', '/')}"
        return altered.run(cases, tmp_path / name, environment={"XDG_CACHE_HOME": str(caches)}).by_case

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(run, ["one", "other"])) == [{case: "passed"}] * 2
    records = {path.name: path.read_text(encoding="utf-8") for path in caches.rglob("*.checked") if path.is_file()}
    checked = [altered.read(f"orientation/{name}") for name in ("model.ort", "fixed.onnx", "golden.safetensors")]
    assert {f"{sha256(each)}.checked" for each in checked} >= records.keys()
    assert f"{sha256(checked[0])}.checked" in records

    assert run("later") == {case: "passed"}
    assert {
        path.name: path.read_text(encoding="utf-8") for path in caches.rglob("*.checked") if path.is_file()
    } == records


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def edited(content: bytes, tensor: str, index: int, value: bytes) -> bytes:
    """Golden vectors with another value for one element of a tensor, or for a number of a recipe."""
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    at = 8 + length + header[tensor]["data_offsets"][0] + index * len(value)
    assert content[at : at + len(value)] != value
    return content[:at] + value + content[at + len(value) :]
