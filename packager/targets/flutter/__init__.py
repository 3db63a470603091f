"""Flutter: a pub package with a Dart class for every model, over the files of Android."""

from packager.targets.flutter.target import Flutter

__all__ = ["Flutter"]
