"""The user's own ONNX Runtime for Android: checks it and extracts the files for a package."""

import hashlib
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath

from packager.config.runtime import COORDINATES
from packager.core import user_files
from packager.core.errors import ConfigError, ToolError
from packager.files import elf
from packager.files.hashes import sha256_of
from packager.files.zips import RUNTIME, opened_zip, read_entry, refuse_bomb
from packager.runtimes import rename
from packager.runtimes.operators import OperatorConfig, parse_config, read_config

CONFIG = "required_operators_and_types.config"
LIBRARIES = ("libonnxruntime.so", "libonnxruntime4j_jni.so")
PAGE_BYTES = 16384
"""page size of devices with Android 15 and later, which load 64-bit libraries only if they are aligned to it"""
REBUILD = "make it with mobpack runtime recipe, or download it again"


@dataclass(frozen=True, kw_only=True)
class PublishedRuntime:
    """A runtime in a Maven repository, which packages depend on."""

    coordinates: str
    """`group:artifact:version`"""
    config: OperatorConfig | None
    """operators that it was reduced to; None if the user names no configuration and takes responsibility"""
    config_sha256: str = ""
    """sha256 of the configuration file"""


@dataclass(frozen=True, kw_only=True)
class OwnRuntime:
    """A runtime in a file, which packages include."""

    path: Path
    """the .aar"""
    sha256: str
    version: str
    """version of ONNX Runtime"""
    abis: tuple[str, ...]
    config: OperatorConfig
    config_sha256: str
    """sha256 of the configuration file"""
    notes: tuple[str, ...]
    """warnings about it, one sentence each"""


@dataclass(frozen=True, kw_only=True)
class RuntimeFiles:
    """Files of a runtime that a package ships."""

    libraries: Mapping[PurePosixPath, bytes]
    """by path in the .aar: `jni/arm64-v8a/libonnxruntime.so`"""
    classes: Mapping[PurePosixPath, bytes]
    """by path in classes.jar: `ai/onnxruntime/OrtSession.class`"""
    rules: str
    """R8 rules for the library's consumer rules"""


def load(location: str, folder: Path, *, config: Path | None = None) -> PublishedRuntime | OwnRuntime:
    """The runtime at `location`: Maven coordinates, or an .aar, or a folder with one, by its path below `folder`.

    `config` is the operator configuration that it was built with, if that is neither beside the .aar nor inside it.
    Raises ConfigError or ToolError for a file that is not an ONNX Runtime for Android, or whose operators are unknown.
    """
    if COORDINATES.fullmatch(location):
        return _published(location, config)
    path = folder / location
    if path.is_dir():
        path = only_aar(path)
    if not path.is_file():
        raise ConfigError(
            f"runtime {path}: no such file",
            hint="use an .aar, relative to mobpack.toml, or Maven coordinates: group:artifact:version",
        )
    with _opened(path) as archive:
        names = set(archive.namelist())
        _check_classes(path, archive, names)
        abis = _abis(path, names)
        notes = tuple(_notes(path, archive, abis))
        operators, config_sha256 = _config(path, archive, config)
        return OwnRuntime(
            path=path,
            sha256=sha256_of(path),
            version=_version(path, archive, abis),
            abis=abis,
            config=operators,
            config_sha256=config_sha256,
            notes=notes,
        )


def only_aar(folder: Path) -> Path:
    """The .aar in `folder`, the output of the recipe. Raises ConfigError unless there is exactly one."""
    found = sorted(folder.glob("*.aar"))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise ConfigError(f"runtime {folder}: expected one .aar, found {names}", hint="name the file itself")
    return found[0]


def _published(coordinates: str, config: Path | None) -> PublishedRuntime:
    if config is None:
        return PublishedRuntime(coordinates=coordinates, config=None)
    return PublishedRuntime(coordinates=coordinates, config=read_config(config), config_sha256=sha256_of(config))


def files(runtime: OwnRuntime, name: str = "") -> RuntimeFiles:
    """Files of `runtime` that a package ships, renamed if `name` is given, so that apps can contain several
    runtimes."""
    with _opened(runtime.path) as archive:
        libraries = {
            PurePosixPath("jni", abi, library): _read(archive, f"jni/{abi}/{library}", runtime.path)
            for abi in runtime.abis
            for library in LIBRARIES
        }
        classes = _classes(runtime.path, archive)
        rules = _read(archive, "proguard.txt", runtime.path).decode() if "proguard.txt" in archive.namelist() else ""
    if not name:
        return RuntimeFiles(libraries=libraries, classes=classes, rules=rules)
    renamed = {}
    for path, content in libraries.items():
        file_name, renamed_content = rename.renamed_library(content, path.name, name)
        renamed[path.with_name(file_name)] = renamed_content
    return RuntimeFiles(
        libraries=renamed, classes=rename.renamed_classes(classes, name), rules=rename.renamed_rules(rules, name)
    )


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    with ExitStack() as opened:
        try:
            archive = opened.enter_context(opened_zip(opened.enter_context(user_files.opened(path)), RUNTIME))
        except zipfile.BadZipFile as error:
            raise ToolError(f"runtime {path}: not an .aar, or truncated ({error})", hint=REBUILD) from error
        except OSError as error:
            raise ToolError(f"runtime {path}: {error.strerror}", hint="check its permissions") from error
        yield archive


