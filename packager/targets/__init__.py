"""What mobpack can build for. Adding one: a file and a line here."""

from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.target import OwnRuntime, PackagedRuntime, Planned, Target

TARGETS: dict[str, type[Android] | type[Ios]] = {Android.NAME: Android, Ios.NAME: Ios}

__all__ = ["TARGETS", "OwnRuntime", "PackagedRuntime", "Planned", "Target"]
