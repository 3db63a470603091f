"""Checks of a slice's privacy manifest against the APIs that its code uses."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from packager.core.errors import ToolError
from packager.targets.xcframework.finding import Finding, error, note, warning
from packager.targets.xcframework.layout import Slice, read_plist
from packager.targets.xcframework.macho import Code
from packager.targets.xcframework.privacy import FILE_NAME, Access, audit, declared

DEVICE_NAME = "_objc_msgSend$identifierForVendor"
UPLOAD = "_OBJC_CLASS_$_NSURLSession"


def accesses(pieces: Sequence[Code]) -> tuple[Access, ...]:
    """Required-reason APIs used by the code for any of the architectures."""
    return audit(name for piece in pieces for name in piece.undefined)


def check(each: Slice, pieces: Sequence[Code]) -> Iterator[Finding]:
    called = accesses(pieces)
    is_dynamic = any(piece.kind == "dynamic" for piece in pieces)
    path = manifest_path(each)
    if path is None:
        if called:
            yield (error if is_dynamic else warning)("privacy-missing", each.identifier, *_missing(called))
    else:
        yield from _against(each, path, called, is_dynamic=is_dynamic)
    names = {name for piece in pieces for name in piece.undefined}
    if {DEVICE_NAME, UPLOAD} <= names:
        yield warning(
            "collects",
            each.identifier,
            "its code contains telemetry: it can send data, and reads identifierForVendor",
            "build it without telemetry, or declare the data in the app's privacy manifest",
        )


def manifest_path(each: Slice) -> Path | None:
    """Privacy manifest of a slice: at the top of a framework, in Resources on macOS, beside a plain library."""
    if not each.is_framework:
        places = [each.folder / FILE_NAME]
    elif each.is_desktop:
        places = [each.bundle / "Versions/A/Resources" / FILE_NAME]
    else:
        places = [each.bundle / FILE_NAME]
    return next((place for place in places if place.is_file()), None)


def _missing(called: Sequence[Access]) -> tuple[str, str]:
    listed = "; ".join(f"{access.category} ({', '.join(access.symbols)})" for access in called)
    reasons = ", ".join(f"{access.category} {' '.join(access.reasons) or 'with a reason'}" for access in called)
    return (
        f"it has no {FILE_NAME}, but its code uses {listed}",
        f"declare {reasons} in it, or, for a static library, in the package that contains it",
    )


def _against(each: Slice, path: Path, called: Sequence[Access], *, is_dynamic: bool) -> Iterator[Finding]:
    try:
        stated = {access.category for access in declared(read_plist(path))}
    except (ToolError, ValueError) as failure:
        reason = failure.message if isinstance(failure, ToolError) else str(failure)
        yield error(
            "privacy-invalid", each.identifier, f"the App Store rejects its {FILE_NAME}: {reason}", "correct the file"
        )
        return
    if undeclared := [access for access in called if access.category not in stated]:
        what, remedy = _missing(undeclared)
        yield (error if is_dynamic else warning)(
            "privacy-undeclared",
            each.identifier,
            what.replace(f"it has no {FILE_NAME}, but", f"its {FILE_NAME} does not declare all accesses:"),
            remedy,
        )
    if needless := sorted(stated - {access.category for access in called}):
        yield note(
            "privacy-needless",
            each.identifier,
            f"its {FILE_NAME} declares {', '.join(needless)}, which its code does not use",
            "remove it, unless other code needs it",
        )
