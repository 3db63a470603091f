"""Compiles Swift and C for Apple's systems on Linux: a check of sources, its objects are not for shipping.

Apple's SDKs are not available here. Swift's modules come from their textual interfaces, which Debian ships for Linux;
C headers are those that zig has of Darwin; Foundation and its like are interfaces in `apple_modules/`, with the names,
types and availability that Apple documents, of what generated code uses. A name that is missing there does not compile.
"""

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packager.core.errors import ToolError
from packager.engines.environments import zig
from packager.files.hashes import sha256_of
from packager.files.processes import commands
from packager.files.store import key_of
from packager.files.user_cache import cache_folder
from tests.toolchain.debian_root import make_alone
from tests.toolchain.kept import kept
from tests.toolchain.require import require
from tests.toolchain.swift import UNVERIFIED, Finished, swift
from tests.toolchain.swift_interfaces import without_bodies

INTERFACES = Path(__file__).with_name("apple_modules")
STANDARD = ("Swift", "SwiftOnoneSupport", "_Concurrency", "_StringProcessing", "_Builtin_float")
"""Modules of Swift itself, in the order of their imports."""
FRAMEWORKS = ("Dispatch", "Foundation", "CoreVideo", "CryptoKit", "os", "CoreML", "CoreGraphics", "ImageIO", "Network")
IOS_FRAMEWORKS = (
    *("QuartzCore", "CoreMedia", "UIKit", "SwiftUI", "PhotosUI", "AVFoundation"),
    *("ExtensionFoundation", "BackgroundAssets", "StoreKit"),
)
"""Modules that macOS lacks: code compiled for it must not see them."""
LINUX = "usr/libexec/swift/lib/swift/linux"
LINUX_TARGET = "x86_64-pc-linux-gnu"
SEEN = "/apple"
"""The compiler's path of its modules, the same on every machine: its caches name paths."""
STANDARD_SEEN = f"{SEEN}/standard"
IOS, MACOS = "arm64-apple-ios15.0", "arm64-apple-macos12.0"
"""The oldest systems: modules that are compiled for them serve newer ones, too."""
ERROR, ERRORS = ": error: ", "errors.txt"
STRICT = ("-swift-version", "6", "-strict-concurrency=complete", "-warnings-as-errors", "-parse-as-library")


@dataclass(frozen=True)
class Compiled:
    returncode: int
    output: str
    """errors and warnings"""
    objects: tuple[Path, ...]


def compile_swift(
    module: str,
    sources: Sequence[Path],
    folder: Path,
    *,
    c_modules: Mapping[str, Path] | None = None,
    modules: Sequence[Path] = (),
    triple: str = IOS,
    defines: Sequence[str] = ("SWIFT_PACKAGE",),
    is_optimized: bool = False,
    is_checked_alone: bool = False,
) -> Compiled:
    """Compiles a module to one object in `folder`, with warnings as errors; checks for data races come with that.

    `c_modules` are folders that hold a module.modulemap, `modules` those where others were compiled that it imports.
    As SwiftPM compiles it, the module has `Bundle.module`. Without optimizing, the same is checked in half the time;
    with `is_checked_alone` the compiler ends after its last check and makes no object. It lists public symbols in
    `symbols_of(module, folder)`. What compiles is kept by content, and so are the errors of what does not; these name
    the folders that sources were in before.
    """
    paths = [*sources, INTERFACES / "BundleModule.swift"] if "SWIFT_PACKAGE" in defines else sources
    listed, product = folder / f"{module}.swiftmodule", folder / f"{module}.o"
    command = ["swift-frontend", "-emit-module" if is_checked_alone else "-c", "-O" if is_optimized else "-Onone"]
    command += [*_options(triple), *STRICT, *UNVERIFIED, "-module-name", module, *(f"-D{name}" for name in defines)]
    command += ["-emit-module-path", str(listed), "-emit-module-doc-path", str(listed.with_suffix(".swiftdoc"))]
    command += ["-emit-symbol-graph", "-emit-symbol-graph-dir", str(folder)]
    command += ["-symbol-graph-minimum-access-level", "public"]
    imported = [*(c_modules or {}).values(), *modules]
    seen = _system(triple, is_optimized=is_optimized)
    command += [word for each in imported for word in ("-I", str(each))]
    command += [*map(str, paths), *(() if is_checked_alone else ("-o", str(product)))]
    products = () if is_checked_alone else (product,)

    def make(made: Path) -> None:
        done = _run(command, folder, seen, [*paths, *imported])
        has_errors = done.returncode == 1 and ERROR in done.output
        if not has_errors and (done.returncode != 0 or done.output):
            raise _OddError(Compiled(done.returncode, done.output, () if done.returncode else products))
        _copy(folder, made, module)
        (made / ERRORS).write_text(done.output, encoding="utf-8")

    try:
        made = kept("swift-apple", make, _key(command, folder, seen, [*paths, *imported]))
    except _OddError as error:
        return error.compiled
    if errors := (made / ERRORS).read_text(encoding="utf-8"):
        return Compiled(1, errors, ())
    _copy(made, folder, module)
    return Compiled(0, "", products)


