"""Names of npm packages and of their parts: names that npm, CocoaPods or four languages refuse never ship."""

import re
from dataclasses import replace

import pytest

from packager.core.class_names import RESERVED
from packager.core.errors import ConfigError, SettingError
from packager.files.installed import templates_folder
from packager.targets.react_native import ReactNative, naming, texts
from packager.targets.typescript import texts as shared
from tests.unit.test_react_native_target import VISION


@pytest.mark.parametrize(
    ("package", "given", "name"),
    [
        ("page-orientation", "", "react-native-page-orientation"),
        ("vision", "@example/vision", "@example/vision"),
        ("vision", "vision.v2_small", "vision.v2_small"),
        ("web", "", "react-native-web-models"),
    ],
)
def test_the_name_on_npm_comes_from_the_package_unless_it_is_given(package: str, given: str, name: str) -> None:
    assert naming.npm_name(package, given) == name


def test_a_name_that_npm_refuses_is_refused_with_one_that_it_takes() -> None:
    for given, message in [
        ("Vision", "package 'Vision' is not allowed: npm allows lower-case letters, digits, '-', '.', '_'|try vision"),
        ("my vision!", "package 'my vision!' is not allowed: npm allows lower-case|try my-vision"),
        (".vision", "|try vision"),
        ("_vision", "|try vision"),
        ("@Example/vision", "|try @example/vision"),
        ("@example", "|write it as in @example/vision"),
        ("a/b", "|write it as in @example/vision"),
        ("http", "package 'http' is already the name of another package|try http-models or @example/http"),
        ("react-native", "is already the name of another package|"),
        ("react-native-web", "is already the name of another package|try react-native-web-models or"),
        ("node_modules", "is already the name of another package|"),
        ("vision\n", "is not allowed"),
        ("v" * 215, "the package's name has 215 letters|npm allows 214"),
    ]:
        said, _, hint = message.partition("|")
        with pytest.raises(SettingError) as caught:
            ReactNative(package=given)
        assert said in str(caught.value)
        assert hint in caught.value.hint


def test_the_module_is_called_like_nothing_that_an_app_has() -> None:
    for package, given, module in [
        ("page-orientation", "", "PageOrientation"),
        ("vision", "", "VisionModels"),
        ("react", "", "ReactModels"),
        ("foundation", "", "FoundationModelsModels"),
        ("main-react", "", "MainReactModels"),
        ("ocr", "TextReader2", "TextReader2"),
    ]:
        assert naming.module_name(package, given) == module


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("page-kit", "module 'page-kit' is not a valid class name|use capitalized words: PageOrientation"),
        ("pageKit", "is not a valid class name|"),
        ("Page_Kit", "is not a valid class name|"),
        ("Vision", "clashes with a framework or pod of apps|try VisionModels"),
        ("REACT", "clashes with a framework or pod of apps|"),
    ],
)
def test_impossible_modules_are_refused_in_words(given: str, message: str) -> None:
    said, _, hint = message.partition("|")
    with pytest.raises(SettingError) as caught:
        ReactNative(module=given)
    assert said in str(caught.value)
    assert hint in caught.value.hint


@pytest.mark.parametrize("version", ["1.0.0", "0.10.2-beta.1", "1.0.0-x-y.7"])
def test_versions_of_npm_are_taken(version: str) -> None:
    ReactNative().refuse(replace(VISION.package, version=version), {})


def test_versions_of_npm_are_taken_and_others_refused() -> None:
    for version in ["1", "1.0", "01.0.0", "1.0.0+5", "1.0.0-", "1.0.0-01", "v1.0.0", "1.0.0\n"]:
        with pytest.raises(ConfigError, match=f"npm needs three numbers, not '{re.escape(version)}'") as refused:
            ReactNative().refuse(replace(VISION.package, version=version), {})
        assert '"1.0.0"' in refused.value.hint
    package = replace(VISION.package, name="v" * 202)
    with pytest.raises(ConfigError, match="has 215 letters; npm allows 214") as refused:
        ReactNative().refuse(package, {})
    assert refused.value.hint.startswith("shorten it by 1,")
    ReactNative(package="vision").refuse(package, {})


@pytest.mark.parametrize("version", [f"1.0.{2**53}", "1.0.0-" + "a" * 251])
def test_versions_that_are_too_long_for_npm_are_refused(version: str) -> None:
    ReactNative().refuse(replace(VISION.package, version=version[:-1]), {})
    with pytest.raises(ConfigError, match="is too long for npm"):
        ReactNative().refuse(replace(VISION.package, version=version), {})


def test_names_in_other_languages_follow_from_the_module() -> None:
    names = replace(VISION, target=ReactNative(module="PageOrientation2")).view().names
    assert (names.cpp_namespace, names.cmake_target) == ("pageorientation2cxx", "page_orientation2_mobpack")
    assert (names.bundle, names.spec) == ("PageOrientation2Models", "PageOrientation2Spec")
    assert names.asset_folder == "mobpack/PageOrientation2"
    assert names.kotlin_package == "com.example.vision.reactnative"


def test_every_type_that_generated_modules_name_is_reserved() -> None:
    words: set[str] = set()
    roots = [templates_folder() / root / "src" for root in (shared.SHARED, texts.ROOT)]
    for path in sorted(path for root in roots for path in root.rglob("*.j2")):
        if path.name.removeprefix("_").startswith("NativeModule"):
            continue  # has nothing of a model
        code = re.sub(r"(?s)/\*.*?\*/|//[^\n]*|'[^'\n]*'", "", path.read_text(encoding="utf-8"))
        code = re.sub(r"(?s)\{\{.*?\}\}\w*|\{%.*?%\}|\{#.*?#\}", "", code)
        words |= set(re.findall(r"(?<![A-Za-z0-9._])[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*\b", code))
    assert words
    assert {word for word in words if word.lower() not in RESERVED} == set()
