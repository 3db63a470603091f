"""The linter's findings in published .xcframeworks, and its measurements of ONNX Runtime's own."""

import shutil
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from packager.config.runtime import RuntimeTable
from packager.files.processes import downloads
from packager.files.store import Store
from packager.runtimes import ios
from packager.targets.ios import Ios
from packager.targets.xcframework.lint import lint
from packager.targets.xcframework.manifest import accesses
from packager.targets.xcframework.privacy import Access
from tests.toolchain import apple_runtime
from tests.toolchain.kept import linked
from tests.toolchain.require import fetched

EVERYTHING = "!no_ops_specified_means_all_ops_are_required\n"


def unpacked(pin: str, name: str, folder: Path) -> Path:
    """The folder `name` of the pinned package."""
    with tarfile.open(fetched(pin)) as package:
        inside = [each for each in package.getmembers() if f"/{name}/" in each.name]
        for each in inside:
            each.name = name + each.name.split(f"/{name}", 1)[1]
        package.extraction_filter = getattr(tarfile, "data_filter", None)  # the argument is missing in 3.11.3 and older
        package.extractall(folder, inside)
    return folder / name


@pytest.fixture(scope="module")
def onnxruntime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("onnxruntime") / apple_runtime.NAME
    shutil.copytree(apple_runtime.published(), folder, copy_function=linked)
    return folder


@pytest.fixture(scope="module")
def whisper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked("xcframework-whisper", "rnwhisper.xcframework", tmp_path_factory.mktemp("whisper"))


def test_what_the_published_runtime_calls_for_is_what_packages_declare(onnxruntime: Path) -> None:
    found = lint(onnxruntime)
    pieces = [piece for each in found.slices if not each.is_desktop for piece in found.code[each.identifier]]
    assert len(pieces) == 3
    declared = [(entry["category"], tuple(entry["reasons"])) for entry in downloads.pins()["ios"]["privacy"]]
    assert [(access.category, access.reasons) for access in accesses(pieces)] == declared
    assert accesses(found.code["ios-arm64"]) == (
        Access(category="DiskSpace", reasons=("E174.1",), symbols=("_fstatfs", "_statfs")),
        Access(category="FileTimestamp", reasons=("C617.1",), symbols=("_fstat", "_lstat", "_stat")),
    )


def test_the_published_runtime_has_lost_its_links_in_npms_package_and_nothing_else(onnxruntime: Path) -> None:
    found = lint(onnxruntime)
    assert [(each.code, each.slice) for each in found.errors] == [("layout-links", "ios-arm64_x86_64-maccatalyst")]
    assert Counter(each.code for each in found.findings if each.severity == "warning") == {
        "privacy-missing": 3,
        "module-map-missing": 3,
        "collects": 2,
        "minimum-os-missing": 1,
    }


def test_the_published_runtime_can_be_a_projects_own(onnxruntime: Path, tmp_path: Path) -> None:
    (onnxruntime.parent / "all.config").write_text(EVERYTHING, encoding="utf-8")
    runtime = ios.choose_ios(RuntimeTable(ios=str(onnxruntime)), Store(tmp_path / "store"))
    packaged = runtime.packaged
    assert (packaged.version, packaged.minimum_os, packaged.linkage) == ("1.29.0", "15.1", "static")
    assert packaged.providers == ("coreml", "xnnpack")
    assert not packaged.has_c_module
    assert runtime.is_published_in_full
    assert packaged.accesses
    assert [access.category for access in packaged.accesses] == ["DiskSpace", "FileTimestamp"]
    ios.refuse_settings(Ios(providers=("coreml", "xnnpack")), runtime)
    assert sum("telemetry" in note for note in runtime.notes) == 2


def test_a_dynamic_framework_that_apps_carry_is_taken_for_what_it_is(whisper: Path) -> None:
    found = lint(whisper)
    assert found.errors == ()
    assert {piece.kind for pieces in found.code.values() for piece in pieces} == {"dynamic"}
    assert Counter(each.code for each in found.findings) == {"module-map-missing": 4, "unsigned": 1}
    assert {build.platform for pieces in found.code.values() for piece in pieces for build in piece.builds} == {
        "ios",
        "tvos",
    }
