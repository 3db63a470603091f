"""React Native packages in apps without CocoaPods: React Native's scripts link them, SwiftPM builds them."""

import json
import re
from pathlib import Path, PurePosixPath

import pytest

from packager.targets.react_native.swift_package import product_name
from tests.toolchain import node
from tests.toolchain.react_native import packages, swiftpm
from tests.toolchain.react_native.packages import Built
from tests.toolchain.react_native.swiftpm import Outcome

NAME = "ReactNativePageOrientation"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return packages.page_orientation(tmp_path_factory)


@pytest.fixture(scope="module")
def outcome(built: Built) -> Outcome:
    return swiftpm.outcome(built, NAME)


def test_react_native_takes_the_packages_own_manifest(outcome: Outcome, built: Built) -> None:
    """Instead of one that it would make of the podspec, which lacks ONNX Runtime and the models."""
    assert f"Self-managed: {NAME}" in outcome.told
    assert "warn" not in outcome.told.lower()
    assert outcome.linked == f"node_modules/{built.name}"


def test_swiftpm_builds_the_package(outcome: Outcome, built: Built) -> None:
    """With the headers of React Native, and those that its code generator makes for the app."""
    sources = [*(built.package / "cpp").glob("*.cpp"), built.package / "ios" / "OnLoad.mm"]
    assert len(sources) > 20
    compiled = [PurePosixPath(path) for path in outcome.compiled if "/PageOrientation.build/" in path]
    assert {path.name for path in compiled} == {f"{source.name}.o" for source in sources}


def test_the_bundle_has_the_models_for_ios_and_the_privacy_manifest(outcome: Outcome, built: Built) -> None:
    said = outcome.described.output
    manifest = json.loads(said[said.index("{") :])
    [resources] = [target["resources"] for target in manifest["targets"] if target["resources"]]
    assert all("copy" in each["rule"] for each in resources)
    paths = {PurePosixPath(each["path"]) for each in resources}
    opened = {
        PurePosixPath(path.relative_to(built.package).as_posix())
        for folder in ("both", "ios")
        for path in (built.package / "models" / folder).rglob("*")
        if path.is_file()
    }
    assert len(opened) > 1
    assert paths == {*opened, PurePosixPath("ios/PrivacyInfo.xcprivacy")}
    assert len({path.name for path in paths}) == len(paths), "the bundle has no folders"


def test_the_name_is_that_which_every_react_native_looks_for(built: Built, tmp_path: Path) -> None:
    """`toSwiftName` of React Native's scripts gives the name in 0.87; later versions read package.json."""
    names = ("react-native-page-orientation", "@acme/vision", "react-native-3d", "a.b_c-d", "net2")
    script = tmp_path / "names.js"
    utilities = node.project("react_native") / "node_modules/react-native/scripts/spm/spm-utils.js"
    script.write_text(
        f"const {{toSwiftName}} = require({json.dumps(str(utilities))});\n"
        f"console.log(JSON.stringify({json.dumps(names)}.map(toSwiftName)));\n",
        encoding="utf-8",
    )
    done = node.run([script], cwd=tmp_path)
    assert json.loads(done.stdout) == [product_name(name) for name in names]
    description = json.loads((built.package / "package.json").read_text(encoding="utf-8"))
    assert description["swiftpmConfig"] == {"name": product_name(built.name)}
    text = (built.package / "Package.swift").read_text(encoding="utf-8")
    assert re.findall(r'\.library\(name: "(\w+)"', text) == [NAME]


def test_a_name_that_begins_with_a_digit_gives_way_to_the_module() -> None:
    assert product_name("3d-models") == ""
