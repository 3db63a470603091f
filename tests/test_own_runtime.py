"""A user's own runtime replaces the published one: it is refused if it does not fit, else it ships.

The unit tests pack the least that is a runtime; the others take ONNX Runtime's own Android library, called reduced by
an operator configuration beside it.
"""

import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from packager import config as configuration
from packager.compile.operators import operator_config
from packager.config import Config
from packager.core.console import Console
from packager.core.errors import ConfigError, MobpackError, ModelError, ToolError
from packager.core.findings import Report
from packager.core.values import ElementType, Package, Signature, Sources
from packager.files.hashes import sha256_of
from packager.files.processes import downloads
from packager.files.store import Store
from packager.files.zips import write_zip
from packager.runtimes import shipping
from packager.runtimes.shipping import ChosenRuntime
from packager.targets.android import Android, aar, kotlin
from packager.targets.android.view import AndroidView
from packager.targets.target import PackagedRuntime, artifact
from packager.workflows import build
from packager.workflows.planning import adapted, plan_all
from packager.workflows.requested import BuildRequest
from packager.workflows.runtimes import choose_runtimes
from tests.archives import read_zip
from tests.caches import empty_cache
from tests.golden.cases import choice, plan, specs
from tests.onnx_text import linear, onnx_model, saved, session, weight
from tests.test_runtime_library import contents, write_aar
from tests.toolchain import jvm
from tests.toolchain.device import Library, device
from tests.toolchain.forks import forked

__all__ = ["forked"]
pytestmark = [pytest.mark.by_content, pytest.mark.processes]

GEMM = 'ai.onnx;13;Gemm{"inputs": {"0": ["float"]}}\n'
"""all that the model `linear` needs"""
EVERYTHING = "!no_ops_specified_means_all_ops_are_required\n"
PACKAGE = Package(name="vision", version="1.0.0", license="")
ANDROID = BuildRequest(targets=("android",), out=Path("dist"))
POM = "{http://maven.apache.org/POM/4.0.0}"
WORD = "acmecs9fjme"

APP = """\
package apps

import com.example.models.Net
import device.report
import java.io.File

fun main(arguments: Array<String>) {
    val task = Task(arguments)
    Net.loadBlocking(task.app, task.options).use { model ->
        val input = Net.Input.allocate(batch = task.number("batch"))
        input.x.put(task.floats("x"))
        task.write("scores", model.runBlocking(input).scores)
        report("provider", model.provider)
    }
    val maps = File("/proc/self/maps").readLines().map { it.substringAfterLast('/') }
    report("libraries", maps.filter { it.endsWith(".so") }.distinct().sorted().joinToString(" "))
}
"""
"""Runs the model and prints the libraries that it loaded."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, and a runtime in every accepted form."""
    folder = tmp_path_factory.mktemp("project")
    saved(folder / "model.onnx", linear())
    write_aar(folder / "ort.aar", contents(), config=GEMM)
    write_aar(folder / "full.aar", contents(), config=EVERYTHING)
    write_aar(folder / "bare.aar", contents(), config="")
    write_aar(folder / "no-abi.aar", {name: text for name, text in contents().items() if not name.endswith(".so")})
    (folder / "cut.zip").write_text("PK, and no more", encoding="utf-8")
    write_zip(folder / "empty.zip", {PurePosixPath("README.md"): b"nothing here"})
    (folder / "out").mkdir()
    write_aar(folder / "out" / "made.aar", contents(), config=GEMM)
    write_zip(folder / "out.zip", {PurePosixPath("out", path.name): path for path in (folder / "out").iterdir()})
    return folder


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return empty_cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def cache(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of this file's tests, apart from the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(own_cache))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def project(
    folder: Path, runtime: dict[str, object], *, package: str = "vision", model: str = "linear", **android: object
) -> Config:
    document: dict[str, Any] = {
        "package": {"name": package},
        "model": {model: {"path": "model.onnx"}},
        "runtime": runtime,
        "target": {"android": android},
    }
    return configuration.from_document(document, folder, targets=("android",), settings=())


def chosen(folder: Path, store: Store, **runtime: object) -> ChosenRuntime:
    table = project(folder, {"android": "ort.aar", **runtime}).runtime
    return shipping.choose(table, "android", group="com.example", store=store)


