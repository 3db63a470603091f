"""Reads what generated code verifies models with: the keys of `[package] trust`, and the root of `channel`."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packager.config import Config
from packager.core import user_files
from packager.core.errors import ConfigError
from packager.core.values import Trust
from packager.signing.keys import spki
from packager.signing.statements import ReleaseName
from packager.targets import KNOWN_TARGETS

if TYPE_CHECKING:
    from packager.distribution.channel.roots import ChannelRoot

MAKE_ONE = "make one of the private key: openssl pkey -in release.key -pubout -out release.pub"
MAX_KEYS = 2
MAX_PEM_BYTES = 1 << 16
VERSION = re.compile(r"(\d{1,4})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?(?:[-+].*)?")
LIMITS = (2**13, 2**20, 2**20)
"""of the parts of a version: with larger ones a release number would not be exact in a double"""


def trust_of(config: Config) -> Trust | None:
    """The keys that the packages trust, and the number of the release; None without `[package] trust`.

    Raises ConfigError for a file that is missing or no public key on P-256, for more keys than two, and for a version
    that has no order.
    """
    paths = config.package.trusted
    if not paths:
        return None
    if len(paths) > MAX_KEYS:
        raise ConfigError(
            f"package.trust has {len(paths)} keys", hint="name the key in use and, for a rotation, the one that follows"
        )
    keys = tuple(_read(path) for path in paths)
    if len(set(keys)) < len(keys):
        raise ConfigError("package.trust names the same key twice", hint="keep one, or name the key that follows it")
    return Trust(keys=keys, number=release_number(config.package.version))


def root_of(config: Config) -> "ChannelRoot | None":
    """The root of the channel that apps take models from; None without `[package] channel`.

    Raises ConfigError for a file that is missing or no root of a channel, and for the root of another package.
    """
    if config.package.channel is None:
        return None
    from packager.distribution.channel.roots import read_root

    try:
        root = read_root(config.package.channel)
    except ConfigError as error:
        raise ConfigError(f"package.channel: {error.message}", hint=error.hint) from error
    if root.package != config.package.name:
        raise ConfigError(
            f"package.channel: {config.package.channel} is the root of a channel of the package '{root.package}'",
            hint=f"make one for '{config.package.name}': mobpack channel init",
        )
    return root


def refuse_unverified(config: Config, targets: Sequence[str]) -> None:
    """Raises ConfigError for `[package] trust` with a target whose code would open unsigned files all the same."""
    known = {**config.targets(), **config.wrappers()}
    unable = [name for name in targets if name in known and not known[name].VERIFIES]
    if config.package.trusted and unable:
        able = [name for name, target in KNOWN_TARGETS.items() if target.VERIFIES]
        raise ConfigError(
            f"package.trust: the code for {', '.join(unable)} cannot verify signatures yet",
            hint=f"build it from a mobpack.toml without trust; these can: {', '.join(able)}",
        )


def release_number(version: str) -> int:
    """The place of a version in the order of releases. A pre-release has the number of its release.

    Raises ConfigError for another form of version.
    """
    match = VERSION.fullmatch(version)
    parts = [int(part or 0) for part in match.groups()] if match else LIMITS
    if any(part >= limit for part, limit in zip(parts, LIMITS, strict=True)):
        raise ConfigError(
            f"package.version '{version}' cannot be ordered among other versions, which package.trust needs to refuse "
            "older releases",
            hint='use numbers: version = "1.2.3"',
        )
    return ReleaseName(package="", version=version).number


def _read(path: Path) -> bytes:
    try:
        content = user_files.read(path, limit_bytes=MAX_PEM_BYTES)
    except OSError as error:
        raise ConfigError(
            f"package.trust: {path}: {error.strerror or error}",
            hint=f"paths are relative to mobpack.toml; {MAKE_ONE}",
        ) from error
    if b"PRIVATE KEY" in content:
        raise ConfigError(
            f"package.trust: {path} is a PRIVATE key: whoever has it can sign models in your name, and it must never "
            "be in a project",
            hint=f"move it away, replace it if anybody else may have read it, and name the public key; {MAKE_ONE}",
        )
    if b"BEGIN CERTIFICATE" in content:
        raise ConfigError(
            f"package.trust: {path} is a certificate: apps know keys, which do not expire",
            hint=f"take the key out of it: openssl x509 -in {path} -pubkey -noout > release.pub",
        )
    try:
        return spki(path)
    except ConfigError as error:
        raise ConfigError(f"package.trust: {error.message}", hint=error.hint) from error
