"""iOS: ONNX Runtime is a Swift package of its own, which several packages of an app share."""

import plistlib
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from packager.core.errors import ConfigError, SettingError
from packager.core.findings import Report
from packager.files.processes import downloads
from packager.files.store import Store
from packager.render.templates import write_sources
from packager.targets import swift_runtime
from packager.targets.ios import Ios
from packager.targets.ios.view import IosView
from packager.targets.xcframework.packaged import PackagedFramework
from tests.golden.cases import IOS_CASES

KIT = IOS_CASES["image_classifier"]
MANIFEST = PurePosixPath("Package.swift")
PRIVACY = PurePosixPath("Sources/VisionModels/Resources/PrivacyInfo.xcprivacy")
ADDRESS = PackagedFramework(
    version="",
    ship="url",
    url="https://example.com/acme.xcframework.zip",
    checksum="a" * 64,
    sha256="a" * 64,
    name="acme",
)


def view_with(runtime: PackagedFramework | None = None, **keys: str) -> IosView:
    return Ios(**keys).view(KIT.package, KIT.plans, KIT.report, runtime, KIT.golden)  # type: ignore[arg-type]


def manifest_with(**keys: str) -> str:
    return Ios().render(view_with(**keys)).texts[MANIFEST]  # type: ignore[arg-type]


@pytest.fixture(name="own")
def _own(tmp_path: Path) -> PackagedFramework:
    """A framework with the layout of macOS: versions, and links to the current one."""
    home = tmp_path / "acme.xcframework"
    version = home / "macos-arm64/acme.framework/Versions/A"
    version.mkdir(parents=True)
    (home / "Info.plist").write_text("slices")
    (version / "acme").write_text("code")
    (version.parent / "Current").symlink_to("A")
    (version.parents[1] / "acme").symlink_to("Versions/Current/acme")
    return PackagedFramework(
        version="1.2.3", ship="inside", folder=home, name="acme", minimum_os="16.4", accesses=(), sha256="c0ffee" * 10
    )


def test_the_published_runtime_is_pinned_or_brought_by_another_package(tmp_path: Path) -> None:
    view, pinned = view_with(), downloads.pins()["ios"]
    manifest = swift_runtime.sources(view.own).texts[MANIFEST]
    assert manifest.startswith(f"// swift-tools-version: {pinned['swift-tools']}\n")
    assert f'url: "{pinned["archive"]}",\n        checksum: "{pinned["checksum"]}"' in manifest
    assert pinned["version"] in pinned["archive"]
    assert Ios().published_runtime().endswith(f" {pinned['version']}")
    assert view.dependency.identity == f"onnxruntime-binary-{pinned['version']}"
    manifest = manifest_with()
    assert 'dependencies: [.package(path: "../onnxruntime-binary-1.29.0")]' in manifest
    assert "binaryTarget" not in manifest
    assert "unsafeFlags" not in manifest, "SwiftPM refuses dependencies with them"
    view = replace(view_with(runtime_package="acme.onnxruntime-binary"), resources=())
    sources = Ios().render(view)
    made = Ios().assemble(view, sources, Store(tmp_path))
    assert [each.kind for each in made] == ["swift-package"]
    assert Ios().project(view, sources, Store(tmp_path)).texts[MANIFEST] == sources.texts[MANIFEST]


def test_a_runtime_of_ones_own_lies_in_its_package_under_its_bytes(own: PackagedFramework) -> None:
    view = view_with(own)
    printed, runtime = Ios().render(view), swift_runtime.sources(view.own)
    assert view.dependency.place == "../onnxruntime-binary-1.2.3-c0ffeec0"
    assert 'path: "acme.xcframework"' in runtime.texts[MANIFEST]
    assert "url:" not in runtime.texts[MANIFEST]
    assert '.iOS("16.4")' in printed.texts[MANIFEST], "the runtime runs on nothing older"
    assert '.iOS("16.4")' in runtime.texts[MANIFEST]
    assert not [path for path in printed.files if "xcframework" in str(path)]
    privacy = plistlib.loads(printed.texts[PRIVACY].encode())
    own_code = {
        "NSPrivacyAccessedAPIType": "NSPrivacyAccessedAPICategoryFileTimestamp",
        "NSPrivacyAccessedAPITypeReasons": ["C617.1"],
    }
    assert privacy["NSPrivacyAccessedAPITypes"] == [own_code], "what it calls for was looked up, not assumed"
    assert swift_runtime.folder_name(own) != swift_runtime.folder_name(replace(own, sha256="d" * 64))
    assert view_with(replace(own, minimum_os="13.0")).min_ios == downloads.pins()["ios"]["min-ios"]


