"""Compiles and runs programs with a C++ package: GCC of the machine, or zig's Clang for any processor."""

import os
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packager.engines.environments import onnxruntime_android, zig
from packager.engines.environments.environment import ensure
from packager.engines.environments.runtime import Runtime
from packager.files.user_cache import cache_folder
from tests.toolchain.kept import kept
from tests.toolchain.require import require

STRICT = ("-std=c++17", "-Wall", "-Wextra", "-Werror")
HEADERS = "headers/"


def gcc() -> tuple[str, ...]:
    require(shutil.which("g++") is not None, "g++ is missing: apt install g++")
    return ("g++",)


def clang(target: str) -> tuple[str, ...]:
    """Zig's Clang with libc++, for a system and a processor."""
    return (str(zig.compiler()), "c++", "-target", target)


def unpacked(package: Path, folder: Path) -> Path:
    """The one folder in a package."""
    with tarfile.open(package) as tar:
        tar.extractall(folder, filter="data")
    [found] = folder.iterdir()
    return found


def headers(folder: Path) -> None:
    """ONNX Runtime's headers, of the release that packages depend on."""
    with zipfile.ZipFile(onnxruntime_android.archive()) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if name.startswith(HEADERS)])


def root(folder: Path, library: Path | None = None) -> Path:
    """A folder as ONNX Runtime's release has it; with that for this machine, unless another library is given."""
    if library is None:
        ensure(Runtime())
        [library] = Path(Runtime().variables()["PYTHONPATH"]).glob("onnxruntime/capi/libonnxruntime.so.*")
    headers(folder)
    (folder / "lib").mkdir()
    for name in ("libonnxruntime.so", "libonnxruntime.so.1"):
        (folder / "lib" / name).symlink_to(library)
    return folder


def compiled(package: Path, runtime: Path, program: Path, compiler: Sequence[str], *options: str) -> Path:
    """The program with the unpacked package; `runtime` is a `root`. Each source is compiled after one header, once."""
    sources = [program, *sorted((package / "src").glob("*.cpp"))]

    def make(folder: Path) -> None:
        header = folder / "all.h"
        header.write_text('#include "internal.h"\n', encoding="utf-8")
        given = [*compiler, *STRICT, *options, "-I", str(package / "include"), "-I", str(package / "src")]
        given += ["-isystem", str(runtime / HEADERS)]
        is_gcc = compiler[0] == "g++"
        if is_gcc:
            _run([*given, "-x", "c++-header", str(header), "-o", f"{header}.gch"])
        before = ["-include", str(header)] if is_gcc else []
        objects = [folder / f"{source.stem}.o" for source in sources]
        commands = [
            [*given, *before, "-c", str(source), "-o", str(made)] for source, made in zip(sources, objects, strict=True)
        ]
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(_run, commands))
        libraries = ["-L", str(runtime / "lib"), "-lonnxruntime", "-ldl", "-pthread", "-Wl,--allow-shlib-undefined"]
        _run([*compiler, *options, *map(str, objects), *libraries, "-o", str(folder / "program")])

    content: tuple[Path | str, ...] = (package / "include", package / "src", program, *compiler, *options)
    return kept("cpp-package", make, *content, Path(__file__)) / "program"


def checked(package: Path, runtime: Path, source: str, compiler: Sequence[str]) -> None:
    """Compiles a source of the package, beside it."""
    folders = ["-I", str(package / "include"), "-isystem", str(runtime / HEADERS)]
    _run(
        [*compiler, *STRICT, *folders, "-c", str(package / "src" / f"{source}.cpp"), "-o", str(package / f"{source}.o")]
    )


def ran(program: Path, package: Path, runtime: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """A program of `compiled`, with the folder of the models as its first argument. A sanitizer says nothing of what
    ONNX Runtime itself keeps."""
    (runtime / "kept").write_text("leak:libonnxruntime\n", encoding="utf-8")
    leaks = f"suppressions={runtime / 'kept'}:print_suppressions=0"
    return subprocess.run(
        [str(program), str(package / "models"), *map(str, arguments)],
        env={**os.environ, "LD_LIBRARY_PATH": str(runtime / "lib"), "LSAN_OPTIONS": leaks},
        capture_output=True,
        text=True,
        check=False,
    )


def _run(command: Sequence[str]) -> None:
    cache = str(cache_folder() / "zig")
    variables = {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-6000:]
