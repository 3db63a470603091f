"""The app for device farms: its archives are what Android's tools take, and its jars run on Android's ONNX Runtime."""

import json
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from packager.core.console import Console
from packager.core.errors import ToolError
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.measuring.devices import package as packages
from packager.measuring.devices.adb import dexing
from packager.measuring.devices.android_tools import android_tools
from packager.measuring.devices.document import DeviceDocument
from packager.measuring.devices.farms.app import APP, BUNDLE, TEST, FarmProgram, compiled
from packager.measuring.devices.farms.carrier import lines_of
from packager.measuring.devices.farms.collecting import FILE
from packager.workflows.device import farming
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.toolchain import command, jvm
from tests.toolchain.device import library

CHAIN = "(float[8, 64] x) => (float[8, 64] y) { h = MatMul (x, w) y = Relu (h) }"
PROJECT = """\
[package]
name = "models"

[model.chain]
path = "chain.onnx"

[target.android]
providers = ["nnapi", "xnnpack"]

[target.android.tuned.SM8650.chain]
provider-options.xnnpack = { intra_op_num_threads = "none" }
"""
ROUNDS = 2
INSTRUMENTED = "INSTRUMENTATION_STATUS"


@dataclass(frozen=True)
class Made:
    folder: Path
    aar: Path
    jars: tuple[Path, ...]
    """classes of the app and of its instrumentation, before D8"""


