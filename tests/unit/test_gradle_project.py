"""The emitted Gradle project and its build; a fake `gradle` on PATH stands in for the real one."""

from pathlib import Path, PurePosixPath

import pytest

from packager.core.errors import ToolError
from packager.files.processes.downloads import pins
from packager.files.store import Store
from packager.targets.android import Android
from packager.targets.android.gradle import build_with_gradle, has_android_sdk
from tests.cases.gradle_project import ASSET, KOTLIN, fake_gradle, project, text
from tests.golden.cases import CASES

__all__ = ["fake_gradle"]


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


def test_without_gradle_the_error_has_a_way_out(
    tmp_path: Path, fake_gradle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="gradle not found") as caught:
        build_with_gradle(tmp_path / "project")
    assert pins()["android"]["gradle"] in caught.value.hint


def test_without_an_sdk_the_error_has_a_way_out(
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
