"""Names in Swift: of the module, and of the classes that no generated file may lose to a model."""

import re
from collections.abc import Collection, Iterable

from packager import names

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*")
SUFFIX = "Kit"
SUFFIX_BESIDE_APPLE = "Models"
"""where Apple has a Kit of that name"""

# Apple's for iOS and macOS, and Swift's own: an app can import no second module of such a name, nor say
# `Vision.VNImageRequestHandler` where a class is called Vision. developer.apple.com/documentation/technologies
SYSTEM_MODULES = frozenset(
    """
    Accelerate Accessibility Accounts ActivityKit AdAttributionKit AdServices AdSupport AlarmKit AppClip AppIntents
    AppKit AppTrackingTransparency ARKit AudioToolbox AudioUnit AuthenticationServices AVFAudio AVFoundation AVKit
    BackgroundAssets BackgroundTasks BrowserEngineKit BrowserKit BusinessChat CallKit CarKey CarPlay CFNetwork Charts
    Cinematic ClassKit ClockKit CloudKit Cocoa ColorSync Combine Compression Contacts ContactsUI CoreAudio CoreAudioKit
    CoreBluetooth CoreData CoreFoundation CoreGraphics CoreHaptics CoreImage CoreLocation CoreLocationUI CoreMedia
    CoreMIDI CoreML CoreMotion CoreNFC CoreServices CoreSpotlight CoreTelephony CoreText CoreTransferable CoreVideo
    CreateML CryptoKit CryptoTokenKit Darwin DataDetection DeviceActivity DeviceCheck Dispatch Distributed DockKit
    DriverKit EnergyKit EventKit EventKitUI ExposureNotification ExtensionFoundation ExtensionKit ExternalAccessory
    FamilyControls FileProvider FileProviderUI FinanceKit FinanceKitUI Foundation FoundationModels FSKit GameController
    GameKit GameplayKit GLKit GroupActivities GSS HealthKit HealthKitUI HomeKit Hypervisor IdentityLookup
    ImageCaptureCore ImageIO ImagePlayground Intents IntentsUI IOKit IOSurface JavaScriptCore JournalingSuggestions
    LinkPresentation LiveCommunicationKit LocalAuthentication LockedCameraCapture ManagedSettings MapKit MarketplaceKit
    Matter MatterSupport MediaAccessibility MediaPlayer MediaToolbox Messages MessageUI Metal MetalFX MetalKit
    MetalPerformanceShaders MetalPerformanceShadersGraph MetricKit MLCompute ModelIO MultipeerConnectivity MusicKit
    NaturalLanguage NearbyInteraction Network NetworkExtension NotificationCenter Observation OpenGLES OSLog PaperKit
    PassKit PDFKit PencilKit PermissionKit PHASE Photos PhotosUI ProximityReader PushKit PushToTalk Quartz QuartzCore
    QuickLook QuickLookThumbnailing RealityFoundation RealityKit RegexBuilder RelevanceKit ReplayKit RoomPlan
    SafariServices SafetyKit SceneKit ScreenCaptureKit ScreenTime Security SensitiveContentAnalysis SensorKit
    SharedWithYou ShazamKit SiriKit Social SoundAnalysis Speech SpriteKit StickerKit StoreKit Swift SwiftData SwiftUI
    Symbols Synchronization System SystemConfiguration TabularData TelephonyMessagingKit Testing ThreadNetwork TipKit
    Translation TVUIKit UIKit UniformTypeIdentifiers UserNotifications UserNotificationsUI VideoSubscriberAccount
    VideoToolbox Virtualization Vision VisionKit WatchConnectivity WatchKit WeatherKit WebKit WidgetKit WiFiAware
    WorkoutKit XCTest
    """.split()
)
UNUSABLE_MODULES = frozenset(name.lower() for name in SYSTEM_MODULES)
"""In lower case: file systems of Macs do not tell capitals from others."""

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

    `vision` -> `VisionModels`, for VisionKit is Apple's. Raises ValueError for a name that no module can have: what is
    wrong, `|`, what to do.
    """
    if not given:
        stem = names.pascal_case(package).removesuffix(SUFFIX)
        made = stem + SUFFIX
        return stem + SUFFIX_BESIDE_APPLE if made.lower() in UNUSABLE_MODULES else made
    if not IDENTIFIER.fullmatch(given) or given[0].islower():
        raise ValueError(f"module '{given}' is no name of a Swift module|use capitalized words: OrientationKit")
    if given in RESERVED_CLASSES or given.lower() in UNUSABLE_MODULES:
        free = f"{given.removesuffix(SUFFIX)}{SUFFIX_BESIDE_APPLE}"
        raise ValueError(f"module '{given}' has the name of something that Swift code uses|try {free}")
    return given


def class_names(models: Iterable[str], *, taken: Collection[str] = ()) -> dict[str, str]:
    """Model name -> class name; `Model` is put behind a name that is taken, or that Apple or the generated files need.

    The module's own name must be among those that are `taken`: Swift cannot tell the two apart.
    """
    used = UNUSABLE_MODULES | {name.lower() for name in (*RESERVED_CLASSES, *taken)}
    chosen = {}
    for model in models:
        name = names.pascal_case(model)
        # Each class is a file, and file systems of Macs do not tell capitals from others.
        while name.lower() in used:
            name += "Model"
        used |= {name.lower()}
        chosen[model] = name
    return chosen
