"""Checks of a framework's bundle: Info.plist, folder layout, headers and modules."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packager.core.errors import ToolError
from packager.targets.xcframework.finding import Finding, error, note, warning
from packager.targets.xcframework.layout import VERSION, Slice, read_plist

IDENTIFIER = re.compile(r"[A-Za-z0-9.-]+")
HEADER = re.compile(r'\bheader\s+"([^"]+)"')
MINIMUM_KEYS = ("MinimumOSVersion", "LSMinimumSystemVersion")
SUPPORTED = {
    ("ios", ""): "iPhoneOS",
    ("ios", "simulator"): "iPhoneSimulator",
    ("ios", "maccatalyst"): "MacOSX",
    ("macos", ""): "MacOSX",
}
"""platform and variant of a slice -> its name in CFBundleSupportedPlatforms"""
REFUSALS = "ITMS-90530, ITMS-90360, ITMS-90208"


def read_info(each: Slice) -> tuple[Mapping[str, Any], list[Finding]]:
    """The framework's Info.plist and findings about its place; empty for a library without a framework."""
    if not each.is_framework:
        return {}, []
    path = info_path(each)
    try:
        return read_plist(path), []
    except ToolError as failure:
        where = path.relative_to(each.folder)
        reason = "is missing" if not path.is_file() else f"cannot be read: {failure.message}"
        return {}, [error("info-missing", each.identifier, f"{where} {reason}", "build the framework with Xcode")]


def info_path(each: Slice) -> Path:
    return each.bundle / ("Versions/A/Resources/Info.plist" if each.is_desktop else "Info.plist")


def minimum_os(document: Mapping[str, Any]) -> str:
    """The oldest system in Info.plist; empty without a valid version."""
    values = [str(document.get(key, "")) for key in MINIMUM_KEYS]
    return next((value for value in values if VERSION.fullmatch(value)), "")


def check(each: Slice, document: Mapping[str, Any], *, is_static: bool) -> Iterator[Finding]:
    if not each.is_framework:
        yield from _library_headers(each)
        return
    if document:
        yield from _keys(each, document)
    yield from _desktop_layout(each) if each.is_desktop else _flat_layout(each)
    yield from _modules(each)
    if is_static:
        yield note(
            "static-framework",
            each.identifier,
            "a static library in a framework: Xcode links its code into the app, and for a Swift package it "
            "also embeds the framework, with a stub in it",
            "convert it to a plain library, lib*.a with HeadersPath; in an Xcode project choose Do Not Embed",
        )


def _keys(each: Slice, document: Mapping[str, Any]) -> Iterator[Finding]:
    """Keys that the App Store checks in every framework of an app, including embedded static ones."""
    name = each.identifier
    identifier, executable = str(document.get("CFBundleIdentifier", "")), document.get("CFBundleExecutable")
    if not IDENTIFIER.fullmatch(identifier):
        yield error(
            "bundle-id",
            name,
            f"CFBundleIdentifier is {identifier!r}; letters, digits, hyphens and dots are allowed",
            "use hyphens instead of underscores",
        )
    if executable != each.binary.name:
        yield error(
            "executable",
            name,
            f"CFBundleExecutable is {executable!r}, but the library is {each.binary.name!r}",
            "set it to the name of the library's file",
        )
    if document.get("CFBundlePackageType") != "FMWK":
        yield error(
            "package-type", name, f"CFBundlePackageType is {document.get('CFBundlePackageType')!r}", "set it to FMWK"
        )
    wanted = SUPPORTED.get((each.platform, each.variant))
    found = document.get("CFBundleSupportedPlatforms")
    if wanted and found not in (None, [wanted]):
        yield error(
            "supported-platforms",
            name,
            f"CFBundleSupportedPlatforms is {found!r}; the App Store refuses apps with it (ITMS-90542)",
            f"set it to [{wanted!r}], or build the framework with Xcode",
        )
    for key in ("CFBundleShortVersionString", "CFBundleVersion"):
        if not VERSION.fullmatch(str(document.get(key, ""))):
            yield error(
                "version",
                name,
                f"{key} is {document.get(key)!r}; the App Store needs up to three numbers, such as 2.0.1",
                f"set {key}",
            )
    if not minimum_os(document):
        value = next((document[key] for key in MINIMUM_KEYS if key in document), None)
        found = "is missing" if value is None else f"is {value!r}, which is not a version"
        # The App Store does not check this key for Catalyst and macOS apps.
        severity = warning if each.is_desktop else error
        yield severity(
            "minimum-os-missing",
            name,
            f"MinimumOSVersion {found}"
            + ("" if each.is_desktop else f": the App Store refuses apps with it ({REFUSALS})"),
            "set it to the deployment target that the code was built for",
        )


