"""The ONNX Runtime of an npm package: pinned on both platforms, or the user's own."""

import hashlib
import json
import plistlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from packager.config import Config
from packager.core.console import Console
from packager.core.errors import ConfigError
from packager.files.installed import templates_folder
from packager.files.processes import downloads
from packager.files.store import Store
from packager.targets.react_native import headers, runtime
from packager.targets.react_native.target import HEADERS, ONNXRUNTIME
from packager.targets.react_native.view import ReactNativeView
from packager.targets.target import PackagedRuntime
from packager.targets.xcframework.packaged import PackagedFramework
from packager.workflows import build
from packager.workflows.requested import BuildRequest, package_of
from packager.workflows.runtimes import choose_runtimes, refuse_unwrappable
from tests.cases.onnx_text import linear, saved
from tests.golden.cases import DELIVERED, TRUSTED
from tests.unit.test_react_native_target import EVERYTHING, VISION, configured, packed, there


def with_runtime(android: PackagedRuntime | None = None, ios: PackagedFramework | None = None) -> ReactNativeView:
    """The view of a package whose targets have runtimes of the user's own."""
    built = VISION.built()
    changed = {
        name: replace(built[name], own=own, runtime_version=own.version) if own else built[name]
        for name, own in (("android", android), ("ios", ios))
    }
    return VISION.target.view(VISION.package, changed, VISION.android.report, VISION.golden)


def test_the_podspec_of_onnx_runtime_has_the_pinned_address_and_checksum() -> None:
    view, pinned = VISION.view(), downloads.pins()["ios"]
    podspec = json.loads(view.own_texts[runtime.POD_PATH])
    assert podspec["source"] == {"http": pinned["archive"], "sha256": pinned["checksum"]}
    assert podspec["version"] == view.names.ios_version == view.names.ios_oldest
    assert podspec["platforms"]["ios"] == view.names.min_ios


def test_the_pod_is_linked_with_what_pictures_signatures_and_updates_need() -> None:
    ios, pictures = VISION.built()["ios"], ("CoreGraphics", "ImageIO")
    plain = replace(TRUSTED.package, trust=None)
    assert runtime.frameworks(ios, plain, has_pictures=False) == ()
    assert runtime.frameworks(ios, plain, has_pictures=True) == pictures
    assert runtime.frameworks(ios, TRUSTED.package, has_pictures=True) == (*pictures, "Security")
    updated = runtime.frameworks(ios, DELIVERED, has_pictures=True)
    assert updated == (*pictures, "Network", "Security", "UIKit")


def test_the_runtimes_are_the_pinned_ones_and_later_ones() -> None:
    names, pinned = VISION.view().names, downloads.pins()
    assert (names.android_oldest, names.ios_oldest) == (names.android_version, names.ios_version)
    assert names.android_runtime == pinned["android"]["onnxruntime"]
    assert names.android_version == pinned["android"]["onnxruntime"].rpartition(":")[2]
    assert names.ios_version == pinned["ios"]["version"]
    assert (names.library, names.ios_framework, names.has_telemetry) == ("libonnxruntime.so", "", True)
    assert [each.runtime_version for each in names.platforms] == [names.android_version, names.ios_version]
    assert (names.min_sdk, names.min_ios) == (pinned["android"]["min-sdk"], pinned["ios"]["min-ios"])
    assert (names.compile_sdk, names.react_native) == (
        pinned["android"]["compile-sdk"],
        pinned["react-native"]["oldest"],
    )
    everything = EVERYTHING.view().names
    assert (everything.min_sdk, everything.min_ios) == (26, "16.0"), "as the tables of Android and iOS say"
    assert everything.android_runtime == pinned["android"]["onnxruntime-qnn"]


@pytest.mark.parametrize("ship", ["inside", "maven"])
def test_an_android_runtime_of_ones_own_is_in_the_package_without_what_java_calls(ship: str, tmp_path: Path) -> None:
    libraries = {}
    for abi in ("arm64-v8a", "x86_64"):
        for name in ("libacmexq12abc.so", "libacmexq12abc4j_jni.so"):
            libraries[PurePosixPath("jni", abi, name)] = tmp_path / name
            (tmp_path / name).write_text(name)
    own = PackagedRuntime(
        version="1.2.3",
        ship=ship,  # type: ignore[arg-type]
        coordinates="com.example:onnxruntime-acme:1.2.3" if ship == "maven" else "",
        libraries=libraries,
    )
    view = with_runtime(android=own)
    names = view.names
    assert (names.library, names.android_runtime, names.android_version) == ("libacmexq12abc.so", "", "1.2.3")
    assert not names.has_telemetry
    files = VISION.target.render(view).files
    folder = PurePosixPath("android/src/main/jniLibs")
    assert {path for path in files if path.is_relative_to(folder)} == {
        folder / "arm64-v8a/libacmexq12abc.so",
        folder / "x86_64/libacmexq12abc.so",
    }


def test_an_android_runtime_from_a_repository_is_depended_on() -> None:
    own = PackagedRuntime(version="1.2.3", ship="dependency", coordinates="com.acme:onnxruntime:1.2.3", libraries={})
    names = with_runtime(android=own).names
    assert (names.library, names.android_runtime) == ("libonnxruntime.so", "com.acme:onnxruntime:1.2.3")
    assert names.android_oldest == "", "a runtime of one's own may have fewer operators than a later one, or others"
    assert names.has_telemetry


