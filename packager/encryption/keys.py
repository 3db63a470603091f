"""Where a key comes from that models are encrypted with: never the project, never a package."""

import base64
import binascii
import hashlib
import hmac
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from packager.core import user_files
from packager.core.errors import ConfigError
from packager.encryption.sealing import KEY_BYTES

MAKE_ONE = "make one: openssl rand -hex 32"
FROM_ENVIRONMENT = "env:"
MAX_FILE_BYTES = 1 << 10
OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, kw_only=True)
class ModelKey:
    """A key of AES-256; it is never printed."""

    value: bytes = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """Tells the key from others, and says nothing about it."""
        return hmac.digest(self.value, b"mobpack key fingerprint", hashlib.sha256).hex()


def key_of(place: str, project: Path | None = None) -> ModelKey:
    """The key that `place` names: `env:NAME` for a variable of the environment, else a file. It is written as 64
    hexadecimal digits, in Base64, or, in a file, as 32 bytes.

    Raises ConfigError if there is none, and for a file inside the folder `project`.
    """
    if place.startswith(FROM_ENVIRONMENT):
        name = place.removeprefix(FROM_ENVIRONMENT)
        text = os.environ.get(name)
        if not text:
            raise ConfigError(f"the variable {name} of the environment has no key", hint=MAKE_ONE)
        return _decoded(text.encode(), place)
    path = Path(place)
    if project is not None and path.resolve().is_relative_to(project.resolve()):
        raise ConfigError(
            f"{path} is in the project: whoever has the project's files could read all models",
            hint="move the key to a secret store, and name it as --model-key env:NAME",
        )
    try:
        content = user_files.read(path, limit_bytes=MAX_FILE_BYTES)
        mode = path.stat().st_mode
    except OSError as error:
        raise ConfigError(f"cannot read the key {path}: {error.strerror or error}", hint=MAKE_ONE) from error
    if os.name == "posix" and mode & OTHERS:
        raise ConfigError(f"other users of this machine can read the key {path}", hint=f"chmod 600 {path}")
    return _decoded(content, place)


def _decoded(content: bytes, place: str) -> ModelKey:
    if len(content) == KEY_BYTES:
        return ModelKey(value=content)
    text = content.strip()
    for decode in (binascii.unhexlify, _base64):
        try:
            value = decode(text)
        except (binascii.Error, ValueError):
            continue
        if len(value) == KEY_BYTES:
            return ModelKey(value=value)
    raise ConfigError(f"{place} is no key of 32 bytes in hexadecimal digits or Base64", hint=MAKE_ONE)


def _base64(text: bytes) -> bytes:
    return base64.b64decode(text, validate=True)