def test_the_runtime_keeps_its_links_wherever_it_is_written(own: PackagedFramework, tmp_path: Path) -> None:
    view = replace(view_with(own), resources=())
    sources = Ios().render(view)
    Ios().layout(view, Ios().assemble(view, sources, Store(tmp_path / "store")), tmp_path / "dist")
    write_sources(Ios().project(view, sources, Store(tmp_path / "store")), tmp_path / "project")
    assert '.package(path: "onnxruntime-binary-1.2.3-c0ffeec0")' in (tmp_path / "project/Package.swift").read_text()
    for folder in (tmp_path / "dist/swift", tmp_path / "project"):
        home = folder / "onnxruntime-binary-1.2.3-c0ffeec0/acme.xcframework/macos-arm64/acme.framework"
        assert str((home / "acme").readlink()) == "Versions/Current/acme"
        assert str((home / "Versions/Current").readlink()) == "A"
        assert (home / "acme").read_text() == "code"


def test_a_runtime_at_an_address_is_named_and_its_privacy_is_that_of_the_published_one() -> None:
    view = view_with(ADDRESS)
    assert view.dependency.identity == "onnxruntime-binary-aaaaaaaa"
    assert f'url: "{ADDRESS.url}",\n        checksum: "{"a" * 64}"' in swift_runtime.sources(view.own).texts[MANIFEST]
    privacy = plistlib.loads(Ios().render(view).texts[PRIVACY].encode())
    assert privacy["NSPrivacyAccessedAPITypes"], "what nobody opened is taken for the published one"


@pytest.mark.parametrize(
    ("keys", "dependency", "identity"),
    [
        (
            {
                "runtime_package": "https://github.com/microsoft/onnxruntime-swift-package-manager.git",
                "runtime_product": "onnxruntime",
                "runtime_from": "1.24.2",
            },
            'url: "https://github.com/microsoft/onnxruntime-swift-package-manager.git", from: "1.24.2"',
            '.product(name: "onnxruntime", package: "onnxruntime-swift-package-manager")',
        ),
        (
            {"runtime_package": "acme.onnxruntime-binary"},
            'id: "acme.onnxruntime-binary", from: "1.29.0"',
            '.product(name: "MobpackOnnxRuntime", package: "acme.onnxruntime-binary")',
        ),
        (
            {"runtime_package": "../../other/swift/onnxruntime-binary-1.29.0"},
            'path: "../../other/swift/onnxruntime-binary-1.29.0"',
            '.product(name: "MobpackOnnxRuntime", package: "onnxruntime-binary-1.29.0")',
        ),
    ],
)
def test_another_package_may_bring_the_runtime(keys: dict[str, str], dependency: str, identity: str) -> None:
    manifest = manifest_with(**keys)
    assert f"dependencies: [.package({dependency})]" in manifest
    assert identity in manifest


def test_what_swiftpm_cannot_resolve_is_refused_in_words() -> None:
    for keys, message in [
        ({"runtime_package": "onnxruntime"}, "'onnxruntime' is not a Swift package|../name"),
        ({"runtime_package": "http://example.com/a/b"}, "is not a Swift package|https address"),
        ({"runtime_product": "onnxruntime"}, "'runtime-product' has no effect without 'runtime-package'|"),
        ({"runtime_from": "1.24.2"}, "'runtime-from' has no effect without 'runtime-package'|"),
        ({"runtime_package": "acme.ort", "runtime_from": "1.24"}, "'1.24' is not a version|three numbers"),
        ({"runtime_package": "../ort", "runtime_from": "1.24.2"}, "has no effect on a path|remove it"),
    ]:
        said, _, hint = message.partition("|")
        with pytest.raises(SettingError) as caught:
            Ios(**keys)  # type: ignore[arg-type]
        assert said in str(caught.value)
        assert hint in caught.value.hint


@pytest.mark.parametrize("module", ["MobpackOnnxRuntime", "MobpackOnnxRuntimeBinary"])
def test_a_module_has_another_name_than_the_runtimes_targets(module: str) -> None:
    with pytest.raises(ConfigError, match=f"the module {module} has the same name as a target"):
        Ios(module=module).view(KIT.package, KIT.plans, Report(parities=()))
