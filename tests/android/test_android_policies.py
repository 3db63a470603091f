"""Models of the Android library whose provider fails, on a hot device, and with little memory."""

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import onnx
import pytest

from packager.engines.environments import bionic
from tests.toolchain import jvm, models
from tests.toolchain.device import Device, Library, device


@pytest.fixture(scope="module")
def phone(models_library: Library, tmp_path_factory: pytest.TempPathFactory) -> Device:
    return device(models_library, tmp_path_factory.mktemp("phone"))


@pytest.fixture(scope="module")
def failing(
    phone: Device, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, str]:
    """A phone whose NNAPI takes every model, and fails at every run."""
    folder = tmp_path_factory.mktemp("nnapi")
    text = (bionic.SOURCES / "libneuralnetworks.c").read_text(encoding="utf-8")
    changed = text.replace("SUCCEEDS(Execution_compute)", "int ANeuralNetworksExecution_compute(void) { return 4; }")
    changed = changed.replace(
        "    (void)execution;\n    return create(event);", "    (void)execution, (void)event;\n    return BAD_DATA;"
    )
    assert changed.count("return 4;") == changed.count("return BAD_DATA;") - 1 == 1
    (folder / "libneuralnetworks.c").write_text(changed, encoding="utf-8")
    bionic.build_one(folder / "libneuralnetworks.c", folder / "libneuralnetworks.so")
    stand_ins = bionic.shims(sorted(onnxruntime_android.libraries.glob("*.so")))
    variables = {"LD_LIBRARY_PATH": f"{stand_ins}:{folder}", "ro.build.version.sdk": "34"}
    own = self_contained(phone.library.aar, folder)
    return phone.run("Trouble", variables=variables, do="provider", own=own).facts


def self_contained(aar: Path, folder: Path) -> Path:
    """The file for NNAPI, with its weights, which the library has in the file for the CPU."""
    with zipfile.ZipFile(aar) as archive:
        for name, as_name in (("silero-vad.ort.tflite", "model.ort"), ("silero-vad-unfused.onnx.tflite", "own.onnx")):
            (folder / as_name).write_bytes(archive.read(f"assets/mobpack/models/{name}"))
    onnx.save(onnx.load(folder / "own.onnx"), folder / "whole.onnx")
    return folder / "whole.onnx"


def test_a_run_that_the_provider_fails_at_is_repeated_on_the_cpu(failing: Mapping[str, str]) -> None:
    assert failing["loaded"] == "load NNAPI"
    assert [failing[f"answer.{number}"] for number in range(4)] == [failing["usual"]] * 4
    assert failing["events.0"] == "run NNAPI failed,load CPU,retry CPU"
    assert failing["events.1"] == failing["events.2"] == "run NNAPI failed,retry CPU"


def test_after_three_failures_in_a_row_the_model_stays_on_the_cpu_and_says_why(failing: Mapping[str, str]) -> None:
    assert [failing[f"provider.{number}"] for number in range(4)] == ["NNAPI", "NNAPI", "CPU", "CPU"]
    assert failing["events.3"] == "run CPU"
    assert failing["fallbacks"].startswith("Fallback(provider=NNAPI, reason=3 runs in a row failed: ")
    assert (failing["asset"], failing["asset later"]) == (
        "mobpack/models/silero-vad-unfused.onnx.tflite",
        "mobpack/models/silero-vad.ort.tflite",
    )
    assert failing["again"] == "release MEMORY,load CPU,run CPU"
    assert failing["fallbacks again"] == failing["fallbacks"], "a later load tells of it, too"
    assert failing["closed"] == "release CLOSE"


def test_a_model_whose_session_for_the_cpu_was_freed_stays_on_its_provider(failing: Mapping[str, str]) -> None:
    assert failing["freed.thrown"] == "null", "the run was answered"
    assert failing["freed.answer"] == failing["freed.next"]
    assert failing["freed.events"] == "run NNAPI failed,retry CPU,release MEMORY"
    assert failing["freed.provider"] == "NNAPI"
    assert failing["freed.next.events"] == "load NNAPI,run NNAPI failed,load CPU,retry CPU"
    assert failing["freed.next.provider"] == "CPU"


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one thread is the fewest that a model can have")
def test_on_a_hot_device_a_session_for_retries_has_half_the_threads_and_that_of_nnapi_stays(
    failing: Mapping[str, str],
) -> None:
    usual = int(failing["usual.threads"])  # that ONNX Runtime has begun beside the one that calls
    assert int(failing["hot.threads"]) == usual + (usual + 1) // 2 - 1


def test_a_self_test_fails_where_the_provider_does(failing: Mapping[str, str]) -> None:
    assert failing["selfTest.thrown"] == "com.example.models.ModelException"
    assert failing["selfTest.events"] == "run NNAPI failed"


def test_without_the_policy_the_failure_is_the_apps(failing: Mapping[str, str]) -> None:
    assert failing["refused.thrown"] == "com.example.models.ModelException"
    assert failing["refused.message"].startswith("SileroVad failed to run: ")
    assert failing["refused.events"] == "load NNAPI,run NNAPI failed"
    assert failing["refused.provider"] == "NNAPI"