class _OddError(Exception):
    """The compiler has ended in a way that may be another one next time."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled


def symbols_of(module: str, folder: Path) -> Path:
    """The compiler's list of the public symbols of a module that was compiled into a folder."""
    return folder / f"{module}.symbols.json"


def _copy(source: Path, target: Path, module: str) -> None:
    for path in (source / f"{module}.o", source / f"{module}.swiftmodule", symbols_of(module, source)):
        if path.exists():
            shutil.copy(path, target / path.name)


def _key(command: Sequence[str], folder: Path, system: Mapping[str, Path], paths: Sequence[Path]) -> str:
    """Key of all inputs of a compilation: the command line, the files, Apple's modules, the compiler."""
    text = "\0".join(command)
    files: list[list[str]] = []
    for place, path in enumerate([folder, *paths]):  # temporary folders have another name in every run
        text = text.replace(str(path), f"<{place}>/{path.name if path.is_file() else ''}")
        inside = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
        files += [[str(place), each.relative_to(path).as_posix(), sha256_of(each)] for each in inside if place]
    seen = {at: str(each) for at, each in system.items()}
    return key_of([text, files, seen, swift().folder.name])[:32]


def compile_c(sources: Sequence[Path], folder: Path, *, includes: Sequence[Path] = (), triple: str = IOS) -> Compiled:
    """Compiles C sources to an object each in `folder`, with warnings as errors."""
    products = tuple(folder / f"{path.stem}.o" for path in sources)
    options = ["-target", triple, "-isysroot", f"{SEEN}/sdk", "-Wall", "-Wextra", "-Werror", "-O2"]
    options += [f"-I{path}" for path in includes]
    for source, product in zip(sources, products, strict=True):
        done = _run(["clang", *options, "-c", source, "-o", product], folder, _system(triple), [*sources, *includes])
        if done.returncode != 0:
            return Compiled(done.returncode, done.output, ())
    return Compiled(0, "", products)


def run_tool(command: Sequence[str], folder: Path, imported: Sequence[Path], *, triple: str = IOS) -> Finished:
    """Runs a tool of the toolchain that reads compiled modules: Apple's, and those in the folders `imported`."""
    search = [word for each in imported for word in ("-I", str(each))]
    return _run([*command, *_modules(triple), *search], folder, _system(triple), imported)


def _run(command: Sequence[str | Path], folder: Path, system: Mapping[str, Path], paths: Sequence[Path]) -> Finished:
    """Runs a compiler that sees `folder`, `paths` and the modules of a system."""
    mounts = {str(path): path for path in sorted(path.resolve() for path in paths)}
    return swift().run(command, cwd=folder, mounts={**mounts, **system})


def _system(triple: str, *, is_optimized: bool = False) -> dict[str, Path]:
    """Folders with Apple's modules and Swift's own, by the place that a compiler for `triple` sees them at."""
    oldest = IOS if "-ios" in triple else MACOS
    return _seen(frameworks(oldest, is_optimized=is_optimized), standard(oldest, is_optimized=is_optimized))


def _options(triple: str) -> list[str]:
    return [*_modules(triple), "-disable-objc-interop"]


