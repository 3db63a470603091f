"""Apple's required-reason APIs that code calls, and the privacy manifest for them."""

import plistlib

import pytest

from packager.targets.privacy import manifest
from packager.targets.xcframework.privacy import ALLOWED, REASONS, SYMBOLS, Access, audit, declared, privacy_manifest

PREFIX = "NSPrivacyAccessedAPICategory"


def test_symbols_are_told_by_category_that_needs_a_reason() -> None:
    assert audit(["_stat", "_malloc", "_statfs", "_fstat"]) == (
        Access(category="DiskSpace", reasons=("E174.1",), symbols=("_statfs",)),
        Access(category="FileTimestamp", reasons=("C617.1",), symbols=("_fstat", "_stat")),
    )
    # Apple recommends clock_gettime in place of mach_absolute_time.
    assert audit(["_malloc", "_clock_gettime_nsec_np", "stat", "_statx", "_objc_msgSend$stat", "_access"]) == ()
    assert [access.category for access in audit(["_getattrlist"])] == ["DiskSpace", "FileTimestamp"]


@pytest.mark.parametrize("category", sorted(SYMBOLS))
def test_every_symbol_of_a_category_calls_for_it(category: str) -> None:
    assert SYMBOLS[category]
    for symbol in SYMBOLS[category]:
        assert category in {access.category for access in audit([symbol])}, symbol


def test_reasons_are_apples_for_what_is_called() -> None:
    (access,) = audit(["_objc_msgSend$activeInputModes"])
    assert (access.category, access.reasons) == ("ActiveKeyboards", ())
    with pytest.raises(ValueError, match="ActiveKeyboards: no reason"):
        privacy_manifest([access])
    assert set(REASONS) < set(ALLOWED) == set(SYMBOLS)
    for category, reason in REASONS.items():
        assert reason.code in ALLOWED[category]
        assert reason.why
    document = plistlib.loads(privacy_manifest(audit(["_stat", "_mach_absolute_time"])))
    assert document == {
        "NSPrivacyTracking": False,
        "NSPrivacyTrackingDomains": [],
        "NSPrivacyCollectedDataTypes": [],
        "NSPrivacyAccessedAPITypes": [
            {"NSPrivacyAccessedAPIType": f"{PREFIX}FileTimestamp", "NSPrivacyAccessedAPITypeReasons": ["C617.1"]},
            {"NSPrivacyAccessedAPIType": f"{PREFIX}SystemBootTime", "NSPrivacyAccessedAPITypeReasons": ["35F9.1"]},
        ],
    }


def test_manifests_are_read_back_and_channels_declare_that_they_look_for_room() -> None:
    times, boot = audit(["_stat"]), audit(["_mach_absolute_time"])
    assert privacy_manifest([*times, *boot]) == privacy_manifest([*boot, *times])
    assert privacy_manifest([]) != privacy_manifest(times)
    written = plistlib.loads(privacy_manifest(audit(["_stat", "_statfs"])))
    assert [access.category for access in declared(written)] == ["DiskSpace", "FileTimestamp"]
    for has_updates, categories in ((False, ["FileTimestamp"]), (True, ["DiskSpace", "FileTimestamp"])):
        found = declared(plistlib.loads(manifest((), has_updates=has_updates).encode()))
        assert [access.category for access in found] == categories


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"NSPrivacyTracing": False}, "unknown key NSPrivacyTracing"),
        ({"NSPrivacyAccessedAPITypes": {}}, "is not a list"),
        ({"NSPrivacyAccessedAPITypes": ["x"]}, "is not a dictionary"),
        ({"NSPrivacyAccessedAPITypes": [{"NSPrivacyAccessedAPIType": "Files"}]}, "not one of Apple's categories"),
        ({"NSPrivacyAccessedAPITypes": [{"NSPrivacyAccessedAPIType": f"{PREFIX}DiskSpace"}]}, "has no reason"),
        (
            {
                "NSPrivacyAccessedAPITypes": [
                    {"NSPrivacyAccessedAPIType": f"{PREFIX}DiskSpace", "NSPrivacyAccessedAPITypeReasons": ["C617.1"]}
                ]
            },
            "C617.1 is not a reason for DiskSpace; Apple accepts",
        ),
    ],
)
def test_a_manifest_that_apple_refuses_is_told(document: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        declared(document)
