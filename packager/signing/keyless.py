"""Signs and verifies with an identity in place of a key, through Sigstore's public servers."""

from packager.signing.envelope import Bundle

INSTALL = "run: pip install 'mobpack[sigstore]'"
OFFLINE = "it needs a network; without one, sign and verify with a key: --key"


def sign(payload_type: str, payload: bytes) -> bytes:
    """A bundle in JSON, signed by the identity of the machine (a CI job) or of the person at it."""
    raise NotImplementedError


def verify(bundle: Bundle, name: str, issuer: str, where: str) -> str:
    raise NotImplementedError
