"""The Xcode project that measures and checks a Swift package on a device: its tests run on Linux, on the package."""

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import pytest

from packager.core.console import Console
from packager.core.errors import ConfigError
from packager.devices.document import DeviceDocument
from packager.devices.xcode_tests import PROJECT, ModelsView, write_device_tests
from packager.files.hashes import sha256_of
from packager.workflows.device import farming
from tests.onnx_text import onnx_model, saved, weight
from tests.toolchain import swift_packages
from tests.toolchain.swift_packages import Compiled

pytestmark = [pytest.mark.by_content, pytest.mark.swift]

CHAIN = "(float[8, 64] x) => (float[8, 64] y) { h = MatMul (x, w) y = Relu (h) }"
TOML = """\
[package]
name = "nets"

[model.chain]
path = "chain.onnx"

[model.plain]
path = "chain.onnx"

[target.ios]
providers = ["xnnpack"]

[target.ios.tuned.x86_64.plain]
providers = ["cpu"]
"""
SHORT = {"MOBPACK_SECONDS": "0.05", "MOBPACK_PAUSE": "0", "MOBPACK_ROUNDS": "2"}
BUNDLE = "nets_NetsKit.resources"
IDENTIFIER = re.compile(r"\b4D0B[0-9A-F]{20}\b")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `swift` of a build with two models."""
    folder = tmp_path_factory.mktemp("nets")
    saved(folder / "chain.onnx", onnx_model(CHAIN, weights={"w": weight(64, 64)}))
    (folder / "mobpack.toml").write_text(TOML)
    subprocess.run([sys.executable, "-m", "packager.cli", "build"], cwd=folder, check=True, capture_output=True)
    return folder / "dist/swift"


@pytest.fixture(scope="module")
def written(built: Path) -> tuple[Path, ModelsView]:
    return write_device_tests(built / "nets", built.parent / "on-devices")


@pytest.fixture(scope="module")
def compiled(built: Path, written: tuple[Path, ModelsView], tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    folder = tmp_path_factory.mktemp("compiled")
    for package in (path for path in built.iterdir() if path.is_dir()):
        shutil.copytree(package, folder / package.name)
    [tests] = (folder / "nets/Tests").iterdir()
    for source in (written[0] / "Tests").iterdir():
        shutil.copy(source, tests)
    return swift_packages.compiled(folder / "nets", folder / "scratch")


def results(program: Compiled, scratch: Path) -> tuple[str, DeviceDocument]:
    """Outcome of the test, and the results that it leaves in its log."""
    done = program.run("NetsKitTests.DeviceTests", scratch, environment=SHORT)
    log = scratch / "log.txt"
    log.write_text(done.output, encoding="utf-8")
    found = farming.read(log, (), None, Console(quiet=True))
    return done.by_case["DeviceTests.testEveryModelOnEveryProvider"], found


def test_every_model_runs_with_every_provider_and_the_results_come_back(compiled: Compiled, tmp_path: Path) -> None:
    outcome, found = results(compiled, tmp_path / "run")
    assert outcome == "passed"
    assert [(each.row.model, each.provider) for each in found.rows] == [("Chain", "cpu"), ("Plain", "cpu")]
    assert {(each.model, each.provider) for each in found.skipped} == {("Chain", "xnnpack"), ("Plain", "xnnpack")}
    assert all("XNNPACK" in each.reason for each in found.skipped), "ONNX Runtime for Linux has none"
    for each in found.rows:
        assert len(each.row.round_medians_ms) == 2
        assert each.row.p50_ms > 0
        assert each.cold_load_ms > 0
        assert each.row.peak_bytes
        assert each.row.peak_bytes > 2**20
        assert each.row.error == 0
        assert not each.row.differs
    [device] = found.devices
    assert (device.maker, device.model, device.abi) == ("Apple", "x86_64", "x86_64")
    assert found.package.file == "nets"


def test_a_number_that_differs_fails_and_says_so(compiled: Compiled, tmp_path: Path) -> None:
    wrong = compiled.copy(tmp_path / "wrong")
    place = next((wrong.folder / BUNDLE / "Models").rglob("golden.safetensors"))
    content, before = place.read_bytes(), sha256_of(place)
    place.unlink()  # the copy is a link
    place.write_bytes(content[:-1] + bytes([content[-1] ^ 0x40]))
    wrong.admit(before, sha256_of(place))
    outcome, found = results(wrong, tmp_path / "run")
    assert outcome == "failed"
    assert True in [each.row.differs for each in found.rows]


def test_the_project_refers_to_nothing_that_it_does_not_define(written: tuple[Path, ModelsView], built: Path) -> None:
    from pbxproj import XcodeProject

    folder, tests = written
    assert "tuned: false" in (folder / "Tests/Models.swift").read_text(), "each provider is measured as asked"
    file = folder / f"{PROJECT}.xcodeproj/project.pbxproj"
    project = XcodeProject.load(str(file))
    defined = {each.get_id() for each in project.objects.get_objects_in_section(*project.objects.get_sections())}
    schemes = list(folder.rglob("*.xcscheme"))
    for each in (file, *schemes):
        used = set(IDENTIFIER.findall(each.read_text()))
        assert used
        assert used <= defined
    [reference] = project.objects.get_objects_in_section("XCLocalSwiftPackageReference")
    assert (folder / reference["relativePath"]).resolve() == (built / "nets").resolve()
    [product] = project.objects.get_objects_in_section("XCSwiftPackageProductDependency")
    assert product["productName"] == tests.module == "NetsKit"
    for group in project.objects.get_objects_in_section("PBXFileSystemSynchronizedRootGroup"):
        assert list((folder / group["path"]).glob("*.swift"))
    [scheme] = schemes
    assert ET.parse(scheme).getroot().find("TestAction") is not None


def test_a_folder_is_written_again_as_a_whole(written: tuple[Path, ModelsView], built: Path, tmp_path: Path) -> None:
    first, _ = write_device_tests(built / "nets", tmp_path)
    (first / "Tests/Old.swift").write_text("old")
    second, _ = write_device_tests(built / "nets", tmp_path)
    assert first == second
    assert not (second / "Tests/Old.swift").exists()
    assert [path.name for path in tmp_path.iterdir()] == [PROJECT]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "is no Swift package: it has no Package.swift"),
        ({"Package.swift": "let package = Package(products: [])"}, "has no models of mobpack's"),
        ({"Package.swift": '.library(name: "Other", targets: [])'}, "has no models of mobpack's"),
    ],
)
def test_another_folder_is_refused(files: Mapping[str, str], words: str, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    for name, text in files.items():
        (package / name).write_text(text)
    with pytest.raises(ConfigError, match=re.escape(words)) as refused:
        write_device_tests(package, tmp_path / "out")
    assert "dist/swift/NAME" in refused.value.hint
    assert not (tmp_path / "out").exists()