@pytest.fixture(scope="module")
def made(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Made:
    folder = tmp_path_factory.mktemp("farm")
    saved(folder / "chain.onnx", onnx_model(CHAIN, weights={"w": weight(64, 64)}))
    (folder / "mobpack.toml").write_text(PROJECT)
    command.run("build", folder=folder).check_returncode()
    options = ["--out", "farm", "--abi", "x86_64", "--rounds", str(ROUNDS), "--seconds", "0.05"]
    done = command.run("device", "app", *options, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "it runs chain" in done.stderr + done.stdout
    [aar] = (folder / "dist/android").glob("*.aar")
    return Made(folder / "farm", aar, _jars(aar, folder))


def _jars(aar: Path, folder: Path) -> tuple[Path, ...]:
    store = Store(cache_folder() / "store")
    (folder / "apart").mkdir()
    package = packages.read(aar, None, folder / "apart")
    runtime = package.runtime.classes
    driver = dexing.driver(runtime, dexing.java_package(runtime), store)
    program = FarmProgram(
        job=folder,
        jars=(package.classes, runtime, *dexing.libraries(store)),
        driver=driver,
        onnxruntime=dexing.java_package(runtime),
        native={},
    )
    return (*compiled(program, folder / "compiled"), driver)


@pytest.fixture(scope="module")
def printed(made: Made, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Output of the instrumentation, and the app's external folder."""
    folder = tmp_path_factory.mktemp("phone")
    built = library(made.aar, folder / "library", apps="farm/*", has_task=False)
    program = jvm.command(
        "apps.FarmKt",
        {"apk": made.folder / APP, "data": folder / "data"},
        [built.apps, built.classes, *made.jars],
        {"java.library.path": built.native, "android.soc": "SM8650"},
    )
    done = subprocess.run(program, capture_output=True, text=True, check=False, env=jvm.environment(), cwd=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout, folder / "data/external"


def rows_of(document: DeviceDocument) -> Mapping[str, float | None]:
    return {each.provider: each.row.error for each in document.rows}


def test_the_instrumentation_passes_in_the_words_of_am(printed: tuple[str, Path]) -> None:
    text, _ = printed
    codes = [line.rpartition(" ")[2] for line in text.splitlines() if line.startswith(f"{INSTRUMENTED}_CODE")]
    assert (codes[0], codes[-1]) == ("1", "0")
    assert set(codes[1:-1]) == {"2"}
    assert "INSTRUMENTATION_RESULT: stream=\nOK (1 test)\n" in text
    assert f"{INSTRUMENTED}: class=dev.mobpack.farm.FarmInstrumentation" in text


def test_results_come_back_in_the_log_and_in_a_file(printed: tuple[str, Path], tmp_path: Path) -> None:
    text, external = printed
    (tmp_path / "instrument.txt").write_text(text)
    (tmp_path / FILE).write_bytes((external / FILE).read_bytes())
    found = farming.read(tmp_path, (), None, Console(quiet=True))
    [device] = found.devices
    assert (device.model, device.soc, device.api) == ("Phone", "SM8650", 34)
    errors = rows_of(found)
    assert {"cpu", "xnnpack"} <= errors.keys() | {each.provider for each in found.skipped}
    assert errors["cpu"] == 0
    assert errors["xnnpack"] is not None, "each provider is measured as asked, without the settings for the chip"
    cpu = next(each for each in found.rows if each.provider == "cpu")
    assert len(cpu.row.round_medians_ms) == ROUNDS
    assert cpu.row.p50_ms > 0
    assert cpu.cold_load_ms > 0
    assert found.package.file.startswith("models-")
    assert not found.is_partial
    proved = {each.provider: each for each in found.verdicts}
    assert proved.keys() == {"nnapi", "xnnpack"}, "what an app with the option proof would get"
    assert proved["nnapi"].reason
    assert proved["xnnpack"].is_proved == (proved["xnnpack"].reason == "")


def test_the_lines_of_kotlin_are_those_of_python(printed: tuple[str, Path]) -> None:
    text, external = printed
    expected = list(lines_of((external / FILE).read_bytes()))
    assert [line for line in text.splitlines() if line in expected] == expected


def test_a_wrong_number_is_a_failure_in_the_table(printed: tuple[str, Path], tmp_path: Path) -> None:
    document = json.loads((printed[1] / FILE).read_bytes())
    for each in document["exchanges"]:
        if each["self-test"]:
            each["self-test"]["outputs"][0] |= {"failure": "off", "maxRelError": 0.5}
    (tmp_path / FILE).write_text(json.dumps(document))
    found = farming.read(tmp_path, (), None, Console(quiet=True))
    assert all(each.row.differs and each.row.error == 0.5 for each in found.rows)


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.pop("device"),
        lambda document: document.update({"schema-version": 7}),
        lambda document: document.update({"more": 1}),
        lambda document: document["exchanges"][0].update(open=3),
        lambda document: [each["open"].pop("load_ns", 0) for each in document["exchanges"]],
    ],
)
def test_results_of_another_form_are_refused(change: object, printed: tuple[str, Path], tmp_path: Path) -> None:
    assert callable(change)
    document = json.loads((printed[1] / FILE).read_bytes())
    change(document)
    (tmp_path / FILE).write_text(json.dumps(document))
    with pytest.raises(ToolError, match="has results that mobpack does not know") as refused:
        farming.read(tmp_path, (), None, Console(quiet=True))
    assert "another version of mobpack" in refused.value.hint


@pytest.mark.parametrize("name", [APP, TEST])
def test_android_takes_the_signature(name: str, made: Made, tmp_path: Path) -> None:
    tools = android_tools()
    said = tools.apks(["verify", "--verbose", made.folder / name], what="verifying")
    assert "Verified using v2 scheme (APK Signature Scheme v2): true" in said
    content = bytearray((made.folder / name).read_bytes())
    content[len(content) // 3] ^= 1
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ToolError, match="verifying failed"):
        tools.apks(["verify", tmp_path / name], what="verifying")


def test_the_archives_hold_what_farms_look_for(made: Made) -> None:
    with zipfile.ZipFile(made.folder / APP) as app, zipfile.ZipFile(made.folder / TEST) as test:
        names, classes = set(app.namelist()), test.read("classes.dex")
    assert {"classes.dex", "lib/x86_64/libonnxruntime.so", "assets/job/plan.txt", "assets/job/index.txt"} <= names
    assert b"Ldev/mobpack/farm/FarmInstrumentation;" in classes
    assert len(classes) < 50_000, "the classes of the app are in the app alone"
    with zipfile.ZipFile(made.folder / BUNDLE) as bundle:
        assert {"base/manifest/AndroidManifest.xml", "base/dex/classes.dex"} <= set(bundle.namelist())
    manifest = subprocess.run(
        [android_tools().aapt2, "dump", "xmltree", "--file", "AndroidManifest.xml", made.folder / TEST],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "targetPackage" in manifest
    assert '"dev.mobpack.farm"' in manifest