def _modules(triple: str) -> list[str]:
    """Options of a program that reads modules."""
    options = ["-target", triple, "-sdk", f"{SEEN}/sdk", "-module-cache-path", f"{SEEN}/cache"]
    return [*options, "-I", f"{STANDARD_SEEN}/modules", "-I", f"{SEEN}/modules"]


@cache
def frameworks(triple: str, *, is_optimized: bool = False) -> Path:
    """The folder with Apple's modules for `triple`, compiled on first use: seconds."""
    own = standard(triple, is_optimized=is_optimized)
    names = (*FRAMEWORKS, *(IOS_FRAMEWORKS if "-ios" in triple else ()))
    texts = {name: _retarget(INTERFACES / f"{name}.swiftinterface", triple) for name in names}
    darwin = {path.name: path.read_text(encoding="utf-8") for path in sorted(INTERFACES.glob("*.[hm]*"))}

    def make(folder: Path) -> None:
        (folder / "modules").mkdir()
        for name, text in darwin.items():
            (folder / "modules" / name).write_text(text, encoding="utf-8")
        _compile(texts, SEEN, _seen(folder, own), triple)

    return _made([own.name, str(_headers()), darwin, texts], make)


@cache
def standard(triple: str, *, is_optimized: bool = False) -> Path:
    """The folder with Swift's own modules for `triple`, compiled on first use: seconds, and most of a minute with all
    that the optimizer looks into."""
    files = {name: swift().root / LINUX / f"{name}.swiftmodule" / f"{LINUX_TARGET}.swiftinterface" for name in STANDARD}
    whole = {name: _retarget(file, triple) for name, file in files.items()}
    texts = whole if is_optimized else {name: without_bodies(text) for name, text in whole.items()}

    def make(folder: Path) -> None:
        (folder / "modules").mkdir()
        _compile(texts, STANDARD_SEEN, _seen(folder, folder), triple)

    return _made([swift().folder.name, triple, texts], make)


def _made(contents: object, make: Callable[[Path], None]) -> Path:
    folder = cache_folder() / "swift" / "apple" / key_of(contents)[:16]
    make_alone(folder, make)
    return folder


def _compile(interfaces: Mapping[str, str], place: str, seen: Mapping[str, Path], triple: str) -> None:
    """Compiles `interfaces`, each after those it imports, in the folder that the compiler sees at `place`."""
    folder = seen[place]
    for name in ("cache", "interfaces", "sdk/usr/include", "standard"):
        (folder / name).mkdir(parents=True)
    for name, text in interfaces.items():
        # In a folder apart: beside its module the compiler would ask whether that is newer, and make its own.
        (folder / "interfaces" / f"{name}.swiftinterface").write_text(text, encoding="utf-8")
        command = ["swift-frontend", "-compile-module-from-interface", f"{place}/interfaces/{name}.swiftinterface"]
        command += [*_options(triple), "-module-name", name, "-o", f"{place}/modules/{name}.swiftmodule"]
        command += ["-parse-stdlib"] if "-parse-stdlib" in text else []
        done = swift().run(command, cwd=folder, mounts=seen)
        if done.returncode != 0:
            raise RuntimeError(f"cannot compile the module {name} for {triple}: {commands.last_lines(done.output)}")


def _seen(folder: Path, standard: Path) -> dict[str, Path]:
    return {SEEN: folder, STANDARD_SEEN: standard, f"{SEEN}/sdk/usr/include": _headers()}


def _headers() -> Path:
    """Darwin's C headers; ends the test where they are not available."""
    try:
        return zig.compiler().parent / "lib" / "libc" / "include" / "any-darwin-any"
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
        raise


def _retarget(interface: Path, triple: str) -> str:
    """The text of an interface made for Linux, for `triple`: what it says of availability is for those who import it.

    Without what only Swift's own build can do: copies of functions for older systems, and Float80 beyond its #if.
    """
    text = interface.read_text(encoding="utf-8")
    text = text.replace(f"-target {LINUX_TARGET}", f"-target {triple} -disable-availability-checking")
    text = re.sub(r"@backDeployed\(.*?\)", "", text)
    return re.sub(r"self = _stdlib_(remainderl|squareRootl)\(.*\)", "Swift.fatalError()", text)
