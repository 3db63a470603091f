"""Findings about an .xcframework: each is found where it applies, and nowhere else."""

import json
import plistlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packager.core.errors import ToolError
from packager.targets.xcframework import folder as folders
from packager.targets.xcframework.lint import Inspected, lint
from packager.targets.xcframework.privacy import Access, privacy_manifest
from tests.cases import xcframework_cases as cases
from tests.cases.xcframework_cases import NAME, PHONES, SIMULATORS, archive, code, section, write_plist

FRAMEWORK = f"ios-arm64/{NAME}.framework"
BINARY = f"{FRAMEWORK}/{NAME}"
SIMULATOR = f"ios-arm64_x86_64-simulator/{NAME}.framework"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return cases.write_good(tmp_path)


def codes(root: Path) -> set[str]:
    return {each.code for each in lint(root).findings}


def test_nothing_is_wrong_with_a_good_one(root: Path) -> None:
    assert lint(root).findings == ()


def test_a_framework_for_a_mac_with_its_links_is_good(root: Path) -> None:
    add_desktop(root)
    assert lint(root).findings == ()


def test_a_static_library_without_a_framework_is_good(root: Path) -> None:
    write_library(root, static(undefined=()))
    assert lint(root).findings == ()


def test_asking_for_an_identifier_without_sending_is_nobodys_business(root: Path) -> None:
    write_code(root, code(undefined=TELEMETRY[:2]))
    assert lint(root).findings == ()


def test_an_empty_minimum_on_a_mac_is_a_warning(root: Path) -> None:
    add_desktop(root)
    path = root / f"ios-arm64-maccatalyst/{NAME}.framework/Versions/A/Resources/Info.plist"
    path.write_bytes(plistlib.dumps({**cases.PLIST, "MinimumOSVersion": ""}))
    assert [(each.code, each.severity) for each in lint(root).findings] == [("minimum-os-missing", "warning")]


# What breaks it, one thing at a time


def set_keys(root: Path, **changes: object) -> None:
    """Change the framework's Info.plist; None removes a key."""
    path = root / FRAMEWORK / "Info.plist"
    document = {**plistlib.loads(path.read_bytes()), **changes}
    path.write_bytes(plistlib.dumps({key: value for key, value in document.items() if value is not None}))


def write_code(root: Path, content: bytes) -> None:
    (root / BINARY).write_bytes(content)


def rewrite_plist(root: Path, **changes: Any) -> None:
    """Change the Info.plist entry of the slice for phones."""
    write_plist(root, {**PHONES, **changes}, SIMULATORS)


def write_library(root: Path, content: bytes, *, has_headers: bool = True, has_module: bool = True) -> None:
    """The slice for phones as a library without a framework."""
    shutil.rmtree(root / FRAMEWORK)
    (root / "ios-arm64/libspeech.a").write_bytes(content)
    paths = {"LibraryPath": "libspeech.a", "BinaryPath": "libspeech.a"}
    if has_headers:
        (root / "ios-arm64/Headers").mkdir()
        (root / "ios-arm64/Headers/onnxruntime_c_api.h").write_text("", encoding="utf-8")
        paths["HeadersPath"] = "Headers"
    if has_module:
        (root / "ios-arm64/Headers/module.modulemap").write_text("module Speech {}\n", encoding="utf-8")
    rewrite_plist(root, **paths)


def add_desktop(root: Path, *, has_links: bool = True, is_flat: bool = False) -> None:
    """A slice for Catalyst."""
    place = root / f"ios-arm64-maccatalyst/{NAME}.framework"
    name = f"@rpath/{NAME}.framework/Versions/A/{NAME}"
    content = code(platform=cases.CATALYST, install_name=name)
    if is_flat:
        cases.write_framework(place, content)
        binary = f"{NAME}.framework/{NAME}"
    else:
        cases.write_desktop_framework(place, content, has_links=has_links)
        binary = f"{NAME}.framework/Versions/A/{NAME}"
    catalyst = cases.entry("ios-arm64-maccatalyst", SupportedPlatformVariant="maccatalyst", BinaryPath=binary)
    write_plist(root, PHONES, SIMULATORS, catalyst)


