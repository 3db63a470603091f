"""The package of the build-tool plugin: its knowledge of the project, and the source of its ONNX Runtime."""

import re
from pathlib import Path

import click
import pytest

from packager.cli.xcode import xcode
from packager.core.errors import ConfigError
from packager.workflows.xcode import SwiftPackage, find_package, write_plugin
from packager.workflows.xcode.plugin import CODE
from tests.cases.xcode_cases import MANIFEST, release


@pytest.fixture
def package(tmp_path: Path) -> SwiftPackage:
    folder = release(tmp_path / "dist")
    (folder / "LICENSE-onnxruntime.txt").write_text("MIT")
    return find_package(tmp_path / "dist", "page-orientation", tmp_path / "mobpack.toml")


def written(package: SwiftPackage, tmp_path: Path) -> Path:
    config = tmp_path / "app/Sources/Vision/mobpack.toml"
    inputs = [config, config.with_name("größe.onnx"), tmp_path / "samples/a.npz"]
    write_plugin(tmp_path / "plugin", package, config, inputs)
    return tmp_path / "plugin"


def literals(text: str, name: str) -> list[str]:
    """The texts of a list in the plugin's code."""
    [found] = re.findall(rf"static let {name}: \[String\] = \[(.*?)\]", text, re.DOTALL)
    return re.findall(r'"(.*)"', found)


def test_a_plugin_names_what_it_reads_with_its_runtime(package: SwiftPackage, tmp_path: Path) -> None:
    code = (written(package, tmp_path) / CODE).read_text()
    assert literals(code, "inputs") == ["../../../samples/a.npz", r"gr\u{F6}\u{DF}e.onnx", "mobpack.toml"]
    home = "swift/page-orientation/Sources/PageOrientationKit"
    assert literals(code, "outputs") == [f"{home}/OrientationModel.swift", f"{home}/Resources/Models"]
    assert str(tmp_path) not in code
    folder = written(package, tmp_path)
    text = (folder / "Package.swift").read_text()
    assert 'dependencies: [.package(path: "onnxruntime-binary-1.29.0")]' in text
    assert '[.product(name: "MobpackOnnxRuntime", package: "onnxruntime-binary-1.29.0")]' in text
    assert '[.iOS("16.0"), .macOS("14.0")]' in text
    assert 'products: [\n        .plugin(name: "MobpackPlugin"' in text
    assert '.library(name: "CPageOrientationKit", targets: ["CPageOrientationKit"])' in text
    assert (folder / "Sources/CPageOrientationKit/include/onnxruntime_c_api.h").is_file()
    assert (folder / "LICENSE-onnxruntime.txt").read_text() == "MIT"
    framework = package.folder.parent / "onnxruntime-binary-1.29.0/Own.xcframework"
    framework.mkdir()
    (framework / "Info.plist").write_text("plist")
    copied = written(package, tmp_path) / "onnxruntime-binary-1.29.0"
    assert (copied / "Own.xcframework/Info.plist").read_text() == "plist"
    assert (copied / "Package.swift").is_file()


@pytest.mark.parametrize(
    "named", ['url: "https://example.com/o/runtime", from: "1.24.2"', 'id: "acme.onnxruntime-binary", from: "1.29.0"']
)
def test_a_runtime_that_lies_elsewhere_is_named(package: SwiftPackage, tmp_path: Path, named: str) -> None:
    manifest = package.folder / "Package.swift"
    manifest.write_text(MANIFEST.replace('path: "../onnxruntime-binary-1.29.0"', named))
    found = find_package(tmp_path / "dist", "page-orientation", tmp_path / "mobpack.toml")
    folder = written(found, tmp_path)
    assert f"dependencies: [.package({named})]" in (folder / "Package.swift").read_text()
    assert not list(folder.glob("onnxruntime-binary-*"))


def test_packages_without_models_or_of_earlier_versions_are_refused(package: SwiftPackage, tmp_path: Path) -> None:
    (package.folder / "Package.swift").write_text('.binaryTarget(name: "onnxruntime")')
    with pytest.raises(ConfigError, match="depends on no package of ONNX Runtime"):
        find_package(tmp_path / "dist", "page-orientation", tmp_path / "mobpack.toml")
    (package.folder / "Sources/PageOrientationKit/Resources/Models").rename(package.folder / "Sources/Models")
    with pytest.raises(ConfigError, match="has no models"):
        written(package, tmp_path)
    with pytest.raises(click.UsageError, match="cannot be used together"):
        xcode.main(["--plugin", "p", "--project", "A.xcodeproj"], standalone_mode=False)


def test_a_plugin_is_replaced_whole_and_anothers_folder_is_not(package: SwiftPackage, tmp_path: Path) -> None:
    folder = written(package, tmp_path)
    (folder / "old.swift").write_text("")
    written(package, tmp_path)
    assert not (folder / "old.swift").exists()
    (folder / "mobpack.json").unlink()
    with pytest.raises(ConfigError, match="is not a plugin of mobpack xcode"):
        written(package, tmp_path)
