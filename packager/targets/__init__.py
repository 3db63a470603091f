"""What mobpack can build for. Adding one: a file and a line here."""

from packager.targets.android import Android
from packager.targets.target import Target

TARGETS: dict[str, type[Android]] = {Android.NAME: Android}

__all__ = ["TARGETS", "Target"]