def test_an_input_that_fails_on_the_cpu_too_is_not_the_providers_fault(phone: Device) -> None:
    seen = phone.run("Trouble", do="input").facts

    assert seen["wrong.thrown"] == "com.example.models.ModelException"
    retried = ["run XNNPACK failed", "retry CPU failed"]
    assert seen["events"] == ",".join([retried[0], "load CPU", retried[1], *retried * 3])
    assert seen["provider"] == "XNNPACK"
    assert seen["first failure"] == "com.example.models.ModelException", "that of the provider is told, too"
    if (os.cpu_count() or 1) > 1:
        assert int(seen["opened by a wrong input"]) > 0
    assert seen["after a right one"] == "0", "nothing needs the session for the CPU any more"


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one thread is the fewest that a model can have")
def test_on_a_hot_device_runs_have_half_the_threads_until_it_is_cool(phone: Device) -> None:
    seen = phone.run("Trouble", do="heat").facts

    assert seen["cool"] == seen["hot"] == seen["cool again"] == seen["usual"]
    assert seen["at once"].endswith("] load CPU,run CPU,run CPU"), "Android is asked once a second"
    assert seen["hot.events"] == "release THERMAL,load CPU,run CPU"
    assert seen["cool too soon.events"] == "run CPU", "a change holds for a minute"
    assert seen["warm.events"] == "run CPU", "it is hot until it is cool"
    assert seen["cool again.events"] == "release THERMAL,load CPU,run CPU"
    assert int(seen["hot.threads"]) < int(seen["cool.threads"]) == int(seen["cool again.threads"])
    assert int(seen["asked"]) <= float(seen["asked.seconds"]) + 1, "once a second"
    assert seen["with threads of the app's own"] == "run CPU"


@pytest.fixture(scope="module")
def lost(phone: Device) -> Mapping[str, str]:
    return phone.run("Trouble", do="lost", own=models.orientation()).facts


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one thread is the fewest that a model can have")
def test_a_model_that_cannot_get_fewer_threads_goes_on_with_those_that_it_has(lost: Mapping[str, str]) -> None:
    assert (lost["hot.thrown"], lost["hot.answer"]) == ("null", lost["usual"])
    assert lost["hot.events"] == "failure orientation,run CPU"
    assert lost["still hot.events"] == "run CPU", "it is not tried at every run"


def test_a_model_that_cannot_be_opened_again_fails_until_it_can(lost: Mapping[str, str]) -> None:
    assert lost["gone.thrown"] == "com.example.models.ModelException"
    assert lost["gone.message"].startswith("OrientationModel cannot be opened again: ")
    assert lost["gone.events"] == "failure orientation,run CPU failed"
    assert lost["back"] == lost["usual"]
    assert lost["back.events"] == "load CPU,run CPU"


def test_a_profile_of_a_model_that_cannot_be_opened_is_a_model_exception(lost: Mapping[str, str]) -> None:
    assert lost["profile.thrown"] == "com.example.models.ModelException"


def test_a_model_that_does_not_run_is_freed_when_memory_is_short_and_opened_by_the_next_run(phone: Device) -> None:
    seen = phone.run("Trouble", do="memory").facts

    for level in (5, 10, 20):
        assert (seen[f"released.{level}"], seen[f"opened.{level}"]) == ("", "run CPU")
    for level in (15, 40, 80):
        assert (seen[f"released.{level}"], seen[f"opened.{level}"]) == ("release MEMORY", "load CPU,run CPU")
    assert {seen[f"answer.{level}"] for level in (5, 10, 15, 20, 40, 80)} == {seen["usual"]}
    assert seen["released twice"] == "release MEMORY"
    assert seen["after release"] == "CPU orientation"
    assert seen["kept while it runs"] == "true", "a run keeps its session"
    assert seen["closed"] == "release MEMORY,release CLOSE"
    assert (seen["callbacks after close"], seen["callbacks without the policy"]) == ("0", "0")
    assert seen["run after close.thrown"] == "java.lang.IllegalStateException"


def test_a_load_that_fails_leaves_no_session_open(phone: Device, tmp_path: Path) -> None:
    model = onnx.load(models.orientation())
    model.metadata_props.add(key="mobpack.macs", value="many Conv")
    (tmp_path / "own.onnx").write_bytes(model.SerializeToString())

    seen = phone.run("Leaks", unreadable=tmp_path / "own.onnx").facts

    assert seen["open"] == "1"
    assert (seen["unreadable.thrown"], seen["unreadable.left"]) == ("java.lang.NumberFormatException", "0")
    assert (seen["refused.message"], seen["refused.left"]) == ("no callbacks", "0")
    assert seen["missing.thrown"] == "com.example.models.ModelException"
    for kind in ("forbidden", "without code"):
        assert seen[f"{kind}.thrown"] == "com.example.models.ModelException"
    assert "onnxruntime-android" in seen["without code.message"]
    assert seen["without memory.thrown"] == "com.example.models.ModelOutOfMemoryException"