def view_of(runtime: PackagedRuntime | None, target: Android | None = None) -> AndroidView:
    tensor = specs("input", ("x", ElementType.FLOAT, (1, 2)))
    described = plan("m", Signature(inputs=tensor, outputs=tensor))
    return (target or Android()).view(PACKAGE, (described,), Report(parities=()), runtime)


# Found and taken apart


@pytest.mark.parametrize("location", ["ort.aar", "out", "out.zip"])
def test_a_runtime_is_an_aar_or_a_folder_or_a_zip_with_one(folder: Path, store: Store, location: str) -> None:
    runtime = chosen(folder, store, android=location)

    assert runtime.is_reduced
    assert (runtime.packaged.version, runtime.packaged.abis, runtime.notes) == ("1.29.0", ("arm64-v8a",), ())
    assert runtime.packaged.sha256 == sha256_of(folder / "ort.aar")
    assert runtime.packaged.operators_sha256 == sha256_of(folder / "ort.config")
    assert [str(path) for path in runtime.packaged.libraries] == [
        "jni/arm64-v8a/libonnxruntime.so",
        "jni/arm64-v8a/libonnxruntime4j_jni.so",
    ]


def test_a_name_is_that_of_libraries_classes_and_rules(folder: Path, store: Store) -> None:
    original, packaged = (chosen(folder, store, name=name).packaged for name in ("", "acme"))

    assert {path.name for path in original.libraries} == {"libonnxruntime.so", "libonnxruntime4j_jni.so"}
    assert packaged.java_package == f"ai.{WORD}"
    assert {path.name for path in packaged.libraries} == {f"lib{WORD}.so", f"lib{WORD}4j_jni.so"}
    assert packaged.classes
    assert [str(path) for path in read_zip(packaged.classes)] == [f"ai/{WORD}/OrtSession.class"]
    assert packaged.rules == f"-keep class ai.{WORD}.TensorInfo\n"


def test_the_same_runtime_is_taken_apart_to_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    first, second = (
        aar.write_runtime_aar(
            tmp_path / f"{place}.aar", chosen(folder, Store(tmp_path / place), name="acme").packaged, min_sdk=24
        )
        for place in ("here", "there")
    )
    assert first.read_bytes() == second.read_bytes()
    assert f"jni/arm64-v8a/lib{WORD}.so" in {str(name) for name in read_zip(first)}


def test_as_an_artifact_of_its_own_a_runtime_is_named_for_its_content(folder: Path, store: Store) -> None:
    key = sha256_of(folder / "ort.aar")[:12]
    plain, renamed = (chosen(folder, store, ship="maven", name=name).packaged for name in ("", "acme"))

    assert plain.coordinates == f"com.example:onnxruntime-{key}:1.29.0"
    assert renamed.coordinates == f"com.example:onnxruntime-acme-{key}:1.29.0"
    assert chosen(folder, store).packaged.coordinates == ""


def test_what_is_doubtful_about_a_runtime_is_noted(tmp_path: Path, store: Store) -> None:
    entries = {
        name.replace("arm64-v8a", "x86_64"): content.replace(b"VERS_1.29.0", b"VERS_1.21.0")
        for name, content in contents().items()
    }
    machine = 18
    for name in [name for name in entries if name.endswith(".so")]:
        entries[name] = entries[name][:machine] + b"\x3e\x00" + entries[name][machine + 2 :]
    write_aar(tmp_path / "ort.aar", entries, config=GEMM)

    phones, version = chosen(tmp_path, store).notes

    assert phones == "ort.aar has no library for arm64-v8a: nearly every phone needs it"
    assert version.startswith("ort.aar is ONNX Runtime 1.21.0: this mobpack was tried with ")


# Refused


