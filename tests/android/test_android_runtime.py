"""The library that `mobpack build` makes runs on ONNX Runtime's Android libraries and gives the original's numbers.

Everything but the device is real: the .aar of the pipeline, ONNX Runtime's classes and native libraries. The right
numbers come from the original .onnx file in desktop ONNX Runtime.
"""

import os
import shutil
import zipfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from packager.files.hashes import sha256_of
from tests.toolchain import models
from tests.toolchain.device import Device, Library, device, write_apk
from tests.toolchain.warm_apps import warm

__all__ = ["warm"]


Arrays = Mapping[str, NDArray[Any]]
Installer = Callable[..., Device]

TOLERANCE = 1e-5
XNNPACK_TOLERANCE = 1e-4
"""other kernels add in another order; measured here: 1.2e-7 for the vision model, the CPU's bits for the other two"""

ORIENTATION_ASSET = "assets/mobpack/models/orientation.ort.tflite"


@pytest.fixture
def install(models_library: Library, tmp_path: Path) -> Installer:
    """Puts an app with the library on a new device."""

    def install(*, is_stored: bool = True) -> Device:
        return device(models_library, tmp_path, is_stored=is_stored)

    return install


@pytest.fixture
def phone(install: Installer) -> Device:
    """A device whose app keeps its assets uncompressed."""
    return install()


@dataclass(frozen=True, kw_only=True)
class Case:
    """One real model: the app that uses it, its inputs and the expected outputs."""

    app: str
    inputs: Arrays
    expected: Arrays
    sizes: Mapping[str, Any]

    def errors(self, phone: Device) -> dict[str, float]:
        """Largest error of each output that the app wrote."""
        return {
            name: float(np.abs(phone.output(name, array.dtype, *array.shape) - array).max())
            for name, array in self.expected.items()
        }


def page_orientation() -> Case:
    pages = np.random.default_rng(1).normal(size=(2, 3, 224, 224)).astype(np.float32)
    pages[1, :, ::16] += 3  # lines of text, as it were
    (scores,) = session(models.orientation()).run(None, {"x": pages})
    assert np.abs(scores[0] - scores[1]).max() > 100 * TOLERANCE, "the pages must not look alike to the model"
    return Case(app="PageOrientation", inputs={"x": pages}, expected={"fetch_name_0": scores}, sizes={"batch": 2})


def voice_activity() -> Case:
    time = np.arange(6 * 576) / 16000
    audio = (np.sin(2 * np.pi * 160 * time * (1 + time)) * np.sin(2 * np.pi * 4 * time)).astype(np.float32)
    vad = session(models.silero_vad())
    state, speech = np.zeros((2, 1, 128), np.float32), []
    for window in audio.reshape(6, 1, 576):
        probability, state = vad.run(None, {"input": window, "state": state, "sr": np.array(16000, np.int64)})
        speech.append(probability[0, 0])
    assert np.abs(state).max() > 0.1, "the state must have moved"
    return Case(
        app="VoiceActivity",
        inputs={"audio": audio},
        sizes={"windows": 6},
        expected={"output": np.array(speech, np.float32), "stateN": state},
    )


def sentence_embedding() -> Case:
    numbers = np.random.default_rng(2)
    mask = np.ones((2, 9), np.int64)
    mask[1, 6:] = 0
    inputs = {
        "input_ids": numbers.integers(1000, 30000, (2, 9)),
        "attention_mask": mask,
        "token_type_ids": np.zeros((2, 9), np.int64),
    }
    (states,) = session(models.minilm()).run(None, inputs)
    assert np.abs(states[0] - states[1]).max() > 100 * TOLERANCE, "the sentences must not look alike to the model"
    return Case(
        app="SentenceEmbedding",
        inputs=inputs,
        sizes={"batch": 2, "sequence": 9},
        expected={"last_hidden_state": states},
    )


