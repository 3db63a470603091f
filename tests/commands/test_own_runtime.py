"""A user's own runtime replaces the published one: it is refused if it does not fit, else it ships. The tests pack the
least that is a runtime."""

import json
import os
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from packager.core.console import Console
from packager.core.errors import ConfigError, MobpackError, ModelError, ToolError
from packager.core.findings import Report
from packager.core.values import ElementType, Package, Signature, Sources
from packager.files.hashes import sha256_of
from packager.files.processes import downloads
from packager.files.store import Store
from packager.runtimes import shipping
from packager.runtimes.shipping import ChosenRuntime
from packager.targets.android import Android, aar
from packager.targets.android.view import AndroidView
from packager.targets.kotlin import kotlin
from packager.targets.target import PackagedRuntime, artifact
from packager.workflows import build
from packager.workflows.planning import adapted
from packager.workflows.requested import BuildRequest
from packager.workflows.runtimes import choose_runtimes
from tests.cases.archives import read_zip
from tests.cases.own_runtime import EVERYTHING, GEMM, WORD, cache, dependencies, folder, own_cache, project, store
from tests.golden.cases import choice, plan, specs
from tests.toolchain.environments import have
from tests.unit.test_runtime_library import contents, write_aar

__all__ = ["cache", "folder", "own_cache", "store"]


PACKAGE = Package(name="vision", version="1.0.0", license="")

ANDROID = BuildRequest(targets=("android",), out=Path("dist"))


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


def test_runtimes_are_named_and_taken_apart_by_content(folder: Path, store: Store, tmp_path: Path) -> None:
    original, packaged = (chosen(folder, store, name=name).packaged for name in ("", "acme"))
    assert {path.name for path in original.libraries} == {"libonnxruntime.so", "libonnxruntime4j_jni.so"}
    assert packaged.java_package == f"ai.{WORD}"
    assert {path.name for path in packaged.libraries} == {f"lib{WORD}.so", f"lib{WORD}4j_jni.so"}
    assert packaged.classes
    assert [str(path) for path in read_zip(packaged.classes)] == [f"ai/{WORD}/OrtSession.class"]
    assert packaged.rules == f"-keep class ai.{WORD}.TensorInfo\n"
    first, second = (
        aar.write_runtime_aar(
            tmp_path / f"{place}.aar", chosen(folder, Store(tmp_path / place), name="acme").packaged, min_sdk=24
        )
        for place in ("here", "there")
    )
    assert first.read_bytes() == second.read_bytes()
    assert f"jni/arm64-v8a/lib{WORD}.so" in {str(name) for name in read_zip(first)}
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
    if "soc-models" in android:
        have("qnn")  # without the compiler, that is what a build says first
    config = project(folder, {"android": "ort.aar", **runtime}, **android)
    with pytest.raises(ConfigError, match=message):
        build.build(config, replace(ANDROID, out=tmp_path / "dist"), Console(quiet=True))
    assert not list(tmp_path.iterdir())


def test_runtimes_with_all_operators_and_reduced_ones_differ(folder: Path, store: Store, tmp_path: Path) -> None:
    runtime = chosen(folder, store, android="full.aar")
    assert not runtime.is_reduced
    shipping.refuse_settings(Android(format="onnx"), "embedded", runtime)
    assert adapted(Android(), runtime).format == "auto"
    (tmp_path / "types.config").write_text(f"{EVERYTHING}!globally_allowed_types;float\n", encoding="utf-8")
    assert chosen(folder, store, config=str(tmp_path / "types.config")).is_reduced
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


def test_what_nobody_named_is_not_claimed_nor_read(folder: Path, cache: None, store: Store) -> None:
    found = build.check(project(folder, {"android": "com.acme:ort:1.2.3"}), ANDROID, Console(quiet=True))
    assert {proof.runtime for proof in found.report.kernels} == {"com.acme:ort:1.2.3"}
    assert all("names no operator configuration" in proof.skipped for proof in found.report.kernels)
    config = project(folder, {"android": "gone.aar"})
    assert choose_runtimes(config, ("ios",), store, Console(quiet=True)) == {}
    full = chosen(folder, store, android="full.aar")
    assert full.is_published_in_full
    assert not chosen(folder, store).is_published_in_full
    older = replace(full, packaged=replace(full.packaged, version="1.0.0"))
    assert not older.is_published_in_full


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