@pytest.mark.parametrize(
    ("runtime", "error", "message"),
    [
        ({"android": "gone.aar"}, ConfigError, r"gone\.aar: no such file"),
        ({"android": "model.onnx"}, ToolError, "not an .aar, or truncated"),
        ({"android": "."}, ConfigError, "expected one .aar, found bare.aar, full.aar, no-abi.aar, ort.aar"),
        ({"android": "cut.zip"}, ToolError, "not a .zip, or truncated"),
        ({"android": "empty.zip"}, ConfigError, r"empty\.zip: expected one \.aar, found none"),
        ({"android": "bare.aar"}, ConfigError, "its operator configuration is missing"),
        ({"android": "ort.aar", "config": "gone.config"}, ConfigError, r"gone\.config: No such file"),
        ({"android": "ort.aar", "config": "cut.zip"}, ConfigError, "not a line of an operator configuration"),
        ({"android": "no-abi.aar"}, ToolError, "it has no libraries"),
        ({"android": "com.acme:onnxruntime"}, ConfigError, "no such file"),
        ({"android": "com.acme:onnx runtime:1"}, ConfigError, "no such file"),
        ({"android": "ort.aar", "name": "Acme"}, ConfigError, "runtime name 'Acme' is not allowed"),
        ({"android": "ort.aar", "name": "vision"}, ConfigError, "runtime name 'vision' is not allowed"),
    ],
)
def test_what_is_no_runtime_is_refused_with_a_way_out(
    folder: Path, store: Store, runtime: dict[str, object], error: type[MobpackError], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        chosen(folder, store, **runtime)
    assert caught.value.hint


def test_wrong_coordinates_are_told_how_right_ones_look(folder: Path, store: Store) -> None:
    with pytest.raises(ConfigError) as caught:
        chosen(folder, store, android="com.acme:onnxruntime")
    assert "group:artifact:version" in caught.value.hint


@pytest.mark.parametrize(
    ("runtime", "message"),
    [
        (
            {"android": "com.acme:ort:1", "name": "acme"},
            "runtime: a runtime given by Maven coordinates cannot be renamed",
        ),
        (
            {"android": "com.acme:ort:1", "ship": "maven"},
            "runtime: a runtime given by Maven coordinates is always a dependency",
        ),
        ({"config": "ort.config"}, "runtime: 'config' has no effect without 'android'"),
        ({"android": "ort.aar", "ship": "outside"}, "runtime.ship: input should be 'inside' or 'maven'"),
        ({"android": "ort.aar", "nmae": "acme"}, "runtime: unknown key 'nmae'"),
    ],
)
def test_keys_that_do_not_go_together_are_refused(folder: Path, runtime: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        project(folder, runtime)


@pytest.mark.parametrize(
    ("android", "runtime", "message"),
    [
        ({"format": "onnx"}, {}, 'format = "onnx" with a reduced runtime'),
        ({"providers": ["qnn"], "soc-models": ["SM8650"]}, {}, "soc-models with a reduced runtime"),
        ({"assembler": "gradle"}, {"ship": "maven"}, 'assembler = "gradle" needs the runtime'),
    ],
)
def test_settings_that_the_runtime_cannot_have_are_refused_before_anything_is_made(
    folder: Path,
    tmp_path: Path,
    cache: None,
    monkeypatch: pytest.MonkeyPatch,
    android: dict[str, Any],
    runtime: dict[str, object],
    message: str,
) -> None:
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "gradle").write_text("#!/bin/sh\n")
    (tools / "gradle").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    config = project(folder, {"android": "ort.aar", **runtime}, **android)
    with pytest.raises(ConfigError, match=message):
        build.build(config, replace(ANDROID, out=tmp_path / "dist"), Console(quiet=True))
    assert not list(tmp_path.iterdir())


def test_a_runtime_with_all_operators_may_have_models_as_onnx(folder: Path, store: Store) -> None:
    runtime = chosen(folder, store, android="full.aar")
    assert not runtime.is_reduced
    shipping.refuse_settings(Android(format="onnx"), "embedded", runtime)
    assert adapted(Android(), runtime).format == "auto"


def test_a_runtime_with_all_operators_for_some_types_is_a_reduced_one(
    folder: Path, tmp_path: Path, store: Store
) -> None:
    (tmp_path / "types.config").write_text(f"{EVERYTHING}!globally_allowed_types;float\n", encoding="utf-8")
    assert chosen(folder, store, config=str(tmp_path / "types.config")).is_reduced


def test_a_file_that_is_onnx_all_the_same_is_refused(folder: Path, store: Store) -> None:
    tensor = specs("input", ("x", ElementType.FLOAT, (1, 2)))
    each = plan("half", Signature(inputs=tensor, outputs=tensor), choice("cpu", path=Path("model.onnx")))
    with pytest.raises(ConfigError, match="model 'half' on android ships as ONNX for cpu"):
        shipping.refuse_unrunnable([each], chosen(folder, store))
    shipping.refuse_unrunnable([replace(each, target="ios")], chosen(folder, store))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("ai.onnx;13;Relu\n", r"model 'linear': the reduced runtime lacks Gemm \(ai\.onnx 13\)"),
        ('ai.onnx;13;Gemm{"inputs": {"0": ["double"]}}\n', r"lacks Gemm \(ai\.onnx 13\) for input 0: float"),
    ],
)
def test_a_model_that_the_runtime_cannot_run_is_refused_and_the_last_release_stays(
    folder: Path, tmp_path: Path, cache: None, config: str, message: str
) -> None:
    (tmp_path / "less.config").write_text(config, encoding="utf-8")
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "manifest.json").write_text('{"mobpack": "0"}', encoding="utf-8")
    asked = project(folder, {"android": "ort.aar", "config": str(tmp_path / "less.config")})

    with pytest.raises(ModelError, match=message) as caught:
        build.build(asked, replace(ANDROID, out=tmp_path / "dist"), Console(quiet=True))

    assert "mobpack runtime recipe" in caught.value.hint
    assert GEMM.strip() in caught.value.hint
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["dist", "less.config", "manifest.json"]