def session(model: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


REAL_MODELS = [page_orientation, voice_activity, sentence_embedding]


@pytest.mark.parametrize("is_stored", [True, False], ids=["stored", "deflated"])
@pytest.mark.parametrize("make", REAL_MODELS)
def test_on_the_cpu_a_real_model_equals_the_original(
    make: Callable[[], Case], is_stored: bool, install: Installer
) -> None:
    case, phone = make(), install(is_stored=is_stored)

    facts = phone.run_warm(case.app, case.inputs, providers="CPU", **case.sizes).facts

    errors = case.errors(phone)
    print(f"{case.app} on CPU: {errors}, load {facts['load.ms']} ms, run {facts['run.ms']} ms")
    assert max(errors.values()) <= TOLERANCE, errors
    assert (facts["provider"], facts["fallbacks"]) == ("CPU", "")


@pytest.mark.parametrize("make", REAL_MODELS)
def test_on_xnnpack_a_real_model_is_close_to_the_original(make: Callable[[], Case], phone: Device) -> None:
    case = make()

    facts = phone.run_warm(case.app, case.inputs, providers="XNNPACK", **case.sizes).facts

    errors = case.errors(phone)
    print(f"{case.app} on XNNPACK: {errors}, load {facts['load.ms']} ms, run {facts['run.ms']} ms")
    assert max(errors.values()) <= XNNPACK_TOLERANCE, errors
    assert (facts["provider"], facts["fallbacks"]) == ("XNNPACK", "")


def test_xnnpack_really_takes_the_convolutions_of_the_vision_model(phone: Device) -> None:
    case = page_orientation()
    scores = {}
    for provider in ("CPU", "XNNPACK"):
        phone.run_warm(case.app, case.inputs, providers=provider, **case.sizes)
        scores[provider] = phone.output("fetch_name_0", np.float32, 2, 4)

    assert not np.array_equal(scores["CPU"], scores["XNNPACK"]), "same bits: the same kernels computed both"


def test_a_stored_asset_is_mapped_where_it_lies_and_a_deflated_one_is_copied_once(install: Installer) -> None:
    case = page_orientation()

    stored, deflated = (
        install(is_stored=is_stored).run(case.app, case.inputs, providers="CPU", **case.sizes).facts
        for is_stored in (True, False)
    )

    assert (stored["mapped"], stored["opened"], stored["apk.isMapped"]) == ("1", "0", "true")
    assert (deflated["mapped"], deflated["opened"], deflated["apk.isMapped"]) == ("0", "1", "false")
    assert stored["copies"] == ""
    assert Path(deflated["copies"]).name == "orientation.ort.tflite"


def test_info_says_which_model_and_which_runtime_this_is(phone: Device) -> None:
    case = page_orientation()

    facts = phone.run_warm(case.app, case.inputs, providers="CPU", **case.sizes).facts

    with zipfile.ZipFile(phone.library.aar) as archive:
        asset = archive.read(ORIENTATION_ASSET)
    (phone.folder / "asset.ort").write_bytes(asset)
    assert facts["info.sha256"] == sha256_of(phone.folder / "asset.ort")
    assert facts["info.sizeBytes"] == str(len(asset))
    assert (facts["info.name"], facts["info.version"]) == ("orientation", "1.0.0")
    assert facts["info.onnxRuntimeVersion"] == "1.29.0"
    assert facts["shape"] == "2,4"


def test_every_element_type_that_the_java_api_carries_goes_in_and_comes_out(phone: Device) -> None:
    numbers = np.random.default_rng(3)
    inputs: dict[str, NDArray[Any]] = {
        "f32": numbers.normal(size=(2, 3)).astype(np.float32),
        "f64": numbers.normal(size=(2, 3)),
        "f16": numbers.normal(size=(2, 3)).astype(np.float16),
        "i8": np.array([[-128, -1, 0], [1, 2, 127]], np.int8),
        "i16": np.array([[-32768, -1, 0], [1, 2, 32767]], np.int16),
        "i32": np.array([[-(2**31), -1, 0], [1, 2, 2**31 - 1]], np.int32),
        "i64": np.array([[1, 2, 3], [40000, 70000, 2**40]], np.int64),
        "u8": np.array([[0, 1, 2], [127, 128, 255]], np.uint8),
        "flag": np.array([[True, False, False], [True, True, False]]),
        "scalar": np.array(1.25, np.float32),
        "rows": numbers.normal(size=(4, 3)).astype(np.float32),
    }

    facts = phone.run_warm("EveryElementType", inputs, providers="CPU").facts

    for name in ("f32", "f64", "f16", "i8", "i16", "i32", "i64", "u8", "flag"):
        array = inputs[name]
        assert np.array_equal(phone.output(f"{name}_t", array.dtype, 3, 2), array.T), name
    for name, element in (("u16", np.uint16), ("u32", np.uint32), ("u64", np.uint64)):
        assert np.array_equal(phone.output(f"{name}_t", element, 3, 2), inputs["i64"].T.astype(element)), name
    assert facts["word_t"] == "|".join(["", "日本", "a", "tab\there", "Zürich", "🙂"])
    assert phone.output("doubled", np.float32) == 2.5
    assert np.array_equal(phone.output("columns", np.float32, 3, 4), inputs["rows"].T)
    assert facts["columns.shape"] == "3,4"
    assert (facts["columns.shape of no rows"], facts["columns of no rows"]) == ("3,0", "0")


@pytest.fixture(scope="module")
def refusals(models_library: Library, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return device(models_library, tmp_path_factory.mktemp("refusals")).run("Refusals").facts


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("one value too few", "`x` holds 150527 values, shape [1, 3, 224, 224] needs 150528"),
        ("one value too many", "`x` holds 150529 values, shape [1, 3, 224, 224] needs 150528"),
        ("other batch than its buffer", "`x` holds 150528 values, shape [2, 3, 224, 224] needs 301056"),
        ("buffer on the heap", "`x` is not a direct buffer"),
        ("foreign byte order", "`x` has byte order BIG_ENDIAN, ONNX Runtime reads LITTLE_ENDIAN"),
        ("negative size", "`x`: shape [-1, 3, 224, 224] has a negative size"),
        ("size beyond a buffer", "`x`: shape [2147483647, 3, 224, 224] has more than 2^31 values"),
        ("two inputs that disagree", "`token_type_ids` holds 7 values, shape [1, 8] needs 8"),
    ],
)
def test_a_wrong_input_is_refused_before_native_code_sees_it(
    refusals: Mapping[str, str], mistake: str, message: str
) -> None:
    assert refusals[f"{mistake}.thrown"] == "java.lang.IllegalArgumentException"
    assert refusals[f"{mistake}.message"] == message


