"""A built .aar in an app's build: merged, linked, shrunk, bundled, and called from an older Kotlin."""

import re
import subprocess
import zipfile
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

import numpy
import onnxruntime
import pytest

from packager.core.errors import ToolError
from packager.engines.environments import onnxruntime_android
from packager.files.processes import downloads
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets.android import native
from tests.cases.archives import read_zip
from tests.toolchain import apptools, jvm, models
from tests.toolchain.device import write_apk
from tests.toolchain.require import require

ASSETS = PurePosixPath("assets/mobpack/models")

# Compiled against Android's own class stubs. What stands in for Android when the app runs is not known to it.
APP = """\
package com.example.app

import android.content.Context
import android.os.ParcelFileDescriptor
import com.example.models.ModelObserver
import com.example.models.Options
import com.example.models.OrientationModel
import com.example.models.Provider
import com.example.models.RunEvent
import com.example.models.Source
import java.io.File
import java.nio.ByteBuffer

fun main(arguments: Array<String>) {
    val (apk, data, own) = arguments.map(::File)
    val application = Class.forName("device.InstalledApp").getConstructor(File::class.java, File::class.java)
    val context = application.newInstance(apk, data) as Context
    val descriptor = ParcelFileDescriptor.open(own, ParcelFileDescriptor.MODE_READ_ONLY)
    answer(context, Source.bundled)
    answer(context, Source.file(own))
    answer(context, Source.bytes(ByteBuffer.wrap(own.readBytes())))
    answer(context, Source.descriptor(descriptor, 0, own.length()))
}

private class Counter : ModelObserver {
    var runs = 0

    override fun onRun(event: RunEvent) {
        runs += 1
    }
}

private fun answer(context: Context, source: Source) {
    val counter = Counter()
    val options = Options(providers = listOf(Provider.CPU), observer = counter)
    OrientationModel.loadBlocking(context, options, source).use { model ->
        val input = OrientationModel.Input(dynamicDimension0 = 1)
        val output = model.runBlocking(input).fetchName0
        check(counter.runs == 1)
        println(FloatArray(output.remaining()).also(output::get).joinToString())
    }
}
"""
APP_MAIN = "com.example.app.AppKt"


APP_MANIFEST = """\
<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="com.example.app">
    <uses-sdk android:minSdkVersion="24" android:targetSdkVersion="35" />
    <application android:label="App" />
</manifest>
"""

# What docs/android.md tells apps to add.
APP_MANIFEST_WITHOUT_TELEMETRY = """\
<manifest xmlns:android="http://schemas.android.com/apk/res/android" xmlns:tools="http://schemas.android.com/tools"
    package="com.example.app">
    <uses-sdk android:minSdkVersion="24" android:targetSdkVersion="35" />
    <application android:label="App">
        <provider android:name="ai.onnxruntime.TelemetryInitializer"
            android:authorities="${applicationId}.onnxruntime_telemetry_initializer" tools:node="remove" />
    </application>
</manifest>
"""


