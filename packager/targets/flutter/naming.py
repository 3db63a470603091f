"""Names in pub packages: their own, and those of their classes and members."""

import re
from collections.abc import Iterable

from packager.core import names
from packager.core.errors import SettingError
from packager.targets.apple import SYSTEM_MODULES

PUB_NAME = re.compile(r"[a-z][a-z0-9_]*")
MAX_PUB_NAME = 64
KEYWORDS = frozenset(
    """
    abstract as assert async await base break case catch class const continue covariant default deferred do dynamic
    else enum export extends extension external factory false final finally for function get hide if implements import
    in interface is late library mixin new null of on operator part required rethrow return sealed set show static
    super switch sync this throw true try type typedef var void when while with yield
    """.split()
)
"""The Dart Language Specification, "Reserved Words", "Built-in identifiers" and words with a meaning in some places"""
TAKEN_PACKAGES = frozenset({"camera", "dart", "flutter", "flutter_test", "meta", "sky_engine", "test"})
"""names of packages that apps have"""
MODULES = frozenset(name.lower() for name in SYSTEM_MODULES)
"""names that a Swift module of the package's cannot have on the disks of Macs, which ignore case"""
TAKEN = KEYWORDS | TAKEN_PACKAGES | MODULES
MEMBERS = frozenset({"assert", "final", "hashCode", "noSuchMethod", "rethrow", "runtimeType", "toString", "late"})
"""names that no member has besides those that all languages reserve"""
LOCAL = frozenset(
    """
    cancel cancellation classified count detected entitiesOf firstFrame frame generated given isFirst isLast latestOf
    options outputs pcmTensors rankedBy rankedInLists rowCount rowsOf scoreOf seed seedTensor segmented some
    soundTensors source spelled state textOf textTensor textsTensor top
    """.split()
)
"""names that parameters cannot have, because the surrounding code uses them"""
CLASSES = frozenset(
    """
    Arena BigInt Box BundledSource Cancellation Carried Classification Completer DateTime Decryption Delivery
    Deprecated Detection DeviceConditions Duration Durations ElementType Entity Enum Error Exception FailureEvent
    Fallback Finalizer Float32List Float64List FolderSource Function Future Golden GoldenSample GoldenTensor
    GuardedFiles Int16List Int32List Int64List Int8List Iterable Iterator List LoadEvent LoadOptions LoadedModel
    MadeSource Map MapEntry Mask ModelDescriptor ModelErrorCode ModelException ModelFile ModelGuard ModelInfo
    ModelMetrics ModelObserver ModelSnapshot ModelSource ModelUntrustedException ModelUpdater Never Null Object
    OutputTest PackagedFile PackagedModel PageModel PathSource Pattern Picture PictureOfImage PictureOrientation
    PicturePlane PictureTensors PixelFormat PlatformSetup Policies Provider ProviderAssignment ProviderSetup Ranked
    Reading Record RegExp Region ReleaseEvent ReleaseReason RunEvent Runes SelfTest Set Similarity Sound SoundTensors
    SourceKind StackTrace Stopwatch Stream String StringBuffer Symbol Tensor TensorInput TensorSpec TextPart Tolerance
    Trust TrustProblem Tuned Tuning Type TypedData Uint16List Uint32List Uint64List Uint8List UpdateOptions UpdatePhase
    UpdateState Updater Uri UrlSource WeakReference WeightsFile YuvConversion
    """.split()
)
"""names that generated files use or export besides the models' own"""
BESIDE = ("", "Inputs", "Outputs", "Prediction")
"""suffixes of the classes that belong to a model"""


def pub_name(package: str, given: str = "") -> str:
    """Name of the package: `page-orientation` -> `page_orientation`, or `given`.

    `flutter` -> `flutter_models`, `vision` -> `vision_models`, because another package, or a module of Apple's, has the
    plain name. Raises SettingError for a name that pub rejects.
    """
    if not given:
        made = package.replace("-", "_")
        return f"{made}_models" if made in TAKEN else made
    if not PUB_NAME.fullmatch(given) or len(given) > MAX_PUB_NAME:
        raise SettingError(
            f"package '{given}' is not allowed: pub allows at most {MAX_PUB_NAME} lower-case letters, digits and '_'",
            hint="write it as in page_orientation",
        )
    if given in TAKEN:
        raise SettingError(f"package '{given}' is already taken", hint=f"try {given}_models")
    return given


def class_names(models: Iterable[str]) -> dict[str, str]:
    """Model name -> class name; `Model` is appended to names that the package uses itself."""
    used = set(CLASSES)
    chosen = {}
    for model in models:
        name = names.pascal_case(model)
        while used & {f"{name}{suffix}" for suffix in BESIDE}:
            name += "Model"
        used |= {f"{name}{suffix}" for suffix in BESIDE}
        chosen[model] = name
    return chosen


def file_names(models: Iterable[str]) -> dict[str, str]:
    """Model name -> name of its file without the suffix: `Mobile-Net` -> `mobile_net`."""
    used: set[str] = set()
    chosen = {}
    for model in models:
        plain = re.sub(r"[^a-z0-9]+", "_", model.lower()).strip("_")
        name, number = plain, 2
        while name in used:
            name, number = f"{plain}_{number}", number + 1
        used.add(name)
        chosen[model] = name
    return chosen


def members(identifiers: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Identifier -> name of a member or a parameter in Dart, none of them in `taken`."""
    used = {*MEMBERS, *taken}
    chosen: dict[str, str] = {}
    for identifier in identifiers:
        name, number = identifier, 2
        if name in used:
            name += "Value"
        while name in used:
            name, number = f"{identifier}{number}", number + 1
        used.add(name)
        chosen[identifier] = name
    return chosen
