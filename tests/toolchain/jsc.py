"""Packages for React Native in JavaScriptCore on Linux: their C++ compiled with React Native's own, run by a host.

`python -m tests.toolchain.jsc --lock` locks the versions that Debian's mirror has now.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packager.core.errors import ToolError
from packager.engines.environments import zig
from packager.engines.environments.bionic import builder
from packager.files.hashes import sha256_of
from packager.files.processes import downloads
from packager.files.store import key_of
from packager.files.user_cache import cache_folder
from tests.toolchain import cxx, node
from tests.toolchain.cxx import TARGET
from tests.toolchain.debian_root import Suite, make_alone, read_lock, unpack
from tests.toolchain.kept import keep, kept, place
from tests.toolchain.require import require

SUITE = Suite("bookworm")
LOCK = Path(__file__).with_name("jsc_debs.txt")
REFRESH = "python -m tests.toolchain.jsc --lock"
WANTED = ("libjavascriptcoregtk-4.1-dev",)
NOT_NEEDED = re.compile(
    r"(?!(libjavascriptcoregtk-4.1-(0|dev)|lib(atomic1|blkid1|cap2|ffi8|gcc-s1|gcrypt20|glib2.0-0|gpg-error0|icu72|"
    r"lz4-1|lzma5|mount1|pcre2-8-0|selinux1|stdc\+\+6|systemd0|zstd1)|zlib1g)$)"
)
"""Dependencies of its headers and libraries, except the C library: the machine's own starts the program."""
NOT_UNPACKED = re.compile(r"usr/share/")
HOST = Path(__file__).with_name("react_native") / "host"
NEWEST = "react_native"
"""the npm project with the newest React Native"""
REACT_NATIVE = (
    "jsi/jsi/jsi.cpp",
    "jsi/jsi/jsilib-posix.cpp",
    "react/bridging/LongLivedObject.cpp",
    "react/nativemodule/core/ReactCommon/TurboModule.cpp",
    "react/nativemodule/core/ReactCommon/TurboModuleBinding.cpp",
    "react/nativemodule/core/ReactCommon/TurboModuleWithJSIBindings.cpp",
    "react/utils/jsi-utils.cpp",
)
"""Sources below ReactCommon between JavaScript and a module. The host's Engine.cpp includes JSCRuntime.cpp."""
FOLDERS = (".", "callinvoker", "jsc", "jsi", "react/nativemodule/core")
FOLLY = "#pragma once\nnamespace folly {\nclass dynamic {};\n}\n"
"""A header of React Native's names this type, which nothing here uses."""
ANDROID_MACROS = ("-D__unused=",)
"""of Android's C library and Apple's, which React Native's sources use"""
FLAGS = ("-std=c++20", "-O0", "-g0", "-DNDEBUG", "-fno-sanitize=undefined")
"""Compiles in half the time that `-O1 -g1` takes: most of what programs do is ONNX Runtime's work and JavaScript's."""
CHECKED = (
    *(each for each in FLAGS if not each.startswith("-fno-sanitize")),
    "-O1",
    "-fsanitize=undefined",
    "-fno-sanitize-recover=all",
    "-U_LIBCPP_HARDENING_MODE",
    "-D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_DEBUG",
    "-U_LIBCPP_ASSERTION_SEMANTIC_DEFAULT",
    "-D_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_ENFORCE",
)
"""For a program that ends if a number overflows, or an index is out of bounds: zig would ignore what libc++ finds."""
OPTIMIZED = ("Sha256",)
"""Sources that read whole files byte by byte."""
HEADERS = """
    algorithm array cerrno chrono cmath cstddef cstdint cstdio cstdlib exception filesystem fstream functional limits
    map memory mutex new optional span sstream string string_view thread utility vector
""".split()
"""Headers that most of a package's sources include; reading them is most of a compilation."""
OF_REACT_NATIVE = ("jsi/jsi.h", "ReactCommon/TurboModule.h", "react/bridging/Bridging.h")
"""The same for sources that know React Native."""
REACT_NATIVE_HEADER = re.compile(r"(jsi|ReactCommon|react)/|\w+JSI\.h$")
WITH_HEADERS = "-include-pch"
WRITTEN_S = 1_000_000_000
"""When the file that includes headers was written, for the compiler: where it is made again, what was precompiled
from it remains valid."""
NAMESPACE = re.compile(r"\bmobpack::(\w+)")
"""A package's own namespace, which no other package in an app has."""
INCLUDE = re.compile(r'(?m)^\s*#\s*include\s*[<"]([^>"]+)[>"]')
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
LIBRARIES = ("-l:libjavascriptcoregtk-4.1.so.0", "-l:libz.so.1", "-Wl,--allow-shlib-undefined")
ZLIB = ("zlib.h", "zconf.h")
"""zlib's headers, which the NDK and Apple have: the compiler brings those of Apple, for every system"""
TIMEOUT_S = 600


