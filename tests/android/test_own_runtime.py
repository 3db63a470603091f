"""A user's own runtime replaces the published one: ONNX Runtime's Android library, called reduced by an operator
configuration beside it, under another name."""

import json
import zipfile
from pathlib import Path, PurePosixPath

import numpy as np

from packager.files.hashes import sha256_of
from packager.files.processes import downloads
from packager.files.zips import write_zip
from packager.targets.kotlin import kotlin
from tests.cases.archives import read_zip
from tests.cases.onnx_text import session
from tests.cases.own_runtime import NET, WORD, dependencies, reduced, renamed
from tests.toolchain import jvm
from tests.toolchain.device import Library, device

__all__ = ["reduced", "renamed"]


APP = """\
package apps

import com.example.models.Net
import device.report
import java.io.File

fun main(arguments: Array<String>) {
    val task = Task(arguments)
    Net.loadBlocking(task.app, task.options).use { model ->
        val input = Net.Input(batch = task.number("batch"))
        input.x.put(task.floats("x"))
        task.write("scores", model.runBlocking(input).scores)
        report("provider", model.provider)
    }
    val maps = File("/proc/self/maps").readLines().map { it.substringAfterLast('/') }
    report("libraries", maps.filter { it.endsWith(".so") }.distinct().sorted().joinToString(" "))
}
"""
"""Runs the model and prints the libraries that it loaded."""


def test_the_library_has_the_runtime_inside_and_asks_for_no_other(renamed: Path, reduced: Path) -> None:
    with zipfile.ZipFile(renamed / "android/models-1.0.0.aar") as archive:
        names = set(archive.namelist())
        rules = archive.read("proguard.txt").decode()
        jar = Path(archive.extract("libs/onnxruntime.jar", renamed.parent))
        classes = Path(archive.extract("classes.jar", renamed.parent))
    assert {name for name in names if name.startswith(("jni/", "libs/"))} == {
        f"jni/x86_64/lib{WORD}.so",
        f"jni/x86_64/lib{WORD}4j_jni.so",
        "libs/onnxruntime.jar",
    }
    assert f"-keep class ai.{WORD}.** {{ *; }}" in rules.splitlines()
    assert {str(name).rsplit("/", 1)[0].split("/")[1] for name in read_zip(jar)} == {WORD}
    assert not [name for name, content in read_zip(classes).items() if b"ai/onnxruntime" in content]
    pom = renamed / "maven/com/example/models/1.0.0/models-1.0.0.pom"
    assert dependencies(pom) == list(kotlin.libraries())
    project = renamed / "android/project"
    assert (project / f"src/main/jniLibs/x86_64/lib{WORD}.so").is_file()
    assert (project / "libs/onnxruntime.jar").read_bytes() == jar.read_bytes()
    manifest = json.loads((renamed / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["own-runtimes"] == {
        "android": {
            "version": downloads.pins()["android"]["onnxruntime"].rpartition(":")[2],
            "ship": "inside",
            "coordinates": "",
            "sha256": sha256_of(reduced / "ort.aar"),
            "name": "acme",
            "java-package": f"ai.{WORD}",
            "processors": ["x86_64"],
            "reduced": True,
            "operators-sha256": sha256_of(reduced / "ort.config"),
        }
    }
    assert str(reduced) not in json.dumps(manifest)


def test_the_generated_kotlin_runs_on_the_renamed_runtime_of_its_own_library(renamed: Path, tmp_path: Path) -> None:
    """The app has the contents of the .aar alone: nothing of the original's name is where it could be loaded from."""
    library = renamed / "android/models-1.0.0.aar"
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    merged: dict[PurePosixPath, bytes] = {}
    with zipfile.ZipFile(library) as archive:
        for name in archive.namelist():
            if name.startswith("jni/x86_64/"):
                (libraries / Path(name).name).write_bytes(archive.read(name))
        for jar in ("classes.jar", "libs/onnxruntime.jar"):
            merged |= read_zip(Path(archive.extract(jar, tmp_path)))
    classes = write_zip(tmp_path / "merged.jar", dict(merged))
    app = tmp_path / "OwnRuntime.kt"
    app.write_text(APP, encoding="utf-8")
    apps = jvm.compile_kotlin([app, jvm.APPS / "Task.kt"], classpath=[classes, jvm.fakes()])
    phone = device(Library(aar=library, classes=classes, apps=apps), tmp_path)
    pages = np.random.default_rng(1).normal(size=(2, 3, 16, 16)).astype(np.float32)

    run = phone.run("OwnRuntime", {"x": pages}, properties={"onnxruntime.native.path": libraries}, batch=2)

    (expected,) = session(NET.SerializeToString()).run(None, {"x": pages})
    assert np.abs(phone.output("scores", np.float32, *expected.shape) - expected).max() < 1e-5
    assert run.facts["provider"] == "XNNPACK"
    loaded = run.facts["libraries"].split()
    assert {f"lib{WORD}.so", f"lib{WORD}4j_jni.so"} <= set(loaded)
    assert not [name for name in loaded if "onnxruntime" in name]