# Judged


def test_a_reduced_runtime_gets_ort_format_alone_and_a_proof_by_its_configuration(folder: Path, cache: None) -> None:
    found = build.check(project(folder, {"android": "ort.aar"}), ANDROID, Console(quiet=True))

    assert {str(each.format) for each in found.plans[0].files} == {"ort"}
    assert {proof.sha256 for proof in found.report.kernels} == {each.sha256 for each in found.plans[0].files}
    for proof in found.report.kernels:
        assert (proof.runtime, proof.node_count, proof.skipped) == ("ONNX Runtime 1.29.0 (ort.aar)", 1, "")
        assert "operator configuration" in proof.by
        assert "not opened in it" in proof.by


def test_nothing_is_claimed_of_a_dependency_whose_operators_nobody_named(folder: Path, cache: None) -> None:
    found = build.check(project(folder, {"android": "com.acme:ort:1.2.3"}), ANDROID, Console(quiet=True))

    assert {proof.runtime for proof in found.report.kernels} == {"com.acme:ort:1.2.3"}
    assert all("names no operator configuration" in proof.skipped for proof in found.report.kernels)


def test_a_runtime_with_all_operators_in_the_published_version_is_proven_like_the_published_one(
    folder: Path, store: Store
) -> None:
    full = chosen(folder, store, android="full.aar")
    assert full.is_published_in_full
    assert not chosen(folder, store).is_published_in_full
    older = replace(full, packaged=replace(full.packaged, version="1.0.0"))
    assert not older.is_published_in_full


def test_the_runtime_of_a_target_that_is_not_asked_for_is_not_read(folder: Path, store: Store) -> None:
    config = project(folder, {"android": "gone.aar"})
    assert choose_runtimes(config, ("ios",), store, Console(quiet=True)) == {}


# Shipped


def test_generated_kotlin_and_what_it_is_compiled_against_have_the_name(folder: Path, store: Store) -> None:
    target = Android(providers=("nnapi",))
    view = view_of(chosen(folder, store, name="acme").packaged, target)
    texts = {path.name: text for path, text in target.render(view).texts.items()}

    assert f"import ai.{WORD}.OrtSession" in texts["TypedModel.kt"]
    assert f"ai.{WORD}.providers.NNAPIFlags" in texts["ModelOpener.kt"]
    assert f"-keep class ai.{WORD}.** {{ *; }}" in texts["consumer-rules.pro"].splitlines()
    assert texts["consumer-rules.pro"].endswith(f"\n-keep class ai.{WORD}.TensorInfo\n")
    assert not [name for name, text in texts.items() if "ai.onnxruntime" in text]
    stubs = kotlin.stubs(view.runtime.onnxruntime)
    assert f"ai/{WORD}/OrtSession.java" in stubs
    assert not [name for name, text in stubs.items() if "ai.onnxruntime" in text or "ai/onnxruntime" in name]