@dataclass(frozen=True)
class Finished:
    """A program that has ended, or was ended."""

    returncode: int
    output: str
    """its output, errors included"""


@dataclass(frozen=True)
class Program:
    """A host with a package's C++ inside."""

    path: Path

    def run(
        self,
        script: Path,
        *arguments: str | Path,
        onnxruntime: Path,
        environment: Mapping[str, str] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> Finished:
        """Runs a script in it; `onnxruntime` is a folder with libonnxruntime.so."""
        found = os.pathsep.join(map(str, libraries(onnxruntime)))
        variables = {"PATH": os.environ.get("PATH", ""), "LD_LIBRARY_PATH": found, **(environment or {})}
        command = [self.path, script, *arguments]
        try:
            done = subprocess.run(
                command,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            said = late.stdout.decode(errors="replace") if isinstance(late.stdout, bytes) else late.stdout or ""
            return Finished(-9, f"{said}\nended after {timeout_s} s")
        return Finished(done.returncode, done.stdout)


def libraries(onnxruntime: Path) -> tuple[Path, Path]:
    """Folders with the libraries of a program."""
    return onnxruntime, _debian() / "usr" / "lib" / "x86_64-linux-gnu"


def program(package: Path, specs: Path, module: str, *, project: str = NEWEST) -> Program:
    """The C++ of an unpacked package, compiled with codegen's output for its specs; made once for the same sources."""
    sources = sorted((package / "cpp").glob("*.cpp"))
    folder = _cached("package", _content(package, specs), _key(project))

    def make(made: Path) -> None:
        (made / "Package.h").write_text(
            f'#pragma once\n#include "{module}Cxx.h"\n#define HOST_MODULE facebook::react::{module}Cxx\n',
            encoding="utf-8",
        )
        include = [*includes(specs, project=project), "-I", str(made), *own_headers(package)]
        folders = (*_own_folders(package), specs, made)
        namespace = _namespace(package)
        knowing = [each for each in sources if _knows_react_native(each, folders)]
        options = [*WARNINGS, _version(project), *include, *with_headers(project)]
        knowing += [HOST / "main.cpp"]
        objects = compile_once(knowing, made, options, folders, _key(project), namespace=namespace)
        # Without the headers of React Native, so that they are the same for all of its versions.
        others = [each for each in sources if each not in knowing]
        options = [*WARNINGS, "-isystem", str(zlib_headers()), *own_headers(package), *with_headers(None)]
        objects += compile_once(others, made, options, folders, _key(None), namespace=namespace)
        options = ["-w", *include, *with_headers(project)]
        generated = compile_all(sorted(specs.glob("*JSI-generated.cpp")), made, options)  # until 0.83
        library = _debian() / "usr" / "lib" / "x86_64-linux-gnu"
        host = sorted(host_objects(project).glob("*.o"))
        options = [*FLAGS, "-L", str(library), *LIBRARIES]
        cxx.link([*objects, *generated, *host], options, made / "host", what="linking the host")

    keep(folder, make)
    return Program(folder / "host")


def objects_for(
    target: Sequence[str], package: Path, specs: Path, sources: Sequence[Path], *, is_alone: bool
) -> list[Path]:
    """C++ sources of an unpacked package compiled for another machine; made once for the same sources.

    `is_alone`: each with the headers that it includes and no other; without code.
    """
    names = [path.name for path in sources]
    folder = _cached("objects", _content(package, specs), _key(NEWEST), *target, *names, f"alone: {is_alone}")

    def make(made: Path) -> None:
        given = cxx.WITHOUT_CODE if is_alone else with_headers(NEWEST, target)
        compile_all(sources, made, [*WARNINGS, *includes(specs), *own_headers(package), *given], target=target)

    keep(folder, make)
    return sorted(folder.glob("*.o"))


def _knows_react_native(source: Path, folders: Sequence[Path]) -> bool:
    """Whether it includes a header of React Native, directly or not."""
    texts = (path.read_text(encoding="utf-8") for path in (source, *_included(source, folders)))
    return any(REACT_NATIVE_HEADER.match(name) for text in texts for name in INCLUDE.findall(text))


def build_checked(sources: Sequence[Path], options: Sequence[str], product: Path, *more: str) -> None:
    """Compiles a program of parts of a package, CHECKED; `more` are options of the linker alone."""
    given = [*CHECKED, *WARNINGS, *with_headers(None, flags=CHECKED), *options]
    cxx.build(sources, given, product, *more, what=f"compiling {product.name}")


def with_headers(
    project: str | None, target: Sequence[str] = ("-target", TARGET), flags: Sequence[str] = FLAGS
) -> list[str]:
    """Options that have every source include HEADERS, compiled once, and those OF_REACT_NATIVE of a project.

    A source that lacks an `#include` of one of them compiles, too: SwiftPM compiles without them, and `objects_for`
    can.
    """
    names = HEADERS if project is None else (*HEADERS, *OF_REACT_NATIVE)
    text = "".join(f"#include <{name}>\n" for name in names)
    folder = place("jsc-headers", text, _key(project), *target, *flags)

    def write(made: Path) -> None:
        header = made / "headers.h"
        header.write_text(text, encoding="utf-8", newline="\n")
        os.utime(header, (WRITTEN_S, WRITTEN_S))

    source = kept("jsc-header", write, text) / "headers.h"  # where it stays: what is compiled has its path

    def make(made: Path) -> None:
        read = ["-Xclang", "-fvalidate-ast-input-files-content", *(includes(project=project) if project else ())]
        given = [*target, *flags, "-fpch-instantiate-templates", *read]
        cxx.compiler([*given, "-x", "c++-header", source, "-o", made / "headers.pch"], what="compiling headers")

    return [WITH_HEADERS, str(keep(folder, make) / "headers.pch")]


def own_headers(package: Path) -> list[str]:
    """Options that have the compiler find the headers of an unpacked package."""
    return [option for folder in _own_folders(package) for option in ("-I", str(folder))]


def _own_folders(package: Path) -> tuple[Path, Path]:
    return package / "cpp", package / "cpp" / "include"


def host_objects(project: str) -> Path:
    """A folder with React Native's sources and the host's own, compiled."""
    common = _react_common(project)
    sources = [common / each for each in REACT_NATIVE]
    own = [HOST / "Engine.cpp", HOST / "Globals.cpp", HOST / "Loop.cpp", HOST / "Threads.cpp"]
    folder = _cached("react-native", [*sources, *own, *sorted(HOST.glob("*.h"))], _key(project))

    def make(made: Path) -> None:
        read = [*includes(project=project), *with_headers(project)]
        for name, each, options in (
            ("theirs", sources, ["-w", *ANDROID_MACROS]),
            ("own", own, [*WARNINGS, _version(project)]),
        ):
            whole = made / f"{name}.cpp"
            whole.write_text(cxx.including(each), encoding="utf-8", newline="\n")
            compile_all([whole], made, [*options, *read])

    keep(folder, make)
    return folder


def includes(*folders: Path, project: str = NEWEST) -> list[str]:
    """Options that have the compiler find the headers of React Native, of JavaScriptCore, and those in `folders`."""
    shim = cache_folder() / "jsc" / f"shim-{key_of([FOLLY])[:16]}"

    def make(made: Path) -> None:
        (made / "folly").mkdir()
        (made / "folly" / "dynamic.h").write_text(FOLLY, encoding="utf-8")

    make_alone(shim, make)
    javascript_core = _debian() / "usr" / "include" / "webkitgtk-4.1"
    found = [shim, zlib_headers(), *(_react_common(project) / each for each in FOLDERS), javascript_core, *folders]
    return [option for folder in found for option in ("-isystem", str(folder))]


def zlib_headers() -> Path:
    """A folder with zlib's headers alone."""
    folder = cache_folder() / "jsc" / f"zlib-{downloads.pin(builder.COMPILER).sha256[:16]}"

    def make(made: Path) -> None:
        for name in ZLIB:
            shutil.copy(zig.compiler().parent / "lib" / "libc" / "include" / "any-darwin-any" / name, made / name)

    make_alone(folder, make)
    return folder


def zlib() -> list[str]:
    """Options that link zlib."""
    return ["-L", str(_debian() / "usr" / "lib" / "x86_64-linux-gnu"), "-l:libz.so.1"]


def compile_all(
    sources: Iterable[Path], folder: Path, options: Sequence[str], target: Sequence[str] = ("-target", TARGET)
) -> list[Path]:
    """Compiles each source to an object in `folder`, two at a time."""

    def compile_one(source: Path) -> Path:
        made = folder / f"{source.stem}.o"
        own = [*_without_headers(options), "-O1"] if source.stem in OPTIMIZED else options
        cxx.compiler([*target, *FLAGS, *own, "-c", source, "-o", made], what=f"compiling {source.name}")
        return made

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(compile_one, sources))


def _without_headers(options: Sequence[str]) -> list[str]:
    """Options for other optimization than that of headers that are compiled already."""
    at = options.index(WITH_HEADERS) if WITH_HEADERS in options else len(options)
    return [*options[:at], *options[at + 2 :]]


def compile_once(
    sources: Iterable[Path], folder: Path, options: Sequence[str], own: Sequence[Path], *keys: str, namespace: str = ""
) -> list[Path]:
    """As `compile_all`; an object is taken from another package where its source is the same there.

    The key of an object is the text of the source, of the headers in the folders `own` that it includes, directly or
    not, and `keys`: of the options, and of all other headers. The package's own `namespace` has the same name in all
    objects, those of packages that differ in it alone are the same.
    """
    renamed = [f"-D{namespace}=package"] if namespace else []

    def object_of(source: Path) -> Path:
        headers = sorted(_included(source, own), key=lambda path: (path.name, path))
        texts = [f"{path.name}\n{_without_namespace(path, namespace)}" for path in (source, *headers)]
        found = place(f"jsc-object-{source.stem}", *texts, *keys)

        def make(made: Path) -> None:
            compile_all([source], made, [*renamed, *options])

        return Path(shutil.copy(keep(found, make) / f"{source.stem}.o", folder))

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(object_of, sources))