@pytest.fixture(scope="module", autouse=True)
def fetched() -> None:
    """Every tool; skips the tests if one is missing."""
    try:
        for pin in (*apptools.PINS, "model-orientation"):
            downloads.fetch(pin)
        onnxruntime_android.archive()
    except ToolError as error:
        require(False, f"{error}; {error.hint}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An app's source and manifest, and a place for build outputs."""
    made = tmp_path_factory.mktemp("apptools")
    (made / "App.kt").write_text(APP, encoding="utf-8")
    (made / "app.xml").write_text(APP_MANIFEST, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def aar(built_aar: Path) -> Path:
    """The library as users build it, with three real models and one with every element type."""
    return built_aar


@pytest.fixture(scope="module")
def app_classes(folder: Path, aar: Path) -> Path:
    """The app, compiled two Kotlin versions ago against the library and without ONNX Runtime."""
    library = apptools.extract(aar, "classes.jar", folder / "classes.jar")
    android = apptools.app_tools().android_jar
    return apptools.compile_with_older_kotlin(folder / "App.kt", classpath=[library, android], jar=folder / "app.jar")


@pytest.fixture(scope="module")
def shrunk(folder: Path, aar: Path, app_classes: Path) -> Path:
    return apptools.shrink([aar], app_classes, main_class=APP_MAIN, jar=folder / "shrunk.jar")


@pytest.fixture(scope="module")
def ran(shrunk: Path, aar: Path, tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """The shrunk app, after it has run."""
    done = run_shrunk(shrunk, aar, tmp_path_factory.mktemp("ran"))
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def bundled(folder: Path, assets: Path, shrunk: Path) -> Path:
    """R8 makes Android's form of classes by itself in the sample app; here another 5 s of it would be the same work."""
    linked = apptools.link(folder / "app.xml", assets=assets, apk=folder / "linked.apk")
    dexed = apptools.translate(shrunk, archive=folder / "dex.zip")
    return apptools.bundle(linked, dexed, folder=folder)


@pytest.fixture(scope="module")
def assets(folder: Path, aar: Path) -> Path:
    """The folder assets/ of the library, unpacked."""
    with zipfile.ZipFile(aar) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if name.startswith(f"{ASSETS}/")])
    return folder / "assets"


@pytest.fixture
def manifests(tmp_path: Path, aar: Path) -> Path:
    """A folder with the manifests of an app and its two libraries."""
    apptools.extract(aar, "AndroidManifest.xml", tmp_path / "library.xml")
    (tmp_path / "app.xml").write_text(APP_MANIFEST, encoding="utf-8")
    apptools.extract(jvm.android_runtime().aar, "AndroidManifest.xml", tmp_path / "onnxruntime.xml")
    return tmp_path


def test_merged_manifest_of_an_app_has_no_telemetry_component(manifests: Path) -> None:
    merged = apptools.merge_manifests(manifests / "app.xml", [manifests / "library.xml", manifests / "onnxruntime.xml"])
    assert "<provider" not in merged
    assert 'package="com.example.app"' in merged
    assert "tools:" not in re.sub(r"<!--.*?-->", "", merged, flags=re.DOTALL)


def test_merged_manifest_without_the_library_has_the_telemetry_component(manifests: Path) -> None:
    merged = apptools.merge_manifests(manifests / "app.xml", [manifests / "onnxruntime.xml"])
    assert "com.example.app.onnxruntime_telemetry_initializer" in merged


def test_what_the_documentation_tells_apps_to_add_takes_the_telemetry_component_out(manifests: Path) -> None:
    (manifests / "app.xml").write_text(APP_MANIFEST_WITHOUT_TELEMETRY, encoding="utf-8")
    assert "<provider" not in apptools.merge_manifests(manifests / "app.xml", [manifests / "onnxruntime.xml"])


def test_merged_manifest_opens_the_library_of_qualcomms_processor(manifests: Path) -> None:
    merged = apptools.merge_manifests(manifests / "app.xml", [manifests / "library.xml", manifests / "onnxruntime.xml"])
    [library] = ElementTree.fromstring(merged).findall("application/uses-native-library")
    android = "{http://schemas.android.com/apk/res/android}"
    assert library.attrib == {f"{android}name": "libcdsprpc.so", f"{android}required": "false"}


def test_permissions_that_other_libraries_may_need_stay(manifests: Path) -> None:
    merged = apptools.merge_manifests(manifests / "app.xml", [manifests / "library.xml", manifests / "onnxruntime.xml"])
    assert "android.permission.INTERNET" in merged


def test_merged_manifest_and_assets_link(manifests: Path, assets: Path, aar: Path) -> None:
    merged = manifests / "merged.xml"
    libraries = [manifests / "library.xml", manifests / "onnxruntime.xml"]
    merged.write_text(apptools.merge_manifests(manifests / "app.xml", libraries), encoding="utf-8")
    linked = apptools.link(merged, assets=assets, apk=manifests / "linked.apk")
    assert shipped_models(linked, ASSETS) == shipped_models(aar, ASSETS)


def test_an_app_built_by_a_kotlin_two_versions_older_can_use_the_library(app_classes: Path) -> None:
    assert PurePosixPath("com/example/app/AppKt.class") in read_zip(app_classes)


def test_shrunk_app_keeps_every_class_that_native_code_looks_up(shrunk: Path) -> None:
    looked_up = classes_in_native_code()
    assert PurePosixPath("ai/onnxruntime/OnnxTensor.class") in looked_up
    assert looked_up <= set(read_zip(shrunk))


def test_shrunk_app_keeps_nothing_of_the_library_by_name_but_what_is_in_c(shrunk: Path) -> None:
    kept = [name for name in read_zip(shrunk) if str(name).startswith("com/example/models/")]
    assert kept == [PurePosixPath("com/example/models/NativeAssignment.class")]


def test_shrunk_app_finds_its_part_in_c_and_the_session_of_onnx_runtime(
    shrunk: Path, ran: subprocess.CompletedProcess[str]
) -> None:
    assert "is not known" not in ran.stderr
    session = read_zip(shrunk)[PurePosixPath("ai/onnxruntime/OrtSession.class")]
    assert b"\x00\x0cnativeHandle" in session


def test_shrunk_app_computes_what_python_computes(ran: subprocess.CompletedProcess[str]) -> None:
    image = numpy.zeros((1, 3, 224, 224), numpy.float32)
    [expected] = onnxruntime.InferenceSession(models.orientation()).run(None, {"x": image})
    answers = [[float(value) for value in line.split(",")] for line in ran.stdout.splitlines()]
    assert len(answers) == 4, "of the library, and of the app as a file, bytes and a descriptor"
    for answer in answers:
        numpy.testing.assert_allclose(answer, expected[0], atol=1e-4)


def test_without_the_rules_of_the_library_the_shrunk_app_does_not_run(
    aar: Path, app_classes: Path, tmp_path: Path
) -> None:
    jar = apptools.shrink(
        [aar],
        app_classes,
        main_class=APP_MAIN,
        jar=tmp_path / "shrunk.jar",
        library_rules="-dontwarn androidx.annotation.**\n-dontoptimize",  # classes are removed and renamed all the same
    )
    assert not classes_in_native_code() <= set(read_zip(jar))
    assert run_shrunk(jar, aar, tmp_path).returncode != 0


def test_valid_bundle_holds_the_models_and_the_classes(bundled: Path, aar: Path) -> None:
    apptools.validate(bundled)
    assert shipped_models(bundled, "base" / ASSETS) == shipped_models(aar, ASSETS)
    assert read_zip(bundled)[PurePosixPath("base/dex/classes.dex")].startswith(b"dex\n")


def shipped_models(archive: Path, folder: PurePosixPath) -> dict[str, bytes]:
    """Every model below `folder` of an archive by file name: the CPU's, and the one over its weights."""
    found = {name.name: content for name, content in read_zip(archive).items() if name.is_relative_to(folder)}
    assert {PurePosixPath(name).suffix for name in found} == {".tflite", ".safetensors"}
    return found


def classes_in_native_code() -> set[PurePosixPath]:
    """Class files whose names ONNX Runtime's JNI library has among its strings."""
    strings = (jvm.android_runtime().libraries / "libonnxruntime4j_jni.so").read_bytes()
    return {PurePosixPath(f"{name.decode()}.class") for name in re.findall(rb"\0(ai/onnxruntime/\w+)(?=\0)", strings)}


def run_shrunk(jar: Path, aar: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    installed = write_apk(aar, folder / "app.apk", is_stored=True)
    # The package has its part in C for phones with QNN alone; this is the same for the processor here.
    store = Store(cache_folder() / "store")
    [in_c] = native.libraries("com.example.models", "ai.onnxruntime", (jvm.ABI,), store).values()
    arguments = [installed, folder, models.orientation()]
    return apptools.run_shrunk(jar, APP_MAIN, arguments, folder=folder, libraries=in_c.parent)
