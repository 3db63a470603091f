"""Privacy manifest of a package: PrivacyInfo.xcprivacy, beside the models."""

from collections.abc import Sequence

from packager.files.processes import downloads
from packager.targets.xcframework.privacy import REASONS, SPACE, TIMES, Access, privacy_manifest

OWN = Access(category=TIMES, reasons=(REASONS[TIMES].code,))
"""accesses of the package's own code: it reads file times to detect a replaced model"""
OF_UPDATES = Access(category=SPACE, reasons=(REASONS[SPACE].code,))
"""of code that takes models from a channel: it looks whether there is room for them"""


def manifest(accesses: Sequence[Access] | None = None, *, has_updates: bool = False) -> str:
    """The privacy manifest of a package and its ONNX Runtime: the published one, or one with `accesses`.

    `has_updates`: whether the code takes models from a channel. Apple lists no reasons for some kinds of access: those
    cannot be declared.
    """
    found = published() if accesses is None else accesses
    reasons: dict[str, set[str]] = {}
    for access in (OWN, *((OF_UPDATES,) if has_updates else ()), *found):
        if access.reasons:
            reasons.setdefault(access.category, set()).update(access.reasons)
    merged = (Access(category=category, reasons=tuple(sorted(codes))) for category, codes in reasons.items())
    return privacy_manifest(merged).decode()


def published() -> tuple[Access, ...]:
    """Accesses of the published library, as measured on its code."""
    return tuple(
        Access(category=entry["category"], reasons=tuple(entry["reasons"]))
        for entry in downloads.pins()["ios"]["privacy"]
    )
