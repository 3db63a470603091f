"""The releases of ONNX Runtime that an app may bring instead of the one that a package names."""

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from packager.compile import plan
from packager.core.console import Console
from packager.core.errors import ModelError, SettingError
from packager.core.findings import Report
from packager.core.values import Package, Plan, baseline
from packager.engines.environments.release import LOCK, releases
from packager.files.processes.downloads import pins
from packager.files.store import Store
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.maven import Coordinates, Scope, dependency, write_repository
from packager.targets.react_native import ReactNative
from packager.targets.target import Built, RuntimeRange
from packager.verification.ranges import prove_ranges
from tests.onnx_text import linear, loaded, onnx_model
from tests.toolchain.forks import forked
from tests.toolchain.unpacking import quickly

__all__ = ["forked"]

pytestmark = pytest.mark.by_content

RELU = "(float[1, 64] x) => (float[1, 64] y) { y = Relu (x) }"
PREFERRED = pins()["android"]["onnxruntime"].rpartition(":")[2]


def test_a_range_begins_with_a_version_and_has_every_release_behind_it() -> None:
    assert Android(runtime_range="1.27").allowed_runtimes() == RuntimeRange(
        releases=("1.27.0", "1.28.0", "1.29.0", "1.30.0", "1.31.1"), preferred=PREFERRED
    )
    assert Android().allowed_runtimes() is None


@pytest.mark.parametrize("version", ["1.31", "1.19", "1.27.0", "old"])
def test_a_version_that_nothing_can_prove_is_refused(version: str) -> None:
    with pytest.raises(SettingError, match=f'runtime-range "{version}" is no version') as caught:
        Android(runtime_range=version)
    assert caught.value.hint.startswith("one of 1.24, 1.25,")


def test_every_release_has_hashes_and_a_minor_version_of_its_own() -> None:
    minors = [release.rpartition(".")[0] for release in releases()]
    assert len(set(minors)) == len(minors)
    assert PREFERRED in releases()
    assert LOCK.read_text(encoding="utf-8").count("--hash=sha256:") > 20 * len(releases())


def written(folder: Path, allowed: str) -> tuple[str, str]:
    """POM and module metadata of a library that depends on ONNX Runtime."""
    aar = folder / "built.aar"
    aar.write_bytes(b"an aar")
    needed = dependency(pins()["android"]["onnxruntime"], scope=Scope.RUNTIME, is_aar=True, allowed=allowed)
    files = write_repository(
        folder / "maven",
        coordinates=Coordinates(group="com.example", artifact="vision", version="1.0.0"),
        package=Package(name="vision", version="1.0.0", license=""),
        aar=aar,
        sources_jar=None,
        dependencies=[needed],
    )
    texts = {path.suffix: path.read_text(encoding="utf-8") for path in files if path.suffix in (".pom", ".module")}
    return texts[".pom"], texts[".module"]


def test_maven_gets_the_range_and_gradle_the_preference_too(tmp_path: Path) -> None:
    pom, module = written(tmp_path, "[1.27.0,2)")
    assert "<version>[1.27.0,2)</version>" in pom
    needs = [need for each in json.loads(module)["variants"] for need in each.get("dependencies", [])]
    assert [need["version"] for need in needs] == [{"requires": "[1.27.0,2)", "prefers": PREFERRED}]


def test_without_a_range_the_named_release_or_a_newer_one_is_required(tmp_path: Path) -> None:
    pom, module = written(tmp_path, "")
    assert f"<version>{PREFERRED}</version>" in pom
    assert f'"requires": "{PREFERRED}"' in module
    assert "prefers" not in module


@pytest.mark.programs
def test_the_project_for_gradle_and_wrappers_get_the_range(tmp_path: Path) -> None:
    target = Android(providers=(), runtime_range="1.27")
    plans = (planned(tmp_path, target, 21),)
    view = target.view(Package(name="p", version="1.0.0", license=""), plans, Report(parities=()))
    script = target.project(view, target.render(view), Store(tmp_path / "store")).texts
    (build,) = [text for path, text in script.items() if path.name == "build.gradle.kts"]
    assert 'require("[1.27.0,2)")' in build
    assert f'prefer("{PREFERRED}")' in build
    built: Built = target.built(view, plans)
    assert built.runtime_range == target.allowed_runtimes()


