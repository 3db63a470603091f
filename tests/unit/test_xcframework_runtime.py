"""`[runtime] ios`: a user's own runtime for iOS is checked, and its facts are read for the package."""

import shlex
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from packager import config as configuration
from packager.config.runtime import RuntimeTable
from packager.core.errors import ConfigError, ToolError
from packager.core.values import ElementType, Signature
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.runtimes import framework, ios, shipping
from packager.targets.ios import Ios
from packager.targets.xcframework import folder
from tests.cases import xcframework_cases as cases
from tests.cases.xcframework_cases import NAME, OBJECT, archive, code, simulator_code
from tests.golden.cases import choice, plan, specs

CONFIG = 'ai.onnx;13;Softmax{"inputs": {"0": ["float"]}}\n'
EVERYTHING = "!no_ops_specified_means_all_ops_are_required\n"
MESSAGE = b"Current ORT Version is: %s\n\0"
TEXTS = b"\x003.53.1\0" + MESSAGE + b"1.29.0\0N11onnxruntime23CoreMLExecutionProviderE\0"
HEADER = "Headers/onnxruntime_c_api.h"
ADDRESS = "https://example.com/sdk/onnxruntime.xcframework.zip"
CHECKSUM = "0123456789abcdef" * 4


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with an ONNX Runtime and the configuration it was built with."""
    made = cases.write_good(tmp_path)
    (tmp_path / f"{NAME}.config").write_text(CONFIG, encoding="utf-8")
    write_code(made, TEXTS)
    return made


def write_code(root: Path, texts: bytes, **changes: Any) -> None:
    """Code with `texts` in it, in every slice."""
    (root / f"ios-arm64/{NAME}.framework/{NAME}").write_bytes(code(extra=texts, **changes))
    simulator = root / f"ios-arm64_x86_64-simulator/{NAME}.framework/{NAME}"
    simulator.write_bytes(simulator_code(extra=texts, **changes))


def load(root: Path, store: Store) -> framework.OwnFramework:
    return framework.load(root, store)


def test_a_runtime_says_its_version_providers_and_operators(root: Path, store: Store) -> None:
    found = load(root, store)
    assert (found.version, found.providers, found.minimum_os, found.linkage) == (
        "1.29.0",
        ("coreml",),
        "15.1",
        "dynamic",
    )
    assert found.architectures == {"ios-arm64": ("arm64",), "ios-arm64_x86_64-simulator": ("arm64", "x86_64")}
    assert found.config.operators == {"ai.onnx;13;Softmax"}
    assert [access.category for access in found.accesses] == ["FileTimestamp"]
    assert found.has_c_module
    assert not found.is_minimal
    assert found.notes == ()
    assert found.sha256 == folder.digest(root)


def test_a_zip_is_what_its_folder_is(root: Path, store: Store, tmp_path: Path) -> None:
    (tmp_path / "zips").mkdir()
    packed = cases.zipped(root, tmp_path / "zips/speech.xcframework.zip")
    (tmp_path / "zips/speech.config").write_text(CONFIG, encoding="utf-8")
    found = load(packed, store)
    assert found.folder.is_relative_to(store.root)
    assert (found.version, found.sha256) == ("1.29.0", sha256_of(packed))


def test_the_configuration_may_lie_in_the_zip(root: Path, store: Store, tmp_path: Path) -> None:
    (tmp_path / "zips").mkdir()
    packed = cases.zipped(root, tmp_path / "zips/speech.zip")
    with pytest.raises(ConfigError, match="operator configuration is missing"):
        load(packed, store)
    with zipfile.ZipFile(packed, "a") as made:
        made.writestr("reduced.config", "ai.onnx;13;Relu\n")
    assert load(packed, store).config.operators == {"ai.onnx;13;Relu"}


def test_a_folder_without_its_configuration_is_refused(root: Path, store: Store, tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.config").rename(tmp_path / "elsewhere.txt")
    with pytest.raises(ConfigError, match="operator configuration is missing") as refused:
        load(root, store)
    assert "Speech.config" in refused.value.hint
    assert framework.load(root, store, config=tmp_path / "elsewhere.txt").config.operators == {"ai.onnx;13;Softmax"}


def test_the_newest_version_that_fits_the_headers_counts_where_none_is_beside_the_message(
    root: Path, store: Store
) -> None:
    write_code(root, b"\x001.0.0\x001.29.0\x001.3.2\x001.99.0\0" + MESSAGE + b"ORT Build Info\0")
    assert load(root, store).version == "1.29.0"


def test_the_newest_version_counts_without_headers(root: Path, store: Store) -> None:
    for each in ("ios-arm64", "ios-arm64_x86_64-simulator"):
        shutil.rmtree(root / f"{each}/{NAME}.framework/Headers")
        (root / f"{each}/{NAME}.framework/Modules/module.modulemap").write_text("module Speech {}\n", encoding="utf-8")
    write_code(root, b"\x001.12.0\x001.17.1\x001.3.2\0")
    found = load(root, store)
    assert (found.version, found.has_c_module) == ("1.17.1", False)


def test_slices_of_two_versions_are_refused(root: Path, store: Store) -> None:
    header = root / f"ios-arm64/{NAME}.framework/{HEADER}"
    header.write_text("#define ORT_API_VERSION 28\n", encoding="utf-8")
    (root / f"ios-arm64/{NAME}.framework/{NAME}").write_bytes(code(extra=MESSAGE + b"1.28.0\0"))
    with pytest.raises(ToolError, match=r"found 1\.28\.0, 1\.29\.0"):
        load(root, store)


@pytest.mark.parametrize("texts", [b"", b"\x002.0.0\0", b"\x001.28.0\0", MESSAGE + b"1.28.0\0"])
def test_a_runtime_without_a_version_that_fits_its_headers_is_refused(root: Path, store: Store, texts: bytes) -> None:
    write_code(root, texts)
    with pytest.raises(ToolError, match="must have one version, found none"):
        load(root, store)


def test_a_provider_counts_where_every_slice_has_it(root: Path, store: Store) -> None:
    both = TEXTS + b"24XnnpackExecutionProvider\0"
    write_code(root, both)
    assert load(root, store).providers == ("coreml", "xnnpack")
    (root / f"ios-arm64/{NAME}.framework/{NAME}").write_bytes(code(extra=TEXTS))
    assert load(root, store).providers == ("coreml",)
    write_code(root, MESSAGE + b"1.29.0\0XnnpackExecutionProvider\0CoreMLExecutionProvider\0")
    assert load(root, store).providers == ()
    write_code(root, TEXTS, exports=("_main",))
    with pytest.raises(ToolError, match="ios-arm64 has no OrtGetApiBase for arm64"):
        load(root, store)


def test_what_no_app_for_iphones_can_have_is_refused_with_its_findings(root: Path, store: Store) -> None:
    write_code(root, TEXTS, minimum="16.0", install_name="/somewhere/else")
    with pytest.raises(ToolError) as refused:
        load(root, store)
    assert "ios-arm64: Info.plist promises 15.1; its code for arm64 needs 16.0" in refused.value.message
    assert "ios-arm64_x86_64-simulator: its install name is /somewhere/else" in refused.value.message


def test_errors_of_other_systems_are_notes(root: Path, store: Store) -> None:
    place = root / f"ios-arm64-maccatalyst/{NAME}.framework"
    cases.write_desktop_framework(place, code(platform=cases.MACOS, kind=OBJECT), has_links=False)
    catalyst = cases.entry(
        "ios-arm64-maccatalyst",
        SupportedPlatformVariant="maccatalyst",
        BinaryPath=f"{NAME}.framework/Versions/A/{NAME}",
    )
    cases.write_plist(root, cases.PHONES, cases.SIMULATORS, catalyst)
    notes = load(root, store).notes
    assert len(notes) == 2
    assert all("apps for ios-arm64-maccatalyst cannot have it" in note for note in notes)


def test_errors_of_bundles_that_a_package_does_without_are_not_noted(root: Path, store: Store) -> None:
    place = root / f"ios-arm64-maccatalyst/{NAME}.framework"
    library = archive(code(kind=OBJECT, platform=cases.CATALYST), TEXTS)
    cases.write_desktop_framework(place, library, has_links=False)
    catalyst = cases.entry(
        "ios-arm64-maccatalyst",
        SupportedPlatformVariant="maccatalyst",
        BinaryPath=f"{NAME}.framework/Versions/A/{NAME}",
    )
    cases.write_plist(root, cases.PHONES, cases.SIMULATORS, catalyst)
    (note,) = load(root, store).notes  # frameworks stay what they are while those for phones are dynamic
    assert "lacks the links" in note
    phones = {"ios-arm64": ("arm64", cases.IOS), "ios-arm64_x86_64-simulator": ("", cases.SIMULATOR)}
    for identifier, (architecture, platform) in phones.items():
        pieces = {
            each: archive(code(architecture=each, kind=OBJECT, platform=platform), TEXTS)
            for each in ([architecture] if architecture else ["arm64", "x86_64"])
        }
        (root / identifier / f"{NAME}.framework/{NAME}").write_bytes(cases.fat(pieces))
    assert load(root, store).notes == ()


def test_what_a_package_mends_is_not_noted_and_the_rest_is(root: Path, store: Store) -> None:
    (root / f"ios-arm64/{NAME}.framework/{NAME}").write_bytes(
        archive(code(kind=OBJECT), code(kind=OBJECT, minimum="14.0", exports=()), TEXTS)
    )
    (root / f"ios-arm64/{NAME}.framework/Modules/module.modulemap").unlink()
    (root / f"ios-arm64/{NAME}.framework/PrivacyInfo.xcprivacy").unlink()
    found = load(root, store)
    assert [note.partition(": its objects")[0] for note in found.notes] == [f"{NAME}.xcframework: ios-arm64"]
    assert (found.linkage, found.minimum_os) == ("static", "15.1")


def test_errors_name_the_file_that_the_user_gave(root: Path, store: Store, tmp_path: Path) -> None:
    write_code(root, b"")
    packed = cases.zipped(root, tmp_path / "it's.zip")
    (tmp_path / "it's.config").write_text(CONFIG, encoding="utf-8")
    with pytest.raises(ToolError, match=r"runtime .*it's\.zip: its slices and headers"):
        load(packed, store)
    write_code(root, TEXTS, minimum="16.0")
    with pytest.raises(ToolError) as refused:
        load(cases.zipped(root, packed), store)
    assert "it's.zip: iPhone apps cannot use it" in refused.value.message
    assert f"mobpack runtime lint {shlex.quote(str(packed))} shows all findings" in refused.value.hint


# Chosen


def table(folder: Path, **keys: object) -> RuntimeTable:
    document: dict[str, Any] = {"package": {"name": "vision"}, "model": {"m": {"path": "m.onnx"}}, "runtime": keys}
    return configuration.from_document(document, folder, targets=("ios",), settings=()).runtime


def chosen(folder: Path, store: Store, **keys: object) -> ios.ChosenFramework:
    return ios.choose_ios(table(folder, **{"ios": f"{NAME}.xcframework", **keys}), store)


def test_a_chosen_runtime_goes_into_the_package(root: Path, store: Store, tmp_path: Path) -> None:
    runtime = chosen(tmp_path, store)
    packaged = runtime.packaged
    assert runtime.display_name == f"ONNX Runtime 1.29.0 ({NAME}.xcframework)"
    assert (packaged.ship, packaged.folder, packaged.name, packaged.version) == ("inside", root, NAME, "1.29.0")
    assert (packaged.is_reduced, runtime.is_reduced, runtime.is_published_in_full) == (True, True, False)
    assert packaged.operators_sha256 == sha256_of(tmp_path / f"{NAME}.config")
    assert packaged.accesses == load(root, store).accesses


def test_a_runtime_with_all_operators_is_not_reduced(root: Path, store: Store, tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.config").write_text(EVERYTHING, encoding="utf-8")
    runtime = chosen(tmp_path, store)
    assert not runtime.is_reduced
    assert runtime.is_published_in_full == (ios.published_version() == "1.29.0")


def test_a_minimal_build_with_all_operators_reads_ort_format_alone(root: Path, store: Store, tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.config").write_text(EVERYTHING, encoding="utf-8")
    write_code(root, TEXTS + b"ONNX format model is not supported in this build.\0")
    assert chosen(tmp_path, store).is_reduced


def test_another_version_than_the_published_one_is_noted(root: Path, store: Store, tmp_path: Path) -> None:
    for each in ("ios-arm64", "ios-arm64_x86_64-simulator"):
        (root / f"{each}/{NAME}.framework/{HEADER}").write_text("#define ORT_API_VERSION 17\n", encoding="utf-8")
    write_code(root, MESSAGE + b"1.17.1\0")
    assert any("is ONNX Runtime 1.17.1: this mobpack was tried with" in note for note in chosen(tmp_path, store).notes)


def test_addresses_stay_and_settings_without_effect_are_refused(tmp_path: Path, store: Store, root: Path) -> None:
    runtime = chosen(tmp_path, store, ios=ADDRESS, **{"ios-checksum": CHECKSUM})
    packaged = runtime.packaged
    assert (packaged.ship, packaged.url, packaged.checksum) == ("url", ADDRESS, CHECKSUM)
    assert (packaged.name, packaged.folder, packaged.accesses, packaged.version) == ("onnxruntime", None, None, "")
    assert runtime.notes == (f"{ADDRESS} was not opened: nobody checked what is in it",)
    assert not runtime.is_reduced
    assert table(tmp_path, ios="a.xcframework").ios == str(tmp_path / "a.xcframework")
    assert table(tmp_path, ios=ADDRESS, **{"ios-checksum": CHECKSUM}).ios == ADDRESS
    runtime = chosen(tmp_path, store)
    ios.refuse_settings(Ios(), runtime)
    with pytest.raises(ConfigError, match="reads ORT format only"):
        ios.refuse_settings(Ios(format="onnx"), runtime)
    with pytest.raises(ConfigError, match="provider 'xnnpack' is not in ONNX Runtime"):
        ios.refuse_settings(Ios(providers=("coreml", "xnnpack")), runtime)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"ios": ADDRESS}, "an address needs 'ios-checksum'"),
        ({"ios": ADDRESS, "ios-checksum": CHECKSUM[1:]}, "an address needs 'ios-checksum'"),
        ({"ios": ADDRESS, "ios-checksum": CHECKSUM.upper()}, "an address needs 'ios-checksum'"),
        ({"ios": "http" + ADDRESS[5:], "ios-checksum": CHECKSUM}, "is not the address of a .zip"),
        ({"ios": ADDRESS + '"; evil()', "ios-checksum": CHECKSUM}, "is not the address of a .zip"),
        ({"ios": "a.xcframework", "ios-checksum": CHECKSUM}, "'ios-checksum' applies to https addresses only"),
        ({"ios-checksum": CHECKSUM}, "'ios-checksum' applies to https addresses only"),
        ({"config": "a.config"}, "'config' has no effect without 'android' or 'ios'"),
        ({"ios": "a.xcframework", "name": "acme"}, "'name' has no effect without 'android'"),
    ],
)
def test_keys_that_do_not_go_together_are_refused(tmp_path: Path, keys: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        table(tmp_path, **keys)
    assert message in refused.value.message
    assert refused.value.hint


def test_an_older_system_than_the_runtime_takes_is_refused(root: Path, store: Store, tmp_path: Path) -> None:
    for each in ("ios-arm64", "ios-arm64_x86_64-simulator"):
        cases.write_framework(tmp_path / each, b"", {**cases.PLIST, "MinimumOSVersion": "17.0"})
        shutil.copy(tmp_path / each / "Info.plist", root / f"{each}/{NAME}.framework/Info.plist")
    write_code(root, TEXTS, minimum="17.0")
    runtime = chosen(tmp_path, store)
    ios.refuse_settings(Ios(min_ios="17.0"), runtime)
    with pytest.raises(ConfigError, match=r'min-ios = "16\.0", but ONNX Runtime .* needs iOS 17\.0'):
        ios.refuse_settings(Ios(min_ios="16.0"), runtime)


def test_what_a_reduced_runtime_cannot_open_is_refused_on_ios_alone(root: Path, store: Store, tmp_path: Path) -> None:
    tensor = specs("input", ("x", ElementType.FLOAT, (1, 2)))
    each = plan("half", Signature(inputs=tensor, outputs=tensor), choice("cpu", path=Path("model.onnx")))
    shipping.refuse_unrunnable([each], chosen(tmp_path, store))
    with pytest.raises(ConfigError, match="model 'half' on ios ships as ONNX for cpu"):
        shipping.refuse_unrunnable([replace(each, target="ios")], chosen(tmp_path, store))
