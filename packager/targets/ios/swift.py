"""Names in Swift: of the module, and of the classes that no generated file may lose to a model."""

import re
from collections.abc import Collection, Iterable

from packager import names

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*")
SUFFIX = "Kit"

# Swift's own and Foundation's, which an app imports too: a module of such a name would hide theirs.
SYSTEM_MODULES = frozenset("CoreML CryptoKit Dispatch Foundation Swift SwiftUI UIKit XCTest".split())

# Names that the generated files use; a model's class must not hide one of them.
RESERVED_CLASSES = frozenset(
    """
    Allowed Anchor Array ArraySlice BFloat16 Bool Bundle Cancellation CancellationError CaseIterable CChar
    Checksum Codable ComputeUnits CoreMLOptions CustomStringConvertible Data Dictionary DispatchQueue Distance
    Double Equatable Error ExpressibleByFloatLiteral ExpressibleByIntegerLiteral Fallback Fed FedStrings
    FileManager FixedWidthInteger Float Float16 Folder Gate Golden GoldenSample GoldenTensor Half Hashable
    Identifiable Info Input Int Int16 Int32 Int64 Int8 Lent LocalizedError MemoryLayout ModelError ModelFile
    ModelFiles ModelFormat ModelOpener ModelSession Never NSCondition NSData NSLock NSRange Number
    ONNXTensorElementDataType OpaquePointer Optional Options OrtAllocator OrtApi OrtDeviceAllocator
    OrtGetApiBase OrtMemTypeDefault OrtStatusPtr Output OutputTest ProcessInfo Provider Recipe Resource Result
    Results Runtime Sampled SampleTest Self SelfTest SelfTester Sendable Sequence Session SessionSettings Set
    SHA256 Shape Shared Source Specialization String Swift Task Tensor TestedFile Texts Thing Type UInt16
    UInt32 UInt64 UInt8 UnsafeMutableBufferPointer UnsafeMutablePointer UnsafeMutableRawBufferPointer
    UnsafeMutableRawPointer UnsafePointer UnsafeRawBufferPointer UnsafeRawPointer URL UTF8 Value Void
    """.split()
)


def module_name(package: str, given: str = "") -> str:
    """What Swift code imports: `page-orientation` -> `PageOrientationKit`, or the name that was `given`.

    Raises ValueError for a name that no module can have: what is wrong, `|`, what to do.
    """
    if not given:
        made = names.pascal_case(package)
        return made if made.endswith(SUFFIX) else made + SUFFIX
    if not IDENTIFIER.fullmatch(given) or given[0].islower():
        raise ValueError(f"module '{given}' is no name of a Swift module|use capitalized words: OrientationKit")
    if given in RESERVED_CLASSES or given in SYSTEM_MODULES:
        raise ValueError(f"module '{given}' has the name of something that Swift code uses|try {given}{SUFFIX}")
    return given


def class_names(models: Iterable[str], *, taken: Collection[str] = ()) -> dict[str, str]:
    """Model name -> class name; `Model` is put behind a name that is taken, or that the generated files need.

    The module's own name must be among those that are `taken`: Swift cannot tell the two apart.
    """
    used = {name.lower() for name in (*RESERVED_CLASSES, *taken)}
    chosen = {}
    for model in models:
        name = names.pascal_case(model)
        # Each class is a file, and file systems of Macs do not tell capitals from others.
        while name.lower() in used:
            name += "Model"
        used.add(name.lower())
        chosen[model] = name
    return chosen