@pytest.mark.parametrize("use", ["runBlocking", "warmUpBlocking", "run"])
def test_a_closed_model_refuses_work(refusals: Mapping[str, str], use: str) -> None:
    assert refusals[f"{use} after close.thrown"] == "java.lang.IllegalStateException"
    assert refusals[f"{use} after close.message"] == "OrientationModel is closed"


def test_closing_twice_does_nothing(refusals: Mapping[str, str]) -> None:
    assert refusals["second close.thrown"] == "null"


def test_a_provider_that_is_not_in_the_runtime_falls_back_to_the_next_and_says_so(refusals: Mapping[str, str]) -> None:
    assert (refusals["fallback"], refusals["after QNN"]) == ("QNN", "XNNPACK")
    assert "QNN execution provider is not supported in this build" in refusals["fallback.reason"]
    assert "W/OrientationModel: QNN did not start with mobpack/models/orientation" in refusals["log"]


def test_without_options_the_providers_of_the_package_are_tried_in_its_order(phone: Device) -> None:
    case = page_orientation()

    run = phone.run_warm(case.app, case.inputs, **case.sizes)

    # NNAPI starts on a device that has no accelerator, and leaves every node to the CPU.
    assert (run.facts["fallbacks"], run.facts["provider"]) == ("QNN", "NNAPI"), run.log
    assert max(case.errors(phone).values()) <= TOLERANCE


