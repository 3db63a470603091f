"""Flutter: the Dart of a package is clean for the strictest analyzer, and its models compute what Python does."""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from packager.engines.environments.runtime import shipped_version
from packager.files.zips import unpack
from tests.cases.onnx_text import onnx_model, saved
from tests.toolchain import models, projects
from tests.toolchain.dart import PROBLEM, Dart, compile_kernel, configured_package, dart

PROGRAM = Path(__file__).parents[1] / "toolchain" / "dart_programs" / "checks.dart"


@dataclass(frozen=True)
class Ran:
    """Lines of the program, and the folder with its files."""

    said: Mapping[str, Any]
    folder: Path
    output: str

    def saved(self, name: str) -> NDArray[np.float32]:
        return np.fromfile(self.folder / name, np.float32)


@pytest.fixture(scope="module")
def toolchain() -> Dart:
    return dart()


@pytest.fixture(scope="module")
def package(toolchain: Dart, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, as an app has it that names its folder."""
    folder = tmp_path_factory.mktemp("flutter") / "models"
    unpack(projects.FLUTTER.archive(), folder)
    return configured_package(folder, "models")


def run_model(file: Path, inputs: Mapping[str, NDArray[Any]]) -> list[NDArray[np.float32]]:
    """The outputs of a model of the package, or of any other, in Python."""
    session = onnxruntime.InferenceSession(file.read_bytes())
    return [np.asarray(each) for each in session.run(None, dict(inputs))]


def pixels() -> NDArray[np.uint8]:
    return np.random.default_rng(5).integers(0, 256, (240, 320, 4), np.uint8)


def sound() -> NDArray[np.float32]:
    return (np.random.default_rng(6).standard_normal(576 * 3) / 4).astype(np.float32)


@pytest.fixture(scope="module")
def ran(toolchain: Dart, package: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One run of the program: it starts the virtual machine of Dart once."""
    folder = tmp_path_factory.mktemp("run")
    pixels().tofile(folder / "pixels")
    sound().tofile(folder / "sound")
    (folder / "none").write_bytes(b"this is not a model")
    saved(folder / "other", onnx_model("(float[2] x) => (float[2] y) { y = Neg (x) }"))
    shutil.copy(model_file(package, "orientation"), folder / "own")
    shutil.copy(PROGRAM, package / "checks.dart")
    library = toolchain.onnxruntime()
    program = compile_kernel(package, "checks.dart")
    done = toolchain.run(
        ["dart", "--enable-asserts", program, library, folder, folder / "none"],
        cwd=package,
        mounts={str(library.parent): library.parent, str(folder): folder},
    )
    for name in ("checks.dart", program):
        (package / name).unlink()
    assert done.returncode == 0, done.output
    said = dict(line.split(" ", 1) for line in done.output.splitlines() if re.match(r"\w+ [\[{\dt]", line))
    assert said.get("done") == "true", done.output
    return Ran({name: json.loads(text) for name, text in said.items()}, folder, done.output)


def model_file(package: Path, name: str) -> Path:
    return package / "models" / f"{name}.ort.tflite"


def picture_inputs(
    data: NDArray[np.uint8], chroma: NDArray[np.uint8], channels: list[int], conversion: list[int]
) -> dict[str, NDArray[Any]]:
    return {
        "x.pixels": data,
        "x.channels": np.array(channels),
        "x.orientation": np.array(1),
        "x.chroma": chroma,
        "x.conversion": np.array(conversion),
    }


def test_the_strictest_analyzer_has_nothing_to_say(toolchain: Dart, package: Path) -> None:
    done = toolchain.run(["dart", "analyze", "--fatal-infos", "--format=machine", "."], cwd=package)
    assert (done.returncode, PROBLEM.findall(done.output)) == (0, []), done.output


def test_the_code_is_formatted(toolchain: Dart, package: Path) -> None:
    done = toolchain.run(["dart", "format", "--output=none", "--set-exit-if-changed", "."], cwd=package)
    assert done.returncode == 0, done.output


def test_all_element_types_pass(ran: Ran) -> None:
    said = ran.said["every_type"]

    def turned(values: list[Any]) -> list[Any]:
        return [values[index] for index in (0, 3, 1, 4, 2, 5)]

    i64 = [9007199254740993, 2, 3, 4, 5, -6]
    assert said["f32"] == turned([1, 2, 3, 4, 5, 6])
    assert said["f64"] == turned([1, 2, 3, 4, 5, 0.1])
    assert said["f16"] == turned([0x3C00, 2, 3, 4, 5, 6])
    assert said["i8"] == turned([-128, 2, 3, 4, 5, 127])
    assert said["i16"] == turned([-32768, 2, 3, 4, 5, 32767])
    assert said["i32"] == turned([-(2**31), 2, 3, 4, 5, 2**31 - 1])
    assert said["i64"] == turned(i64)
    assert said["u8"] == turned([255, 2, 3, 4, 5, 6])
    assert said["flag"] == turned([1, 0, 0, 1, 1, 0])
    assert said["word"] == turned(["a", "", "größe", "日本", "\U0001f600", "f"])
    assert said["u16"] == turned([each % 2**16 for each in i64])
    assert said["u32"] == turned([each % 2**32 for each in i64])
    assert [int(each) % 2**64 for each in said["u64"]] == turned([each % 2**64 for each in i64])
    assert (said["doubled"], said["shape"]) == ([3.0], [3, 2])
    assert (said["columns"], said["columns_shape"]) == ([1, 3, 5, 2, 4, 6], [2, 3])


def test_a_real_model_gives_what_the_original_gives_in_python(ran: Ran) -> None:
    ids = np.array([[101, 2023, 2003, 1037, 3231, 102], [101, 7592, 102, 0, 0, 0]])
    given = {"input_ids": ids, "attention_mask": (ids > 0).astype(np.int64), "token_type_ids": np.zeros_like(ids)}
    (expected,) = run_model(models.minilm(), given)
    found = ran.saved("minilm.out").reshape(expected.shape)
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()
    assert ran.said["minilm"]["shape"] == list(expected.shape)


def test_pictures_are_classified_as_in_python(package: Path, ran: Ran) -> None:
    whole = pixels()
    flat = whole.ravel()
    luma = flat[: 240 * 320].reshape(240, 320, 1)
    chroma = np.stack([flat.reshape(-1)[: 120 * 320].reshape(120, 320)[:, ::2]] * 2, axis=-1)
    none = np.zeros((1, 1, 1), np.uint8)
    file = model_file(package, "orientation")
    (rgba,) = run_model(file, picture_inputs(whole, none, [0, 1, 2], [0, 0, 0]))
    (yuv,) = run_model(file, picture_inputs(luma, np.ascontiguousarray(chroma), [0, 0, 0], [0, 1, 1]))
    for found, expected in zip(ran.said["orientation"], (rgba, rgba, yuv), strict=True):
        scores = [found[label] for label in ("0", "90", "180", "270")]
        assert np.abs(np.array(scores) - expected.ravel()).max() <= 1e-5
    assert ran.said["orientation_top"] == [int(rgba.argmax())]


def test_a_state_is_carried_from_call_to_call(package: Path, ran: Ran) -> None:
    state = np.zeros((2, 1, 128), np.float32)
    expected = []
    for part in sound().reshape(3, 576, 1):
        given = {"input.samples": part, "input.rate": np.array(16000), "state": state, "sr": np.array(16000)}
        output, state = run_model(model_file(package, "silero-vad"), given)
        expected.append(float(output.ravel()[0]))
    assert np.abs(np.array(ran.said["silero"]) - [*expected, expected[0]]).max() <= 1e-5
    assert abs(expected[0] - expected[1]) > 1e-4, "the states make a difference"


def test_texts_are_tokenized_as_in_python(package: Path, ran: Ran) -> None:
    for text, found in zip(("The quick brown fox", "", "\U0001f600 the"), ran.said["tokens"], strict=True):
        points = np.array([ord(each) for each in text] or [-1], np.int32)
        (expected,) = run_model(model_file(package, "tokens"), {"input_ids.text": points})
        assert found == expected.ravel().tolist()


def test_self_tests_pass(ran: Ran) -> None:
    found = ran.said["self_tests"]
    assert found["names"] == [True, 18], "two samples of nine outputs"
    assert sorted(found) == ["minilm", "names", "orientation", "silero-vad"]
    assert all(passed and count > 0 for passed, count in found.values()), found


def test_a_device_that_gives_infinity_everywhere_has_lost_what_is_compared(ran: Ran) -> None:
    assert ran.said["infinities"] == [True, False]


def test_every_failure_has_its_code(ran: Ran) -> None:
    assert ran.said["errors"] == {
        "small": "badInput",
        "unshaped": "badInput",
        "cancelled": "cancelled",
        "disposed": "disposed",
        "library": "unsupported",
        "missing": "missing",
        "no file": "missing",
        "no model": "runtime",
        "corrupted": "corrupted",
        "other model": "badModel",
        "own model": "none",
        "options": "badOptions",
        "busy": "busy",
        "picture": "badInput",
        "cancelled under way": "cancelled",
    }


def test_providers_that_do_not_start_are_told_with_the_reason(ran: Ran) -> None:
    assert [name for name, _ in ran.said["fallbacks"]] == ["xnnpack", "nnapi"]
    assert all(reason for _, reason in ran.said["fallbacks"])
    ran_twice = ["run orientation null"] * 2
    assert ran.said["events"] == ["load orientation cpu", *ran_twice, "release orientation"]
    assert ran.said["info"] == ["orientation", projects.VERSION, 64, shipped_version()]


def test_what_apps_log_is_readable(ran: Ran) -> None:
    loaded, first, _, released, info, fallback, outputs, spec = ran.said["printed"]
    ms = r"[\d.]+ ms"
    assert re.fullmatch(rf"orientation {projects.VERSION} was loaded on cpu in {ms}, from bundled; without .*", loaded)
    assert re.fullmatch(rf"orientation ran on cpu in {ms}, after {ms} in the queue", first)
    assert released == "orientation was released: close"
    runtime = f"ONNX Runtime {shipped_version()}"
    file = r"orientation\.ort\.tflite, \d+ bytes, sha256 [0-9a-f]{64}"
    assert re.fullmatch(rf"orientation {projects.VERSION}, {file}, {re.escape(runtime)}", info)
    assert fallback.startswith("xnnpack: ")
    assert re.fullmatch(r"\w+ \[\d+\]: [\d.e-]+(, [\d.e-]+)+", outputs), outputs
    assert spec == "x.pixels: uint8 [?, ?, ?]"


def test_the_telemetry_of_the_runtime_is_off(ran: Ran) -> None:
    """When it starts, ONNX Runtime 1.29 asks `blkid` for the disks of the machine: the shell says that it has none."""
    assert "blkid" not in ran.output


def test_of_frames_that_come_while_the_model_is_busy_the_latest_is_run(ran: Ran) -> None:
    assert 1 <= ran.said["frames"] <= 3


def test_isolates_run_models_at_once(ran: Ran) -> None:
    together, apart = ran.said["isolates"]
    assert together == apart
    assert len(set(apart)) > 1


def test_memory_is_flat_over_a_thousand_runs_and_fifty_loads(ran: Ran) -> None:
    """In KiB."""
    found = ran.said["memory"]
    assert found["runs"] < 16 * 1024, found
    assert found["loads"] < 16 * 1024, found


def test_a_model_that_nobody_refers_to_is_given_back(ran: Ran) -> None:
    """In threads: ten models have four each besides that which runs them."""
    loaded, left = ran.said["forgotten"]
    assert loaded >= 30
    assert left <= 8
