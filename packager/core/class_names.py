"""Class names of models: the same in every language, and none that an app has from elsewhere.

A name that one platform uses is left to it on all of them: a model `text` is `TextModel` in Kotlin too, although Kotlin
alone would allow `Text`.
"""

from collections.abc import Iterable, Mapping
from typing import get_args

from packager.core.apple import SYSTEM_MODULES
from packager.core.contract import TypedOutput
from packager.core.names import pascal_case

SUFFIX = "Model"
BESIDE = ("", "Inputs", "Outputs", "Prediction", "Tensors")
"""suffixes of the types that belong to a model's class in one of the languages"""
ITEM = "Item"
"""suffix of the type of a pipeline's items"""

PLATFORMS: Mapping[str, str] = {
    "Kotlin": """
    AbstractList Annotation Any Appendable Array ArrayDeque ArrayList AutoCloseable Boolean BooleanArray Byte ByteArray
    Char Character CharArray CharRange CharSequence Class ClassLoader Cloneable Collection Comparable Comparator
    Compiler Coroutine CoroutineScope Deferred Deprecated Dispatchers Double DoubleArray Enum Error Exception Float
    FloatArray Flow Function Grouping HashMap HashSet Int IntArray Integer IntRange Iterable Iterator Job Lazy
    LinkedHashMap LinkedHashSet List Long LongArray LongRange Map Math Metadata Module MutableList MutableMap MutableSet
    MutableStateFlow Mutex Nothing Number Object OptIn Override Package Pair Process ProcessBuilder Random RandomAccess
    Readable Record Regex Repeatable Result Retention Runnable Runtime Sequence Set SharedFlow Short ShortArray
    StackTraceElement StateFlow StrictMath String StringBuffer StringBuilder Suppress Synchronized System Target Thread
    ThreadGroup ThreadLocal Throwable Throws Transient Triple Typography UByte UInt ULong Unit UShort Void Volatile
    """,
    "Android": """
    Activity AlertDialog Animation Animator Application Array ArrayAdapter AsyncTask AudioRecord AudioTrack Binder
    Bitmap BitmapFactory BroadcastReceiver Build Bundle Button Camera Canvas CheckBox Color ComponentName Configuration
    ConstraintLayout ContentResolver ContentValues Context Cursor DataBinding Dialog DialogFragment Drawable Editable
    EditText Environment File FileProvider Fragment FrameLayout Gravity GridView Handler IBinder Image ImageAnalysis
    ImageButton ImageCapture ImageProxy ImageReader ImageView InputMethodManager Intent IntentFilter Interpolator
    KeyEvent LayoutInflater Lifecycle LifecycleOwner LinearLayout ListView LiveData Loader Location LocationManager Log
    Looper Manifest MapView Matrix MediaPlayer Menu MenuItem Message MotionEvent Navigation Notification
    NotificationManager Outline Paint Parcel Parcelable Path PendingIntent Picture Point PointF Preview ProgressBar
    RadioButton Rect RectF RecyclerView RelativeLayout RemoteViews Resources Room Scroller ScrollView SearchView SeekBar
    Sensor Service SharedPreferences Size SoundPool SpannableString Spinner Surface SurfaceView Switch TabLayout
    TextureView TextView TextWatcher Toast Toolbar Trace Uri Vibrator View ViewGroup ViewHolder ViewModel ViewPager
    WebView Widget Window WindowManager Worker WorkManager
    """,
    "Compose": """
    AlertDialog Alignment Animatable Arrangement AsyncImage Badge BadgedBox BasicText BasicTextField BottomAppBar
    BottomSheet Box BoxWithConstraints Brush Button ButtonDefaults Canvas Card Carousel Checkbox Chip CircleShape
    CircularProgressIndicator Color ColorScheme Column Composable Composition ContentScale Crossfade DatePicker Density
    Dialog DisposableEffect Divider Dp DpSize DrawerState DropdownMenu DropdownMenuItem Easing Effect ElevatedButton
    ElevatedCard FilledTonalButton FilterChip FloatingActionButton FlowColumn FlowRow Font FontFamily FontStyle
    FontWeight Grid GridCells HorizontalDivider HorizontalPager Icon IconButton Icons Image ImageBitmap ImageVector
    InputChip LaunchedEffect Layout LazyColumn LazyGrid LazyRow LinearProgressIndicator ListItem LocalContext
    MaterialTheme Measurable ModalBottomSheet Modifier MutableState NavHost NavigationBar NavigationRail Offset
    OutlinedButton OutlinedCard OutlinedTextField Painter Path Placeable Popup Preview RadioButton RangeSlider
    Recomposer RectangleShape RememberObserver RoundedCornerShape Row Saver Scaffold SearchBar Shadow Shape Shapes
    SideEffect Size Slider Snackbar SnackbarHost Snapshot Spacer Stable State SubcomposeLayout Surface Switch Tab TabRow
    Text TextButton TextField TextStyle TextUnit TimePicker Tooltip TopAppBar Transition Typography Velocity
    VerticalDivider VerticalPager VisualTransformation Window WindowInsets
    """,
    "Swift": """
    Actor Any AnyClass AnyHashable AnyObject Array ArraySlice AsyncSequence AsyncStream BinaryFloatingPoint
    BinaryInteger Bool CaseIterable Character Clock ClosedRange Codable CodingKey Collection CommandLine Comparable
    ContiguousArray CustomStringConvertible Decodable Decoder DefaultIndices Dictionary Duration Encodable Encoder
    EnumeratedSequence Equatable Error Executor FixedWidthInteger Float Float16 Float80 Global Hashable Hasher
    Identifiable Int Int16 Int32 Int64 Int8 Iterator IteratorProtocol Job KeyPath LazySequence MainActor Mirror Never
    Numeric Optional OptionSet Protocol RandomNumberGenerator Range RawRepresentable Regex Repeated Result Self Sendable
    Sequence Set SetAlgebra Slice StaticString Stride Strideable String StringProtocol Substring
    SystemRandomNumberGenerator Task TaskGroup TaskLocal TextOutputStream Type UInt UInt16 UInt32 UInt64 UInt8 Unicode
    Unmanaged UnsafePointer Vector Void Zip
    """,
    "Foundation": """
    AffineTransform AttributedString Bundle ByteCountFormatter Calendar CharacterSet Data Date DateComponents
    DateFormatter DateInterval Decimal Decoder Dimension DispatchQueue DistributedActor FileHandle FileManager
    FileWrapper FormatStyle Formatter Host HTTPCookie IndexPath IndexSet InputStream JSONDecoder JSONEncoder
    JSONSerialization LengthFormatter ListFormatter Locale Measurement MeasurementFormatter Morphology Notification
    NotificationCenter NumberFormatter ObservableObject Operation OperationQueue OutputStream PersonNameComponents Pipe
    Port Predicate Process ProcessInfo Progress PropertyListDecoder Published Scanner Selector SortDescriptor SortOrder
    Stream Thread TimeInterval Timer TimeZone UndoManager Unit URL URLComponents URLRequest URLResponse URLSession
    UserDefaults UUID XMLParser
    """,
    "SwiftUI": """
    Alert AlertScene Alignment Anchor Angle Animatable Animation AnyLayout AnyShape AnyTransition AnyView App AppStorage
    AsyncImage Axis Background Badge Bindable Binding Button ButtonStyle Canvas Capsule Chart Circle Color ColorPicker
    ColorScheme Commands ConfirmationDialog ContentMode ContentUnavailableView ContextMenu ControlGroup CoordinateSpace
    DatePicker DisclosureGroup Divider Edge EdgeInsets EditButton EditMode Ellipse EllipticalGradient EmptyView Entry
    Environment EnvironmentObject EnvironmentValues EquatableView FetchRequest FillStyle FocusState Font ForEach Form
    Gauge GeometryProxy GeometryReader Gesture GestureState Gradient Grid GridItem GridRow Group GroupBox HelpLink
    HStack Image ImageRenderer InsettableShape KeyEquivalent Keyframe KeyframeAnimator Label LabeledContent Layout
    LazyHGrid LazyHStack LazyVGrid LazyVStack LinearGradient Link List ListStyle Map Marker Material Menu MenuStyle
    MeshGradient MultiDatePicker Namespace NavigationLink NavigationPath NavigationSplitView NavigationStack
    NavigationView Observable ObservedObject OutlineGroup PasteButton Path PhaseAnimator PhotosPicker Picker Popover
    Preference PreferenceKey Preview PrimitiveButtonStyle ProgressView ProjectionTransform Query RadialGradient
    Rectangle RenameButton RotatedShape RoundedRectangle Scene SceneStorage ScrollView ScrollViewProxy ScrollViewReader
    SearchField Section SecureField Settings SettingsLink Shader Shape ShapeStyle ShareLink Sheet Slider Spacer State
    StateObject Stepper StrokeStyle SubscriptionView Subview Symbol SymbolEffect Tab Table TableColumn TableRow
    TabSection TabView Text TextEditor TextField TextRenderer TextSelection TimelineView TipView Toggle Toolbar
    ToolbarItem Transaction Transferable Transform Transition UnevenRoundedRectangle UnitPoint VideoPlayer View
    ViewBuilder ViewModifier ViewThatFits Visibility VStack WebView Widget Window WindowGroup ZStack
    """,
    "JavaScript": """
    AggregateError Array ArrayBuffer AsyncFunction AsyncGenerator AsyncIterator Atomics BigInt BigInt64Array
    BigUint64Array Boolean DataView Date DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array
    Float64Array Function Generator GeneratorFunction Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map
    Math Module NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String
    SuppressedError Symbol SyntaxError Temporal TypeError Uint16Array Uint32Array Uint8Array Uint8ClampedArray URIError
    WeakMap WeakRef WeakSet WebAssembly
    """,
    "TypeScript": """
    ArrayLike AsyncDisposable AsyncIterable Awaited Capitalize ConstructorParameters Disposable Exclude Extract
    InstanceType Iterable Lowercase NoInfer NonNullable Omit Parameters Partial Pick PromiseLike Readonly ReadonlyArray
    ReadonlyMap ReadonlySet Record Required ReturnType ThisType Uncapitalize Uppercase WeakKey
    """,
    "the browser": """
    AbortController AbortSignal Algorithm Animatable Animation Attr Audio AudioBuffer AudioContext AudioData
    AudioDecoder AudioEncoder Blob Body Buffer Cache Clipboard Comment Console Credential Crypto CustomEvent Document
    DocumentFragment DOMRect Element Event EventSource EventTarget External File FileList FileReader FontFace FormData
    Gamepad Geolocation Global Headers Highlight History Image ImageBitmap ImageData ImageDecoder IntersectionObserver
    KeyboardEvent Keyframe Location Lock MediaRecorder MediaSource MediaStream MessageChannel MessagePort MouseEvent
    Navigation Navigator Node NodeFilter NodeList Notification Option Performance Permissions Plugin PointerEvent
    Process Range ReadableStream Report Request ResizeObserver Response Sanitizer Scheduler Screen Selection ShadowRoot
    Slottable Storage StyleSheet Text TextDecoder TextEncoder TextMetrics Touch TouchEvent Transferable Transformer
    TransformStream URL URLPattern VideoDecoder VideoEncoder VideoFrame Viewport WebSocket Window Worker Worklet
    WritableStream XMLHttpRequest
    """,
    "React": """
    ActionState Activity Attributes Callback Children Component Consumer Context DebugValue DeferredValue Dispatch
    Effect EffectEvent ElementType FC ForwardedRef Fragment Id ImperativeHandle InsertionEffect JSX Key LayoutEffect
    Memo Optimistic Profiler PropsWithChildren Provider PureComponent React ReactElement ReactNode Reducer Ref RefObject
    State StrictMode Suspense SyncExternalStore SyntheticEvent Transition
    """,
    "React Native": """
    ActivityIndicator Alert Animated Appearance AppRegistry AppState BackHandler Button Clipboard ColorScheme
    DeviceEventEmitter DeviceInfo Dimensions Easing EventEmitter FlatList Image ImageBackground Keyboard LayoutAnimation
    Linking LogBox Modal NativeModules Networking PanResponder PermissionsAndroid PixelRatio Platform Pressable
    RefreshControl SafeAreaView ScrollView SectionList Settings Share StatusBar StyleSheet Switch Systrace Text
    TextInput TouchableOpacity TurboModule Vibration View VirtualizedList WindowDimensions
    """,
    "Dart": """
    BigInt Bool Comparable Completer DateTime Deprecated Double Duration Enum Error Exception Expando File Finalizer
    Float32List Float64List Function Future FutureOr HttpClient Int Int16List Int32List Int64List Int8List Invocation
    Isolate Iterable Iterator List Map MapEntry Match Never Null Num Object Pattern Platform Process Queue Random Record
    RegExp Rune Runes Set Sink Socket StackTrace Stopwatch Stream StreamController String StringBuffer StringSink Symbol
    Timer Type TypedData Uint16List Uint32List Uint64List Uint8List Uri WeakReference Zone
    """,
    "Flutter": """
    Accumulator Action Actions Adaptation AlertDialog Align Alignment Animatable AnimatedBuilder AnimatedContainer
    Animation AnimationController AppBar AspectRatio Assertiveness AssetBundle AssetImage Autocomplete Axis Badge Banner
    Baseline Border BorderRadius BorderSide BottomNavigationBar BottomSheet BoxConstraints BoxDecoration BoxFit
    BoxShadow Brightness BuildContext Builder ButtonStyle Canvas Card Carousel CarouselView Category Center
    ChangeNotifier Checkbox Chip ChoiceChip CircleAvatar CircularProgressIndicator Clip Clipboard Codec Color Colors
    ColorScheme Column Constraints Container Cubic CupertinoButton Curve Curves CustomPaint CustomPainter DataTable
    Decoration Diagnosticable Dialog Directionality Dismissible Display Divider Drag Draggable Drawer DropdownButton
    DropdownMenu Durations Easing EdgeInsets Element ElevatedButton Expanded Expansible ExpansionTile Factory Feedback
    FilledButton Flex Flexible FloatingActionButton Flow Focus FocusNode FontWeight Form FormField FutureBuilder
    GestureDetector GlobalKey Gradient GridView Hero Icon IconButton IconData Icons Image ImageProvider IndexedStack
    InheritedWidget Ink InkWell InputDecoration Intent Interval Key KeyedSubtree Layer LayoutBuilder LinearGradient
    LinearProgressIndicator Listenable Listener ListTile ListView Localizations LocalKey Magnifier Material MaterialApp
    Matrix4 MediaQuery MenuBar MethodChannel NavigationBar NavigationRail Navigator NetworkImage Notification Offset
    Offstage Opacity Orientation OutlinedButton Overlay Padding Page PageController PageView Paint Paragraph Path
    PictureRecorder Placeholder PopupMenuButton Positioned Preview Priority Radio Radius RangeSlider Rect
    RefreshIndicator RenderBox RenderObject RichText Route Router Row SafeArea Scaffold Scene Scribe Scrollable
    Scrollbar ScrollController SearchBar Selectable SelectableText Semantics Shader Shadow Shape Shortcuts Simulation
    SingleChildScrollView Size SizedBox Slider SliverList SnackBar Spacer Split Stack State StatefulWidget
    StatelessWidget Step Stepper StreamBuilder Summary Switch Tab TabBar TabBarView Table TableRow Tangent Text
    TextButton TextEditingController TextField TextFormField TextPainter TextSpan TextStyle Texture Theme ThemeData
    Threshold Thumb Ticker TimeOfDay Title ToggleButtons Tolerance Tooltip Transform Tristate Tween Typography Unicode
    ValueNotifier Velocity Vertices View Viewport Violation Visibility Widget WidgetsApp Wrap
    """,
}
"""names that apps have from their languages and frameworks"""