def _namespace(package: Path) -> str:
    """The namespace of an unpacked package."""
    [name] = set(NAMESPACE.findall((package / "cpp" / "Failure.h").read_text(encoding="utf-8")))
    return str(name)


def _without_namespace(source: Path, namespace: str) -> str:
    text = source.read_text(encoding="utf-8")
    return text.replace(f"mobpack::{namespace}", "mobpack::package") if namespace else text


def _included(source: Path, folders: Sequence[Path]) -> set[Path]:
    """Headers in `folders` that `source` includes, and that these include."""
    found: set[Path] = set()
    waiting = [source]
    while waiting:
        path = waiting.pop()
        names = INCLUDE.findall(path.read_text(encoding="utf-8"))
        read = {folder / name for name in names for folder in (path.parent, *folders) if (folder / name).is_file()}
        waiting += read - found
        found |= read
    return found


@cache
def onnxruntime() -> Path:
    """A folder with the ONNX Runtime that packages pin, as libonnxruntime.so."""
    return _library(
        node.project("react_native") / "node_modules" / "onnxruntime-node", "bin/*/linux/x64/libonnxruntime.so*"
    )


@cache
def other_onnxruntime() -> Path:
    """A folder with this Python's ONNX Runtime, which is a newer one."""
    from importlib.util import find_spec

    spec = find_spec("onnxruntime")
    assert spec
    assert spec.origin
    return _library(Path(spec.origin).parent, "capi/libonnxruntime.so.*")