def static(**changes: Any) -> bytes:
    return archive(code(kind=cases.OBJECT, **changes))


def make_static(root: Path, **changes: Any) -> None:
    write_code(root, static(**changes))


def write_manifest(root: Path, content: bytes) -> None:
    (root / FRAMEWORK / "PrivacyInfo.xcprivacy").write_bytes(content)


def access(category: str, reason: str) -> Access:
    return Access(category=category, reasons=(reason,))


TIMES = access("FileTimestamp", "C617.1")
TELEMETRY = ("_stat", "_objc_msgSend$identifierForVendor", "_OBJC_CLASS_$_NSURLSession")
BITCODE = [section("__LLVM", "__bitcode", b"BC\xc0\xde")]


def remove_simulator(root: Path) -> None:
    shutil.rmtree(root / "ios-arm64_x86_64-simulator")
    write_plist(root, PHONES)


def remove_phones(root: Path) -> None:
    shutil.rmtree(root / "ios-arm64")
    write_plist(root, SIMULATORS)


def leave_out_arm64_simulator(root: Path) -> None:
    (root / SIMULATOR / NAME).write_bytes(code(architecture="x86_64", platform=cases.SIMULATOR))
    write_plist(root, PHONES, {**SIMULATORS, "SupportedArchitectures": ["x86_64"]})


def add_old_phones(root: Path) -> None:
    write_code(root, cases.fat({"arm64": code(), "armv7": code(architecture="armv7")}))
    rewrite_plist(root, SupportedArchitectures=["arm64", "armv7"])


def list_twice(root: Path) -> None:
    shutil.copytree(root / "ios-arm64", root / "ios-again")
    write_plist(root, PHONES, SIMULATORS, {**PHONES, "LibraryIdentifier": "ios-again"})


def name_other_headers(root: Path) -> None:
    (root / FRAMEWORK / "Headers/onnxruntime_c_api.h").rename(root / FRAMEWORK / "Headers/other.h")


def add_swift_module(root: Path) -> None:
    (root / FRAMEWORK / "Modules/Speech.swiftmodule").mkdir()


def add_folder(root: Path, name: str) -> None:
    (root / name).mkdir()


Break = Callable[[Path], object]

