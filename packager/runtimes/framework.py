"""The user's own ONNX Runtime for iOS: checks it and reads its properties."""

import hashlib
import mmap
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from packager.core.errors import ConfigError, ToolError
from packager.core.user_files import opened
from packager.files.hashes import sha256_of
from packager.files.store import Step, Store
from packager.files.zips import DAMAGE, RUNTIME, opened_zip, read_entry
from packager.providers import PROVIDERS, providers_of
from packager.runtimes.library import CONFIG
from packager.runtimes.operators import OperatorConfig, parse_config, read_config
from packager.targets.xcframework import folder
from packager.targets.xcframework.finding import Finding
from packager.targets.xcframework.layout import Slice, version_key
from packager.targets.xcframework.lint import Inspected, lint
from packager.targets.xcframework.macho import Code
from packager.targets.xcframework.privacy import Access, audit

UNPACKED = Step(
    name="xcframework", caller=__name__, computed_by=("packager.targets.xcframework.folder",), is_shared=False
)
ENTRY = "_OrtGetApiBase"
HEADER = "onnxruntime_c_api.h"
API_VERSION = re.compile(r"#define\s+ORT_API_VERSION\s+(\d+)")
MESSAGE = rb"Current ORT Version is: %s\n\0"
"""printed by the function at ENTRY; compilers put the version beside it, or where an equal text was before"""
VERSION = re.compile(rb"\0(1\.\d{1,3}\.\d{1,3})(?=\0)")
MINIMAL = b"ONNX format model is not supported in this build"
"""message that only minimal builds contain"""
CLASSES = {
    name: f"{len(PROVIDERS[name].EXECUTION_PROVIDER)}{PROVIDERS[name].EXECUTION_PROVIDER}".encode()
    for name in sorted(providers_of("ios"))
}
"""provider -> its class in mangled names of methods and types. Provider names prove nothing: every build contains all
of them."""
MENDED = frozenset({"privacy-missing", "privacy-undeclared", "module-map-missing", "headers-missing"})
"""findings that a package fixes: it adds a privacy manifest, headers and a module"""
BUNDLED = frozenset(
    {
        "layout-versions",
        "layout-flat",
        "layout-links",
        "info-missing",
        "bundle-id",
        "executable",
        "package-type",
        "version",
    }
)
"""findings about the bundle around a library: packages include static libraries without it"""
MAX_CONFIG_BYTES = 1 << 20
REBUILD = "make it with mobpack runtime recipe --target ios, or download it again"


@dataclass(frozen=True, kw_only=True)
class OwnFramework:
    """An .xcframework with ONNX Runtime."""

    folder: Path
    sha256: str
    """sha256 of its .zip, or of the folder's contents"""
    version: str
    """version of ONNX Runtime"""
    architectures: dict[str, tuple[str, ...]]
    """by slice"""
    minimum_os: str
    """oldest iOS that its code supports; empty if it does not say"""
    linkage: Literal["static", "dynamic"]
    has_c_module: bool
    providers: tuple[str, ...]
    accesses: tuple[Access, ...]
    is_minimal: bool
    """whether it reads ORT format only"""
    config: OperatorConfig
    config_sha256: str
    notes: tuple[str, ...]
    """warnings about it, one sentence each"""


def load(path: Path, store: Store, *, config: Path | None = None) -> OwnFramework:
    """The runtime in the .xcframework `path`: the folder, its parent folder, or a .zip, which is extracted to the
    store.

    `config` is the operator configuration that it was built with, if that is neither beside it nor in the .zip. Raises
    ConfigError or ToolError for a runtime that iPhone apps cannot use, and for other files.
    """
    if path.is_file():
        sha256 = sha256_of(path)
        root = folder.only(store.results(UNPACKED, [sha256], lambda made: folder.unpack(path, made)))
    else:
        root = folder.only(path)
        sha256 = ""
    found = lint(root)
    origin = path if path.is_file() else root
    phones = [each for each in found.slices if each.platform == "ios" and each.variant in ("", "simulator")]
    _refuse(origin, found, phones)
    contents = [facts(each, found.code[each.identifier]) for each in phones]
    pieces = [piece for each in phones for piece in found.code[each.identifier]]
    phone = [piece for each in phones if each.is_phone for piece in found.code[each.identifier]]
    operators, config_sha256 = _config(path, root, config)
    return OwnFramework(
        folder=root,
        sha256=sha256 or folder.digest(root),
        version=_one_version(origin, contents),
        architectures={each.identifier: each.architectures for each in found.slices},
        minimum_os=_minimum_os(phone),
        linkage="dynamic" if any(piece.kind == "dynamic" for piece in phone) else "static",
        has_c_module=all(_has_c_module(each) for each in phones),
        providers=tuple(name for name in CLASSES if all(name in each.providers for each in contents)),
        accesses=audit(name for piece in pieces for name in piece.undefined),
        is_minimal=any(each.is_minimal for each in contents),
        config=operators,
        config_sha256=config_sha256,
        notes=tuple(dict.fromkeys(_notes(root, found, {each.identifier for each in phones}))),
    )


def _refuse(origin: Path, found: Inspected, phones: Sequence[Slice]) -> None:
    """Raises ToolError for errors that affect iPhone apps: those of the whole, or of their slices."""
    mine = {"", *(each.identifier for each in phones)}
    if errors := [each for each in found.errors if each.slice in mine]:
        raise ToolError(
            f"runtime {origin}: iPhone apps cannot use it:\n" + "\n".join(map(_in_words, errors)),
            hint=f"{errors[0].remedy}; mobpack runtime lint {shlex.quote(str(origin))} shows all findings",
        )
    for each in phones:
        for piece in found.code[each.identifier]:
            if ENTRY not in piece.exports:
                raise ToolError(
                    f"runtime {origin}: {each.identifier} has no OrtGetApiBase for {piece.architecture}",
                    hint="use an .xcframework that build_apple_framework.py of ONNX Runtime has made",
                )


