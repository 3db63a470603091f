"""iOS and macOS: a Swift package with a class for every model."""

from packager.targets.ios.target import Ios

__all__ = ["Ios"]