OWN = """
    About ActivityManager Allowed AndroidConditions Annotations Answer AnyModel ApplicationExitInfo Arena
    ArrayBufferView Asset Assignment AsyncIteratorProtocol AsyncRunOptions AsyncStream AsyncThrowingStream
    AtomicBoolean AtomicInteger Attempt AttemptKind Attempts AVAudioChannelCount AVAudioFormat AVAudioFrameCount
    AVAudioPCMBuffer Backend BadModelException Ban BanEvent Base64 BasicFileAttributes
    BufferedImage BatteryManager BFloat16 BufferedInput Builder
    BundledSource ByteArrayOutputStream ByteBuffer ByteOrder Bytes Call CallOptions Calls Cancellation
    CancellationError CancellationException Carried CChar CFData CGBitmapInfo CGColorSpace CGContext CGDataProvider
    CGFloat CGImage CGImageAlphaInfo CGImagePropertyOrientation CGRect Channel ChannelAnswer ChannelDocument
    ChannelFile ChannelRefused ChannelRelease ChannelReleases ChannelRequest CharacterSet Charsets ChatTemplate Checked
    CheckedContinuation Checksum Chroma Cipher
    ClassifyOptions ClassifySyncOptions CocoaError CodePoints CodingKeys Collections Companion CompletableDeferred
    ComputeUnits ConcurrentHashMap Conditions Config Connection ConnectivityManager Content Copy CopyOnWriteArrayList
    CoreMLOptions Counts CPU CVPixelBuffer Damaged DataFormatException DataOf DateConstructor Deadline Declared
    Decrypted Decryption DefaultInput Delivered DELIVERY Delegations Delta DeltaException DeltaHeader DeltaRefused
    DeltaRun Der Device DeviceConditions DeviceState DispatchSemaphore DispatchSource DispatchSourceMemoryPressure
    DispatchTime
    Distance DocumentException DoubleBuffer Download Downloads Durable DurableFiles EncodedKeySpec Enveloped
    Engine EnumSet Envelope EnvelopeException ErrnoException ErrorConstructor ExecutionException
    ExpressibleByFloatLiteral ExpressibleByIntegerLiteral Failing FailureEvent Fallback Fastest Fault Fed FedPixels
    FedState FedStrings Feeding Field Fields Figures FileChanged
    FileChannel FileDescriptor FileInputStream FileLock
    FileOutputStream FileProtectionType Files FloatBuffer Folder FolderSource FoundationNetworking Frame Frames
    FrameSource FutureTask Gate GCMParameterSpec GeneralSecurityException GeneratedParts GeneratedText Golden
    GoldenSample GoldenTensor GregorianCalendar GuardedFiles Half Header Heard Heat Held Histogram HookOptions
    HttpURLConnection HTTPURLResponse IllegalArgumentException IllegalStateException IndexOutOfBoundsException Inflate
    Inflated Inflater Info Input Inputs InputTensors Installation Installed InstanceMask IntBuffer InterruptedException
    Interruption IOException ISO8601DateFormatter Json JvmField JvmOverloads JvmStatic Kept KeptProof KeptRelease
    KeptResult KeyFactory Known
    Labels Lease LeftOut Lent LinkageError LinkedBlockingQueue Loaded LoadedModel LoadEvent Loading LoadOptions
    LoadProgress LocalizedError Locks LongBuffer Mac Made MadeSource MalformedURLException MapMode Mapped MappedBytes
    Memory MemoryLayout MemoryPressure MessageDigest MethodHandle Metrics MetricValue Mobpack ModelBusyException
    ModelCorruptedException
    ModelDefinition ModelDescriptor ModelDownloadException ModelError ModelErrorCode ModelException ModelFile
    ModelFiles ModelFormat ModelGuard ModelInfo ModelInput ModelKeyException ModelKeys ModelLoader ModelMetrics
    ModelObserver ModelOfPage ModelOpener ModelOutOfMemoryException ModelOutput ModelRecord ModelRun ModelSession
    ModelSnapshot ModelSource ModelState ModelStorageException ModelUntrustedError ModelUntrustedException ModelUpdater
    ModelWorklet Name NamedTensor Native NativeAssignment NetworkAccess Next NNAPIFlags NodeInfo NonCancellable Nonce
    NoSuchElementException
    NoSuchFieldException NSCocoaErrorDomain NSCondition NSData NSError NSLock NSMutableData NSNumber NSObject
    NSPOSIXErrorDomain NSRange NSString NSUnderlyingErrorKey NumberType NWPathMonitor ObjectIdentifier Observer
    OnnxJavaType OnnxRuntime OnnxTensor ONNXTensorElementDataType OpaquePointer Opened OpenedFile OpenFile Options
    OrtAllocator OrtApi OrtDeviceAllocator OrtEnvironment OrtException OrtGetApiBase OrtLoggingLevel OrtMemTypeDefault
    OrtSession OrtStatusPtr OrtUtil OrtValue Os OsConstants OSType OutOfMemoryError Output Outputs OutputSpec
    OutputTensors OutputTest Own OwnBytes OwnFile OwnPart P256 Pace Pack PackageDescriptor PackagedFile PackagedModel
    PackagedModels ParcelFileDescriptor Part Patch PathSource Patience PictureConvertible PictureLayout PictureOfImage
    PictureOptions PictureOrientation PicturePlane PictureTensors PixelBuffer PixelFormat PixelMemory PixelPlane Pixels
    Place PlacedFile PlainModel Plane PlatformFiles PlatformSetup Policies POSIXError POSIXErrorCode PowerManager
    Prediction Presence ProgressListener Promised Proof ProofOptions ProofRecord ProofState Prover ProviderAssignment
    ProviderFacts ProviderName ProviderProof ProviderSetup Proving PushedSound RandomAccessFile Ranked Reader Receiver
    Recipe ReentrantLock ReentrantReadWriteLock ReflectedArray ReflectiveOperationException
    Region RejectedExecutionException ReleaseDownload ReleaseEvent
    ReleaseReason Reopening Resource Results ReturnedValue Role Rollout Rows RunEvent Running RunOptions
    RuntimeException Safetensors Sampled SampleFile Samples SampleTest Schema SealedBox SealedFile SecretKeySpec
    SecurityException SeedOptions Seen SelfTest SelfTester SelfTestingModel Serialization Session SessionOptions
    Sessions SessionSettings Setting SHA256 Shaped Shared SharedMemory ShortBuffer Signature Signed SignedList
    Similarity SoundPiece SoundStream SoundTensors SoundView Source SourceKind Span Spec Specialization Stages Start
    Stated Statement StateSpec Stay StorageManager StreamForm StreamOptions StreamOverflow StreamResults StreamStep
    StructStat StructTimespec Subject SymmetricKey SystemPictures Taken Targets Tensor TensorInfo TensorInput Tensors
    TensorSpec TensorType TensorView TestedFile TextLists TextPart Texts TextState ThreadingOptions ThreadPoolExecutor
    Threads Throws TimeoutException TimeUnit toWav Transfer Trial TrialException TRUST Trusted TrustProblem
    TufClient TufException TufFile TufKey TufMetadata TufRole TufSigners Tuned
    Tuning TypedModel UIApplication UIDevice UIImage UnsafeBufferPointer UnsafeMutableBufferPointer
    UnsafeMutablePointer UnsafeMutableRawBufferPointer UnsafeMutableRawPointer UnsafeRawBufferPointer UnsafeRawPointer
    UnsatisfiedLinkError UnsignedInteger Update UpdateConditions UpdatedRelease UpdatedSource UpdateFailure
    UpdateOptions UpdatePhase UpdatePlatform Updater UpdateRecord UpdateRequest UpdateState UpdateStates UpdateStore
    URLEncoder URLError URLResourceValues URLSessionConfiguration URLSessionDataDelegate URLSessionDataTask
    URLSessionTask UrlSource UTF8 Value ValueRelease Verify Vouched Weights WeightsFile Words WorkerThread Writer
    YuvConversion
"""
"""names that generated code uses or exports, and those of its files, besides models and types of results"""

