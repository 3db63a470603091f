"""Makes the program that runs on Android: the driver, compiled once, and all classes as Android's machine reads them.

The classes of a package, of ONNX Runtime and of Kotlin are not changed; D8 translates them, without shrinking them.
"""

import os
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from packager.core.errors import ToolError
from packager.files.hashes import known_sha256
from packager.files.installed import templates_folder
from packager.files.processes import commands, downloads
from packager.files.store import Step, Store
from packager.files.zips import read_entry, write_zip
from packager.measuring.devices import android_tools
from packager.measuring.devices.android_tools import AndroidTools
from packager.targets.kotlin import kotlin

MAIN_CLASS = "dev.mobpack.device.Driver"
ONNXRUNTIME = "ai.onnxruntime"
SESSION = "/OrtSession.class"
MIN_API = 24
"""Oldest Android that ONNX Runtime has libraries for."""
DRIVER = Step(
    name="device-driver",
    caller=__name__,
    computed_by=("packager.targets.kotlin.kotlin",),
    templates=("device_program",),
    is_shared=False,
)
DEXED = Step(name="device-classes", caller=__name__, computed_by=(android_tools.__name__,), is_shared=False)
LIBRARY = Step(
    name="device-libraries", caller=__name__, computed_by=("packager.targets.kotlin.kotlin",), is_shared=False
)


def driver(classes: Path, onnxruntime: str, store: Store) -> Path:
    """A jar with the driver, compiled against the `classes` of ONNX Runtime, which lie in the Java package
    `onnxruntime`."""
    inputs = [kotlin.compiler_version(), onnxruntime, known_sha256(classes)]

    def make(folder: Path) -> None:
        with store.scratch() as work:
            _compile(classes, onnxruntime, work, folder / "driver.jar")

    return store.results(DRIVER, inputs, make) / "driver.jar"


def java_package(classes: Path) -> str:
    """Package of ONNX Runtime's classes, which may have been renamed."""
    with zipfile.ZipFile(classes) as archive:
        found = next(name for name in archive.namelist() if name.endswith(SESSION))
    return found.removesuffix(SESSION).replace("/", ".")


def libraries(store: Store) -> tuple[Path, ...]:
    """Jars of what generated Kotlin uses: its standard library, and coroutines."""

    def make(folder: Path) -> None:
        kotlin.write_coroutines(folder / "coroutines.jar")

    made = store.results(LIBRARY, kotlin.compiler_version(), make)
    return made / "coroutines.jar", kotlin.find_compiler().stdlib


def dexed(jars: Sequence[Path], store: Store, *, classpath: Sequence[Path] = ()) -> Path:
    """A jar with the classes of all `jars` in Android's form, `classes.dex` and more if they need it.

    `classpath` has classes that these refer to. Raises ToolError if D8 is not available, or refuses a class.
    """
    inputs = [
        downloads.pin(android_tools.PIN).sha256,
        MIN_API,
        [known_sha256(jar) for jar in (*jars, *classpath)],
        len(jars),
    ]
    tools = android_tools.android_tools()
    return store.results(DEXED, inputs, lambda folder: _dex(tools, jars, classpath, folder, store)) / "classes.jar"


def _dex(tools: AndroidTools, jars: Sequence[Path], classpath: Sequence[Path], folder: Path, store: Store) -> None:
    with store.scratch() as scratch:
        inputs = [_only_classes(jar, scratch / f"{number}.jar") for number, jar in enumerate(jars)]
        out = scratch / "dexed.zip"
        tools.dex(inputs, out, min_api=MIN_API, classpath=classpath)
        with zipfile.ZipFile(out) as archive:
            entries = {PurePosixPath(name): read_entry(archive, name) for name in archive.namelist()}
    write_zip(folder / "classes.jar", entries)


def _only_classes(jar: Path, target: Path) -> Path:
    """The classes of a jar, without those for newer versions of Java and without descriptions of modules."""
    with zipfile.ZipFile(jar) as archive:
        names = [name for name in archive.namelist() if name.endswith(".class") and not name.startswith("META-INF/")]
        entries = {
            PurePosixPath(name): read_entry(archive, name) for name in names if not name.endswith("module-info.class")
        }
    return write_zip(target, entries)


def _compile(classes: Path, onnxruntime: str, work: Path, jar: Path) -> None:
    compiler = kotlin.find_compiler()
    sources = templates_folder() / "device_program"
    names = []
    for path in sorted(sources.rglob("*")):
        if path.is_file():
            own = work / path.relative_to(sources)
            own.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding="utf-8").replace(ONNXRUNTIME, onnxruntime)
            own.write_text(text, encoding="utf-8", newline="\n")
            names.append(str(own.relative_to(work)))
    commands.run(
        [
            *compiler.program(),
            "-no-stdlib",
            "-no-reflect",
            "-jdk-home",
            str(compiler.java_home),
            "-cp",
            os.pathsep.join(map(str, (compiler.stdlib, classes))),
            "-jvm-target",
            "11",
            "-module-name",
            "mobpack_device",
            "-Werror",
            "-d",
            "classes",
            *names,
        ],
        what="compiling the program for devices",
        cwd=work,
        environment={"LC_ALL": "C.UTF-8"},
        hint="does the ONNX Runtime of --runtime have the classes of ONNX Runtime for Android? if so, report this",
    )
    found = kotlin.files(work / "classes")
    entries = {PurePosixPath(path.relative_to(work / "classes").as_posix()): path.read_bytes() for path in found}
    if not entries:
        raise ToolError("compiling the program for devices gave nothing", hint="report this as a bug")
    write_zip(jar, entries)
