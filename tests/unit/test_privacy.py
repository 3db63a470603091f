"""Apple's required-reason APIs that code calls, and the privacy manifest for them."""

import plistlib

import pytest

from packager.targets.privacy import manifest
from packager.targets.xcframework.privacy import ALLOWED, REASONS, SYMBOLS, Access, audit, declared, privacy_manifest

PREFIX = "NSPrivacyAccessedAPICategory"


def test_symbols_are_told_by_category() -> None:
    assert audit(["_stat", "_malloc", "_statfs", "_fstat"]) == (
        Access(category="DiskSpace", reasons=("E174.1",), symbols=("_statfs",)),
        Access(category="FileTimestamp", reasons=("C617.1",), symbols=("_fstat", "_stat")),
    )


def test_what_is_not_on_the_list_needs_no_reason() -> None:
    """Apple recommends clock_gettime in place of mach_absolute_time."""
    assert audit(["_malloc", "_clock_gettime_nsec_np", "stat", "_statx", "_objc_msgSend$stat", "_access"]) == ()


@pytest.mark.parametrize("category", sorted(SYMBOLS))
def test_every_symbol_of_a_category_calls_for_it(category: str) -> None:
    assert SYMBOLS[category]
    for symbol in SYMBOLS[category]:
        assert category in {access.category for access in audit([symbol])}, symbol


def test_attribute_lists_tell_times_and_disk_space() -> None:
    assert [access.category for access in audit(["_getattrlist"])] == ["DiskSpace", "FileTimestamp"]


def test_no_reason_of_a_library_fits_keyboards() -> None:
    (access,) = audit(["_objc_msgSend$activeInputModes"])
    assert (access.category, access.reasons) == ("ActiveKeyboards", ())
    with pytest.raises(ValueError, match="ActiveKeyboards: no reason"):
        privacy_manifest([access])


def test_reasons_are_apples_and_say_why() -> None:
    assert set(REASONS) < set(ALLOWED) == set(SYMBOLS)
    for category, reason in REASONS.items():
        assert reason.code in ALLOWED[category]
        assert reason.why


def test_a_manifest_says_that_nobody_is_tracked_and_why_what_is_called() -> None:
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


def test_a_manifest_has_the_same_bytes_in_any_order() -> None:
    times, boot = audit(["_stat"]), audit(["_mach_absolute_time"])
    assert privacy_manifest([*times, *boot]) == privacy_manifest([*boot, *times])
    assert privacy_manifest([]) != privacy_manifest(times)


def test_what_a_manifest_declares_can_be_read_back() -> None:
    written = plistlib.loads(privacy_manifest(audit(["_stat", "_statfs"])))
    assert [access.category for access in declared(written)] == ["DiskSpace", "FileTimestamp"]


def test_code_that_takes_models_from_a_channel_declares_that_it_looks_for_room() -> None:
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
