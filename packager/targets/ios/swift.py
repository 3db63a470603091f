"""Swift names: the module, and classes that do not collide with generated code."""

import re
from collections.abc import Collection, Iterable

from packager.core import names
from packager.core.errors import SettingError
from packager.targets.apple import SYSTEM_MODULES

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*")
SUFFIX = "Kit"
SUFFIX_BESIDE_APPLE = "Models"
"""suffix if Apple has a Kit of that name"""

UNUSABLE_MODULES = frozenset(name.lower() for name in SYSTEM_MODULES)
"""in lower case: macOS file systems ignore case"""

# Names that the generated files use: a model's class must not hide them.
RESERVED_CLASSES = frozenset(
    """
    Allowed Anchor Answer AnyObject Array ArraySlice AsyncIteratorProtocol AsyncSequence AsyncThrowingStream
    BFloat16 Bool Bundle Cancellation CancellationError CaseIterable CChar Checksum CocoaError Codable ComputeUnits
    Connection CoreMLOptions CustomStringConvertible Data Declared Dictionary DispatchQueue DispatchSemaphore
    DispatchSource DispatchSourceMemoryPressure DispatchTime Distance Double Download Downloads Durations Element
    Equatable Error ExpressibleByFloatLiteral ExpressibleByIntegerLiteral FailureEvent Fallback Fed FedStrings
    Feeding Figures FileChanged FileHandle FileManager FixedWidthInteger Float Float16 Folder FoundationNetworking
    Frames Gate Golden GoldenSample GoldenTensor Half Hashable Heat Histogram HTTPURLResponse Identifiable Info
    Input Int Int16 Int32 Int64 Int8 Interruption Iterator Known Lent LoadEvent Loading LoadProgress LocalizedError
    MemoryLayout MemoryPressure MetricValue ModelError ModelFile ModelFiles ModelFormat ModelMetrics ModelObserver
    ModelOpener ModelSession ModelSnapshot Never NotificationCenter NSCocoaErrorDomain NSCondition NSData NSError
    NSLock NSObject NSPOSIXErrorDomain NSRange NSString NSUnderlyingErrorKey Number ObjectIdentifier
    ONNXTensorElementDataType OpaquePointer OpenedFile Optional Options OrtAllocator OrtApi OrtDeviceAllocator
    OrtGetApiBase OrtMemTypeDefault OrtStatusPtr Output OutputTest Pace Part Policies POSIXError POSIXErrorCode
    ProcessInfo Provider ProviderAssignment Recipe Record ReleaseEvent ReleaseReason Reopening Resource Result
    Results RunEvent Runtime Sampled SampleTest Self SelfTest SelfTester Sendable Sequence Session Sessions
    SessionSettings Set SHA256 Shape Shared Source SourceKind Specialization Start Stopwatch String Swift Task
    TaskLocal Tensor TestedFile Texts Threads Transfer Type UInt16 UInt32 UInt64 UInt8 UnsafeBufferPointer
    UnsafeMutableBufferPointer UnsafeMutablePointer UnsafeMutableRawBufferPointer UnsafeMutableRawPointer
    UnsafePointer UnsafeRawBufferPointer UnsafeRawPointer URL URLRequest URLResourceValues URLResponse URLSession
    URLSessionConfiguration URLSessionDataDelegate URLSessionDataTask URLSessionTask UTF8 Value Verify Void
    """.split()
)

# Names that contracts add: reserved only in packages with contracts, so that class names elsewhere do not change.
RESERVED_BY_CONTRACTS = frozenset(
    """
    Box Carried CGColorSpace CGContext CGFloat CGImage CGImageAlphaInfo CGImagePropertyOrientation CGRect Chroma
    Classification CVPixelBuffer Detection Entity FedPixels GeneratedParts GeneratedText Labels Made Mask Orientation
    OSType Picture PictureLayout PixelBuffer PixelFormat PixelMemory PixelPlane Pixels Prediction Range Ranked Reading
    Region Rows Samples Similarity Sound State SystemPictures TextLists UIImage Unicode YuvConversion
    """.split()
)

RESERVED_BY_TRUST = frozenset(
    """
    Annotations CodingKey CodingKeys CryptoKit Decodable Envelope File JSONDecoder P256 Predicate Serialization
    Signature Signed SignedList Statement Subject Trust TrustProblem
    """.split()
)
"""the same in packages that verify signatures"""

RESERVED_BY_TUNING = frozenset("Mirror Tuned Tuning".split())
"""the same in packages with tuned settings"""

RESERVED_BY_ENCRYPTION = frozenset(
    {"Crypto", "CryptoKit", "NSMutableData", "Nonce", "SealedBox", "SealedFile", "SymmetricKey"}
)
"""the same in packages that decrypt models"""

RESERVED_BY_DELIVERY = frozenset(
    """
    About AsyncStream Attempt Blob BufferedInput ChannelAnswer ChannelDocument ChannelFile ChannelRelease ChannelRequest
    Codable Collection Conditions Content Damaged Date Decoder Delta DeltaRefused DeviceConditions
    DocumentRefused Durable DurableFiles Entry FileLock Header Inflate JSONEncoder Kept Key Lease Made
    MainActor ModelRecord ModelUpdater Network NSNumber NWPathMonitor OpenFile Patch Phase
    Receiver ReleaseDownload Rollout SampleFile
    Schema Seen Setting Stated State Substring Tolerance UIDevice UIKit UInt UnsignedInteger Update UpdatedRelease
    UpdatedSource UpdateFailure UpdateOptions UpdateRecord UpdateState UpdateStore UUID
    """.split()
)
"""the same in packages that take models from a channel"""


def module_name(package: str, given: str = "") -> str:
    """Name of the Swift module: `page-orientation` -> `PageOrientationKit`, or the name `given`.

    `vision` -> `VisionModels`, because VisionKit is Apple's. Raises SettingError for an unusable
    name.
    """
    if not given:
        stem = names.pascal_case(package).removesuffix(SUFFIX)
        made = stem + SUFFIX
        return stem + SUFFIX_BESIDE_APPLE if made.lower() in UNUSABLE_MODULES else made
    if not IDENTIFIER.fullmatch(given) or given[0].islower():
        raise SettingError(
            f"module '{given}' is not a valid name for a Swift module", hint="use capitalized words: OrientationKit"
        )
    if given in RESERVED_CLASSES or given.lower() in UNUSABLE_MODULES:
        free = f"{given.removesuffix(SUFFIX)}{SUFFIX_BESIDE_APPLE}"
        raise SettingError(f"module '{given}' clashes with a name that Swift code uses", hint=f"try {free}")
    return given


def class_names(models: Iterable[str], *, taken: Collection[str] = ()) -> dict[str, str]:
    """Model name -> class name; `Model` is appended to names that are taken, or used by Apple or generated files.

    The module's own name must be in `taken`: Swift cannot distinguish the two.
    """
    used = UNUSABLE_MODULES | {name.lower() for name in (*RESERVED_CLASSES, *taken)}
    chosen = {}
    for model in models:
        name = names.pascal_case(model)
        # Each class is a file, and macOS file systems ignore case.
        while name.lower() in used:
            name += "Model"
        used |= {name.lower()}
        chosen[model] = name
    return chosen
