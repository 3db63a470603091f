"""Names in npm packages: their own, and those of their classes."""

import re

from packager.core.errors import ConfigError, SettingError
from packager.description import Language

TYPESCRIPT = Language(name="TypeScript", has_shapes_in_types=True, has_pipelines=True, adds_nothing_for=("encryption",))
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
    """Tarball name of `npm pack`: `@example/vision` -> `example-vision-1.0.0.tgz`."""
    return f"{npm_name.removeprefix('@').replace('/', '-')}-{version}.tgz"
