"""The emitted Gradle project and its build; a fake `gradle` on PATH stands in for the real one."""

import os
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from packager.core.errors import ToolError
from packager.core.values import Sources
from packager.files.processes.downloads import pins
from packager.files.store import Store
from packager.targets.android import Android, kotlin
from packager.targets.android.gradle import GradleDependency, build_with_gradle, gradle_project, has_android_sdk
from tests.golden.cases import CASES

KOTLIN = PurePosixPath("src/main/kotlin/com/example/vision/Classifier.kt")
ASSET = PurePosixPath("src/main/assets/mobpack/vision/classifier.ort")


def project(*providers: str) -> Sources:
    android = pins()["android"]
    return gradle_project(
        Sources(
            texts={
                KOTLIN: "package com.example.vision\n",
                PurePosixPath("src/main/AndroidManifest.xml"): '<manifest package="com.example.vision"/>',
                PurePosixPath("consumer-rules.pro"): "# rules\n",
            },
            files={ASSET: Path("classifier.ort")},
        ),
        group="com.example",
        artifact="vision",
        version="1.0.0",
        namespace="com.example.vision",
        min_sdk=24,
        dependencies=(
            GradleDependency(configuration="api", notation=android["kotlin-stdlib"]),
            GradleDependency(configuration="implementation", notation=android["onnxruntime"]),
        ),
        providers=providers,
    )


def text(name: str) -> str:
    return project().texts[PurePosixPath(name)]


def test_sources_and_assets_stay_where_gradle_looks_for_them() -> None:
    made = project()
    assert {str(name) for name in made.texts} == {
        "README.md",
        "build.gradle.kts",
        "consumer-rules.pro",
        "gradle.properties",
        "settings.gradle.kts",
        "src/main/AndroidManifest.xml",
        str(KOTLIN),
    }
    assert made.files == {ASSET: Path("classifier.ort")}


def test_manifest_leaves_the_namespace_to_the_build_file() -> None:
    assert "package=" not in text("src/main/AndroidManifest.xml")
    assert 'namespace = "com.example.vision"' in text("build.gradle.kts")


def test_every_version_comes_from_the_pins() -> None:
    android, build = pins()["android"], text("build.gradle.kts")
    assert f'id("com.android.library") version "{android["gradle-plugin"]}"' in build
    assert "org.jetbrains.kotlin.android" not in build, "the Android plugin compiles Kotlin by itself and refuses it"
    assert f'api("{android["kotlin-stdlib"]}")' in build
    assert f'implementation("{android["onnxruntime"]}")' in build
    assert f"compileSdk = {android['compile-sdk']}" in build
    assert f"Gradle {android['gradle']} or later" in text("README.md")


def test_readme_tells_what_the_app_adds_for_qnn() -> None:
    readme = PurePosixPath("README.md")
    assert "useLegacyPackaging = true" in project("xnnpack", "qnn").texts[readme]
    assert "useLegacyPackaging" not in project("xnnpack").texts[readme]
    assert "libcdsprpc.so" in project("qnn").texts[PurePosixPath("src/main/AndroidManifest.xml")]


def test_readme_tells_what_the_app_adds_against_telemetry() -> None:
    assert 'android:name="ai.onnxruntime.TelemetryInitializer"' in text("README.md")


def test_build_file_compiles_interfaces_as_mobpack_does() -> None:
    assert "jvmDefault = JvmDefaultMode.NO_COMPATIBILITY" in text("build.gradle.kts")


def test_build_file_publishes_one_variant_with_sources_and_rules() -> None:
    build = text("build.gradle.kts")
    for line in (
        'consumerProguardFiles("consumer-rules.pro")',
        'singleVariant("release")',
        "withSourcesJar()",
        "minSdk = 24",
    ):
        assert line in build


@pytest.mark.kotlin
def test_build_files_are_kotlin_without_syntax_errors(kotlin_compiler: None, tmp_path: Path) -> None:
    assert syntax_errors([text("build.gradle.kts"), text("settings.gradle.kts")], tmp_path) == []


@pytest.mark.kotlin
def test_a_brace_too_few_is_found(kotlin_compiler: None, tmp_path: Path) -> None:
    assert syntax_errors([text("build.gradle.kts").replace("dependencies {", "dependencies", 1)], tmp_path)


