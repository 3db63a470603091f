"""The parts of a React Native package in an app's projects: Expo's plugin, the podspec, the file that registers it."""

import json
import plistlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from packager.files.processes import downloads
from packager.render.templates import environment
from packager.targets.xcframework.privacy import FILE_NAME, TIMES, declared
from tests.toolchain import node
from tests.toolchain.react_native import codegen, packages
from tests.toolchain.react_native.cpp_complaints import complaints_for_apple
from tests.toolchain.react_native.packages import Built
from tests.toolchain.react_native.podspecs import Pod, evaluate

PROPERTY = "mobpack.PageOrientation.models"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return packages.page_orientation(tmp_path_factory)


def models_of(built: Built, platform: str) -> dict[str, bytes]:
    folders = [built.package / "models" / name / "mobpack" / "PageOrientation" for name in ("both", platform)]
    return {path.name: path.read_bytes() for folder in folders if folder.is_dir() for path in folder.iterdir()}


MISTAKES: tuple[tuple[Mapping[str, object], str], ...] = (
    ({"model": "app"}, "the config plugin has no option 'model', did you mean 'models'?"),
    ({"models": "pakage"}, "'models' is one of package, app, none: did you mean 'package'?"),
    ({"models": True}, "'models' is one of package, app, none: did you mean"),
)


def refusals(built: Built, options: Sequence[Mapping[str, object]], folder: Path) -> list[str]:
    """The plugin's error for each of `options`."""
    script = folder / "all.js"
    script.write_text(
        f"const plugin = require({json.dumps(str(built.package / 'app.plugin.js'))});\n"
        "const config = { _internal: { projectRoot: process.argv[2] } };\n"
        f"for (const options of {json.dumps(options)}) {{\n"
        "  try { plugin(config, options); console.log('taken'); } catch (error) { console.log(error.message); }\n"
        "}\n",
        encoding="utf-8",
    )
    lines = node.run([script, node.project("expo")], cwd=folder).stdout.splitlines()
    assert len(lines) == len(options), lines
    return lines


def test_every_mistake_in_the_options_has_its_words(built: Built, tmp_path: Path) -> None:
    said = refusals(built, [options for options, _ in MISTAKES], tmp_path)
    assert [(line, words) for line, (_, words) in zip(said, MISTAKES, strict=True) if words not in line] == []


def test_the_plugin_says_the_nearest_name(built: Built, tmp_path: Path) -> None:
    """For every name that is one typing error away from a valid one."""
    typed = {f"{word[:at]}x{word[at + 1 :]}": word for word in ("package", "app", "none") for at in range(len(word))}
    said = refusals(built, [{"models": name} for name in typed], tmp_path)
    assert len(said) == len("packageappnone")
    expected = [f"did you mean '{word}'?" for word in typed.values()]
    assert [line for line, end in zip(said, expected, strict=True) if not line.endswith(end)] == []


def pod_of(built: Built, app: Mapping[str, object] | None = None) -> Pod:
    [podspec] = built.package.glob("*.podspec")
    text = (built.package / "package.json").read_text(encoding="utf-8")
    return Pod(podspec.read_text(encoding="utf-8"), text, None if app is None else json.dumps(app))


MODES: tuple[Mapping[str, object] | None, ...] = (
    None,
    {},
    {PROPERTY: "package"},
    {PROPERTY: "app"},
    {PROPERTY: "none"},
    {PROPERTY: "nowhere"},
)
"""Contents of Podfile.properties.json in apps; the first has no such file."""


@pytest.fixture(scope="module")
def pods(built: Built, tmp_path_factory: pytest.TempPathFactory) -> list[Mapping[str, Any]]:
    """Attributes of the podspec for each of MODES, then of the podspec of a package with a framework of its own."""
    fields = {
        "module": "Acme",
        "min_ios": "15.1",
        "bundle": "AcmeModels",
        "asset_folder": "mobpack/Acme",
        "ios_framework": 'ios/Frameworks/ac"me#{1}.xcframework',
        "ios_version": "",
        "frameworks": ("CoreML", "Foundation", "CoreGraphics", "ImageIO"),
        "delivery": None,
    }
    text = environment().get_template("react_native/Module.podspec.j2").render(fields)
    own = Pod(text, pod_of(built).description)
    return evaluate([*(pod_of(built, mode) for mode in MODES), own], tmp_path_factory.mktemp("pods"))


