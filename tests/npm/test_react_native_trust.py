"""React Native packages with trusted keys open what was signed: JavaScript with C++, and Android's and Apple's parts.

On iPhones Apple's Security framework verifies; a program on Linux has OpenSSL in its place.
"""

import base64
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from packager.core.findings import Report
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.react_native import ReactNative
from packager.targets.react_native.view import ReactNativeView
from packager.targets.target import Target
from tests.cases.trust_vectors import IN_USE, OPENED, SWAPPED, VECTORS, spki
from tests.toolchain import jsc, jvm, node, trusted
from tests.toolchain.react_native import codegen, native
from tests.toolchain.react_native.cpp_complaints import complaints_for_apple
from tests.toolchain.react_native.verifier import add_verifier

NAME = "react-native-models"
PLATFORMS = ("ios", "android")

Facts = Mapping[str, Mapping[str, Any]]


def view_of(folder: Path) -> ReactNativeView:
    store = Store(cache_folder() / "store")
    report = Report(parities=())
    targets: tuple[Target, ...] = (Android(providers=()), Ios(providers=()))
    built = {}
    for target in targets:
        plans = (trusted.plan(folder, store, target.NAME),)
        built[target.NAME] = target.built(target.view(trusted.PACKAGE, plans, report), plans)
    return ReactNative().view(trusted.PACKAGE, built, report)


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> ReactNativeView:
    return view_of(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def package(view: ReactNativeView, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, in the node_modules of an app."""
    app = tmp_path_factory.mktemp("app")
    modules = node.link(node.project(jsc.NEWEST), app)
    write_sources(ReactNative().render(view), modules / NAME)
    text = json.dumps({"name": "app", "private": True, "dependencies": {NAME: "1.2.3"}})
    (app / "package.json").write_text(text, encoding="utf-8", newline="\n")
    return modules / NAME


@pytest.fixture(scope="module")
def specs(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return codegen.for_ios(package.parents[1], tmp_path_factory.mktemp("specs"), project=jsc.NEWEST)


@pytest.fixture(scope="module")
def code(package: Path, specs: Path, tmp_path_factory: pytest.TempPathFactory) -> native.Code:
    """The package's C++ with a verifier, and its JavaScript."""
    folder = tmp_path_factory.mktemp("native")
    copy = folder / "node_modules" / NAME
    shutil.copytree(package, copy)
    add_verifier(copy)
    native.bundle(package.parents[1], folder / "script.js", "trust.js")
    return native.Code(jsc.program(copy, specs, native.MODULE), folder / "script.js", copy / "models")


@pytest.fixture(scope="module", params=PLATFORMS)
def facts(
    request: pytest.FixtureRequest, code: native.Code, view: ReactNativeView, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Facts]:
    """Platform, and what was found there."""
    platform: str = request.param
    app = code.app(tmp_path_factory.mktemp(platform) / "run")
    files = {each.content.path: each.content.sha256 for each in view.files}
    lists = [
        {"name": f"{number:02}", "text": vector.text(files, trusted.PACKAGE)} for number, vector in enumerate(VECTORS)
    ]
    places = {
        f"{native.ASSETS}/{each.content.path}": {
            "path": str(code.models / each.folder / native.ASSETS / each.content.path),
            "offset": 0,
        }
        for each in view.files
    }
    return platform, app.run("trust", os=platform, lists=lists, places=places)


@pytest.mark.parametrize("number", range(len(VECTORS)), ids=[vector.name for vector in VECTORS])
def test_a_list_is_answered_as_on_every_platform(facts: tuple[str, Facts], number: int) -> None:
    expected, found = VECTORS[number].expected, facts[1][f"{number:02}"]
    assert found["found"] == ("opened by cpu" if expected == OPENED else expected), found


def test_a_file_of_the_app_s_own_must_be_in_the_list(facts: tuple[str, Facts]) -> None:
    assert facts[1]["own stranger"]["found"] == SWAPPED
    assert facts[1]["own without sha256"]["found"] == SWAPPED


def test_a_list_that_an_archive_stores_is_read_to_the_end_of_its_line(facts: tuple[str, Facts]) -> None:
    platform, found = facts
    if platform == "android":
        assert found["stored in an archive"]["found"] == "opened by cpu"


def test_each_platform_has_a_list_of_its_files(package: Path, view: ReactNativeView) -> None:
    for platform in PLATFORMS:
        text = (package / "models" / platform / native.ASSETS / "models.sig").read_text(encoding="utf-8")
        payload = json.loads(base64.b64decode(json.loads(text)["dsseEnvelope"]["payload"]))
        listed = {each["name"]: each["digest"] for each in payload["predicate"]["resources"]}
        assert listed == {each.content.path: each.content.sha256 for each in view.files}
    assert "models/ios/mobpack/Models/models.sig" in (package / "Package.swift").read_text(encoding="utf-8")


def test_apples_verifier_compiles(package: Path, specs: Path) -> None:
    assert complaints_for_apple(package / "ios/Signatures.mm", package, specs) == ""


MAIN = """\
package com.example.models.reactnative

import device.report

fun main(arguments: Array<String>) {
    for (argument in arguments) {
        val (name, key, message, signature) = argument.split('=', limit = 2).let { it.take(1) + it[1].split(' ') }
        report(name, Signatures.isSigned(key, message, signature))
    }
}
"""


def test_androids_verifier_says_which_signatures_are_right(
    package: Path, kotlin_compiler: None, tmp_path: Path
) -> None:
    [own] = package.rglob("Signatures.kt")
    main = tmp_path / "Main.kt"
    main.write_text(MAIN, encoding="utf-8", newline="\n")
    classes = jvm.compile_kotlin([own, main], classpath=[jvm.fakes()])
    right = triple("the key in use")
    other = f"{right.split()[0]} {triple('an older release').split()[1]} {right.split()[2]}"
    given = {
        "right": right,
        "stranger": triple("a stranger's key"),
        "other": other,
        "none": f"{right.split()[0]} A= A=",
    }
    found = jvm.run("com.example.models.reactnative.MainKt", given, classpath=[classes]).facts
    assert found == {"right": "true", "stranger": "false", "other": "false", "none": "false"}


def triple(name: str) -> str:
    """The key in use, the message and the signature of a list, in Base64."""
    [vector] = (each for each in VECTORS if each.name == name)
    text = vector.text({"scorer.ort": "0" * 64}, trusted.PACKAGE)
    assert text
    envelope = json.loads(text)["dsseEnvelope"]
    kind, payload = envelope["payloadType"], base64.b64decode(envelope["payload"])
    message = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
    words = (spki(IN_USE), message)
    return " ".join([*(base64.b64encode(each).decode() for each in words), envelope["signatures"][0]["sig"]])
