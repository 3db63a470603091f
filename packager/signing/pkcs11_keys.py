"""Keys of PKCS#11 tokens, such as smart cards and hardware security modules, by URIs of RFC 7512."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, unquote_to_bytes

from packager.core.errors import ConfigError, ToolError
from packager.signing.passwords import PASSWORD

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

EXAMPLE = "for example: 'pkcs11:token=release;object=signing?module-path=/usr/lib/softhsm/libsofthsm2.so'"
INSTALL = "run: pip install 'mobpack[pkcs11]'"
MODULE = "PKCS11_MODULE"
KNOWN = ("token", "serial", "manufacturer", "model", "object", "id", "type", "slot-id")


@dataclass(frozen=True, kw_only=True)
class Address:
    """The parts of a PKCS#11 URI that mobpack uses."""

    module: Path
    token: str | None
    serial: bytes | None
    label: str | None
    key_id: bytes | None
    pin: str | None


@dataclass(frozen=True, kw_only=True)
class TokenSigner:
    """A private key that stays in its token, which chooses the random numbers of its signatures."""

    address: Address
    key: "EllipticCurvePublicKey"

    def public_key(self) -> "EllipticCurvePublicKey":
        return self.key

    def sign(self, message: bytes) -> bytes:
        import hashlib

        from pkcs11 import Mechanism, ObjectClass
        from pkcs11.util.ec import encode_ecdsa_signature

        with _session(self.address, is_signing=True) as session:
            key = session.get_key(ObjectClass.PRIVATE_KEY, **_which(self.address))
            signature = key.sign(hashlib.sha256(message).digest(), mechanism=Mechanism.ECDSA)
        return bytes(encode_ecdsa_signature(signature))


def open_token(uri: str) -> TokenSigner:
    """The key at a URI of RFC 7512. Raises ConfigError for a URI that names no key, ToolError if the token refuses."""
    address = parse(uri)
    try:
        import pkcs11  # noqa: F401
    except ImportError as error:
        raise ConfigError(f"--key {uri} needs the Python package python-pkcs11", hint=INSTALL) from error
    return TokenSigner(address=address, key=_public_key(address))


def parse(uri: str) -> Address:
    """The parts of `pkcs11:token=...;object=...?module-path=...`. Raises ConfigError for anything else."""
    path, _, query = uri.removeprefix("pkcs11:").partition("?")
    parts = dict(each.partition("=")[::2] for each in path.split(";") if each)
    if unknown := sorted(name for name in parts if name not in KNOWN and not name.startswith("x-")):
        raise ConfigError(f"--key {uri}: unknown part '{unknown[0]}' of a PKCS#11 URI", hint=EXAMPLE)
    asked = dict(parse_qsl(query.replace("+", "%2B")))
    module = asked.get("module-path") or os.environ.get(MODULE, "")
    if not module:
        raise ConfigError(f"--key {uri} does not name the token's library", hint=EXAMPLE)
    if not Path(module).is_file():
        raise ConfigError(f"--key {uri}: the token's library {module} does not exist", hint="check module-path")
    if "object" not in parts and "id" not in parts:
        raise ConfigError(f"--key {uri} names no key: it needs object= or id=", hint=EXAMPLE)
    return Address(
        module=Path(module),
        token=unquote(parts["token"]) if "token" in parts else None,
        serial=unquote_to_bytes(parts["serial"]) if "serial" in parts else None,
        label=unquote(parts["object"]) if "object" in parts else None,
        key_id=unquote_to_bytes(parts["id"]) if "id" in parts else None,
        pin=_pin(asked, uri),
    )


def _pin(asked: Mapping[str, str], uri: str) -> str | None:
    """The PIN: from the file that pin-source names, else from the environment. Raises ConfigError for a PIN in the
    URI, where every user of the machine can read it."""
    if "pin-value" in asked:
        raise ConfigError(
            f"--key {uri.partition('?')[0]}: a PIN on the command line can be read by every user of the machine",
            hint=f"put it in the environment variable {PASSWORD}, or in a file: pin-source=file:/path",
        )
    source = asked.get("pin-source", "").removeprefix("file:")
    if not source:
        return os.environ.get(PASSWORD)
    try:
        return Path(source).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the PIN in {source}: {error}", hint="check pin-source") from error


def _which(address: Address) -> dict[str, Any]:
    from pkcs11 import KeyType

    found: dict[str, Any] = {"key_type": KeyType.EC}
    if address.label is not None:
        found["label"] = address.label
    if address.key_id is not None:
        found["id"] = address.key_id
    return found


def _public_key(address: Address) -> "EllipticCurvePublicKey":
    """The public half: an object of its own, which some tokens show only with a PIN."""
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.serialization import load_der_public_key
    from pkcs11 import ObjectClass
    from pkcs11.util.ec import encode_ec_public_key

    with _session(address, is_signing=address.pin is not None) as session:
        found = session.get_key(ObjectClass.PUBLIC_KEY, **_which(address))
        key = load_der_public_key(encode_ec_public_key(found))
    if not isinstance(key, EllipticCurvePublicKey):
        raise ConfigError("the key of the token is not of an elliptic curve", hint="make a P-256 key in it")
    return key


@contextmanager
def _session(address: Address, *, is_signing: bool) -> Iterator[Any]:
    """A session with the token, logged in for signing. Raises ToolError, in words, for what the token refuses."""
    from pkcs11 import exceptions

    if is_signing and address.pin is None:
        raise ConfigError("the token needs its PIN to sign", hint=f"put it in the environment variable {PASSWORD}")
    name = address.label or (address.key_id or b"").hex()
    library = _library(address.module)
    try:
        token = library.get_token(token_label=address.token, token_serial=address.serial)
        with token.open(user_pin=address.pin if is_signing else None) as session:
            yield session
    except exceptions.NoSuchToken as error:
        raise ToolError(f"no token '{address.token or ''}' in {address.module.name}", hint="insert it") from error
    except exceptions.MultipleTokensReturned as error:
        raise ConfigError("several tokens fit the URI", hint="name one with token= or serial=") from error
    except (exceptions.NoSuchKey, exceptions.MultipleObjectsReturned) as error:
        raise ConfigError(
            f"the token does not have exactly one EC key '{name}'", hint="check object= and id="
        ) from error
    except (exceptions.PinIncorrect, exceptions.PinLenRange, exceptions.PinInvalid) as error:
        raise ToolError("the token refuses the PIN", hint=f"check {PASSWORD}: tokens lock after a few tries") from error
    except exceptions.PKCS11Error as error:
        raise ToolError(f"the token failed: {type(error).__name__} {error}".strip(), hint="check the token") from error


def _library(module: Path) -> Any:
    import pkcs11
    from pkcs11.exceptions import PKCS11Error

    try:
        return pkcs11.lib(str(module))
    except (PKCS11Error, RuntimeError) as error:
        raise ToolError(f"{module} is not a PKCS#11 library: {error}", hint="check module-path") from error