def _flat_layout(each: Slice) -> Iterator[Finding]:
    if (each.bundle / "Versions").exists():
        yield error(
            "layout-versions",
            each.identifier,
            f"{each.library} has a Versions folder, which only macOS supports",
            "put library, headers and Info.plist directly into the framework",
        )


def _desktop_layout(each: Slice) -> Iterator[Finding]:
    """Versions/A holds all files; Versions/Current and the top-level names are links."""
    versions = each.bundle / "Versions"
    if not (versions / "A").is_dir():
        yield error(
            "layout-flat",
            each.identifier,
            f"{each.library} has no Versions/A, which frameworks for macOS need",
            "build the framework for macOS with Xcode",
        )
        return
    names = [path.name for path in sorted((versions / "A").iterdir()) if path.name != "_CodeSignature"]
    wanted = [versions / "Current", *(each.bundle / name for name in names)]
    if missing := [path for path in wanted if not path.is_symlink()]:
        yield error(
            "layout-links",
            each.identifier,
            f"{each.library} lacks the links {', '.join(str(path.relative_to(each.bundle)) for path in missing)}",
            "npm and plain zip lose them: pack with zip -y or ditto, or add them again",
        )


def _library_headers(each: Slice) -> Iterator[Finding]:
    if each.headers is None:
        yield warning(
            "headers-missing",
            each.identifier,
            "it has no HeadersPath, so apps cannot find its headers",
            "pass -headers FOLDER for each -library of xcodebuild -create-xcframework",
        )
    elif not list((each.folder / each.headers).rglob("module.modulemap")):
        yield _without_module(each)
    for path in sorted((each.folder / each.headers).rglob("module.modulemap")) if each.headers else ():
        yield from _module_map(each, path, path.parent)


def _modules(each: Slice) -> Iterator[Finding]:
    inside = each.bundle / "Versions/A" if each.is_desktop else each.bundle
    maps = inside / "Modules/module.modulemap"
    swift = sorted((inside / "Modules").glob("*.swiftmodule"))
    if not any((inside / "Headers").glob("*")) and not swift:
        yield warning(
            "headers-missing", each.identifier, "it has no Headers folder", "add the headers of its functions"
        )
    if maps.is_file():
        yield from _module_map(each, maps, inside / "Headers")
    elif not swift:
        yield _without_module(each)
    for path in swift:
        if not any(path.glob("*.swiftinterface")):
            yield warning(
                "swift-interface-missing",
                each.identifier,
                f"{path.name} has no .swiftinterface: one version of the Swift compiler can read it",
                "build it with BUILD_LIBRARY_FOR_DISTRIBUTION=YES",
            )


def _without_module(each: Slice) -> Finding:
    return warning(
        "module-map-missing",
        each.identifier,
        "it has no module map, so Swift cannot import it",
        "add one, or import it through a C target of the package that has the headers",
    )


def _module_map(each: Slice, path: Path, headers: Path) -> Iterator[Finding]:
    text = path.read_text(encoding="utf-8", errors="replace")
    for name in HEADER.findall(text):
        if not (headers / name).is_file():
            yield error(
                "header-missing",
                each.identifier,
                f"its module map names {name}, which does not exist",
                "add the header, or remove the line from module.modulemap",
            )