def test_a_device_older_than_nnapi_falls_back_and_says_so(phone: Device) -> None:
    case = page_orientation()

    run = phone.run_warm(case.app, case.inputs, properties={"android.sdk": 26}, **case.sizes)

    assert (run.facts["fallbacks"], run.facts["provider"]) == ("QNN,NNAPI", "XNNPACK"), run.log
    assert ": NNAPI needs API level 27, this device has 26" in run.log
    assert max(case.errors(phone).values()) <= XNNPACK_TOLERANCE


def test_values_that_the_model_refuses_are_an_exception_and_the_model_still_works(refusals: Mapping[str, str]) -> None:
    assert refusals["value the model refuses.thrown"] == "com.example.models.ModelException"
    assert refusals["value the model refuses.message"].startswith("Minilm failed to run: ")
    assert refusals["values after a refusal"] == str(4 * 384)


def test_threads_that_share_a_model_each_get_the_answer_to_their_own_input(phone: Device) -> None:
    threads = 4
    pages = np.random.default_rng(4).normal(size=(threads, 3, 224, 224)).astype(np.float32)
    pages *= np.arange(1, threads + 1, dtype=np.float32).reshape(-1, 1, 1, 1)
    (expected,) = session(models.orientation()).run(None, {"x": pages})

    facts = phone.run("ManyThreads", {"x": pages}, providers="CPU", threads=threads, runs=8).facts

    found = np.concatenate([phone.output(f"fetch_name_0.{number}", np.float32, 1, 4) for number in range(threads)])
    assert np.abs(found - expected).max() <= TOLERANCE
    assert min(np.abs(expected[0] - other).max() for other in expected[1:]) > 100 * TOLERANCE
    assert [facts[f"changed.{number}"] for number in range(threads)] == ["0"] * threads
    assert int(facts["most at once"]) > 1


def test_close_waits_for_the_runs_that_have_started_and_stops_later_ones(phone: Device) -> None:
    facts = phone.run("CloseWhileRunning", providers="CPU").facts

    assert facts["finished after close"] == "0"
    assert facts["failures"] == "|".join(["Minilm is closed"] * 3)


def test_an_output_that_is_passed_again_keeps_its_memory_and_async_runs_give_the_same(phone: Device) -> None:
    facts = phone.run("Reuse", {"audio": voice_activity().inputs["audio"][:576]}, providers="CPU").facts

    assert facts["buffers made by 50 runs into one output"] == "0"
    assert facts["same buffer"] == "true"
    assert facts["buffers made by 5 runs into new outputs"] == "5"
    assert facts["again"] == facts["first"]
    assert facts["asynchronous"] == ",".join([facts["first"]] * 3)
    assert facts["asynchronous has a thread of its own"] == "true"