def test_an_ios_runtime_of_ones_own_is_in_the_package_as_it_is(tmp_path: Path) -> None:
    view = with_runtime(ios=framework(tmp_path, "ios"))
    assert (view.names.ios_framework, view.names.ios_version) == ("ios/Frameworks/acme.xcframework", "1.2.3")
    home = PurePosixPath(view.names.ios_framework)
    sources = VISION.target.render(view)
    assert {path.relative_to(home).as_posix() for path in sources.files if path.is_relative_to(home)} == {
        "Info.plist",
        "_CodeSignature/CodeResources",
        "ios-arm64/acme.framework/acme",
    }
    assert not [path for path in sources.texts if path.is_relative_to(home)]
    assert (view.names.ios_oldest, runtime.POD_PATH in sources.texts) == ("", False)


def test_the_part_of_an_ios_runtime_that_is_for_macs_stays_behind(tmp_path: Path) -> None:
    view = with_runtime(ios=framework(tmp_path, "ios", "macos"))
    home = PurePosixPath(view.names.ios_framework)
    sources = VISION.target.render(view)
    inside = {path.relative_to(home).as_posix() for path in sources.files if path.is_relative_to(home)}
    assert inside == {"ios-arm64/acme.framework/acme"}, "nor what was signed with it"
    listed = plistlib.loads(sources.texts[home / "Info.plist"].encode())
    assert [each["LibraryIdentifier"] for each in listed["AvailableLibraries"]] == ["ios-arm64"]
    assert listed["XCFrameworkFormatVersion"] == "1"


def test_what_nobody_opened_runs_on_ios_alone(tmp_path: Path) -> None:
    address = "https://example.com/onnxruntime.xcframework.zip"
    config = configured({}, runtime={"ios": address, "ios-checksum": "c" * 64})
    runtimes = choose_runtimes(config, ("android", "ios", "react_native"), Store(tmp_path), Console(quiet=True))
    assert list(runtimes) == ["ios"]
    refuse_unwrappable(package_of(config), config, ("ios",), runtimes, Console(quiet=True))
    with pytest.raises(ConfigError, match=r"\[runtime\] ios is an address") as refused:
        refuse_unwrappable(package_of(config), config, ("ios", "react_native"), runtimes, Console(quiet=True))
    assert refused.value.hint.startswith("download the .zip and use the file")


def framework(folder: Path, *platforms: str) -> PackagedFramework:
    """An .xcframework for `platforms`; the one for macOS has a link in it."""
    root = folder / "acme.xcframework"
    libraries = []
    for platform in platforms:
        inside = root / f"{platform}-arm64/acme.framework"
        inside.mkdir(parents=True)
        (inside / "acme").write_text(f"code for {platform}")
        if platform == "macos":
            (inside / "Resources").symlink_to(".")
        entry = {"LibraryIdentifier": f"{platform}-arm64", "LibraryPath": "acme.framework"}
        libraries.append({**entry, "SupportedPlatform": platform, "SupportedArchitectures": ["arm64"]})
    (root / "_CodeSignature").mkdir()
    (root / "_CodeSignature/CodeResources").write_text("signed")
    (root / "Info.plist").write_bytes(
        plistlib.dumps({"AvailableLibraries": libraries, "XCFrameworkFormatVersion": "1"})
    )
    return PackagedFramework(version="1.2.3", ship="inside", folder=root, name="acme", minimum_os="16.4")


@pytest.mark.parametrize("step", [build.build, build.check])
def test_what_cannot_be_wrapped_is_refused_before_anything_is_planned(
    step: Callable[[Config, BuildRequest, Console], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    config = configured({})
    package = config.package.model_copy(update={"version": "1.0"})
    path = saved(tmp_path / "m.onnx", linear())
    models = {name: table.model_copy(update={"path": path}) for name, table in config.model.items()}
    config = config.model_copy(update={"package": package, "model": models})
    request = BuildRequest(targets=("android", "ios", "react_native"), out=tmp_path / "dist")
    with pytest.raises(ConfigError, match=r"npm needs three numbers, not '1\.0'"):
        step(config, request, Console(quiet=True))
    assert not (tmp_path / "dist").exists()


def test_the_c_headers_are_those_of_the_pinned_runtime_without_comments_and_have_its_licence(tmp_path: Path) -> None:
    inside = packed(there(VISION, tmp_path / "files"), tmp_path / "store")
    included = templates_folder() / ONNXRUNTIME / "include"
    pinned = downloads.pins()["ios"]["headers"]
    for name, sha256 in pinned.items():
        assert hashlib.sha256((included / name).read_bytes()).hexdigest() == sha256
        bare = inside[HEADERS / name].decode()
        assert bare == headers.without_comments((included / name).read_text("utf-8"))
        assert "Copyright (c) Microsoft" in bare.partition("\n")[0]
    assert {path.name for path in inside if path.parent == HEADERS} == set(pinned)
    assert b"MIT License" in inside[PurePosixPath("LICENSE-onnxruntime.txt")]
