"""ONNX Runtime as a Swift package of its own: several packages of an app depend on it, so that the app has one."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.core import components
from packager.core.components import Component
from packager.core.errors import SettingError
from packager.core.values import Package, Sources
from packager.files.installed import templates_folder
from packager.files.processes import downloads
from packager.render.templates import render
from packager.targets.xcframework.layout import version_key
from packager.targets.xcframework.packaged import PackagedFramework

UNKNOWN = "of your own"
"""version of a runtime at an address, which is not downloaded"""
NAME = "onnxruntime-binary"
PRODUCT = "MobpackOnnxRuntime"
"""product, and its target that says what ONNX Runtime is linked with"""
BINARY = "MobpackOnnxRuntimeBinary"
"""target of the .xcframework: a name that Microsoft's package does not have"""
HASH_DIGITS = 8
ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~+-]+)+")
IDENTITY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}\.[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
"""`scope.name`, as registries have it (SE-0292)"""
RELEASE = re.compile(r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}")


@dataclass(frozen=True, kw_only=True)
class FrameworkView:
    """Source of ONNX Runtime for SwiftPM, in a package of its own."""

    version: str
    url: str
    """address of an archive; empty if the runtime's package contains the framework"""
    checksum: str
    path: str
    """path in the runtime's package: `onnxruntime.xcframework`; empty if `url` is set"""


@dataclass(frozen=True, kw_only=True)
class DependencyView:
    """Dependency on the Swift package of ONNX Runtime."""

    kind: str
    """label of its place in Package.swift: `path`, `url` or `id`"""
    place: str
    identity: str
    """SwiftPM's name of the package"""
    product: str
    oldest: str
    """oldest version that SwiftPM may choose; empty for a path"""


@dataclass(frozen=True, kw_only=True)
class ManifestView:
    """Package.swift of the runtime."""

    swift_tools: str
    name: str
    product: str
    binary: str
    framework: FrameworkView
    min_ios: str
    min_macos: str


@dataclass(frozen=True, kw_only=True)
class ReadmeView:
    """README.md of the runtime."""

    framework: FrameworkView
    folder: str


def framework_view(own: PackagedFramework | None) -> FrameworkView:
    """Source of ONNX Runtime: `own`, or the published one."""
    pinned = downloads.pins()["ios"]
    if own is None:
        return FrameworkView(version=pinned["version"], url=pinned["archive"], checksum=pinned["checksum"], path="")
    path = f"{own.name}.xcframework" if own.folder else ""
    return FrameworkView(version=own.version or UNKNOWN, url=own.url, checksum=own.checksum, path=path)


def folder_name(own: PackagedFramework | None) -> str:
    """`onnxruntime-binary-VERSION`; a runtime of the user's own adds digits of its hash: SwiftPM takes packages in
    folders of one name for one package, so these names differ where the runtimes do."""
    if own is None:
        return f"{NAME}-{framework_view(None).version}"
    return "-".join(part for part in (NAME, own.version, own.sha256[:HASH_DIGITS]) if part)


def dependency(own: PackagedFramework | None, *, named: str, product: str, oldest: str) -> DependencyView:
    """The dependency on the package `named`, or on the one of mobpack's that lies beside."""
    if not named:
        beside = folder_name(own)
        return DependencyView(kind="path", place=f"../{beside}", identity=beside, product=PRODUCT, oldest="")
    kind = kind_of(named)
    oldest = oldest or framework_view(None).version
    return DependencyView(
        kind=kind,
        place=named,
        identity=named if kind == "id" else named.rpartition("/")[2].removesuffix(".git"),
        product=product or PRODUCT,
        oldest="" if kind == "path" else oldest,
    )


def kind_of(named: str) -> str:
    """`url`, `id` or `path`: how SwiftPM finds a package. Raises SettingError for a name that it cannot find."""
    if ADDRESS.fullmatch(named):
        return "url"
    if IDENTITY.fullmatch(named):
        return "id"
    if named.startswith(("../", "./")) and not re.search(r"[\x00-\x1f\\]", named):
        return "path"
    raise SettingError(
        f"runtime-package '{named}' is not a Swift package",
        hint='give the https address of a repository, an identity in a registry ("scope.name"), or a path ("../name")',
    )


def refuse_settings(named: str, product: str, oldest: str) -> None:
    """Raises SettingError for settings of a runtime package that do not go together."""
    if named:
        kind = kind_of(named)
        if oldest and kind == "path":
            raise SettingError("'runtime-from' has no effect on a path", hint="remove it: a folder has no versions")
    for key, value in (("runtime-product", product), ("runtime-from", oldest)):
        if value and not named:
            raise SettingError(
                f"'{key}' has no effect without 'runtime-package'", hint="name the package, or remove it"
            )
    if oldest and not RELEASE.fullmatch(oldest):
        raise SettingError(f"runtime-from '{oldest}' is not a version", hint='three numbers: runtime-from = "1.24.2"')


def oldest_ios(own: PackagedFramework | None) -> str:
    """Oldest iOS that the package supports; its own code is tested with the published runtime's."""
    published = str(downloads.pins()["ios"]["min-ios"])
    return max(published, own.minimum_os or published, key=version_key) if own else published


def package_part(package: Package) -> Component:
    """A Swift package, by the address of its repository: SwiftPM has no other names."""
    host, _, path = package.scm.removeprefix("https://").removesuffix(".git").partition("/")
    folder, _, name = path.rpartition("/")
    address = components.purl("swift", name, package.version, namespace=f"{host}/{folder}") if folder else ""
    return Component(
        name=package.name,
        version=package.version,
        purl=address or components.purl("generic", package.name, package.version),
        license=package.license,
        about=package.description,
    )


def part(
    needed: DependencyView, framework: FrameworkView, own: PackagedFramework | None, *, has_runtime: bool
) -> Component:
    """ONNX Runtime, for a bill of materials: `own`, the published archive, or the package that brings it."""
    terms = downloads.pins()["licenses"]["onnxruntime"]
    if not has_runtime:
        host, _, path = needed.place.removeprefix("https://").removesuffix(".git").partition("/")
        folder = f"{host}/{path.rpartition('/')[0]}"
        address = components.purl("swift", needed.identity, needed.oldest, namespace=folder)
        purl = address if needed.kind == "url" else ""
        return Component(name=needed.identity, version=needed.oldest, purl=purl, license=terms)
    if framework.path:
        version, digest = (own.version, own.sha256) if own else ("", "")
        return components.own_runtime(version, terms, sha256=digest)
    version = "" if framework.version == UNKNOWN else framework.version
    checksum = f"sha256:{framework.checksum}"
    return Component(
        name="onnxruntime",
        version=version,
        purl=components.purl("generic", "onnxruntime", version, checksum=checksum, download_url=framework.url),
        license=terms,
        sha256=framework.checksum,
        address=framework.url,
    )


def sources(own: PackagedFramework | None) -> Sources:
    """Every file of the runtime's package: of `own`, or of the published runtime."""
    framework, pinned = framework_view(own), downloads.pins()["ios"]
    manifest = ManifestView(
        swift_tools=pinned["swift-tools"],
        name=NAME,
        product=PRODUCT,
        binary=BINARY,
        framework=framework,
        min_ios=oldest_ios(own),
        min_macos=pinned["min-macos"],
    )
    readme = ReadmeView(framework=framework, folder=folder_name(own))
    home = PurePosixPath("Sources", PRODUCT)
    return Sources(
        texts={
            PurePosixPath("Package.swift"): render("ios/runtime/Package.swift.j2", manifest),
            PurePosixPath("README.md"): render("ios/runtime/README.md.j2", readme),
            home / f"{PRODUCT}.c": f'#include "{PRODUCT}.h"\n',
            home / "include" / f"{PRODUCT}.h": "// Generated by mobpack: a target of C needs a file of each kind.\n",
        },
        files={PurePosixPath("LICENSE"): templates_folder() / "ios/onnxruntime/LICENSE", **_files(own)},
        links=_links(own),
    )


def _files(own: PackagedFramework | None) -> Mapping[PurePosixPath, Path]:
    """Files of a framework, by path in the package."""
    return {place: path for place, path in _content(own) if not path.is_symlink()}


def _links(own: PackagedFramework | None) -> Mapping[PurePosixPath, str]:
    """Links of a framework: macOS frameworks contain versions, with links to the current one."""
    return {place: path.readlink().as_posix() for place, path in _content(own) if path.is_symlink()}


def _content(own: PackagedFramework | None) -> Iterator[tuple[PurePosixPath, Path]]:
    if own is None or own.folder is None:
        return
    home = PurePosixPath(f"{own.name}.xcframework")
    for path in sorted(own.folder.rglob("*")):
        if path.is_symlink() or path.is_file():
            yield home / path.relative_to(own.folder).as_posix(), path
