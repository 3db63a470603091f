"""What a package says of itself to the App Store: PrivacyInfo.xcprivacy, beside the models."""

from collections.abc import Sequence

from packager import tools
from packager.xcframework.privacy import Access, privacy_manifest


def manifest(accesses: Sequence[Access] | None = None) -> str:
    """The privacy manifest of a package with ONNX Runtime in it: of the published one, or of what calls for `accesses`.

    Apple's list of reasons has none for some kinds of access: those cannot be declared.
    """
    found = published() if accesses is None else accesses
    return privacy_manifest(access for access in found if access.reasons).decode()


def published() -> tuple[Access, ...]:
    """What the published library calls for, as it was measured on its code."""
    return tuple(
        Access(category=entry["category"], reasons=tuple(entry["reasons"])) for entry in tools.pins()["ios"]["privacy"]
    )