def test_only_a_dependency_can_bring_telemetry_that_has_to_be_taken_out(folder: Path, store: Store) -> None:
    runtimes = {
        "": None,
        "inside": chosen(folder, store).packaged,
        "maven": chosen(folder, store, ship="maven").packaged,
        "dependency": chosen(folder, store, android="com.acme:ort:1").packaged,
    }
    manifests = {
        name: Android().render(view_of(runtime)).texts[PurePosixPath("src/main/AndroidManifest.xml")]
        for name, runtime in runtimes.items()
    }
    assert {name for name, text in manifests.items() if "Telemetry" in text} == {"", "dependency"}


def gradle_project(runtime: PackagedRuntime, store: Store) -> Sources:
    target = Android(providers=())
    view = view_of(runtime, target)
    return target.project(view, target.render(view), store)


def test_a_gradle_project_has_the_runtime_that_its_library_will_have(folder: Path, store: Store) -> None:
    inside = gradle_project(chosen(folder, store, name="acme").packaged, store)
    assert {str(path) for path in inside.files if not path.is_relative_to("src/main/assets")} == {
        "libs/onnxruntime.jar",
        f"src/main/jniLibs/arm64-v8a/lib{WORD}.so",
        f"src/main/jniLibs/arm64-v8a/lib{WORD}4j_jni.so",
    }
    assert "Telemetry" not in inside.texts[PurePosixPath("src/main/AndroidManifest.xml")]
    assert 'implementation(files("libs/onnxruntime.jar"))' in inside.texts[PurePosixPath("build.gradle.kts")]

    beside = chosen(folder, store, ship="maven").packaged
    project = gradle_project(beside, store)
    assert f'implementation("{beside.coordinates}")' in project.texts[PurePosixPath("build.gradle.kts")]
    assert 'url = uri("../../maven")' in project.texts[PurePosixPath("settings.gradle.kts")]
    assert not [path for path in project.files if path.suffix in (".so", ".jar")]


def laid_out(runtime: PackagedRuntime | None, folder: Path) -> tuple[list[str], list[str]]:
    """A release with the dependencies of its POM and their files, where the artifacts themselves are empty."""
    view = view_of(runtime)
    made = {"aar": "vision-1.0.0.aar", "sources-jar": "vision-1.0.0-sources.jar"}
    if runtime and runtime.ship == "maven":
        made["runtime-aar"] = "runtime.aar"
    (folder / "store").mkdir(parents=True)
    for name in made.values():
        (folder / "store" / name).write_bytes(name.encode())
    artifacts = [artifact(folder / "store" / name, target="android", kind=kind) for kind, name in made.items()]
    shipped = Android().layout(view, artifacts, folder / "dist")
    pom = folder / "dist/maven/com/example/vision/1.0.0/vision-1.0.0.pom"
    module = json.loads(pom.with_suffix(".module").read_text(encoding="utf-8"))
    found = [
        f"{each['group']}:{each['module']}:{each['version']['requires']}"
        for each in next(each for each in module["variants"] if "Runtime" in each["name"])["dependencies"]
    ]
    assert found == dependencies(pom)
    return found, [each.path for each in shipped]


def dependencies(pom: Path) -> list[str]:
    return [
        ":".join(each.findtext(f"{POM}{part}", "") for part in ("groupId", "artifactId", "version"))
        for each in ElementTree.parse(pom).getroot().iter(f"{POM}dependency")
    ]


