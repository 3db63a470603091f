"""docs/guides/mobpack.gradle, applied by a real Gradle to the models of the sample apps."""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.toolchain import gradle, vision

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs" / "guides"


SETTINGS = "rootProject.name = 'app'\n"
BUILD = """\
apply from: 'mobpack.gradle'
repositories { maven { url = uri('models/dist/maven') } }
configurations { models }
dependencies { models('com.example:vision:1.0.0@aar') { transitive = false } }
task preBuild
task show {
    dependsOn 'preBuild'
    doLast { configurations.models.files.each { println "took ${it}, ${it.length()} bytes" } }
}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that applies the script, with the sample apps' mobpack.toml and model in models/."""
    folder = tmp_path_factory.mktemp("gradle")
    made = vision.root() / vision.FOLDER
    shutil.copytree(made / "build" / "models", folder / "models" / "build" / "models")
    shutil.copy(made / "mobpack.toml", folder / "models")
    shutil.copy(GUIDES / "mobpack.gradle", folder)
    (folder / "settings.gradle").write_text(SETTINGS, encoding="utf-8")
    (folder / "build.gradle").write_text(BUILD, encoding="utf-8")
    program = Path(sys.executable).with_name("mobpack")
    properties = f"mobpack.program={program}\nmobpack.options=--target android\n"
    (folder / "gradle.properties").write_text(properties, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def starts(project: Path) -> Mapping[str, gradle.Finished]:
    """Gradle, started three times; before the third a model breaks."""
    first, second = gradle.run(project, ["show"], ["show"])
    (project / "models" / "build" / "models" / "classifier.onnx").write_bytes(b"no model")
    [third] = gradle.run(project, ["show"])
    return {"first": first, "second": second, "third": third}


def test_the_library_is_built_before_the_app_takes_it_from_the_repository(
    starts: Mapping[str, gradle.Finished], project: Path
) -> None:
    first = starts["first"]
    assert first.returncode == 0, first.output
    built = project / "models" / "dist" / "android" / "vision-1.0.0.aar"
    assert first.output.index(":mobpack") < first.output.index(":preBuild")
    taken = project / "models" / "dist" / "maven" / "com" / "example" / "vision" / "1.0.0" / built.name
    assert f"took {taken}, {built.stat().st_size} bytes" in first.output, "where it lies, from no cache"


def test_nothing_is_built_while_nothing_changes(starts: Mapping[str, gradle.Finished]) -> None:
    assert not starts["first"].was_up_to_date("mobpack")
    assert starts["second"].was_up_to_date("mobpack")
    assert "vision-1.0.0.aar, " in starts["second"].output


def test_a_model_that_has_changed_and_does_not_build_fails_the_app_with_the_reason(
    starts: Mapping[str, gradle.Finished], project: Path
) -> None:
    third = starts["third"]
    assert third.returncode != 0
    assert third.failed("mobpack")
    assert "mobpack: error: build/models/classifier.onnx: not a complete ONNX file" in third.output
    assert "took" not in third.output
    assert (project / "models" / "dist" / "maven").is_dir()
