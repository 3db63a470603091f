"""Module names that Apple uses, which modules of an app must avoid."""

# Apple's for iOS and macOS, and Swift's own: an app cannot import a second module of such a name, nor write
# `Vision.VNImageRequestHandler` if a class is called Vision. developer.apple.com/documentation/technologies
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