def test_the_library_depends_on_the_runtime_unless_it_is_inside(folder: Path, store: Store, tmp_path: Path) -> None:
    pinned = downloads.pins()["android"]
    libraries = [pinned["kotlin-stdlib"], pinned["kotlin-coroutines"]]
    coordinates = "com.acme:onnxruntime:1.29.0-0123456789ab"
    beside = chosen(folder, store, ship="maven").packaged

    assert laid_out(None, tmp_path / "published")[0] == [pinned["onnxruntime"], *libraries]
    assert laid_out(chosen(folder, store).packaged, tmp_path / "inside")[0] == libraries
    assert laid_out(chosen(folder, store, android=coordinates).packaged, tmp_path / "named")[0] == [
        coordinates,
        *libraries,
    ]
    found, files = laid_out(beside, tmp_path / "maven")
    assert found == [beside.coordinates, *libraries]
    _, artifact, version = beside.coordinates.split(":")
    home = f"maven/com/example/{artifact}/{version}/{artifact}-{version}"
    assert {f"{home}.aar", f"{home}.pom", f"{home}.module"} <= set(files)
    assert dependencies(tmp_path / "maven/dist" / f"{home}.pom") == []
    module = json.loads((tmp_path / "maven/dist" / f"{home}.module").read_text(encoding="utf-8"))
    assert {file["name"] for each in module["variants"] for file in each["files"]} == {f"{artifact}-{version}.aar"}
    assert not [each["name"] for each in module["variants"] if "Source" in each["name"]]


# With ONNX Runtime's own Android library

NET = onnx_model(
    "(float[batch, 3, 16, 16] x) => (float[batch, 4] scores) { c = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, k) "
    "r = Relu (c) p = GlobalAveragePool (r) f = Flatten (p) scores = Gemm (f, g) }",
    weights={"k": weight(8, 3, 3, 3), "g": weight(8, 4, seed=1)},
)
"""A net that XNNPACK takes."""


