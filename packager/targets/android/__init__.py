"""Android: a library (.aar) with a Kotlin class for every model."""

from packager.targets.android.target import Android

__all__ = ["Android"]
