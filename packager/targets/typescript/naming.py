"""Names in npm packages: their own, and those of their classes."""

import re
from collections.abc import Collection, Iterable

from packager.core import names
from packager.core.errors import ConfigError, SettingError

NPM_NAME = re.compile(r"(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*")
"""validate-npm-package-name, rules for new packages: URL-safe and in lower case"""
MAX_NPM_NAME = 214
MAX_VERSION, MAX_NUMBER = 256, 2**53 - 1
"""node-semver, internal/constants.js"""
SEMVER = re.compile(
    r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?"
)
"""semver.org, without build metadata after a +, which npm drops"""

# Node's own modules, names that npm rejects, and the packages of every React Native app.
TAKEN_NAMES = frozenset(
    """
    assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events
    expo favicon.ico fs http http2 https inspector metro module net node_modules onnxruntime-common onnxruntime-node
    onnxruntime-react-native onnxruntime-web os path perf_hooks process punycode querystring react react-dom
    react-native react-native-macos react-native-web react-native-windows readline repl stream string_decoder sys timers
    tls trace_events tty url util v8 vm wasi worker_threads zlib
    """.split()
)

# Names that generated modules use or export besides the models' own, and JavaScript globals that they need.
RESERVED_CLASSES = frozenset(
    """
    AbortController AbortSignal AggregateError AppState Array ArrayBuffer ArrayBufferView AsyncRunOptions Atomics Audio
    Awaited Backend BigInt BigInt64Array BigUint64Array Blob Boolean Capitalize Console Crypto Data DataOf DataView Date
    DateConstructor Device DeviceEventEmitter Document Durations Element ElementType Engine Error ErrorConstructor
    EvalError Event EventTarget Exclude Extract FailureEvent Fallback File FinalizationRegistry Float16Array
    Float32Array Float64Array FormData Frames FrameSource Function Generator Global Golden Headers HookOptions Image
    Infinity Info Input Inputs InstanceType Int16Array Int32Array Int8Array Intl Iterable Iterator JSON LoadEvent
    LoadOptions Lowercase Map Math Model ModelDefinition ModelDescriptor ModelError ModelErrorCode ModelFile
    ModelMetrics ModelObserver ModelSnapshot ModelSource ModelState ModelWorklet Name NamedTensor NaN Native Node
    NonNullable Number NumberType Object Omit Opened Option Options Output Outputs OutputSpec OutputTest
    PackageDescriptor PackagedFile Parameters Partial Pick PlacedFile PlainModel Platform PlatformFiles PlatformSetup
    Policies Progress Promise Promised Provider ProviderAssignment ProviderName Proxy Range RangeError React Readonly
    ReadonlyArray ReadonlyMap Record ReferenceError Reflect RegExp ReleaseEvent Request Required Response Result
    ReturnType RunEvent RunOptions Selection SelfTest Set Settings Shape Shaped SharedArrayBuffer Source SourceKind Spec
    Storage String Symbol SyntaxError Target Targets Tensor TensorInfo TensorSpec Text TextDecoder TextEncoder ThisType
    TurboModule TypeError Uint16Array Uint32Array Uint8Array Uint8ClampedArray Uppercase URIError URL Verify WeakMap
    WeakRef WeakSet WebAssembly Window Worker XMLHttpRequest
    """.split()
)
RESERVED_BY_TRUST = frozenset({"Bytes", "ModelUntrustedError", "Signature", "TRUST", "Trust", "TrustProblem"})
"""the same in packages that verify signatures"""
RESERVED_BY_UPDATES = frozenset(
    """
    Build DELIVERY Delivery DeviceState ModelUpdater UpdateOptions UpdatePhase UpdatePlatform UpdateRequest UpdateState
    UpdateStates UpdatedSource Updater
    """.split()
)
"""the same in packages with a channel"""
BESIDE = ("", "Inputs", "Model", "Outputs", "Tensors")
"""suffixes of the types that belong to a class"""


def refuse_npm_name(name: str) -> None:
    """Raises SettingError for a name that npm rejects."""
    if len(name) > MAX_NPM_NAME:
        raise SettingError(f"the package's name has {len(name)} letters", hint=f"npm allows {MAX_NPM_NAME}")
    if not NPM_NAME.fullmatch(name):
        example = re.sub(r"[^a-z0-9@/._-]+", "-", name.lower()).strip("-._")
        hint = f"try {example}" if NPM_NAME.fullmatch(example) else "write it as in @example/vision"
        raise SettingError(
            f"package '{name}' is not allowed: npm allows lower-case letters, digits, '-', '.', '_'", hint=hint
        )
    if name in TAKEN_NAMES:
        raise SettingError(
            f"package '{name}' is already the name of another package", hint=f"try {name}-models or @example/{name}"
        )


def refuse_length(npm_name: str, target: str) -> None:
    """Raises ConfigError for a name of a package of `target` that is too long for npm."""
    too_long = len(npm_name) - MAX_NPM_NAME
    if too_long > 0:
        raise ConfigError(
            f"package.name: '{npm_name}' has {len(npm_name)} letters; npm allows {MAX_NPM_NAME}",
            hint=f"shorten it by {too_long}, or set the npm name in target.{target}.package",
        )


def refuse_version(version: str) -> None:
    """Raises ConfigError for a version that npm rejects."""
    if not SEMVER.fullmatch(version):
        raise ConfigError(
            f"package.version: npm needs three numbers, not '{version}'",
            hint='for example: version = "1.0.0" or "1.0.0-beta.1"',
        )
    numbers = version.partition("-")[0].split(".")
    if len(version) > MAX_VERSION or max(int(number) for number in numbers) > MAX_NUMBER:
        raise ConfigError(
            f"package.version: '{version}' is too long for npm",
            hint=f"npm allows numbers up to {MAX_NUMBER}, and {MAX_VERSION} characters in total",
        )


def tarball_name(npm_name: str, version: str) -> str:
    """Tarball name of `npm pack`: `@example/vision` -> `example-vision-1.0.0.tgz`"""
    return f"{npm_name.removeprefix('@').replace('/', '-')}-{version}.tgz"


def class_names(
    models: Iterable[str], *, taken: Collection[str] = (), beside: Collection[str] = BESIDE
) -> dict[str, str]:
    """Model name -> class name; `Model` is appended to names that the package uses itself.

    Each class has types named after it, such as `OrientationInputs`: models must not share those either.
    """
    used = {*RESERVED_CLASSES, *taken}
    chosen = {}
    for model in models:
        name = names.pascal_case(model)
        while used & {f"{name}{suffix}" for suffix in beside}:
            name += "Model"
        used |= {f"{name}{suffix}" for suffix in beside}
        chosen[model] = name
    return chosen
