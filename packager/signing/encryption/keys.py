"""Where a key comes from that models are encrypted with: never the project, never a package."""

import base64
import hashlib
import hmac
import os
import re
import stat
import string
from dataclasses import dataclass, field
from pathlib import Path

from packager.core import user_files
from packager.core.errors import ConfigError
from packager.core.secrets import name_secret
from packager.signing.encryption.sealing import KEY_BYTES, problem_of

MAKE_ONE = "make one: openssl rand -hex 32"
FROM_ENVIRONMENT = "env:"
MAX_FILE_BYTES = 1 << 10
OTHERS = stat.S_IRWXG | stat.S_IRWXO
DIGITS = re.compile(rb"[0-9A-Fa-f]{64}")
TEXT = frozenset(string.printable.encode())
"""bytes of text: a random key has one of another kind, but for one in 10^13"""


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

    Raises ConfigError if there is none, for one of another form, and for a file inside the folder `project`.
    """
    if place.startswith(FROM_ENVIRONMENT):
        name = place.removeprefix(FROM_ENVIRONMENT)
        name_secret(name)
        text = os.environ.get(name)
        if not text:
            raise ConfigError(f"the variable {name} of the environment has no key", hint=MAKE_ONE)
        return _checked(_decoded(os.fsencode(text), place), place)
    path = Path(place)
    if project is not None and user_files.resolved(path).is_relative_to(user_files.resolved(project)):
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
    return _checked(_raw(content, place) or _decoded(content, place), place)


def _raw(content: bytes, place: str) -> bytes:
    """The key that a file holds as it is; empty for another file.

    Raises ConfigError for text of that length, such as half a key in hexadecimal digits: it would be a key of few bits.
    """
    if len(content) != KEY_BYTES:
        return b""
    if all(byte in TEXT for byte in content):
        raise ConfigError(
            f"{place} is not a key of 32 bytes in hexadecimal digits or Base64, but text of 32 characters",
            hint=f"write 32 random bytes as 64 hexadecimal digits; {MAKE_ONE}",
        )
    return content


def _decoded(content: bytes, place: str) -> bytes:
    text = content.strip()
    if DIGITS.fullmatch(text):
        return bytes.fromhex(text.decode("ascii"))
    try:
        value = base64.b64decode(text, validate=True)
    except ValueError:
        value = b""
    if len(value) != KEY_BYTES:
        raise ConfigError(f"{place} is not a key of 32 bytes in hexadecimal digits or Base64", hint=MAKE_ONE)
    if base64.b64encode(value) != text:
        raise ConfigError(
            f"{place} is not a key of 32 bytes in Base64: its last character has bits that mean nothing",
            hint=f"the key was cut or mistyped: copy it again; {MAKE_ONE}",
        )
    return value


def _checked(value: bytes, place: str) -> ModelKey:
    if problem := problem_of(value):
        raise ConfigError(f"the key {place} {problem}", hint=MAKE_ONE)
    return ModelKey(value=value)