BREAKS: list[tuple[str, str, Break]] = [
    ("unsigned", "note", lambda root: (root / "_CodeSignature").rmdir()),
    ("format-missing", "error", lambda root: write_plist(root, PHONES, SIMULATORS, CFBundlePackageType="FMWK")),
    ("library-missing", "error", lambda root: shutil.rmtree(root / FRAMEWORK)),
    ("folder-missing", "error", lambda root: rewrite_plist(root, DebugSymbolsPath="dSYMs")),
    ("slice-twice", "error", list_twice),
    ("folder-unlisted", "warning", lambda root: add_folder(root, "Headers")),
    ("phones-missing", "error", remove_phones),
    ("simulator-missing", "warning", remove_simulator),
    ("simulator-without-arm64", "warning", leave_out_arm64_simulator),
    ("architecture-old", "warning", add_old_phones),
    ("binary-unreadable", "error", lambda root: write_code(root, b"#!/bin/sh\n")),
    ("info-missing", "error", lambda root: (root / FRAMEWORK / "Info.plist").unlink()),
    ("bundle-id", "error", lambda root: set_keys(root, CFBundleIdentifier="com.example.speech_kit")),
    ("executable", "error", lambda root: set_keys(root, CFBundleExecutable="speech")),
    ("package-type", "error", lambda root: set_keys(root, CFBundlePackageType=None)),
    ("supported-platforms", "error", lambda root: set_keys(root, CFBundleSupportedPlatforms=["iPhoneSimulator"])),
    ("version", "error", lambda root: set_keys(root, CFBundleShortVersionString="1.29.0-rc1")),
    ("minimum-os-missing", "error", lambda root: set_keys(root, MinimumOSVersion=None)),
    ("minimum-os-missing", "error", lambda root: set_keys(root, MinimumOSVersion="")),
    ("minimum-os-low", "error", lambda root: set_keys(root, MinimumOSVersion="13.0")),
    ("minimum-os-high", "note", lambda root: set_keys(root, MinimumOSVersion="16.0")),
    ("layout-versions", "error", lambda root: add_folder(root, f"{FRAMEWORK}/Versions")),
    ("layout-links", "error", lambda root: add_desktop(root, has_links=False)),
    ("header-missing", "error", name_other_headers),
    ("swift-interface-missing", "warning", add_swift_module),
    ("module-map-missing", "warning", lambda root: (root / FRAMEWORK / "Modules/module.modulemap").unlink()),
    ("module-map-missing", "warning", lambda root: write_library(root, static(undefined=()), has_module=False)),
    (
        "headers-missing",
        "warning",
        lambda root: write_library(root, static(undefined=()), has_headers=False, has_module=False),
    ),
    ("architectures", "error", lambda root: rewrite_plist(root, SupportedArchitectures=["arm64", "arm64e"])),
    ("platform", "error", lambda root: write_code(root, code(platform=cases.SIMULATOR))),
    ("platform", "error", lambda root: write_code(root, code(platform=99))),
    ("platform-unknown", "warning", lambda root: write_code(root, code(platform=None))),
    ("linkage", "error", lambda root: write_code(root, code(kind=cases.EXECUTE))),
    ("install-name", "error", lambda root: write_code(root, code(install_name="/usr/local/lib/libspeech.dylib"))),
    ("loose-dylib", "error", lambda root: write_library(root, code(undefined=()))),
    ("bitcode", "error", lambda root: write_code(root, code(sections=BITCODE))),
    ("static-framework", "note", make_static),
    ("privacy-missing", "error", lambda root: (root / FRAMEWORK / "PrivacyInfo.xcprivacy").unlink()),
    ("privacy-missing", "warning", lambda root: write_library(root, static())),
    ("privacy-undeclared", "error", lambda root: write_code(root, code(undefined=("_stat", "_statfs")))),
    (
        "privacy-needless",
        "note",
        lambda root: write_manifest(root, privacy_manifest([TIMES, access("DiskSpace", "E174.1")])),
    ),
    ("privacy-invalid", "error", lambda root: write_manifest(root, b"not a plist")),
    (
        "privacy-invalid",
        "error",
        lambda root: write_manifest(root, privacy_manifest([TIMES]).replace(b"C617.1", b"E174.1")),
    ),
    ("collects", "warning", lambda root: write_code(root, code(undefined=TELEMETRY))),
]


@pytest.mark.parametrize(("name", "severity", "breaks"), BREAKS, ids=[each[0] for each in BREAKS])
def test_what_is_broken_is_found_and_nothing_else(root: Path, name: str, severity: str, breaks: Break) -> None:
    breaks(root)
    found = [(each.code, each.severity) for each in lint(root).findings]
    assert found == [(name, severity)]


def test_a_flat_framework_for_a_mac_is_found(root: Path) -> None:
    add_desktop(root, is_flat=True)
    assert {"layout-flat", "info-missing"} <= codes(root)


def test_every_finding_has_a_case_here() -> None:
    known = {name for name, _, _ in BREAKS} | {"layout-flat", "minimum-os-mixed"}
    sources = "".join(
        path.read_text(encoding="utf-8") for path in sorted((ROOT / "packager/targets/xcframework").glob("*.py"))
    )
    named = set(re.findall(r'(?:error|warning|note|severity|else warning\))\(\s*"([a-z0-9-]+)"', sources))
    assert len(named) > 30
    assert named == known


def test_errors_come_first(root: Path) -> None:
    (root / "_CodeSignature").rmdir()
    (root / "Headers").mkdir()
    set_keys(root, CFBundlePackageType=None)
    assert [each.severity for each in lint(root).findings] == ["error", "warning", "note"]


def test_objects_for_different_systems_need_the_newest(root: Path) -> None:
    write_code(root, archive(code(kind=cases.OBJECT), code(kind=cases.OBJECT, minimum="17.5", exports=())))
    assert codes(root) == {"static-framework", "minimum-os-mixed", "minimum-os-low"}


# What is not wrong


