"""Keys of clouds' key management services, through securesystemslib, which in-toto and TUF use for the same."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError, ToolError, nearest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

EXTRAS = {"awskms": "awskms", "gcpkms": "gcpkms", "azurekms": "azurekms", "hv": "vault"}
"""scheme of a URI -> extra of securesystemslib with the service's library"""
ALIASES = {"hashivault": "hv"}
"""cosign's name of a scheme -> securesystemslib's"""


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
    """The key at `awskms:ID`, `gcpkms:NAME`, `azurekms:URL` or `hv:NAME/VERSION`, and cosign's forms of them with
    `://`.

    Raises ConfigError for another scheme or a missing library, ToolError if the service refuses.
    """
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    scheme, rest = _parts(uri)
    signers = _signers(uri, scheme)
    name = f"https://{rest}" if scheme == "azurekms" and not rest.startswith("https:") else rest
    try:
        own, public = signers[scheme].import_(*_arguments(scheme, name))
        signer = signers[scheme].from_priv_key_uri(own, public)
    except Exception as error:  # every service's library has errors of its own
        raise _refused(uri, error) from error
    key = load_pem_public_key(public.keyval["public"].encode())
    if not isinstance(key, EllipticCurvePublicKey):
        raise ConfigError(f"{uri} is no key of an elliptic curve", hint="make a P-256 key for signing in the service")
    return CloudSigner(uri=uri, signer=signer, key=key)


def _parts(uri: str) -> tuple[str, str]:
    """Scheme and name of the key, without the slashes of cosign's form."""
    given, _, rest = uri.partition(":")
    scheme = ALIASES.get(given, given)
    if scheme not in EXTRAS:
        known = (*EXTRAS, *ALIASES, "pkcs11")
        raise ConfigError(f"--key {uri}: no file, and no known address", hint=nearest(given, known))
    name = rest.removeprefix("//").removeprefix("/") if rest.startswith("//") else rest
    if not name:
        raise ConfigError(f"--key {uri} names no key", hint=f"for example: {scheme}:NAME")
    return scheme, name


def _signers(uri: str, scheme: str) -> Any:
    try:
        from securesystemslib.signer import SIGNER_FOR_URI_SCHEME
    except ImportError as error:
        raise _missing(uri, scheme) from error
    return SIGNER_FOR_URI_SCHEME


def _arguments(scheme: str, name: str) -> tuple[str, ...]:
    """Arguments of securesystemslib's import: Azure's vault and key are apart."""
    if scheme != "azurekms":
        return (name,)
    vault, _, rest = name.removeprefix("https://").partition("/")
    parts = rest.removeprefix("keys/").split("/")
    return (vault.partition(".")[0], *parts[:1])


def _missing(uri: str, scheme: str) -> ConfigError:
    return ConfigError(
        f"--key {uri} needs the library of its service", hint=f"run: pip install 'securesystemslib[{EXTRAS[scheme]}]'"
    )


def _refused(uri: str, error: Exception) -> ConfigError | ToolError:
    if type(error).__name__ == "UnsupportedLibraryError":
        return _missing(uri, _parts(uri)[0])
    return ToolError(
        f"{uri}: {type(error).__name__}: {error}",
        hint="check the name of the key, and the service's credentials and network",
    )
