"""Compiles Kotlin test apps and runs them on a desktop JVM against ONNX Runtime's own Android x86_64 libraries.

Nothing of what a device would run is changed: the libraries and classes are those of ONNX Runtime's .aar, our
classes are those of the .aar under test. Stand-ins exist only for what the device itself brings: the system
libraries (`packager/engines/environments/bionic/`) and the Android framework (`fakes/`).
"""

import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from packager.engines.environments import bionic, onnxruntime_android
from packager.files.processes import commands
from packager.files.user_cache import cache_folder
from packager.files.zips import write_zip
from packager.targets.kotlin import kotlin
from tests.toolchain.debian_root import make_alone
from tests.toolchain.kept import kept

FAKES = Path(__file__).with_name("fakes")
APPS = Path(__file__).with_name("apps")
ABI = "x86_64"
COROUTINES_RULES = "META-INF/com.android.tools/r8/coroutines.pro"
COROUTINES = (*kotlin.COROUTINES, "_COROUTINE/", COROUTINES_RULES)
"""kotlinx.coroutines among the compiler's classes; apps are compiled without the last two"""
RUN_TIMEOUT_S = 600
FILE_NUMBERS = "--add-opens=java.base/java.io=ALL-UNNAMED"
"""Allows fakes/Os.kt in Java, which asks for the number of an open file."""

FLAGS = (*kotlin.JAVA_FLAGS, "-XX:-CreateCoredumpOnCrash", FILE_NUMBERS)
SHARED = ("-Xlog:disable", "-Xlog:all=error:stderr")
"""Java does not tell of classes that are not in its archive."""
ARCHIVE = "classes.jsa"


@dataclass(frozen=True, kw_only=True)
class AndroidRuntime:
    """ONNX Runtime for Android, as published."""

    aar: Path
    classes: Path
    libraries: Path
    """folder with libonnxruntime.so and libonnxruntime4j_jni.so for x86_64"""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A test app that ran to its end."""

    facts: Mapping[str, str]
    """its calls of `report(name, value)`"""
    log: str
    """its standard error, with Android's log, native and Java"""


@cache
def android_runtime() -> AndroidRuntime:
    """ONNX Runtime's .aar, unpacked into the cache; fetched on first use."""
    aar = onnxruntime_android.archive()
    folder = cache_folder() / "onnxruntime-android" / aar.name[:16]
    make_alone(folder, lambda made: _unpack(aar, made))
    return AndroidRuntime(
        aar=folder / "onnxruntime.aar", classes=folder / "classes.jar", libraries=folder / "jni" / ABI
    )


def _unpack(aar: Path, folder: Path) -> None:
    shutil.copyfile(aar, folder / "onnxruntime.aar")
    with zipfile.ZipFile(aar) as library:
        wanted = [name for name in library.namelist() if name == "classes.jar" or name.startswith(f"jni/{ABI}/")]
        library.extractall(folder, wanted)


def compile_kotlin(sources: Sequence[Path], *, classpath: Sequence[Path] = ()) -> Path:
    """A jar with the classes of `sources`, from the cache when the same was compiled before.

    Warnings are errors, as in a careful app's build.
    """
    compiler = kotlin.find_compiler()
    options = ["-no-stdlib", "-no-reflect", "-Werror", "-jvm-target", "11"]

    def make(folder: Path) -> None:
        commands.run(
            [
                *compiler.program(),
                *options,
                "-jdk-home",
                compiler.java_home,
                "-cp",
                path_of([compiler.stdlib, coroutines(), *classpath]),
                "-d",
                folder / "classes.jar",
                *sources,
            ],
            what="compiling " + ", ".join(source.name for source in sources),
        )

    content: list[Path | str] = [*sources, *classpath, kotlin.compiler_version(), *options]
    return kept("kotlin", make, *content) / "classes.jar"


@cache
def coroutines() -> Path:
    """kotlinx.coroutines, which an app's build fetches with the package: all of it, with its rules for R8."""

    def make(folder: Path) -> None:
        entries: dict[PurePosixPath, bytes] = {}
        for jar in kotlin.find_compiler().jars:
            with zipfile.ZipFile(jar) as archive:
                names = [name for name in archive.namelist() if name.startswith(COROUTINES) and not name.endswith("/")]
                entries |= {PurePosixPath(name): archive.read(name) for name in names}
        write_zip(folder / "coroutines.jar", entries)

    return kept("coroutines", make, kotlin.compiler_version(), *COROUTINES) / "coroutines.jar"


@cache
def fakes() -> Path:
    """The Android framework stand-in and `device.InstalledApp`, compiled."""
    return compile_kotlin(sorted(FAKES.glob("*.kt")))