def _read(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    try:
        return read_entry(archive, name)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        RuntimeError,
    ) as error:  # the last: encrypted, or with an unsupported compression
        raise ToolError(f"runtime {path}: {name} is damaged ({error})", hint=REBUILD) from error


def _check_classes(path: Path, archive: zipfile.ZipFile, names: set[str]) -> None:
    if "classes.jar" not in names:
        raise ToolError(f"runtime {path}: it has no classes.jar", hint="use an .aar of ONNX Runtime for Android")
    if PurePosixPath("ai/onnxruntime/OrtSession.class") not in _classes(path, archive):
        raise ToolError(
            f"runtime {path}: its classes.jar has no ai.onnxruntime", hint="build ONNX Runtime with --build_java"
        )


def _classes(path: Path, archive: zipfile.ZipFile) -> dict[PurePosixPath, bytes]:
    """The classes of the jar; its other files (a manifest, licences) would clash with those of other libraries."""
    try:
        content = _read(archive, "classes.jar", path)
        with zipfile.ZipFile(BytesIO(content)) as jar:
            refuse_bomb(jar.infolist(), len(content), RUNTIME)
            names = sorted(name for name in jar.namelist() if name.endswith(".class"))
            return {PurePosixPath(name): read_entry(jar, name) for name in names}
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ToolError(f"runtime {path}: classes.jar is damaged ({error})", hint=REBUILD) from error


def _abis(path: Path, names: set[str]) -> tuple[str, ...]:
    """Processors that it has libraries for. Raises ToolError if one of the two libraries is missing for one."""
    abis = sorted({name.split("/")[1] for name in names if re.fullmatch(r"jni/[^/]+/[^/]+\.so", name)})
    if not abis:
        raise ToolError(f"runtime {path}: it has no libraries (jni/*/*.so)", hint="use the .aar, not the classes only")
    for abi in abis:
        for library in LIBRARIES:
            if f"jni/{abi}/{library}" not in names:
                raise ToolError(f"runtime {path}: it has no jni/{abi}/{library}", hint="build it with --build_java")
    return tuple(abis)


def _notes(path: Path, archive: zipfile.ZipFile, abis: tuple[str, ...]) -> Iterator[str]:
    """Warnings about the libraries. Raises ToolError if one does not match its folder."""
    for abi in abis:
        for library in LIBRARIES:
            name = f"jni/{abi}/{library}"
            facts = elf.read(_read(archive, name, path), f"runtime {path}: {name}")
            if facts.abi != abi:
                raise ToolError(f"runtime {path}: {name} is for {facts.abi or 'another processor'}", hint=REBUILD)
            if "64" in abi and facts.page_bytes < PAGE_BYTES:
                yield f"{path.name}: {name} is not laid out for devices with pages of 16 KiB"


def _version(path: Path, archive: zipfile.ZipFile, abis: tuple[str, ...]) -> str:
    """The version of all ABIs. Raises ToolError if they differ or have none."""
    versions = {elf.runtime_version(_read(archive, f"jni/{abi}/libonnxruntime.so", path)) for abi in abis}
    if len(versions) != 1 or versions == {""}:
        found = ", ".join(sorted(version or "none" for version in versions))
        raise ToolError(f"runtime {path}: its libraries must have one version, found {found}", hint=REBUILD)
    return versions.pop()


def _config(path: Path, archive: zipfile.ZipFile, given: Path | None) -> tuple[OperatorConfig, str]:
    """The operators that it was built with, and the sha256 of their file.

    The user names the file, or it is beside the .aar or in its META-INF.
    """
    beside = [path.with_suffix(".config"), path.with_name(CONFIG)]
    for candidate in [given] if given else beside:
        if given or candidate.is_file():
            return read_config(candidate), sha256_of(candidate)
    inside = sorted(name for name in archive.namelist() if name.startswith("META-INF/") and name.endswith(".config"))
    if inside:
        content = _read(archive, inside[0], path)
        text = content.decode("utf-8", errors="replace")
        return parse_config(text, f"{path}!{inside[0]}"), hashlib.sha256(content).hexdigest()
    raise ConfigError(
        f"runtime {path}: its operator configuration is missing, so the models that it runs are unknown",
        hint=f"save the file it was built with beside it as {beside[0].name}; for a runtime with all operators, save "
        "one with the line !no_ops_specified_means_all_ops_are_required",
    )
