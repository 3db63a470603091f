"""Settings by chip in Dart: a package follows those that were measured for its device, and opens the variant that was
the fastest there, unless the app sets its own.

The name of the chip is that of the machine (`uname`), in whose place a library stands that has any name.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from packager.core.tuned import Tuned
from packager.render.templates import write_sources
from packager.targets.android import Android
from packager.targets.flutter import Flutter
from packager.targets.ios import Ios
from tests.cases import varied
from tests.golden.cases import Published
from tests.toolchain import chip
from tests.toolchain.dart import PROBLEM, compile_kernel, configured_package, dart

PROGRAMS = Path(__file__).parents[1] / "toolchain" / "dart_programs"
MANY = 40
"""threads, more than Dart's own"""
XNNPACK = Tuned(
    providers=("xnnpack",), threads=MANY, provider_options={"xnnpack": {"intra_op_num_threads": "3"}}, variant="int8"
)
ANDROID = {
    "SM8650": {"chain": XNNPACK, "plain": Tuned(threads=4, variant="int8")},
    "Tensor G3": {"chain": Tuned(providers=("cpu",), threads=3)},
}
IOS = {"iPhone17,1": {"chain": Tuned(providers=("coreml",), variant="int8")}, "SM8650": {"chain": Tuned(threads=1)}}


def sources(folder: Path) -> Published:
    android = Android(providers=("nnapi", "xnnpack"), tuned=ANDROID)
    ios = Ios(providers=("coreml",), tuned=IOS)
    on_android, on_ios = varied.cases([android, ios], folder)
    return Published(target=Flutter(), android=on_android, ios=on_ios)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuned")
    write_sources(sources(folder).sources(), folder / "package")
    return configured_package(folder / "package", "models")


@pytest.fixture(scope="module")
def said(package: Path) -> Mapping[str, Mapping[str, Any]]:
    """Facts of each chip."""
    library = dart().onnxruntime()
    (package / "tuned.dart").write_bytes((PROGRAMS / "tuned.dart").read_bytes())
    model = package / "lib" / "src" / "models" / "chain.dart"
    text = model.read_text(encoding="utf-8")
    shown = "// For the test.\nconst shown = _descriptor;\nconst shownVariants = _variants;\n"
    model.write_text(f"{text}\n{shown}", encoding="utf-8", newline="\n")
    done = dart().run(
        ["dart", "--enable-asserts", compile_kernel(package, "tuned.dart"), library],
        cwd=package,
        mounts={str(each): each for each in (library.parent, package.parent, chip.library().parent)},
        environment=chip.variables(""),
    )
    model.write_text(text, encoding="utf-8", newline="\n")
    assert done.returncode == 0, done.output
    found = (line.partition("\t") for line in done.output.splitlines())
    return {name: json.loads(facts) for name, _, facts in found}


def test_a_model_is_opened_as_measured_on_its_chip(said: Mapping[str, Mapping[str, Any]]) -> None:
    assert {name: facts["chain"] for name, facts in said.items() if name != "apps"} == {
        "SM8650": ["xnnpack"],
        "Tensor G3": [],
        "iPhone17,1": ["coreml"],
        "unknown": [],
    }
    assert said["SM8650"]["threads"] >= MANY - 1
    assert all(said[chip]["threads"] < MANY - 1 for chip in ("Tensor G3", "iPhone17,1", "unknown"))
    assert [said["SM8650"][each] for each in ("plain", "off")] == [[], []], "another model, and settings turned off"


def test_a_chip_opens_the_variant_that_was_the_fastest_on_it(said: Mapping[str, Mapping[str, Any]]) -> None:
    own, other = "chain.ort.tflite", "chain-int8.ort.tflite"
    files = {name: facts["files"] for name, facts in said.items() if name != "apps"}
    assert files.pop("SM8650") == {"usual": other, "off": own, "own order": own, "own threads": other}
    assert all(set(each.values()) == {own} for each in files.values()), files
    on_ios = {name: facts["on ios"] for name, facts in said.items() if name != "apps"}
    assert on_ios.pop("iPhone17,1") == [[other, []]], "no file of another variant is tried"
    assert all(each == [[own, []]] for each in on_ios.values())


def test_the_self_test_is_about_the_file_that_is_open(said: Mapping[str, Mapping[str, Any]]) -> None:
    """The samples of the variant of `plain` are those of another model."""
    tested = {name: facts["tested"] for name, facts in said.items() if name != "apps"}
    assert tested.pop("SM8650") == {"usual": True, "off": True, "own order": True, "own threads": True, "plain": False}
    assert all(all(each.values()) for each in tested.values()), tested


def test_each_platform_has_settings_of_its_own(said: Mapping[str, Mapping[str, Any]]) -> None:
    tuned = {"xnnpack": {"intra_op_num_threads": "3"}}
    none: dict[str, Any] = {"providers": None, "threads": 0, "options": {}}
    assert said["SM8650"]["android"] == {"providers": ["xnnpack"], "threads": MANY, "options": tuned}
    assert said["SM8650"]["ios"] == {**none, "threads": 1}
    assert said["Tensor G3"]["android"] == {**none, "providers": ["cpu"], "threads": 3}
    assert said["iPhone17,1"]["ios"] == {**none, "providers": ["coreml"]}
    assert [said["Tensor G3"]["ios"], said["iPhone17,1"]["android"], said["unknown"]["android"]] == [none] * 3


def test_an_app_s_own_settings_stay(said: Mapping[str, Mapping[str, Any]]) -> None:
    tuned = {"intra_op_num_threads": "3"}
    usual = {"providers": ["xnnpack"], "threads": MANY, "options": {"xnnpack": tuned}}
    assert said["apps"] == {
        "usual": usual,
        "off": {"providers": None, "threads": 0, "options": {}},
        "own order": {**usual, "providers": ["nnapi"]},
        "own threads": {**usual, "threads": 1},
        "own setting": {**usual, "options": {"xnnpack": {**tuned, "own": "1"}}},
    }


def test_the_code_of_settings_is_clean_for_the_strictest_analyzer(package: Path) -> None:
    done = dart().run(["dart", "analyze", "--fatal-infos", "--format=machine", "lib"], cwd=package)
    assert (done.returncode, PROBLEM.findall(done.output)) == (0, []), done.output
    done = dart().run(["dart", "format", "--output=none", "--set-exit-if-changed", "lib"], cwd=package)
    assert done.returncode == 0, done.output


def test_a_package_without_settings_has_no_code_for_them(tmp_path: Path) -> None:
    published = sources(tmp_path)
    assert published.android
    alone = varied.without(published.android)
    found = {}
    for name, target in (("settings", alone.target), ("none", Android(providers=()))):
        made = Published(target=Flutter(), android=replace(alone, target=target)).sources()
        found[name] = ({path.name for path in (*made.texts, *made.files)}, "".join(made.texts.values()))
    whole = {path.name for path in published.sources().files}
    files = {"tuning.dart", "variants.dart"}
    assert [files & each for each in (whole, found["settings"][0], found["none"][0])] == [files, {"tuning.dart"}, set()]
    assert "Tuned(" in found["settings"][1]
    assert "variants" not in found["settings"][1]
    assert "Tuned(" not in found["none"][1]