def run(
    main_class: str,
    arguments: Mapping[str, object],
    *,
    classpath: Sequence[Path],
    properties: Mapping[str, object] | None = None,
    variables: Mapping[str, str] | None = None,
    exit_code: int = 0,
    timeout_s: float = RUN_TIMEOUT_S,
) -> Run:
    """Runs `main_class` with ONNX Runtime for Android on the class path, and `arguments` as `name=value`, in an
    environment with `variables`.

    Raises AssertionError with the last of what it printed when it does not end with `exit_code`.
    """
    with tempfile.TemporaryDirectory() as folder:  # a crash leaves hs_err_pid*.log in the working folder
        done = subprocess.run(
            command(main_class, arguments, classpath, properties or {}),
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
            cwd=folder,
            env=environment(variables),
        )
    return ended(main_class, done.returncode, done.stdout, done.stderr, expected=exit_code)


def ended(main_class: str, code: int, output: str, errors: str, *, expected: int = 0) -> Run:
    """The run of an app that has printed `output` and `errors`. Raises AssertionError for another code."""
    if code != expected:
        raise AssertionError(
            f"{main_class} ended with exit code {code}\n"
            f"{commands.last_lines(output, 40)}\n{commands.last_lines(errors, 80)}"
        )
    return Run(facts=_facts(output), log=errors)


def start(
    main_class: str,
    arguments: Mapping[str, object],
    *,
    classpath: Sequence[Path],
    properties: Mapping[str, object],
    variables: Mapping[str, str],
    log: Path,
) -> "subprocess.Popen[str]":
    """As `run`, for a program that reads lines and answers each with one; its standard error is appended to `log`."""
    with log.open("a", encoding="utf-8") as errors:
        return subprocess.Popen(
            command(main_class, arguments, classpath, properties),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=log.parent,
            env=environment(variables),
        )


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a process that opens Android's libraries, with `variables`."""
    return {**os.environ, "LD_LIBRARY_PATH": str(_stand_ins()), **(variables or {})}


@cache
def _stand_ins() -> Path:
    return bionic.shims(sorted(android_runtime().libraries.glob("*.so")))


def command(
    main_class: str, arguments: Mapping[str, object], classpath: Sequence[Path], properties: Mapping[str, object]
) -> list[str]:
    """The command that runs `main_class` on the desktop, with ONNX Runtime for Android on the class path."""
    flags = [*SHARED, f"-XX:SharedArchiveFile={_archive()}", *settings(properties)]
    return [*java(main_class, [*common(), *classpath], flags), *words(arguments)]


def java(main_class: str, classpath: Sequence[Path], flags: Sequence[str]) -> list[str]:
    """The command that runs a program which loads ONNX Runtime's libraries for Android."""
    return [
        # FLAGS allow System.load: Java 24 and later warn of it (JEP 472), Android knows no such rule.
        str(kotlin.find_compiler().java),
        *FLAGS,
        f"-Donnxruntime.native.path={android_runtime().libraries}",
        *flags,
        "-cp",
        path_of(classpath),
        main_class,
    ]


def settings(properties: Mapping[str, object]) -> list[str]:
    """Java's properties, as its command takes them."""
    return [f"-D{name}={value}" for name, value in properties.items()]


def words(arguments: Mapping[str, object]) -> list[str]:
    """Arguments, as apps take them."""
    return [f"{name}={value}" for name, value in arguments.items()]


def common() -> Sequence[Path]:
    """The part of the class path that all apps share: what simulates Android is the first."""
    return fakes(), android_runtime().classes, coroutines(), kotlin.find_compiler().stdlib


@cache
def _archive() -> Path:
    """Classes that most apps use, as Java keeps them in memory: a run of an app takes half the CPU."""
    java = (kotlin.find_compiler().java, *FLAGS)
    path = path_of(common())

    def make(folder: Path) -> None:
        names, archive = folder / "classes.txt", folder / ARCHIVE
        loaded = [fakes(), android_runtime().classes]
        what = "an archive of the classes that apps use"
        commands.run([*java, f"-XX:DumpLoadedClassList={names}", "-cp", path, "device.PreloadKt", *loaded], what=what)
        dump = ("-Xshare:dump", f"-XX:SharedClassListFile={names}", f"-XX:SharedArchiveFile={archive}")
        commands.run([*java, *dump, *SHARED, "-cp", path], what=what)

    known = (f"{each} {each.stat().st_size} {each.stat().st_mtime_ns}" for each in common())  # as Java compares them
    return kept("java-classes", make, *map(str, java), *known, FAKES / "Preload.kt") / ARCHIVE


def _facts(output: str) -> Mapping[str, str]:
    pairs = [line.split("\t", 1) for line in output.splitlines() if "\t" in line]
    return {name: value.replace("\\t", "\t").replace("\\n", "\n").replace("\\\\", "\\") for name, value in pairs}


def path_of(entries: Sequence[Path]) -> str:
    return os.pathsep.join(map(str, entries))