@pytest.mark.programs
def test_swiftpm_and_the_pod_of_react_native_begin_with_the_range(tmp_path: Path) -> None:
    address = "https://github.com/microsoft/onnxruntime-swift-package-manager"
    target = Ios(providers=(), runtime_range="1.28", runtime_package=address)
    package = Package(name="p", version="1.0.0", license="")
    ios = planned(tmp_path, target, 21)
    view = target.view(package, (ios,), Report(parities=()))
    manifest = target.render(view).texts[PurePosixPath("Package.swift")]
    assert f'.package(url: "{address}", from: "1.28.0")' in manifest

    android = Android(providers=())
    plans = (planned(tmp_path, android, 21),)
    built = {
        "ios": target.built(view, (ios,)),
        "android": android.built(android.view(package, plans, Report(parities=())), plans),
    }
    texts = ReactNative().render(ReactNative().view(package, built, Report(parities=()))).texts
    assert 's.dependency "onnxruntime-c", ">= 1.28.0", "< 2"' in texts[PurePosixPath("P.podspec")]


def test_two_settings_for_the_oldest_runtime_are_refused() -> None:
    address = "https://github.com/microsoft/onnxruntime-swift-package-manager"
    with pytest.raises(SettingError, match="'runtime-from' and 'runtime-range' both name the oldest"):
        Ios(runtime_range="1.28", runtime_package=address, runtime_from="1.28.0")


@pytest.mark.parametrize("version", ["1.30", "1.28.0"])
def test_a_range_on_ios_begins_with_a_version_that_can_be_proved(version: str) -> None:
    with pytest.raises(SettingError, match=f'runtime-range "{version}" is no version'):
        Ios(runtime_range=version)


def planned(folder: Path, target: Android | Ios, opset: int) -> Plan:
    model = onnx_model(RELU, opsets={"": opset}, ir_version=10)
    return plan.make(baseline(loaded(folder, model)), target, Store(folder / "store"), lambda part: None)


@pytest.mark.environments
class TestProved:
    @pytest.fixture(autouse=True)
    def releases_quickly(self) -> Iterator[None]:
        """Releases are made when a range is first proved with them, by uv."""
        with quickly():
            yield

    def test_every_file_is_opened_in_every_release(self, tmp_path: Path) -> None:
        target = Android(providers=("xnnpack",), runtime_range="1.28")
        made = plan.make(baseline(loaded(tmp_path, linear())), target, Store(tmp_path / "s"), lambda part: None)
        proofs = list(prove_ranges([made], {"android": target}, Store(tmp_path / "s"), Console(quiet=True)))
        expected = [f"onnxruntime {each}" for each in ("1.31.1", "1.30.0", "1.29.0", "1.28.0") for _ in range(2)]
        assert [proof.runtime for proof in proofs] == expected
        assert all(proof.node_count and not proof.skipped for proof in proofs)

    def test_files_for_ios_are_opened_too(self, tmp_path: Path) -> None:
        target = Ios(providers=("coreml",), runtime_range="1.29")
        made = plan.make(baseline(loaded(tmp_path, linear())), target, Store(tmp_path / "s"), lambda part: None)
        proofs = list(prove_ranges([made], {"ios": target}, Store(tmp_path / "s"), Console(quiet=True)))
        assert {proof.runtime for proof in proofs} == {f"onnxruntime {each}" for each in ("1.31.1", "1.30.0", "1.29.0")}
        assert len(proofs) == 3 * len({choice.compiled.sha256 for choice in made.choices})
        assert all(proof.node_count and not proof.skipped for proof in proofs)

    def test_a_release_that_does_not_load_a_file_names_the_oldest_that_does(self, tmp_path: Path) -> None:
        target = Android(providers=(), runtime_range="1.24")
        made = planned(tmp_path, target, 26)
        with pytest.raises(
            ModelError, match=r"does not load in ONNX Runtime 1\.24\.4, which runtime-range allows"
        ) as e:
            list(prove_ranges([made], {"android": target}, Store(tmp_path / "store"), Console(quiet=True)))
        assert e.value.hint == 'runtime-range = "1.25"'

    def test_proofs_are_kept(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        target, store = Android(providers=(), runtime_range="1.29"), Store(tmp_path / "store")
        made = planned(tmp_path, target, 21)
        first = list(prove_ranges([made], {"android": target}, store, Console(quiet=True)))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
        assert list(prove_ranges([made], {"android": target}, store, Console(quiet=True))) == first
        assert not (tmp_path / "empty").exists()
