"""An ONNX Runtime of the user's own, on its way into a package for iOS."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from packager.xcframework.privacy import Access


@dataclass(frozen=True, kw_only=True)
class PackagedFramework:
    """An ONNX Runtime for iOS as a package brings it along, or names its address."""

    version: str
    """ONNX Runtime's; empty for an address, whose file nobody has opened"""
    ship: Literal["inside", "url"]
    """copied into the package, or named in its Package.swift"""
    folder: Path | None = None
    """the .xcframework, checked; None for an address"""
    name: str = "onnxruntime"
    """`NAME.xcframework`"""
    url: str = ""
    checksum: str = ""
    """sha256 of the .zip at the address, as SwiftPM wants it"""
    sha256: str = ""
    """of the user's .zip, or of the names and contents in the user's folder"""
    architectures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """slice -> processors: `{"ios-arm64": ("arm64",)}`"""
    minimum_os: str = ""
    """the oldest iOS that its code for phones runs on: `15.1`; empty when unknown"""
    linkage: Literal["static", "dynamic", ""] = ""
    """empty for an address"""
    has_c_module: bool = False
    """whether Swift can import its C API; if not, the package brings headers and a module of its own"""
    providers: tuple[str, ...] = ()
    """what is compiled in, of `coreml` and `xnnpack`"""
    accesses: tuple[Access, ...] | None = None
    """the required-reason APIs that its code for phones and simulators calls; None when unknown"""
    operators_sha256: str = ""
    """of the operator configuration; empty when nobody named one"""
    is_reduced: bool = False
