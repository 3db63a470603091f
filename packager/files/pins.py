"""Types of `processes/pins.toml`."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

OnnxRuntimePins = TypedDict("OnnxRuntimePins", {"newest": str, "max-ir-version": int, "max-opset": int})
AndroidPins = TypedDict(
    "AndroidPins",
    {
        "onnxruntime": str,
        "onnxruntime-qnn": str,
        "abis": Mapping[str, Sequence[str]],
        "min-sdk": int,
        "compile-sdk": int,
        "java": int,
        "kotlin-language": str,
        "kotlin-stdlib": str,
        "kotlin-coroutines": str,
        "annotations": str,
        "gradle-plugin": str,
        "gradle": str,
    },
)


class JvmPins(TypedDict):
    onnxruntime: str


class PinnedReleases(TypedDict):
    releases: Sequence[str]


class PinnedAccess(TypedDict):
    category: str
    reasons: Sequence[str]


IosPins = TypedDict(
    "IosPins",
    {
        "onnxruntime": str,
        "version": str,
        "archive": str,
        "checksum": str,
        "min-ios": str,
        "min-macos": str,
        "swift-tools": str,
        "privacy": Sequence[PinnedAccess],
        "headers": Mapping[str, str],
    },
)


class WebPins(TypedDict):
    version: str
    runtimes: Mapping[str, Mapping[str, str]]


class ReactNativePins(TypedDict):
    oldest: str


Pins = TypedDict(
    "Pins",
    {
        "onnxruntime": OnnxRuntimePins,
        "onnxruntime-commits": Mapping[str, str],
        "android": AndroidPins,
        "jvm": JvmPins,
        "runtime-range": PinnedReleases,
        "ios": IosPins,
        "web": WebPins,
        "react-native": ReactNativePins,
        "licenses": Mapping[str, str],
        "files": Mapping[str, Mapping[str, str]],
    },
)
