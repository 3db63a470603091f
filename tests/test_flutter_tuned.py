"""Settings by chip in Dart: a package follows those that were measured for its device, unless the app sets its own.

The name of the chip is that of the machine (`uname`), in whose place a library stands that has any name.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from packager.core.findings import Report
from packager.core.tuned import Tuned
from packager.core.values import Package
from packager.render import write_sources
from packager.targets.android import Android
from packager.targets.flutter import Flutter
from packager.targets.ios import Ios
from tests.golden.cases import Case, Published
from tests.onnx_text import compiled, onnx_model
from tests.test_react_native_typed import planned
from tests.toolchain import jsc
from tests.toolchain.dart import PROBLEM, configured_package, dart

pytestmark = [pytest.mark.by_content, pytest.mark.flutter]

PROGRAMS = Path(__file__).with_name("toolchain") / "dart_programs"
NET = "(float[8] x) => (float[8] y) { y = Relu (x) }"
MANY = 40
"""threads, more than Dart's own"""
XNNPACK = Tuned(providers=("xnnpack",), threads=MANY, provider_options={"xnnpack": {"intra_op_num_threads": "3"}})
ANDROID = {
    "SM8650": {"chain": XNNPACK, "plain": Tuned(threads=4)},
    "Tensor G3": {"chain": Tuned(providers=("cpu",), threads=3)},
}
IOS = {"iPhone17,1": {"chain": Tuned(providers=("coreml",))}, "SM8650": {"chain": Tuned(threads=1)}}


def sources(folder: Path) -> Published:
    package = Package(name="models", version="1.0.0", license="")
    plans = tuple(planned(compiled(folder, onnx_model(NET), name)) for name in ("chain", "plain"))
    android = Android(providers=("nnapi", "xnnpack"), tuned=ANDROID)
    ios = Ios(providers=("coreml",), tuned=IOS)
    cases = [
        Case(package=package, target=target, plans=plans, report=Report(parities=()), golden={})
        for target in (android, ios)
    ]
    return Published(target=Flutter(), android=cases[0], ios=cases[1])


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuned")
    write_sources(sources(folder).sources(), folder / "package")
    return configured_package(folder / "package", "models")


@pytest.fixture(scope="module")
def said(package: Path) -> Mapping[str, Mapping[str, Any]]:
    """Facts of each chip."""
    stand_in, library = package.parent / "libchip.so", dart().onnxruntime()
    program = PROGRAMS / "chip.cpp"
    options = ["-target", jsc.TARGET, "-shared", "-fPIC", "-nostdlib", "-O2", "-fno-sanitize=all"]
    jsc.compiler([*options, program, "-o", stand_in], what="the chip")
    (package / "tuned.dart").write_bytes((PROGRAMS / "tuned.dart").read_bytes())
    model = package / "lib" / "src" / "models" / "chain.dart"
    text = model.read_text(encoding="utf-8")
    shown = "/// For the test.\nconst ModelDescriptor shown = _descriptor;\n"
    model.write_text(f"{text}\n{shown}", encoding="utf-8", newline="\n")
    done = dart().run(
        ["dart", "--enable-asserts", "tuned.dart", library],
        cwd=package,
        mounts={str(each): each for each in (library.parent, package.parent)},
        environment={"LD_PRELOAD": str(stand_in)},
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
    plain = Published(target=Flutter(), android=Case(**{**vars(published.android), "target": Android(providers=())}))
    with_settings, without = published.texts().keys() | published.sources().files.keys(), plain.sources()
    assert "tuning.dart" in {path.name for path in with_settings}
    assert "tuning.dart" not in {path.name for path in (*without.texts, *without.files)}
    assert not [path for path, text in without.texts.items() if "Tuned(" in text]