def syntax_errors(scripts: list[str], folder: Path) -> list[str]:
    """Errors that the Kotlin parser finds in `scripts`; names are not resolved: Gradle's own are not available here."""
    compiler, sources = kotlin.find_compiler(), []
    for number, script in enumerate(scripts):
        imports = [line for line in script.splitlines() if line.startswith("import ")]
        body = [line for line in script.splitlines() if not line.startswith("import ")]
        sources.append(folder / f"Script{number}.kt")
        sources[-1].write_text("\n".join([*imports, f"fun script{number}() {{", *body, "}"]), encoding="utf-8")
    options = ["-no-stdlib", "-jdk-home", compiler.java_home, "-cp", compiler.stdlib, "-d", folder / "out"]
    command = [*compiler.program(), *options, *sources]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    messages = [line for line in done.stderr.splitlines() if ": error: " in line]
    assert messages, done.stderr  # there are always some: no script compiles without Gradle
    return [line for line in messages if "syntax error" in line.lower()]


@pytest.fixture
def fake_gradle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `gradle` that logs its arguments and makes the .aar, alone on PATH; and an SDK folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    write_gradle(
        folder, 'echo "$@" > arguments\nmkdir -p build/outputs/aar\necho aar > build/outputs/aar/vision-release.aar'
    )
    (tmp_path / "sdk").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("ANDROID_HOME", str(tmp_path / "sdk"))
    monkeypatch.delenv("ANDROID_SDK_ROOT", raising=False)
    return folder


def write_gradle(folder: Path, script: str) -> None:
    (folder / "gradle").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / "gradle").chmod(0o755)


@pytest.mark.programs
def test_gradle_builds_the_release_aar(tmp_path: Path, fake_gradle: Path) -> None:
    built = build_with_gradle(tmp_path / "project")
    assert built == tmp_path / "project/build/outputs/aar/vision-release.aar"
    assert (tmp_path / "project/arguments").read_text().split()[-1] == ":assembleRelease"


@pytest.mark.programs
def test_a_failing_gradle_build_shows_what_gradle_said(tmp_path: Path, fake_gradle: Path) -> None:
    write_gradle(fake_gradle, "echo 'Could not resolve com.android.tools.build:gradle' >&2; exit 1")
    with pytest.raises(ToolError, match=r"Could not resolve com\.android\.tools") as caught:
        build_with_gradle(tmp_path / "project")
    assert "--stacktrace" in caught.value.hint


@pytest.mark.programs
def test_a_gradle_build_without_an_aar_is_an_error(tmp_path: Path, fake_gradle: Path) -> None:
    write_gradle(fake_gradle, "true")
    with pytest.raises(ToolError, match=r"no single -release\.aar in .*: found none"):
        build_with_gradle(tmp_path / "project")


def test_without_gradle_the_error_says_what_to_install(
    tmp_path: Path, fake_gradle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="gradle not found") as caught:
        build_with_gradle(tmp_path / "project")
    assert pins()["android"]["gradle"] in caught.value.hint


def test_without_an_android_sdk_the_error_says_where_to_name_it(
    tmp_path: Path, fake_gradle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANDROID_HOME")
    with pytest.raises(ToolError, match="no Android SDK") as caught:
        build_with_gradle(tmp_path / "project")
    assert "local.properties" in caught.value.hint


def test_local_properties_may_name_the_sdk(tmp_path: Path, fake_gradle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANDROID_HOME")
    properties = tmp_path / "project/local.properties"
    properties.write_text(f"# mine\nsdk.dir = {str(tmp_path / 'sdk').replace('/', chr(92) + '/')}\n")
    assert has_android_sdk(tmp_path / "project")
    properties.write_text(f"sdk.dir={tmp_path / 'absent'}\n")
    assert not has_android_sdk(tmp_path / "project")


def test_annotations_for_lint_are_for_the_compiler_alone(tmp_path: Path) -> None:
    case, annotations = CASES["image_classifier"], pins()["android"]["annotations"]
    target = Android()
    view = target.view(case.package, case.plans, case.report)
    sources = target.render(view)
    project = target.project(view, sources, Store(tmp_path)).texts[PurePosixPath("build.gradle.kts")]
    assert f'    compileOnly("{annotations}")\n' in project
    assert "androidx" not in "".join(view.libraries)
    assert "androidx.annotation" not in sources.texts[PurePosixPath("README.md")]