@pytest.fixture(scope="module")
def cancelled(models_library: Library, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return device(models_library, tmp_path_factory.mktemp("cancelled")).run("Cancel", providers="CPU").facts


def test_a_cancelled_run_ends_at_its_next_operator(cancelled: Mapping[str, str]) -> None:
    """It fails, and a call that waits for it is dropped while it goes on."""
    assert cancelled["cancelled"] == "true"
    assert cancelled["later"] == "true"


def test_neither_a_cancelled_call_nor_close_waits_for_a_model_that_is_opened(cancelled: Mapping[str, str]) -> None:
    assert (cancelled["cancel during an opening"], cancelled["close during an opening"]) == ("true", "true")
    assert "Cancellation" in cancelled["cancel.call"]
    assert (cancelled["close.call"], cancelled["after cancel"]) == ("IllegalStateException", "4")


def test_calls_beyond_the_queue_fail_at_once(cancelled: Mapping[str, str]) -> None:
    assert cancelled["full"] == "ran,ran,ran,ModelBusyException,ModelBusyException"
    assert (cancelled["full.message"], cancelled["full.type"]) == (
        "OrientationModel is busy: its queue is full",
        "true",
    )
    assert cancelled["after full"] == "true"
    assert cancelled["a cancelled call gives its place back"] == "true"


def test_of_the_frames_that_come_meanwhile_the_latest_alone_is_answered(cancelled: Mapping[str, str]) -> None:
    assert cancelled["frames"] == "0,19"


def test_frames_end_with_their_source_and_their_reader(cancelled: Mapping[str, str]) -> None:
    assert len(cancelled["frames until the first"].split(",")) == 1
    assert cancelled["the source ended with its reader"] == "true"
    assert cancelled["the source's failure"] == "no camera"


@pytest.mark.parametrize("is_stored", [True, False], ids=["stored", "deflated"])
def test_an_asset_that_was_tampered_with_is_refused(install: Installer, is_stored: bool) -> None:
    phone = install(is_stored=is_stored)
    write_apk(flipped(phone.library.aar, phone.folder / "tampered.aar"), phone.apk, is_stored=is_stored)

    facts = phone.run_warm("LoadOnly", providers="CPU").facts

    assert facts["load.thrown"] == "com.example.models.ModelCorruptedException"
    assert facts["load.message"].startswith("mobpack/models/orientation.ort.tflite has sha256 ")
    assert not any(name.endswith((".tflite", ".ok")) for name in facts["files"].split(",")), "nothing may be trusted"


def test_an_asset_that_is_missing_is_a_model_exception_that_names_it(phone: Device) -> None:
    with zipfile.ZipFile(phone.apk, "w") as package:
        package.writestr("assets/other.txt", "")

    facts = phone.run_warm("LoadOnly", providers="CPU").facts

    assert facts["load.thrown"] == "com.example.models.ModelException"
    assert facts["load.message"] == "OrientationModel cannot read its model: mobpack/models/orientation.ort.tflite"


def test_an_update_of_the_app_makes_a_new_copy_that_is_checked_again(install: Installer) -> None:
    phone, case = install(is_stored=False), page_orientation()
    phone.run_warm("LoadOnly", providers="CPU")
    (copy,) = phone.kept.rglob("*.ort.tflite")
    flip_a_weight(copy)
    leftover = copy.with_name("reoriented.ort.tflite")
    leftover.write_bytes(b"the copy of a model that the app has no more")
    shutil.copyfile(f"{copy}.ok", f"{leftover}.ok")
    later = phone.apk.stat().st_mtime + 10
    os.utime(phone.apk, (later, later))

    phone.run_warm(case.app, case.inputs, providers="CPU", **case.sizes)

    assert max(case.errors(phone).values()) <= TOLERANCE
    assert not leftover.exists()


def test_a_copy_that_was_interrupted_is_never_used(install: Installer) -> None:
    phone, case = install(is_stored=False), page_orientation()
    phone.run("LoadOnly", providers="CPU", properties={"device.dies-after": 3_000_000}, exit_code=86)
    assert not list(phone.kept.rglob("*.ort.tflite"))
    (unfinished,) = (path for path in phone.kept.rglob("*") if path.is_file() and path.stat().st_size > 2_000_000)

    phone.run_warm(case.app, case.inputs, providers="CPU", **case.sizes)

    assert max(case.errors(phone).values()) <= TOLERANCE
    assert not unfinished.exists()


def test_two_processes_may_load_for_the_first_time_at_once(install: Installer) -> None:
    phone, case = install(is_stored=False), page_orientation()

    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(phone.run, case.app, case.inputs, providers="CPU", **case.sizes) for _ in range(2)]
        copied = [run.result().facts["opened"] for run in runs]

    assert sorted(copied) == ["0", "1"], "one copies, the other waits for it"
    assert max(case.errors(phone).values()) <= TOLERANCE


def flipped(aar: Path, target: Path) -> Path:
    """A copy of `aar` with one bit of a weight of the orientation model changed."""
    with zipfile.ZipFile(aar) as source, zipfile.ZipFile(target, "w") as changed:
        for name in source.namelist():
            content = bytearray(source.read(name))
            if name == ORIENTATION_ASSET:
                content[len(content) // 2] ^= 1
            changed.writestr(name, bytes(content))
    return target


def flip_a_weight(model: Path) -> None:
    content = bytearray(model.read_bytes())
    content[len(content) // 2] ^= 1
    model.write_bytes(content)
