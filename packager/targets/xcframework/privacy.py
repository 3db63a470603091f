"""Finds uses of Apple's required-reason APIs in machine code, and writes the privacy manifest that declares them.

The names are those of Apple's list, "Describing use of required reason API"
(developer.apple.com/documentation/bundleresources/describing-use-of-required-reason-api), as the linker sees them: a C
function has an underscore before it, Swift's `FileAttributeKey.creationDate` is the symbol `_NSFileCreationDate`.
"""

import plistlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SELECTOR = "_objc_msgSend$"
PREFIX = "NSPrivacyAccessedAPICategory"
FILE_NAME = "PrivacyInfo.xcprivacy"

TIMES = "FileTimestamp"
BOOT = "SystemBootTime"
SPACE = "DiskSpace"
KEYBOARDS = "ActiveKeyboards"
DEFAULTS = "UserDefaults"

BOTH = frozenset({"_getattrlist", "_fgetattrlist", "_getattrlistat"})
"""on Apple's list of file timestamps and on that of disk space, because they return both"""

SYMBOLS: Mapping[str, frozenset[str]] = {
    TIMES: BOTH
    | {
        *("_stat", "_fstat", "_lstat", "_fstatat", "_getattrlistbulk"),
        *("_stat$INODE64", "_fstat$INODE64", "_lstat$INODE64", "_fstatat$INODE64"),
        *("_NSFileCreationDate", "_NSFileModificationDate"),
        *("_NSURLCreationDateKey", "_NSURLContentModificationDateKey"),
        *(f"{SELECTOR}fileModificationDate", f"{SELECTOR}fileCreationDate"),
    },
    BOOT: frozenset({"_mach_absolute_time", f"{SELECTOR}systemUptime"}),
    SPACE: BOTH
    | {
        *("_statfs", "_fstatfs", "_statvfs", "_fstatvfs", "_statfs$INODE64", "_fstatfs$INODE64"),
        *("_NSFileSystemFreeSize", "_NSFileSystemSize", "_NSURLVolumeTotalCapacityKey"),
        *("_NSURLVolumeAvailableCapacityKey", "_NSURLVolumeAvailableCapacityForImportantUsageKey"),
        "_NSURLVolumeAvailableCapacityForOpportunisticUsageKey",
    },
    KEYBOARDS: frozenset({f"{SELECTOR}activeInputModes"}),
    DEFAULTS: frozenset({"_OBJC_CLASS_$_NSUserDefaults"}),
}
"""category -> symbols of its APIs; `$INODE64` is the suffix of the same function for Intel processors"""

ALLOWED: Mapping[str, frozenset[str]] = {
    TIMES: frozenset({"DDA9.1", "C617.1", "3B52.1", "0A2A.1"}),
    BOOT: frozenset({"35F9.1", "8FFB.1", "3D61.1"}),
    SPACE: frozenset({"85F4.1", "E174.1", "7D9E.1", "B728.1"}),
    KEYBOARDS: frozenset({"3EC4.1", "54BD.1"}),
    DEFAULTS: frozenset({"CA92.1", "1C8F.1", "C56D.1", "AC6B.1"}),
}
"""category -> all reasons that Apple accepts for it"""


@dataclass(frozen=True, kw_only=True)
class Reason:
    code: str
    why: str
    """why it fits a library that runs models on the device"""


REASONS: Mapping[str, Reason] = {
    TIMES: Reason(
        code="C617.1",
        why="sizes and times of files inside the app's own container: models, their weights, compiled caches",
    ),
    BOOT: Reason(code="35F9.1", why="time between two events inside the app: profiling, timers of threads"),
    SPACE: Reason(
        code="E174.1",
        why="whether there is room before something is written, such as a cache of compiled models",
    ),
    DEFAULTS: Reason(code="CA92.1", why="settings that the app itself wrote and nobody else reads"),
}
"""category -> the reason that fits; a library that runs models has none for keyboards"""


@dataclass(frozen=True, kw_only=True)
class Access:
    """Use of one category of required-reason APIs."""

    category: str
    """without Apple's prefix: `FileTimestamp`"""
    reasons: tuple[str, ...]
    """Apple's codes; empty if no reason fits a library that runs models"""
    symbols: tuple[str, ...] = ()
    """symbols that use it, sorted"""


def audit(symbols: Iterable[str]) -> tuple[Access, ...]:
    """Accesses among `symbols`: names that a library leaves to the linker, `_objc_msgSend$` before a selector."""
    names = frozenset(symbols)
    found = []
    for category in sorted(SYMBOLS):
        if hits := names & SYMBOLS[category]:
            reasons = (REASONS[category].code,) if category in REASONS else ()
            found.append(Access(category=category, reasons=reasons, symbols=tuple(sorted(hits))))
    return tuple(found)


def privacy_manifest(accesses: Iterable[Access]) -> bytes:
    """A PrivacyInfo.xcprivacy for code without tracking and data collection that uses `accesses`.

    Raises ValueError for an access without a reason: Apple rejects a manifest with an empty list.
    """
    entries = {access.category: access.reasons for access in accesses}
    for category, reasons in entries.items():
        if not reasons or not ALLOWED.get(category, frozenset()).issuperset(reasons):
            raise ValueError(f"{category}: no reason that Apple accepts (given: {', '.join(reasons) or 'none'})")
    document = {
        "NSPrivacyTracking": False,
        "NSPrivacyTrackingDomains": [],
        "NSPrivacyCollectedDataTypes": [],
        "NSPrivacyAccessedAPITypes": [
            {
                "NSPrivacyAccessedAPIType": PREFIX + category,
                "NSPrivacyAccessedAPITypeReasons": sorted(set(entries[category])),
            }
            for category in sorted(entries)
        ],
    }
    return plistlib.dumps(document, fmt=plistlib.FMT_XML, sort_keys=True)


def declared(document: Mapping[str, object]) -> tuple[Access, ...]:
    """Accesses that a parsed privacy manifest declares. Raises ValueError with the problem for one that Apple
    rejects."""
    known = {
        "NSPrivacyTracking",
        "NSPrivacyTrackingDomains",
        "NSPrivacyCollectedDataTypes",
        "NSPrivacyAccessedAPITypes",
    }
    if unknown := sorted(set(document) - known):
        raise ValueError(f"unknown key {unknown[0]}")
    entries = document.get("NSPrivacyAccessedAPITypes", [])
    if not isinstance(entries, list):
        raise ValueError("NSPrivacyAccessedAPITypes is not a list")
    return tuple(_declared(entry) for entry in entries)


def _declared(entry: object) -> Access:
    if not isinstance(entry, dict):
        raise ValueError("an entry of NSPrivacyAccessedAPITypes is not a dictionary")
    category = str(entry.get("NSPrivacyAccessedAPIType", "")).removeprefix(PREFIX)
    reasons = entry.get("NSPrivacyAccessedAPITypeReasons")
    if category not in ALLOWED:
        raise ValueError(f"'{entry.get('NSPrivacyAccessedAPIType', '')}' is not one of Apple's categories")
    if not isinstance(reasons, list) or not reasons:
        raise ValueError(f"{category} has no reason")
    if wrong := sorted(set(map(str, reasons)) - ALLOWED[category]):
        raise ValueError(
            f"{wrong[0]} is not a reason for {category}; Apple accepts {', '.join(sorted(ALLOWED[category]))}"
        )
    return Access(category=category, reasons=tuple(sorted(map(str, reasons))))