def test_the_podspec_gives_cocoapods_what_it_needs(pods: list[Mapping[str, Any]]) -> None:
    pod, *found = pods
    assert pod["name"] == ["PageOrientation"]
    assert pod["version"] == [packages.VERSION]
    assert {"summary", "homepage", "license", "authors", "source", "platforms"} <= pod.keys()
    assert ["onnxruntime-c", ">= 1.29.0", "< 2"] in pod["dependencies"]
    assert ["React-Core"] in pod["dependencies"], "install_modules_dependencies was called"
    assert found[0] == found[1] == pod
    [bundles] = pod["resource_bundles"]
    assert bundles.keys() == {"PageOrientationModels", "PageOrientationPrivacy"}
    without_models = [{name: bundles[name] for name in bundles if name != "PageOrientationModels"}]
    assert found[2] == found[3] == {**pod, "resource_bundles": without_models}
    assert "must be package, app or none, not nowhere" in found[4]["told"]


def test_patterns_of_the_podspec_name_all_files_of_the_package(built: Built, pods: list[Mapping[str, Any]]) -> None:
    pod = pods[0]
    [bundles] = pod["resource_bundles"]
    assert {path.name: path.read_bytes() for path in matches(built.package, bundles["PageOrientationModels"])} == (
        models_of(built, "ios")
    )
    sources = {path.relative_to(built.package).as_posix() for path in matches(built.package, pod["source_files"])}
    wanted = {path.relative_to(built.package).as_posix() for path in (built.package / "cpp").rglob("*.[ch]*")}
    assert sources == wanted | {"ios/OnLoad.mm"}
    assert "cpp/onnxruntime/onnxruntime_c_api.h" in sources


def test_the_pod_tells_the_app_store_what_its_code_and_onnx_runtime_call_for(
    built: Built, pods: list[Mapping[str, Any]]
) -> None:
    """Under the name that React Native looks for when it collects the manifests of all pods."""
    pod = pods[MODES.index({PROPERTY: "none"})]
    [bundles] = pod["resource_bundles"]
    [path] = matches(built.package, bundles["PageOrientationPrivacy"])
    assert path.name == FILE_NAME
    found = plistlib.loads(path.read_bytes())
    assert found["NSPrivacyTracking"] is False
    # The pod's own code looks at the time of files of the app.
    needed: dict[str, set[str]] = {TIMES: {"C617.1"}}
    for each in downloads.pins()["ios"]["privacy"]:
        needed[each["category"]] = needed.get(each["category"], set()) | set(each["reasons"])
    assert {access.category: set(access.reasons) for access in declared(found)} == needed


def matches(folder: Path, patterns: list[str]) -> list[Path]:
    """Ruby's patterns: Python's have no `{one,other}`."""
    plain: list[str] = []
    for pattern in patterns:
        choice = re.search(r"\{([^}]*)\}", pattern)
        words = choice[1].split(",") if choice else [""]
        plain += [pattern.replace(choice[0], word) if choice else pattern for word in words]
    return sorted(path for pattern in plain for path in folder.glob(pattern) if path.is_file())


def test_an_own_framework_takes_the_place_of_the_pod(pods: list[Mapping[str, Any]]) -> None:
    pod = pods[-1]
    assert pod["frameworks"] == ["CoreML", "Foundation", "CoreGraphics", "ImageIO"]
    assert pod["vendored_frameworks"] == ['ios/Frameworks/ac"me#{1}.xcframework']
    assert pod["dependencies"] == [["React-Core"]]


@pytest.fixture(scope="module")
def specs(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("apple")
    return codegen.for_ios(built.app(folder / "app"), folder / "codegen")


def test_the_file_that_registers_the_module_compiles(built: Built, specs: Path) -> None:
    assert complaints_for_apple(built.package / "ios" / "OnLoad.mm", built.package, specs) == ""
