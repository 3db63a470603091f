"""Keys of `mobpack sign` as keys and signers of TUF metadata."""

from pathlib import Path
from typing import TYPE_CHECKING

from securesystemslib.signer import Key, SecretsHandler, Signature, Signer, SSlibKey

from packager.core.errors import ConfigError
from packager.signing import keys

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey


class MetadataSigner(Signer):
    """A P-256 key in a file, a token, a cloud or a vault."""

    def __init__(self, key: keys.Signer) -> None:
        self._key = key
        self._public = SSlibKey.from_crypto(key.public_key())

    @classmethod
    def from_priv_key_uri(
        cls, priv_key_uri: str, public_key: Key, secrets_handler: SecretsHandler | None = None
    ) -> "MetadataSigner":
        return cls(keys.open_signer(priv_key_uri))

    @property
    def public_key(self) -> SSlibKey:
        return self._public

    def sign(self, payload: bytes) -> Signature:
        return Signature(self._public.keyid, self._key.sign(payload).hex())


def signer(key: str) -> MetadataSigner:
    """The key that `key` names, as for `mobpack sign`. Raises ConfigError or ToolError if it cannot be used."""
    return MetadataSigner(keys.open_signer(key))


def public_key(key: str) -> SSlibKey:
    """The public half of the key that `key` names: a public key, a certificate, or what `mobpack sign` takes."""
    return SSlibKey.from_crypto(_public_half(key))


def _public_half(key: str) -> "EllipticCurvePublicKey":
    path = Path(key)
    if not path.is_file() or b"PRIVATE KEY" in keys.read_pem(path):
        return keys.open_signer(key).public_key()
    found = keys.public_key(path)
    if found.curve.name != "secp256r1":
        raise ConfigError(f"{key} is a key of the curve {found.curve.name}: apps trust P-256", hint=keys.MAKE_ONE)
    return found
