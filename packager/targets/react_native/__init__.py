"""React Native: an npm package with a typed module for every model, over the files of Android and iOS."""

from packager.targets.react_native.target import ReactNative

__all__ = ["ReactNative"]
