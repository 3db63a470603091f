"""Static frameworks become libraries that apps link and do not embed."""

import json
import os
import plistlib
from pathlib import Path, PurePosixPath

import pytest
from click.testing import CliRunner, Result

from packager.cli.runtime_xcframework import xcframework
from packager.core.errors import ConfigError, MobpackError, ToolError
from packager.files.store import Step, Store
from packager.targets.xcframework import folder
from packager.targets.xcframework.lint import lint
from packager.targets.xcframework.repackage import library_format
from tests.cases import xcframework_cases as cases
from tests.cases.xcframework_cases import NAME, OBJECT, PHONES, SIMULATOR, SIMULATORS, archive, code, fat
from tests.cases.xcframework_repackage import Entry, made

STEP = Step(name="xcframework-library", caller=__name__, computed_by=("packager.targets.xcframework.repackage",))

FRAMEWORK = f"{NAME}.framework"

PHONE = archive(code(kind=OBJECT))

PAIR = fat({name: archive(code(architecture=name, kind=OBJECT, platform=SIMULATOR)) for name in ("arm64", "x86_64")})

WITHOUT_MINIMUM = {key: value for key, value in cases.PLIST.items() if key != "MinimumOSVersion"}


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def listed(root: Path) -> list[Entry]:
    entries: list[Entry] = plistlib.loads((root / "Info.plist").read_bytes())["AvailableLibraries"]
    return entries


def test_static_frameworks_become_plain_libraries(tmp_path: Path) -> None:
    root = made(tmp_path / "in", (SIMULATORS, PAIR), (PHONES, PHONE))
    result = library_format(root, tmp_path / "out.xcframework")
    found = contents(result.root)
    assert set(found) == {
        "Info.plist",
        "mobpack.json",
        "ios-arm64/PrivacyInfo.xcprivacy",
        "ios-arm64/libonnxruntime.a",
        "ios-arm64_x86_64-simulator/PrivacyInfo.xcprivacy",
        "ios-arm64_x86_64-simulator/libonnxruntime.a",
    }
    assert found["ios-arm64/libonnxruntime.a"] == PHONE
    assert found["ios-arm64_x86_64-simulator/libonnxruntime.a"] == PAIR
    assert [(each.identifier, str(each.was), str(each.path)) for each in result.libraries] == [
        ("ios-arm64", FRAMEWORK, "libonnxruntime.a"),
        ("ios-arm64_x86_64-simulator", FRAMEWORK, "libonnxruntime.a"),
    ]


def test_the_list_of_libraries_names_what_is_there_and_no_headers(tmp_path: Path) -> None:
    root = made(tmp_path / "in", (SIMULATORS, PAIR), ({**PHONES, "HeadersPath": "Headers"}, PHONE))
    out = library_format(root, tmp_path / "out.xcframework").root
    assert listed(out) == [
        {
            "BinaryPath": "libonnxruntime.a",
            "LibraryIdentifier": "ios-arm64",
            "LibraryPath": "libonnxruntime.a",
            "SupportedArchitectures": ["arm64"],
            "SupportedPlatform": "ios",
        },
        {
            "BinaryPath": "libonnxruntime.a",
            "LibraryIdentifier": "ios-arm64_x86_64-simulator",
            "LibraryPath": "libonnxruntime.a",
            "SupportedArchitectures": ["arm64", "x86_64"],
            "SupportedPlatform": "ios",
            "SupportedPlatformVariant": "simulator",
        },
    ]


def test_a_dynamic_framework_stays_as_it_is(tmp_path: Path) -> None:
    root = made(tmp_path / "in", ({**PHONES, "MergeableMetadata": True}, code()), (SIMULATORS, PAIR))
    (root / "ios-arm64" / FRAMEWORK / "Current").symlink_to(NAME)
    result = library_format(root, tmp_path / "out.xcframework")
    device = result.root / "ios-arm64"
    assert contents(device) == contents(root / "ios-arm64")
    assert (device / FRAMEWORK / "Current").readlink() == Path(NAME)
    assert listed(result.root)[0] == listed(root)[0]
    assert [each.linkage for each in result.libraries] == ["dynamic", "static"]


def test_a_library_gets_the_name_too(tmp_path: Path) -> None:
    root = made(tmp_path / "in", ({**PHONES, "LibraryPath": "libort.a"}, PHONE))
    (library,) = library_format(root, tmp_path / "out.xcframework", name="page_kit").libraries
    assert (library.was, library.path) == (PurePosixPath("libort.a"), PurePosixPath("libpage_kit.a"))
    assert listed(tmp_path / "out.xcframework")[0]["LibraryPath"] == "libpage_kit.a"


