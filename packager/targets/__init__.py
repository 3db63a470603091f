"""The targets. To add one: a file and a line here."""

from packager.targets.android import Android
from packager.targets.flutter import Flutter
from packager.targets.ios import Ios
from packager.targets.react_native import ReactNative
from packager.targets.target import (
    PAGES,
    SBOM,
    TOP,
    Built,
    DefaultProviders,
    OwnRuntime,
    PackagedRuntime,
    Planned,
    Printed,
    Shipped,
    Target,
    Wrapper,
    included,
)
from packager.targets.web import Web

TARGETS: dict[str, type[Android] | type[Ios] | type[Web]] = {Android.NAME: Android, Ios.NAME: Ios, Web.NAME: Web}

WRAPPERS: dict[str, type[ReactNative] | type[Flutter]] = {ReactNative.NAME: ReactNative, Flutter.NAME: Flutter}
"""Targets whose packages include the packages of other targets."""

MODELS_IN: dict[str, str] = {
    **Android.MODELS_IN,
    **Flutter.MODELS_IN,
    **Ios.MODELS_IN,
    **ReactNative.MODELS_IN,
    **Web.MODELS_IN,
}
"""Kind of artifact -> the folder in it with the files of models."""

__all__ = [
    "MODELS_IN",
    "PAGES",
    "SBOM",
    "TARGETS",
    "TOP",
    "WRAPPERS",
    "Built",
    "DefaultProviders",
    "OwnRuntime",
    "PackagedRuntime",
    "Planned",
    "Printed",
    "Shipped",
    "Target",
    "Wrapper",
    "included",
]