def test_bitcode_in_a_static_library_is_a_warning(root: Path) -> None:
    make_static(root, sections=BITCODE)
    assert ("bitcode", "warning") in [(each.code, each.severity) for each in lint(root).findings]


def test_simulators_on_arm64_cannot_be_older_than_ios_14(root: Path) -> None:
    """Compilers write 14.0 if 13.0 is requested."""
    simulator = cases.fat(
        {
            "arm64": code(platform=cases.SIMULATOR, minimum="14.0"),
            "x86_64": code(architecture="x86_64", platform=cases.SIMULATOR, minimum="13.0"),
        }
    )
    (root / SIMULATOR / NAME).write_bytes(simulator)
    (root / SIMULATOR / "Info.plist").write_bytes(plistlib.dumps({**cases.PLIST, "MinimumOSVersion": "13.0"}))
    assert lint(root).findings == ()


# What cannot be read at all


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<plist>", "not a property list"),
        (plistlib.dumps([1]), "not a dictionary"),
        (plistlib.dumps({}), "lists no AvailableLibraries"),
        (plistlib.dumps({"AvailableLibraries": [{"LibraryPath": "a.a"}]}), "lacks LibraryIdentifier"),
        (plistlib.dumps({"AvailableLibraries": [7]}), "not a dictionary"),
        (plistlib.dumps({"AvailableLibraries": [{**PHONES, "LibraryPath": "../../etc"}]}), "is not a path inside it"),
        (plistlib.dumps({"AvailableLibraries": [{**PHONES, "BinaryPath": "/etc/passwd"}]}), "is not a path inside it"),
        (b"x" * (1 << 20) + b"x", "larger than 1 MiB"),
    ],
)
def test_an_info_plist_that_says_nothing_is_refused(root: Path, content: bytes, reason: str) -> None:
    (root / "Info.plist").write_bytes(content)
    with pytest.raises(ToolError, match=reason):
        lint(root)


def test_a_link_out_of_it_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x", encoding="utf-8")
    (root / FRAMEWORK / "more").symlink_to(tmp_path / "secret")
    with pytest.raises(ToolError, match="leads out of"):
        lint(root)


# The command


def run(path: Path, *options: str) -> tuple[int, str]:
    from click.testing import CliRunner

    from packager.cli.runtime import runtime
    from packager.core.errors import MobpackError

    done = CliRunner().invoke(runtime, ["lint", str(path), *options])
    code = done.exception.EXIT_CODE if isinstance(done.exception, MobpackError) else done.exit_code
    return code, done.output


def test_the_command_prints_what_is_there_and_what_is_wrong(root: Path) -> None:
    set_keys(root, MinimumOSVersion="")
    exit_code, output = run(root)
    assert exit_code == 6
    assert "minimum" not in run(cases.write_good(root.parent / "good"))[1]
    assert "MinimumOSVersion is ''" in output
    assert "1 error, 0 warnings, 0 notes" in output
    assert "ios simulator 15.1" in output


def test_the_command_takes_a_zip(root: Path, tmp_path: Path) -> None:
    packed = cases.zipped(root, tmp_path / "speech.zip", inside="package/ios/")
    exit_code, output = run(packed)
    assert exit_code == 0
    assert "0 errors, 0 warnings, 1 note" in output  # a .zip keeps no empty folder, and so no signature here


def test_the_command_says_all_of_it_as_json(root: Path) -> None:
    (root / "_CodeSignature").rmdir()
    exit_code, output = run(root, "--json")
    document = json.loads(output)
    assert exit_code == 0
    assert [each["code"] for each in document["findings"]] == ["unsigned"]
    assert [each["calls-for"] for each in document["slices"]] == ["FileTimestamp", "FileTimestamp"]


def test_links_survive_a_zip(root: Path, tmp_path: Path) -> None:
    add_desktop(root)
    packed = cases.zipped(root, tmp_path / "speech.zip")
    assert [each.code for each in inspected(packed).findings] == ["unsigned"]  # a .zip keeps no empty folder


def inspected(path: Path) -> Inspected:
    with folders.opened(path) as root:
        return lint(root)
