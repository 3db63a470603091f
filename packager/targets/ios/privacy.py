"""What a package says of itself to the App Store: PrivacyInfo.xcprivacy, beside the models."""

from collections.abc import Sequence

from packager.processes import downloads
from packager.xcframework.privacy import REASONS, TIMES, Access, privacy_manifest

OWN = Access(category=TIMES, reasons=(REASONS[TIMES].code,))
"""What the package's own code calls for: the times of a model's file say whether it was replaced."""


def manifest(accesses: Sequence[Access] | None = None) -> str:
    """The privacy manifest of a package and its ONNX Runtime: the published one, or one that calls for `accesses`.

    Apple's list of reasons has none for some kinds of access: those cannot be declared.
    """
    found = published() if accesses is None else accesses
    reasons: dict[str, set[str]] = {}
    for access in (OWN, *found):
        if access.reasons:
            reasons.setdefault(access.category, set()).update(access.reasons)
    merged = (Access(category=category, reasons=tuple(sorted(codes))) for category, codes in reasons.items())
    return privacy_manifest(merged).decode()


def published() -> tuple[Access, ...]:
    """What the published library calls for, as it was measured on its code."""
    return tuple(
        Access(category=entry["category"], reasons=tuple(entry["reasons"]))
        for entry in downloads.pins()["ios"]["privacy"]
    )
