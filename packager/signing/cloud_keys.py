"""Keys of clouds' key management services, through securesystemslib, which in-toto and TUF use for the same."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError, ToolError, nearest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

SERVICES = ("awskms", "azurekms", "gcpkms")
"""schemes of URIs, and extras of mobpack and securesystemslib with the services' libraries"""


@dataclass(frozen=True, kw_only=True)
class CloudSigner:
    """A key that stays in its service, which chooses the random numbers of its signatures."""

    uri: str
    signer: Any
    key: "EllipticCurvePublicKey"

    def public_key(self) -> "EllipticCurvePublicKey":
        return self.key

    def sign(self, message: bytes) -> bytes:
        try:
            return bytes.fromhex(self.signer.sign(message).signature)
        except Exception as error:  # every service's library has errors of its own
            raise _refused(self.uri, error) from error


def open_cloud_key(uri: str) -> CloudSigner:
    """The key at `awskms:ID`, `gcpkms:NAME` or `azurekms:VAULT/NAME`, and cosign's forms of them with `://`.

    Raises ConfigError for another scheme or a missing library, ToolError if the service refuses.
    """
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    scheme, rest = _parts(uri)
    signers = _signers(uri, scheme)
    try:
        own, public = signers[scheme].import_(*_arguments(scheme, rest))
        signer = signers[scheme].from_priv_key_uri(own, public)
    except Exception as error:  # every service's library has errors of its own
        raise _refused(uri, error) from error
    key = load_pem_public_key(public.keyval["public"].encode())
    if not isinstance(key, EllipticCurvePublicKey):
        raise ConfigError(
            f"{uri} is not a key of an elliptic curve", hint="make a P-256 key for signing in the service"
        )
    return CloudSigner(uri=uri, signer=signer, key=key)


def _parts(uri: str) -> tuple[str, str]:
    """Scheme and name of the key, without the slashes of cosign's form."""
    scheme, _, rest = uri.partition(":")
    if scheme not in SERVICES:
        known = (*SERVICES, "hashivault", "pkcs11")
        raise ConfigError(f"--key {uri}: no file, and no known address", hint=nearest(scheme, known))
    name = rest.removeprefix("//").removeprefix("/") if rest.startswith("//") else rest
    if not name:
        raise ConfigError(f"--key {uri} names no key", hint=f"for example: {scheme}:NAME")
    return scheme, name


def _signers(uri: str, scheme: str) -> Any:
    from importlib import import_module

    try:
        return import_module("securesystemslib.signer").SIGNER_FOR_URI_SCHEME
    except ImportError as error:
        raise _missing(uri, scheme) from error


def _arguments(scheme: str, name: str) -> tuple[str, ...]:
    """Arguments of securesystemslib's import. Azure's vault and key are apart, and the newest version of it signs."""
    if scheme != "azurekms":
        return (name,)
    vault, _, key = name.partition("/")
    return vault.partition(".")[0], key.removeprefix("keys/").partition("/")[0]


def _missing(uri: str, scheme: str) -> ConfigError:
    return ConfigError(f"--key {uri} needs the library of its service", hint=f"run: pip install 'mobpack[{scheme}]'")


def _refused(uri: str, error: Exception) -> ConfigError | ToolError:
    if type(error).__name__ == "UnsupportedLibraryError":
        return _missing(uri, _parts(uri)[0])
    return ToolError(
        f"{uri}: {type(error).__name__}: {error}",
        hint="check the name of the key, and the service's credentials and network",
    )
