"""The targets. To add one: a folder and a line here."""

from packager.targets.android import Android
from packager.targets.cpp import Cpp
from packager.targets.flutter import Flutter
from packager.targets.ios import Ios
from packager.targets.jvm import Jvm
from packager.targets.node import Node
from packager.targets.python import Python
from packager.targets.react_native import ReactNative
from packager.targets.target import (
    PAGES,
    SBOM,
    TOP,
    Built,
    DefaultProviders,
    InMaven,
    OwnRuntime,
    PackagedRuntime,
    Planned,
    Printed,
    Shipped,
    Target,
    Wrapper,
    included,
    target_of,
    wrapper_of,
)
from packager.targets.web import Web

TARGETS: dict[str, type[Target]] = {
    Android.NAME: target_of(Android),
    Ios.NAME: target_of(Ios),
    Web.NAME: target_of(Web),
    Python.NAME: target_of(Python),
    Cpp.NAME: target_of(Cpp),
    Jvm.NAME: target_of(Jvm),
    Node.NAME: target_of(Node),
}

WRAPPERS: dict[str, type[Wrapper]] = {
    ReactNative.NAME: wrapper_of(ReactNative),
    Flutter.NAME: wrapper_of(Flutter),
}
"""Targets whose packages include the packages of other targets."""

KNOWN_TARGETS: dict[str, type[Printed]] = {**TARGETS, **WRAPPERS}
"""Every target: each has a table in mobpack.toml."""

MODELS_IN: dict[str, str] = {kind: folder for each in KNOWN_TARGETS.values() for kind, folder in each.MODELS_IN.items()}
"""Kind of artifact -> the folder in it with the files of models."""

__all__ = [
    "KNOWN_TARGETS",
    "MODELS_IN",
    "PAGES",
    "SBOM",
    "TARGETS",
    "TOP",
    "WRAPPERS",
    "Built",
    "DefaultProviders",
    "InMaven",
    "OwnRuntime",
    "PackagedRuntime",
    "Planned",
    "Printed",
    "Shipped",
    "Target",
    "Wrapper",
    "included",
]
