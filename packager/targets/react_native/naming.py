"""Names of an npm package: its own, and those that its code has in C++, Kotlin, CMake and CocoaPods."""

import re
from collections.abc import Collection, Iterable

from packager import names
from packager.errors import ConfigError
from packager.targets.apple import SYSTEM_MODULES

PREFIX = "react-native-"
NPM_NAME = re.compile(r"(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*")
"""validate-npm-package-name, names of new packages: what an address takes as it is, in lower case"""
MAX_NPM_NAME = 214
SEMVER = re.compile(
    r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?"
)
"""semver.org, without what is behind a +: npm drops that"""
MODULE = re.compile(r"[A-Z][A-Za-z0-9]*")

# Node's own modules, names that npm refuses, and the packages that an app with this one has.
TAKEN_NAMES = frozenset(
    """
    assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events
    expo favicon.ico fs http http2 https inspector metro module net node_modules onnxruntime-common onnxruntime-node
    onnxruntime-react-native onnxruntime-web os path perf_hooks process punycode querystring react react-dom
    react-native react-native-web readline repl stream string_decoder sys timers tls trace_events tty url util v8 vm
    wasi worker_threads zlib
    """.split()
)

# Pods of React Native, of Expo and of ONNX Runtime: an app has one pod of a name.
TAKEN_PODS = frozenset(
    """
    boost Codegen DoubleConversion EXConstants Expo ExpoModulesCore FBLazyVector fmt Folly glog hermes Hermes Jsi
    JsiNative NitroModules Objc Onnxruntime RCT RCTDeprecation RCTRequired RCTTypeSafety React ReactCodegen ReactCommon
    ReactNative SocketRocket Yoga
    """.split()
)
UNUSABLE_MODULES = frozenset(name.lower() for name in (*SYSTEM_MODULES, *TAKEN_PODS))
"""In lower case: file systems of Macs do not tell capitals from others."""

# C++'s keywords that a name in lower case can be, and namespaces that its code has already.
CPP_RESERVED = frozenset(
    """
    alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const consteval constexpr
    constinit continue decltype default delete do double else enum explicit export extern facebook false float for
    friend goto if inline int long mutable namespace new noexcept not nullptr operator or private protected public
    register requires return short signed sizeof static std struct switch template this throw true try typedef typeid
    typename union unsigned using virtual void volatile while xor
    """.split()
)

# What generated modules use or export beside the models' own names, and JavaScript's globals that they need.
RESERVED_CLASSES = frozenset(
    """
    AbortController AbortSignal AggregateError Array ArrayBuffer ArrayBufferView AsyncRunOptions Atomics Audio Awaited
    Backend BigInt BigInt64Array BigUint64Array Blob Boolean Capitalize Console Crypto Data DataOf DataView Date
    DateConstructor Device Document Element ElementType Error ErrorConstructor EvalError Event EventTarget Exclude
    Extract Fallback File FinalizationRegistry Float16Array Float32Array Float64Array FormData Function Generator Global
    Golden Headers HookOptions Image Infinity Info Input Inputs InstanceType Int16Array Int32Array Int8Array Intl
    Iterable Iterator JSON LoadOptions Lowercase Map Math Model ModelDefinition ModelDescriptor ModelError
    ModelErrorCode ModelFile ModelSource ModelState Name NamedTensor NaN Native Node NonNullable Number Object Omit
    Opened Option Options Output Outputs OutputSpec OutputTest PackageDescriptor PackagedFile Parameters Partial Pick
    PlacedFile Platform PlatformFiles PlatformSetup Progress Promise Promised Provider ProviderName Proxy Range
    RangeError React Readonly ReadonlyArray ReadonlyMap Record ReferenceError Reflect RegExp Request Required Response
    Result ReturnType RunOptions Selection SelfTest Set Settings Shape Shaped SharedArrayBuffer Source Spec Storage
    String Symbol SyntaxError Target Targets Tensor TensorInfo TensorSpec Text TextDecoder TextEncoder ThisType
    TurboModule TypeError Uint16Array Uint32Array Uint8Array Uint8ClampedArray Uppercase URIError URL WeakMap WeakRef
    WeakSet WebAssembly Window Worker XMLHttpRequest
    """.split()
)
BESIDE = ("", "Inputs", "Model", "Outputs", "Tensors")
"""What is behind a class's name in the names of the types that belong to it."""


def npm_name(package: str, given: str = "") -> str:
    """`page-orientation` -> `react-native-page-orientation`, or the name that was `given`.

    Raises ValueError for a name that npm refuses: what is wrong, `|`, what to do.
    """
    name = given or f"{PREFIX}{package}"
    if len(name) > MAX_NPM_NAME:
        raise ValueError(f"package has {len(name)} letters|npm takes {MAX_NPM_NAME}")
    if not NPM_NAME.fullmatch(name):
        example = re.sub(r"[^a-z0-9@/._-]+", "-", name.lower()).strip("-._")
        hint = f"try {example}" if NPM_NAME.fullmatch(example) else "write it as in @example/vision"
        raise ValueError(f"package '{name}' is not allowed: npm takes lower-case letters, digits, '-', '.', '_'|{hint}")
    if name in TAKEN_NAMES:
        raise ValueError(f"package '{name}' is the name of something else|try {PREFIX}{name} or @example/{name}")
    return name


def module_name(package: str, given: str = "") -> str:
    """What the pod, the C++ class and the Kotlin classes are called after: `page-orientation` -> `PageOrientation`.

    `vision` -> `VisionModels`, for Apple has a Vision. Raises ValueError for a name that no module can have: what is
    wrong, `|`, what to do.
    """
    if not given:
        made = names.pascal_case(package)
        return f"{made}Models" if made.lower() in UNUSABLE_MODULES else made
    if not MODULE.fullmatch(given):
        raise ValueError(f"module '{given}' is no name of a class|use capitalized words: PageOrientation")
    if given.lower() in UNUSABLE_MODULES:
        raise ValueError(f"module '{given}' has the name of a framework or pod that apps have|try {given}Models")
    return given


def refuse_version(version: str) -> None:
    """Raises ConfigError for a version that npm does not take."""
    if not SEMVER.fullmatch(version):
        raise ConfigError(
            f"package.version: npm takes three numbers, not '{version}'",
            hint='write it as in version = "1.0.0" or "1.0.0-beta.1"',
        )


def tarball_name(npm_name: str, version: str) -> str:
    """As `npm pack` calls it: `@example/vision` -> `example-vision-1.0.0.tgz`"""
    return f"{npm_name.removeprefix('@').replace('/', '-')}-{version}.tgz"


def cpp_namespace(module: str) -> str:
    """`PageOrientation` -> `pageorientation`"""
    name = module.lower()
    return f"{name}model" if name in CPP_RESERVED else name


def cmake_target(module: str) -> str:
    """`PageOrientation` -> `page_orientation_mobpack`"""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", module).lower() + "_mobpack"


def class_names(models: Iterable[str], *, taken: Collection[str] = ()) -> dict[str, str]:
    """Model name -> class name; `Model` is put behind a name that the package needs itself.

    Each class has types beside it, `OrientationInputs` and others: no two models may share one of those either.
    """
    used = {*RESERVED_CLASSES, *taken}
    chosen = {}
    for model in models:
        name = names.pascal_case(model)
        while used & {f"{name}{suffix}" for suffix in BESIDE}:
            name += "Model"
        used |= {f"{name}{suffix}" for suffix in BESIDE}
        chosen[model] = name
    return chosen