def _in_words(finding: Finding) -> str:
    return f"  {finding.slice or 'as a whole'}: {finding.what}"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Properties of the runtime in one slice."""

    versions: frozenset[str]
    """possible versions; exactly one for a consistent slice"""
    providers: frozenset[str]
    is_minimal: bool


def facts(each: Slice, pieces: Sequence[Code]) -> Facts:
    """Properties of a slice; of several architectures, those that all have."""
    with each.binary.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        spans = [(piece.start, piece.start + piece.size_bytes) for piece in pieces]
        return Facts(
            versions=frozenset(_version(content, span, api_version(each)) for span in spans),
            providers=frozenset(
                name for name, mark in CLASSES.items() if all(content.find(mark, *span) >= 0 for span in spans)
            ),
            is_minimal=any(content.find(MINIMAL, *span) >= 0 for span in spans),
        )


def _version(content: mmap.mmap, span: tuple[int, int], api: int | None) -> str:
    """Version in the code at `span`; `api` is the number in its headers. Empty if there is none.

    ONNX Runtime contains the versions of other libraries as well. The one beside the message that prints it is the
    right one; if compilers put it elsewhere, the newest that matches the headers is used.
    """
    at = content.find(MESSAGE, *span)
    beside = VERSION.match(content, at + len(MESSAGE) - 1, span[1]) if at >= 0 else None
    found = {match.group(1).decode() for match in ([beside] if beside else VERSION.finditer(content, *span))}
    fitting = [version for version in found if api is None or version.startswith(f"1.{api}.")]
    return max(fitting, key=version_key, default="")


def api_version(each: Slice) -> int | None:
    """ORT_API_VERSION in the headers of a slice, the second number of the version. None without headers."""
    path = header(each)
    found = API_VERSION.search(path.read_text(encoding="utf-8", errors="replace")) if path else None
    return int(found.group(1)) if found else None


def header(each: Slice) -> Path | None:
    inside = each.folder / each.headers if each.headers else each.bundle / "Headers"
    return next(iter(sorted(inside.rglob(HEADER))), None) if inside.is_dir() else None


def _has_c_module(each: Slice) -> bool:
    inside = each.folder / each.headers if each.headers else each.bundle
    maps = sorted(inside.rglob("module.modulemap")) if inside.is_dir() else []
    return any(HEADER in path.read_text(encoding="utf-8", errors="replace") for path in maps)


def _one_version(origin: Path, contents: Sequence[Facts]) -> str:
    versions = {version for each in contents for version in each.versions}
    if len(versions) != 1 or versions == {""}:
        found = ", ".join(sorted(version or "none" for version in versions))
        raise ToolError(f"runtime {origin}: its slices and headers must have one version, found {found}", hint=REBUILD)
    return versions.pop()


def _minimum_os(phone: Sequence[Code]) -> str:
    versions = [build.minimum_os for piece in phone for build in piece.builds]
    return max(versions, key=version_key, default="")


def _static(found: Inspected) -> set[str]:
    """Slices that are static libraries, which packages include without a bundle."""
    return {each for each, pieces in found.code.items() if {piece.kind for piece in pieces} == {"static"}}


def _notes(root: Path, found: Inspected, mine: set[str]) -> Iterator[str]:
    unwrapped = _static(found) if mine <= _static(found) else set()
    for each in found.findings:
        is_mine = each.slice in mine or not each.slice
        if each.severity == "warning" and is_mine and each.code not in MENDED:
            yield f"{root.name}: {each.slice + ': ' if each.slice else ''}{each.what}"
        elif each.severity == "error" and not (each.code in BUNDLED and each.slice in unwrapped):
            # errors that affect iPhones were raised before
            yield f"{root.name}: apps for {each.slice} cannot have it: {each.what}"


def _config(path: Path, root: Path, given: Path | None) -> tuple[OperatorConfig, str]:
    """The operators that it was built with, and the sha256 of their file: named, beside it, or in the .zip."""
    beside = [path.with_suffix(".config"), path.with_suffix("").with_suffix(".config"), path.with_name(CONFIG)]
    if path.is_dir():
        beside = [root.with_suffix(".config"), *sorted(root.parent.glob("*.config"))]
    for candidate in [given] if given else beside:
        if given or candidate.is_file():
            return read_config(candidate), sha256_of(candidate)
    if path.is_file() and (inside := _config_inside(path)):
        return inside
    raise ConfigError(
        f"runtime {path}: its operator configuration is missing, so the models that it runs are unknown",
        hint=f"save the file it was built with beside it as {beside[0].name}; for a runtime with all operators, save "
        "one with the line !no_ops_specified_means_all_ops_are_required",
    )


def _config_inside(path: Path) -> tuple[OperatorConfig, str] | None:
    try:
        with opened(path) as file, opened_zip(file, RUNTIME) as archive:
            infos = [each for each in archive.infolist() if PurePosixPath(each.filename).suffix == ".config"]
            if not infos or infos[0].file_size > MAX_CONFIG_BYTES:
                return None
            content = read_entry(archive, infos[0])
    except DAMAGE as error:
        raise ToolError(f"runtime {path}: damaged ({error})", hint=REBUILD) from error
    text = content.decode("utf-8", errors="replace")
    return parse_config(text, f"{path}!{infos[0].filename}"), hashlib.sha256(content).hexdigest()
