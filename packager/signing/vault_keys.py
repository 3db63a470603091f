"""Keys of HashiCorp Vault's and OpenBao's transit engine, by cosign's URIs: `hashivault://NAME`."""

import base64
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError, ToolError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

SCHEME = "hashivault"
INSTALL = "run: pip install 'mobpack[hashivault]'"
CHECK = "check VAULT_ADDR, VAULT_TOKEN and the name of the key in the transit engine"


@dataclass(frozen=True, kw_only=True)
class VaultSigner:
    """A key that stays in Vault, which chooses the random numbers of its signatures."""

    name: str
    version: int
    client: Any
    key: "EllipticCurvePublicKey"

    def public_key(self) -> "EllipticCurvePublicKey":
        return self.key

    def sign(self, message: bytes) -> bytes:
        try:
            found = self.client.secrets.transit.sign_data(
                self.name,
                hash_input=base64.b64encode(hashlib.sha256(message).digest()).decode(),
                hash_algorithm="sha2-256",
                key_version=self.version,
                prehashed=True,
                marshaling_algorithm="asn1",
            )
            return base64.b64decode(found["data"]["signature"].rpartition(":")[2])
        except Exception as error:  # hvac and requests have errors of their own
            raise _refused(self.name, error) from error


def open_vault_key(uri: str) -> VaultSigner:
    """The newest version of the key at `hashivault://NAME`. Vault's address and token are in its own variables,
    VAULT_ADDR and VAULT_TOKEN.

    Raises ConfigError without the library or for a key of another type, ToolError if Vault refuses.
    """
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    name = uri.partition(":")[2].strip("/")
    try:
        import hvac
    except ImportError as error:
        raise ConfigError(f"--key {uri} needs the Python package hvac", hint=INSTALL) from error
    try:
        client = hvac.Client()
        found = client.secrets.transit.read_key(name)["data"]
    except Exception as error:  # hvac and requests have errors of their own
        raise _refused(name, error) from error
    version = max(found["keys"], key=int)
    if not str(found.get("type")).startswith("ecdsa"):
        raise ConfigError(
            f"{uri} is a key of the type {found.get('type')}",
            hint=f"make one for signing: vault write -f transit/keys/{name} type=ecdsa-p256",
        )
    key = load_pem_public_key(found["keys"][version]["public_key"].encode())
    if not isinstance(key, EllipticCurvePublicKey):
        raise ConfigError(f"{uri} is not a key of an elliptic curve", hint="make a P-256 key in Vault")
    return VaultSigner(name=name, version=int(version), client=client, key=key)


def _refused(name: str, error: Exception) -> ToolError:
    return ToolError(f"the key '{name}' in Vault: {type(error).__name__}: {error}", hint=CHECK)