@pytest.fixture(scope="module")
def reduced(onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with NET and ONNX Runtime's Android library, declared to have only this model's operators."""
    folder = tmp_path_factory.mktemp("reduced")
    with zipfile.ZipFile(onnxruntime_android.aar) as archive:
        wanted = [
            name for name in archive.namelist() if not name.startswith(("jni/", "headers/")) or "x86_64/lib" in name
        ]
        entries = {PurePosixPath(name): archive.read(name) for name in wanted if not name.endswith("/")}
    write_zip(folder / "ort.aar", entries)
    saved(folder / "model.onnx", NET)
    config = project(folder, {}, package="models", model="net", format="ort", providers=["xnnpack"])
    plans = plan_all(config, ("android",), Store(folder / "store"), Console(quiet=True)).plans
    operators = [each.operators for each in plans[0].files]
    (folder / "ort.config").write_text(operator_config(operators), encoding="utf-8")
    return folder


def built(folder: Path, out: Path, own_cache: Path, *, emit_project: bool = False, **runtime: object) -> dict[str, Any]:
    """Builds `folder` into `out` with its runtime and returns the manifest."""
    request = BuildRequest(targets=("android",), out=out, emit_project=emit_project)
    given = {"android": "ort.aar", **runtime}
    config = project(folder, given, package="models", model="net", providers=["xnnpack"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(own_cache))
        build.build(config, request, Console(quiet=True))
    manifest: dict[str, Any] = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    return manifest


@pytest.fixture(scope="module")
def renamed(kotlin_compiler: None, reduced: Path, own_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of a package that brings the runtime along as `acme`."""
    out = tmp_path_factory.mktemp("renamed") / "dist"
    built(reduced, out, own_cache, emit_project=True, name="acme")
    return out


@pytest.mark.android
@pytest.mark.kotlin
def test_the_library_has_the_runtime_inside_and_asks_for_no_other(renamed: Path, reduced: Path) -> None:
    with zipfile.ZipFile(renamed / "android/models-1.0.0.aar") as archive:
        names = set(archive.namelist())
        rules = archive.read("proguard.txt").decode()
        jar = Path(archive.extract("libs/onnxruntime.jar", renamed.parent))
        classes = Path(archive.extract("classes.jar", renamed.parent))
    assert {name for name in names if name.startswith(("jni/", "libs/"))} == {
        f"jni/x86_64/lib{WORD}.so",
        f"jni/x86_64/lib{WORD}4j_jni.so",
        "libs/onnxruntime.jar",
    }
    assert f"-keep class ai.{WORD}.** {{ *; }}" in rules.splitlines()
    assert {str(name).rsplit("/", 1)[0].split("/")[1] for name in read_zip(jar)} == {WORD}
    assert not [name for name, content in read_zip(classes).items() if b"ai/onnxruntime" in content]
    pom = renamed / "maven/com/example/models/1.0.0/models-1.0.0.pom"
    assert dependencies(pom) == list(kotlin.libraries())
    project = renamed / "android/project"
    assert (project / f"src/main/jniLibs/x86_64/lib{WORD}.so").is_file()
    assert (project / "libs/onnxruntime.jar").read_bytes() == jar.read_bytes()
    manifest = json.loads((renamed / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["own-runtimes"] == {
        "android": {
            "version": downloads.pins()["android"]["onnxruntime"].rpartition(":")[2],
            "ship": "inside",
            "coordinates": "",
            "sha256": sha256_of(reduced / "ort.aar"),
            "name": "acme",
            "java-package": f"ai.{WORD}",
            "processors": ["x86_64"],
            "reduced": True,
            "operators-sha256": sha256_of(reduced / "ort.config"),
        }
    }
    assert str(reduced) not in json.dumps(manifest)


@pytest.mark.android
@pytest.mark.kotlin
def test_the_generated_kotlin_runs_on_the_renamed_runtime_of_its_own_library(renamed: Path, tmp_path: Path) -> None:
    """The app has the contents of the .aar alone: nothing of the original's name is where it could be loaded from."""
    library = renamed / "android/models-1.0.0.aar"
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    merged: dict[PurePosixPath, bytes] = {}
    with zipfile.ZipFile(library) as archive:
        for name in archive.namelist():
            if name.startswith("jni/x86_64/"):
                (libraries / Path(name).name).write_bytes(archive.read(name))
        for jar in ("classes.jar", "libs/onnxruntime.jar"):
            merged |= read_zip(Path(archive.extract(jar, tmp_path)))
    classes = write_zip(tmp_path / "merged.jar", dict(merged))
    app = tmp_path / "OwnRuntime.kt"
    app.write_text(APP, encoding="utf-8")
    apps = jvm.compile_kotlin([app, jvm.APPS / "Task.kt"], classpath=[classes, jvm.fakes()])
    phone = device(Library(aar=library, classes=classes, apps=apps), tmp_path)
    pages = np.random.default_rng(1).normal(size=(2, 3, 16, 16)).astype(np.float32)

    run = phone.run("OwnRuntime", {"x": pages}, properties={"onnxruntime.native.path": libraries}, batch=2)

    (expected,) = session(NET.SerializeToString()).run(None, {"x": pages})
    assert np.abs(phone.output("scores", np.float32, *expected.shape) - expected).max() < 1e-5
    assert run.facts["provider"] == "XNNPACK"
    loaded = run.facts["libraries"].split()
    assert {f"lib{WORD}.so", f"lib{WORD}4j_jni.so"} <= set(loaded)
    assert not [name for name in loaded if "onnxruntime" in name]


@pytest.mark.android
@pytest.mark.kotlin
@pytest.mark.nightly("two builds in different folders, and the names of libraries, classes and rules")
def test_a_release_is_the_same_bytes_in_another_cache_and_differs_with_the_name(
    renamed: Path, reduced: Path, tmp_path: Path
) -> None:
    built(reduced, tmp_path / "again", empty_cache(tmp_path / "cache"), emit_project=True, name="acme")
    assert hashes(tmp_path / "again") == hashes(renamed)
    manifest = built(reduced, tmp_path / "beside", tmp_path / "cache", ship="maven")
    assert hashes(tmp_path / "beside")["android/models-1.0.0.aar"] != hashes(renamed)["android/models-1.0.0.aar"]
    group, artifact, version = manifest["runtimes"]["android"].split(":")
    kinds = {each["path"]: each["kind"] for each in manifest["artifacts"]}
    assert kinds[f"android/{artifact}-{version}.aar"] == "runtime-aar"
    beside = tmp_path / "beside/maven" / group.replace(".", "/") / artifact / version / f"{artifact}-{version}.aar"
    assert "jni/x86_64/libonnxruntime.so" in zipfile.ZipFile(beside).namelist()
    library = tmp_path / "beside/android/models-1.0.0.aar"
    native = [name for name in zipfile.ZipFile(library).namelist() if name.endswith((".so", "onnxruntime.jar"))]
    assert native == [], "of files in ORT format nothing says the assignment"


def hashes(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): sha256_of(path) for path in sorted(folder.rglob("*")) if path.is_file()
    }
