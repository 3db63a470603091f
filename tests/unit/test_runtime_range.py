"""The releases of ONNX Runtime that an app may bring instead of the one that a package names."""

import json
from pathlib import Path

import pytest

from packager.core.errors import SettingError
from packager.core.values import Package
from packager.engines.environments.release import LOCK, releases
from packager.files.processes.downloads import pins
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.maven import Coordinates, Scope, dependency, write_repository
from packager.targets.target import RuntimeRange
from tests.cases.runtime_range import PREFERRED


def test_a_range_has_every_release_behind_a_proven_version() -> None:
    assert Android(runtime_range="1.27").allowed_runtimes() == RuntimeRange(
        releases=("1.27.0", "1.28.0", "1.29.0", "1.30.0", "1.31.1"), preferred=PREFERRED
    )
    assert Android().allowed_runtimes() is None
    for version in ["1.31", "1.19", "1.27.0", "old"]:
        with pytest.raises(SettingError, match=f'runtime-range "{version}" is not a version') as caught:
            Android(runtime_range=version)
        assert caught.value.hint.startswith("one of 1.24, 1.25,")
    minors = [release.rpartition(".")[0] for release in releases()]
    assert len(set(minors)) == len(minors)
    assert PREFERRED in releases()
    assert LOCK.read_text(encoding="utf-8").count("--hash=sha256:") > 20 * len(releases())
    address = "https://github.com/microsoft/onnxruntime-swift-package-manager"
    with pytest.raises(SettingError, match="'runtime-from' and 'runtime-range' both name the oldest"):
        Ios(runtime_range="1.28", runtime_package=address, runtime_from="1.28.0")


def written(folder: Path, allowed: str) -> tuple[str, str]:
    """POM and module metadata of a library that depends on ONNX Runtime."""
    aar = folder / "built.aar"
    aar.write_bytes(b"an aar")
    needed = dependency(pins()["android"]["onnxruntime"], scope=Scope.RUNTIME, is_aar=True, allowed=allowed)
    files = write_repository(
        folder / "maven",
        coordinates=Coordinates(group="com.example", artifact="vision", version="1.0.0"),
        package=Package(name="vision", version="1.0.0", license=""),
        library=aar,
        sources_jar=None,
        dependencies=[needed],
    )
    texts = {path.suffix: path.read_text(encoding="utf-8") for path in files if path.suffix in (".pom", ".module")}
    return texts[".pom"], texts[".module"]


def test_maven_and_gradle_get_the_range_or_the_named_release(tmp_path: Path) -> None:
    pom, module = written(tmp_path, "[1.27.0,2)")
    assert "<version>[1.27.0,2)</version>" in pom
    needs = [need for each in json.loads(module)["variants"] for need in each.get("dependencies", [])]
    assert [need["version"] for need in needs] == [{"requires": "[1.27.0,2)", "prefers": PREFERRED}]
    pom, module = written(tmp_path, "")
    assert f"<version>{PREFERRED}</version>" in pom
    assert f'"requires": "{PREFERRED}"' in module
    assert "prefers" not in module


@pytest.mark.parametrize("version", ["1.30", "1.28.0"])
def test_a_range_on_ios_begins_with_a_version_that_can_be_proved(version: str) -> None:
    with pytest.raises(SettingError, match=f'runtime-range "{version}" is not a version'):
        Ios(runtime_range=version)