def test_a_fat_file_of_one_processor_is_made_plain(tmp_path: Path) -> None:
    root = made(tmp_path / "in", (PHONES, fat({"arm64": PHONE}) + b"behind it"))
    (library,) = library_format(root, tmp_path / "out.xcframework").libraries
    assert library.is_thinned
    assert library.size_bytes == len(PHONE)
    assert (tmp_path / "out.xcframework/ios-arm64/libonnxruntime.a").read_bytes() == PHONE


def test_what_the_app_store_refuses_is_gone(tmp_path: Path) -> None:
    root = made(tmp_path / "in", (SIMULATORS, PAIR), (PHONES, PHONE), plist=WITHOUT_MINIMUM)
    assert {each.code for each in lint(root).errors} == {"minimum-os-missing"}
    after = lint(library_format(root, tmp_path / "out.xcframework").root)
    assert after.errors == ()
    assert "static-framework" not in {each.code for each in after.findings}


def test_licences_privacy_and_debug_symbols_travel_and_the_signature_does_not(tmp_path: Path) -> None:
    root = made(tmp_path / "in", ({**PHONES, "DebugSymbolsPath": "dSYMs"}, PHONE))
    (root / "LICENSE").write_text("MIT\n")
    (root / "_CodeSignature").mkdir()
    (root / "_CodeSignature" / "CodeResources").write_text("of what it was")
    (root / "ios-arm64" / FRAMEWORK / "PrivacyInfo.xcprivacy").write_text("privacy")
    (root / "ios-arm64/dSYMs/a.dSYM").mkdir(parents=True)
    (root / "ios-arm64/dSYMs/a.dSYM/DWARF").write_text("debug")
    out = library_format(root, tmp_path / "out.xcframework").root
    assert set(contents(out)) == {
        "Info.plist",
        "LICENSE",
        "ios-arm64/PrivacyInfo.xcprivacy",
        "ios-arm64/dSYMs/a.dSYM/DWARF",
        "ios-arm64/libonnxruntime.a",
        "mobpack.json",
    }
    assert (out / "ios-arm64/PrivacyInfo.xcprivacy").read_text() == "privacy"
    assert listed(out)[0]["DebugSymbolsPath"] == "dSYMs"


def test_only_the_platforms_that_are_asked_for_are_kept(tmp_path: Path) -> None:
    root = made(tmp_path / "in", (SIMULATORS, PAIR), (PHONES, PHONE))
    result = library_format(root, tmp_path / "out.xcframework", platforms=["ios-simulator"])
    assert [each.identifier for each in result.libraries] == ["ios-arm64_x86_64-simulator"]
    assert result.left_out == ("ios-arm64",)
    assert not (result.root / "ios-arm64").exists()
    with pytest.raises(ConfigError, match="'ios-simulater'") as refused:
        library_format(root, tmp_path / "other.xcframework", platforms=["ios-simulater"])
    assert refused.value.hint == "did you mean 'ios-simulator'?"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (code(kind=OBJECT), f"the code in {FRAMEWORK} is object, not a static library"),
        (fat({"arm64": PHONE, "x86_64": code(architecture="x86_64")}), "is dynamic and static"),
        (PHONE[:-40], "not Apple's machine code"),
        (b"", "not Apple's machine code"),
    ],
)
def test_what_no_linker_takes_is_refused_and_nothing_is_left(tmp_path: Path, content: bytes, words: str) -> None:
    root = made(tmp_path / "in", (PHONES, PHONE), (SIMULATORS, content))
    with pytest.raises(ToolError, match=words):
        library_format(root, tmp_path / "out.xcframework")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_what_leads_out_or_comes_twice_is_refused(tmp_path: Path) -> None:
    root = made(tmp_path / "in", (PHONES, PHONE))
    document = plistlib.loads((root / "Info.plist").read_bytes())
    document["AvailableLibraries"] *= 2
    (root / "Info.plist").write_bytes(plistlib.dumps(document))
    with pytest.raises(ToolError, match="lists ios-arm64 twice"):
        library_format(root, tmp_path / "out.xcframework")
    (tmp_path / "secret").write_text("not yours")
    (root / "LICENSE").symlink_to(tmp_path / "secret")
    with pytest.raises(ToolError, match="leads out"):
        library_format(root, tmp_path / "out.xcframework")


@pytest.mark.parametrize("name", ["", "a/b", "..", "-l", "a b"])
def test_a_name_that_no_library_can_have_is_refused(tmp_path: Path, name: str) -> None:
    root = made(tmp_path / "in", (PHONES, PHONE))
    with pytest.raises(ConfigError, match="is not a valid library name"):
        library_format(root, tmp_path / "out.xcframework", name=name)