APPLE = "Apple's frameworks"
PACKAGES = "the generated code"


def _by_name() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Name in lower case, because disks of Macs ignore case -> how it is written, and who uses it."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    results = " ".join(made for kind in get_args(TypedOutput) if isinstance(made := kind.DESCRIBED.type, str))
    for owner, text in (*PLATFORMS.items(), (APPLE, " ".join(sorted(SYSTEM_MODULES))), (PACKAGES, f"{OWN} {results}")):
        for name in text.split():
            written, owners = found.get(name.lower(), (name, ()))
            found[name.lower()] = written, (*owners, owner)
    return found


RESERVED = _by_name()


def class_name(model: str) -> str:
    """Class of the model `model`: `mobile-net v2` -> `MobileNetV2`, `text` -> `TextModel`."""
    name = pascal_case(model)
    while _reserved(name):
        name += SUFFIX
    return name


def renamings(models: Iterable[str]) -> list[str]:
    """A line for each model whose class does not have the model's own name."""
    return [_renaming(model) for model in models if class_name(model) != pascal_case(model)]


def pipeline_class_name(pipeline: str) -> str:
    """Class of the pipeline `pipeline`, as `class_name` of a model."""
    name = pascal_case(pipeline)
    while any(each.lower() in RESERVED for each in (name, f"{name}{ITEM}")):
        name += "Pipeline"
    return name


def types_of_model(model: str) -> tuple[str, ...]:
    """Types that belong to a model in one of the languages."""
    return tuple(f"{class_name(model)}{suffix}" for suffix in BESIDE)


def types_of_pipeline(pipeline: str) -> tuple[str, ...]:
    """Types that belong to a pipeline."""
    name = pipeline_class_name(pipeline)
    return name, f"{name}{ITEM}"


def clash(types: Iterable[str], others: Iterable[str]) -> str:
    """One of `others` that is among `types`, whatever its case; empty if there is none."""
    own = {each.lower() for each in types}
    return next((each for each in others if each.lower() in own), "")


def _reserved(name: str) -> str:
    """The reserved one among the types of a class `name`; empty if there is none."""
    return next((f"{name}{each}" for each in BESIDE if f"{name}{each}".lower() in RESERVED), "")


def _renaming(model: str) -> str:
    written, owners = RESERVED[_reserved(pascal_case(model)).lower()]
    *first, last = owners
    whose = f"{', '.join(first)} and {last}" if first else last
    return f"model {model}: class {class_name(model)}, since {written} is a name of {whose}"
