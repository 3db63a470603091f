"""The user's own ONNX Runtime in a package for iOS."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from packager.targets.xcframework.privacy import Access


@dataclass(frozen=True, kw_only=True)
class PackagedFramework:
    """An ONNX Runtime for iOS that a package contains, or refers to by address."""

    version: str
    """version of ONNX Runtime; empty for an address, which is not downloaded"""
    ship: Literal["inside", "url"]
    """copied into the package, or referred to in its Package.swift"""
    folder: Path | None = None
    """the checked .xcframework; None for an address"""
    name: str = "onnxruntime"
    """`NAME.xcframework`"""
    url: str = ""
    checksum: str = ""
    """sha256 of the .zip at the address, in SwiftPM's form"""
    sha256: str = ""
    """sha256 of the user's .zip, or of the names and contents in the user's folder"""
    architectures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """slice -> architectures: `{"ios-arm64": ("arm64",)}`"""
    minimum_os: str = ""
    """oldest iOS that its code supports: `15.1`; empty if unknown"""
    linkage: Literal["static", "dynamic", ""] = ""
    """empty for an address"""
    has_c_module: bool = False
    """whether Swift can import its C API; otherwise the package adds headers and a module"""
    providers: tuple[str, ...] = ()
    """providers that are compiled in, of `coreml` and `xnnpack`"""
    accesses: tuple[Access, ...] | None = None
    """required-reason APIs that its code for phones and simulators uses; None if unknown"""
    operators_sha256: str = ""
    """sha256 of the operator configuration; empty without one"""
    is_reduced: bool = False
