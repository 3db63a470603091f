"""A renamed ONNX Runtime runs beside the original in one process, each with its own classes and libraries."""

import zipfile
from pathlib import Path

import numpy as np
import onnxruntime

from packager.files import elf
from packager.files.processes import downloads
from packager.files.zips import write_zip
from packager.runtimes import rename
from tests.cases.archives import read_zip
from tests.toolchain import jvm, models
from tests.toolchain.device import Library, device

NAME = "acme"

VERSION = str(downloads.pins()["android"]["onnxruntime"]).rpartition(":")[2]

LIBRARIES = ("libonnxruntime.so", "libonnxruntime4j_jni.so")

APP = """\
package apps

import java.io.File
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.FloatBuffer

fun pixels(file: File): FloatArray {
    val bytes = ByteBuffer.wrap(file.readBytes()).order(ByteOrder.LITTLE_ENDIAN)
    return FloatArray(bytes.remaining() / 4).also { bytes.asFloatBuffer().get(it) }
}

fun write(scores: FloatBuffer, file: File) {
    val bytes = ByteBuffer.allocate(4 * scores.remaining()).order(ByteOrder.LITTLE_ENDIAN)
    bytes.asFloatBuffer().put(scores)
    file.writeBytes(bytes.array())
}

object First {
ORIGINAL
}

object Second {
RENAMED
}

fun main(arguments: Array<String>) {
    val folder = File(arguments.single().substringAfter("folder="))
    val model = File(folder, "model.onnx").path
    val page = pixels(File(folder, "page"))
    println("first version\\t" + First.version())
    println("second version\\t" + Second.version())
    for (turn in 1..3) {
        write(First.run(model, page), File(folder, "first$turn"))
        write(Second.run(model, page), File(folder, "second$turn"))
    }
    println("first failure\\t" + First.failure(File(folder, "page").path))
    println("second failure\\t" + Second.failure(File(folder, "page").path))
    val maps = File("/proc/self/maps").readLines().map { it.substringAfterLast('/') }
    println("libraries\\t" + maps.filter { it.endsWith(".so") }.distinct().sorted().joinToString(" "))
}
"""
"""Uses both runtimes in turns; ORIGINAL and RENAMED are the same code in two packages."""

USER = """\
    private val environment = ai.onnxruntime.OrtEnvironment.getEnvironment()

    fun version(): String = environment.version

    fun run(model: String, page: FloatArray): FloatBuffer =
        environment.createSession(model, ai.onnxruntime.OrtSession.SessionOptions()).use { session ->
            val shape = longArrayOf(1, 3, 224, 224)
            ai.onnxruntime.OnnxTensor.createTensor(environment, FloatBuffer.wrap(page), shape).use { input ->
                session.run(mapOf("x" to input)).use { (it[0] as ai.onnxruntime.OnnxTensor).floatBuffer }
            }
        }

    fun failure(noModel: String): String =
        try {
            environment.createSession(noModel, ai.onnxruntime.OrtSession.SessionOptions()).close()
            "none"
        } catch (error: ai.onnxruntime.OrtException) {
            error.javaClass.name
        }
"""


def test_libraries_of_all_abis_are_renamed_in_place(onnxruntime_android: jvm.AndroidRuntime) -> None:
    with zipfile.ZipFile(onnxruntime_android.aar) as archive:
        for abi in ("arm64-v8a", "armeabi-v7a", "x86", "x86_64"):
            content = archive.read(f"jni/{abi}/libonnxruntime4j_jni.so")
            file_name, renamed = rename.renamed_library(content, "libonnxruntime4j_jni.so", NAME)
            assert file_name == "libacmecs9fjme4j_jni.so"
            assert len(renamed) == len(content)
            assert elf.read(renamed, file_name).needed[0] == "libacmecs9fjme.so"
            assert elf.read(renamed, file_name).abi == abi


def test_original_and_renamed_runtime_run_one_model_in_one_process(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path: Path
) -> None:
    classes = write_zip(
        tmp_path / "renamed.jar", dict(rename.renamed_classes(read_zip(onnxruntime_android.classes), NAME))
    )
    for name in LIBRARIES:
        content = (onnxruntime_android.libraries / name).read_bytes()
        (tmp_path / name).write_bytes(content)
        new_name, renamed = rename.renamed_library(content, name, NAME)
        (tmp_path / new_name).write_bytes(renamed)
    (tmp_path / "model.onnx").write_bytes(models.orientation().read_bytes())
    page = np.random.default_rng(1).normal(size=(1, 3, 224, 224)).astype(np.float32)
    (tmp_path / "page").write_bytes(page.tobytes())
    app = tmp_path / "TwoRuntimes.kt"
    renamed_user = USER.replace("ai.onnxruntime", rename.java_package(NAME))
    app.write_text(APP.replace("ORIGINAL", USER).replace("RENAMED", renamed_user), encoding="utf-8")

    run = jvm.run(
        "apps.TwoRuntimesKt",
        {"folder": tmp_path},
        classpath=[jvm.compile_kotlin([app], classpath=[classes, onnxruntime_android.classes]), classes],
        properties={"onnxruntime.native.path": tmp_path},
    )

    (expected,) = onnxruntime.InferenceSession(models.orientation()).run(None, {"x": page})
    results = [
        np.fromfile(tmp_path / f"{which}{turn}", np.float32) for which in ("first", "second") for turn in (1, 2, 3)
    ]
    assert np.abs(results[0] - expected[0]).max() < 1e-5
    assert all(np.array_equal(result, results[0]) for result in results)
    assert run.facts["first version"] == run.facts["second version"] == VERSION
    assert run.facts["first failure"] == "ai.onnxruntime.OrtException"
    assert run.facts["second failure"] == "ai.acmecs9fjme.OrtException"
    loaded = set(run.facts["libraries"].split())
    assert loaded >= {*LIBRARIES, "libacmecs9fjme.so", "libacmecs9fjme4j_jni.so"}


def test_a_package_runs_on_the_renamed_runtime_that_it_ships(
    built_aar: Path, onnxruntime_android: jvm.AndroidRuntime, tmp_path: Path
) -> None:
    """The app cannot load anything of the original's name."""
    with zipfile.ZipFile(built_aar) as archive:
        own = Path(archive.extract("classes.jar", tmp_path))
    classes = write_zip(
        tmp_path / "shipped.jar",
        dict(rename.renamed_classes({**read_zip(own), **read_zip(onnxruntime_android.classes)}, NAME)),
    )
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    for name in LIBRARIES:
        new_name, renamed = rename.renamed_library((onnxruntime_android.libraries / name).read_bytes(), name, NAME)
        (libraries / new_name).write_bytes(renamed)
    apps = jvm.compile_kotlin([jvm.APPS / "PageOrientation.kt", jvm.APPS / "Task.kt"], classpath=[classes, jvm.fakes()])
    phone = device(Library(aar=built_aar, classes=classes, apps=apps), tmp_path)
    pages = np.random.default_rng(1).normal(size=(2, 3, 224, 224)).astype(np.float32)

    phone.run("PageOrientation", {"x": pages}, properties={"onnxruntime.native.path": libraries}, batch=2)

    (expected,) = onnxruntime.InferenceSession(models.orientation()).run(None, {"x": pages})
    assert np.abs(phone.output("fetch_name_0", np.float32, *expected.shape) - expected).max() < 1e-5