def _library(folder: Path, pattern: str) -> Path:
    library = sorted(folder.glob(pattern))[0]
    place = cache_folder() / "jsc" / f"onnxruntime-{sha256_of(library)[:16]}"

    def copy(made: Path) -> None:
        shutil.copy(library, made / "libonnxruntime.so")

    make_alone(place, copy)
    return place


def _content(package: Path, specs: Path) -> list[Path]:
    """All C++ sources of a package, except those that are the same for all."""
    folder = package / "cpp"
    return [*sorted(folder.rglob("*.h")), *sorted(folder.glob("*.cpp")), *sorted(specs.rglob("*JSI*"))]


def _cached(name: str, content: Sequence[Path], *keys: str) -> Path:
    return place(f"jsc-{name}", *content, *keys)


def _key(project: str | None) -> str:
    """Key of everything that is the same for every package; without a project, of what knows no React Native."""
    this = Path(__file__).read_text(encoding="utf-8")
    headers = str(_react_common(project)) if project else ""
    locks = [LOCK.read_text(encoding="utf-8"), downloads.pin(builder.COMPILER).sha256, headers]
    return key_of(
        [
            this,
            Path(cxx.__file__).read_text(encoding="utf-8"),
            *locks,
            *(sha256_of(path) for path in sorted(HOST.glob("*.[ch]*"))),
        ]
    )


def _react_common(project: str) -> Path:
    return node.project(project) / "node_modules" / "react-native" / "ReactCommon"


def _version(project: str) -> str:
    """Tells the host which React Native it is compiled with: 81 for 0.81."""
    return f"-DREACT_NATIVE={node.version(project, 'react-native').split('.')[1]}"


@cache
def _debian() -> Path:
    """The folder with JavaScriptCore and its dependencies; skips the test if they are not available."""
    require(sys.platform == "linux" and os.uname().machine == "x86_64", "JavaScriptCore is Debian's, for x86_64")
    folder = cache_folder() / "jsc" / f"debian-{key_of([LOCK.read_text(encoding='utf-8')])[:16]}"

    def make(made: Path) -> None:
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            debs = SUITE.download(read_lock(LOCK), Path(scratch), refresh=REFRESH)
            unpack(debs, made / "root", NOT_UNPACKED)

    try:
        make_alone(folder, make)
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
    return folder / "root"


def main() -> None:
    if sys.argv[1:] != ["--lock"]:
        sys.exit(f"usage: {REFRESH}")
    LOCK.write_text(SUITE.lock(WANTED, NOT_NEEDED), encoding="utf-8")


if __name__ == "__main__":
    main()
