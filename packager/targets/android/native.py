"""Compiles the part of a package that is in C: it asks ONNX Runtime which provider took which node of a model.

The library is linked with ONNX Runtime's by name alone and needs no C library. Its file and its function are named
after the package, so that an app can have several; the same package has the same bytes on every machine.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from packager.engines.environments import zig
from packager.files.installed import templates_folder
from packager.files.processes import commands
from packager.files.store import Step, Store

CLASS = "NativeAssignment"
"""Kotlin class that declares the function."""
FUNCTION = "read"
LIBRARY = Step(
    name="jni",
    caller=__name__,
    computed_by=("packager.engines.environments.zig", "packager.files.installed"),
    templates=("android/native", "ios/onnxruntime"),
)
TARGETS = {
    "arm64-v8a": ("-target", "aarch64-linux-musl"),
    "armeabi-v7a": ("-target", "arm-linux-musleabi", "-mcpu=generic+v7a"),
    "x86": ("-target", "x86-linux-musl"),
    "x86_64": ("-target", "x86_64-linux-musl"),
}
"""Android's name of a processor -> the compiler's: any system of Linux will do, nothing of it is used."""
FLAGS = (
    "-std=c11",
    "-O2",
    "-fPIC",
    "-shared",
    "-nostdlib",
    "-fvisibility=hidden",
    "-fno-builtin",
    "-fno-sanitize=undefined",
    "-fno-stack-protector",
    "-fno-unwind-tables",
    "-fno-asynchronous-unwind-tables",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wl,-z,defs",
    "-Wl,-z,max-page-size=16384",
    "-Wl,--hash-style=both",
    "-Wl,--build-id=none",
    "-Wl,-s",
)
STUB = '__attribute__((visibility("default"))) const void *OrtGetApiBase(void) { return 0; }\n'
"""ONNX Runtime, as far as the linker looks."""


def library_name(namespace: str) -> str:
    """`com.example.page_models` -> `mobpack_com_example_page_1models`: no two packages have the same."""
    return f"mobpack_{_mangled(namespace)}"


def libraries(namespace: str, onnxruntime: str, abis: Sequence[str], store: Store) -> Mapping[PurePosixPath, Path]:
    """The library of the package `namespace` for each of `abis`, by path in an .aar.

    `onnxruntime` is the Java package of the ONNX Runtime that it asks. Raises ToolError if the compiler cannot be
    fetched.
    """
    name = f"lib{library_name(namespace)}.so"
    runtime = f"lib{onnxruntime.rpartition('.')[2]}.so"
    function = f"Java_{_mangled(namespace)}_{CLASS}_{FUNCTION}"

    def make(folder: Path) -> None:
        for abi in abis:
            (folder / abi).mkdir()
            _compile(folder / abi / name, abi, function, runtime, store)

    made = store.results(LIBRARY, [namespace, runtime, list(abis), zig.version()], make)
    return {PurePosixPath("jni", abi, name): made / abi / name for abi in abis}


def _compile(library: Path, abi: str, function: str, runtime: str, store: Store) -> None:
    sources = templates_folder() / "android" / "native"
    headers = [sources / "include", templates_folder() / "ios" / "onnxruntime" / "include"]
    with store.scratch() as work:
        (work / "stub.c").write_text(STUB, encoding="utf-8", newline="\n")
        _run(abi, f"-Wl,-soname,{runtime}", "-o", work / runtime, work / "stub.c")
        _run(
            abi,
            *(f"-I{folder}" for folder in headers),
            f"-DREAD={function}",
            f"-Wl,-soname,{library.name}",
            "-o",
            library,
            sources / "assignment.c",
            work / runtime,
        )


def _run(abi: str, *arguments: str | Path) -> None:
    commands.run(
        [zig.compiler(), "cc", *TARGETS[abi], *FLAGS, *arguments],
        what=f"compiling for {abi}",
        inherits=zig.VARIABLES,
        hint="report this as a bug, with the output of `mobpack doctor`",
    )


def _mangled(name: str) -> str:
    """A Java name as the Java Native Interface writes it in C."""
    return name.replace("_", "_1").replace(".", "_")