def test_what_mobpack_made_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    root = made(tmp_path / "in", (PHONES, PHONE))
    out = tmp_path / "out.xcframework"
    library_format(root, out, name="older")
    library_format(root, out)
    assert not (out / "ios-arm64/libolder.a").exists()
    assert (out / "ios-arm64/libonnxruntime.a").exists()
    before = contents(root)
    with pytest.raises(ConfigError, match=r"exists and is not an \.xcframework that mobpack made"):
        library_format(root, root)
    assert contents(root) == before


def test_what_mobpack_made_can_be_made_again_in_place(tmp_path: Path) -> None:
    out = tmp_path / "out.xcframework"
    library_format(made(tmp_path / "in", (PHONES, PHONE)), out)
    library_format(out, out)
    assert contents(out)["ios-arm64/libonnxruntime.a"] == PHONE


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    one = made(tmp_path / "one", (PHONES, fat({"arm64": PHONE})), (SIMULATORS, PAIR))
    two = made(tmp_path / "two", (PHONES, fat({"arm64": PHONE})), (SIMULATORS, PAIR))
    for path in two.rglob("*"):
        os.utime(path, (0, 0))
    first, second = (library_format(root, root.parent / "out.xcframework").root for root in (one, two))
    assert contents(first) == contents(second)


def test_a_package_takes_it_from_the_store(tmp_path: Path) -> None:
    root = made(tmp_path / "in", (PHONES, PHONE))
    store = Store(tmp_path / "store")

    def make(made: Path) -> None:
        library_format(root, made / root.name)

    def shipped() -> Path:
        return store.results(STEP, [folder.digest(root)], make) / root.name

    assert shipped() == shipped()
    assert contents(shipped())["ios-arm64/libonnxruntime.a"] == PHONE
    assert [path.name for path in shipped().parent.iterdir()] == [root.name]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(xcframework, [str(each) for each in arguments])


def test_the_command_says_that_a_build_needs_the_operator_configuration_too(tmp_path: Path) -> None:
    root, out = made(tmp_path / "in", (SIMULATORS, PAIR), (PHONES, PHONE)), tmp_path / "out.xcframework"
    missing = f"also save the operator configuration that the runtime was built with as {out.with_suffix('.config')}"
    assert missing in " ".join(run(root, "--out", out).output.split())
    out.with_suffix(".config").write_text("")
    assert "operator configuration" not in run(root, "--out", out).output


def test_the_command_warns_of_what_is_still_wrong(tmp_path: Path) -> None:
    root = made(tmp_path / "in", (PHONES, archive(code(kind=OBJECT, platform=SIMULATOR))))
    shown = run(root, "--out", tmp_path / "out.xcframework")
    assert "warning: ios-arm64: its code for arm64 was built for ios simulator" in " ".join(shown.output.split())


def test_the_result_has_to_be_named_as_xcode_wants_it(tmp_path: Path) -> None:
    error = refusal(run(tmp_path, "--out", tmp_path / "runtime"))
    assert error.EXIT_CODE == 2
    assert error.hint.endswith("runtime.xcframework")


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    assert "no such file" in refusal(run(tmp_path / "none.zip", "--out", tmp_path / "a.xcframework")).message


def refusal(result: Result) -> MobpackError:
    assert isinstance(result.exception, MobpackError), result.output
    return result.exception


def test_the_command_takes_an_archive_and_says_what_it_changed(tmp_path: Path) -> None:
    root = made(tmp_path / "in", (PHONES, fat({"arm64": PHONE})), (SIMULATORS, PAIR))
    path = cases.zipped(root, tmp_path / "pod.zip", inside="pod/")
    out = tmp_path / "onnxruntime.xcframework"
    shown = run(path, "--out", out)
    assert shown.exit_code == 0, shown.output
    for words in ("ios-arm64", "libonnxruntime.a", "arm64, x86_64", f"was {FRAMEWORK}", "thinned"):
        assert words in shown.output
    assert f'[runtime] ios = "{out}"' in " ".join(shown.output.split())


def test_the_command_says_the_same_as_json(tmp_path: Path) -> None:
    root = made(tmp_path / "in", (PHONES, fat({"arm64": PHONE})), (SIMULATORS, PAIR))
    out = tmp_path / "out.xcframework"
    shown = run(root, "--out", out, "--platform", "ios", "--json")
    assert json.loads(shown.stdout) == {
        "schema-version": 1,
        "path": str(out),
        "slices": [
            {
                "identifier": "ios-arm64",
                "library": "libonnxruntime.a",
                "was": FRAMEWORK,
                "linkage": "static",
                "architectures": ["arm64"],
                "is-thinned": True,
                "size-bytes": len(PHONE),
            }
        ],
        "left-out": ["ios-arm64_x86_64-simulator"],
        "errors": [],
        "config": None,
    }
