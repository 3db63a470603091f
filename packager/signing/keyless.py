"""Signs and verifies with an identity in place of a key, through Sigstore's public servers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from packager.core.errors import ConfigError, GateError, ToolError
from packager.signing.envelope import IN_TOTO, Bundle, parsed

SIGSTORE = "sigstore"
"""the one way to sign without a key"""
INSTALL = "run: pip install 'mobpack[sigstore]'"
OFFLINE = "Sigstore needs a network; without one, sign and verify with a key: --key"


def sign(payload_type: str, payload: bytes) -> Bundle:
    """A bundle signed by the identity of a CI job (its OIDC token), or of the person who logs in in a browser.

    Raises ConfigError without the Python package sigstore, ToolError without a network or an identity.
    """
    if payload_type != IN_TOTO:
        raise ConfigError("an identity signs statements only", hint="sign with --key")
    with _sigstore():
        from sigstore.dsse import Statement
        from sigstore.models import ClientTrustConfig
        from sigstore.oidc import IdentityToken, Issuer, detect_credential
        from sigstore.sign import SigningContext

        config = ClientTrustConfig.production()
        found = detect_credential()
        token = IdentityToken(found) if found else Issuer(config.signing_config.get_oidc_url()).identity_token()
        with SigningContext.from_trust_config(config).signer(token) as signer:
            content = signer.sign_dsse(Statement(payload)).to_json().encode() + b"\n"
    return parsed(content, "Sigstore's bundle")


def verify(bundle: Bundle, identity: str, issuer: str, where: str) -> str:
    """The identity that has signed `bundle`. Raises GateError if it is not `identity`, confirmed by `issuer`."""
    if not bundle.is_keyless:
        raise GateError(f"{where} is signed with a key, not by an identity", hint="verify it with --key release.pub")
    with _sigstore():
        from sigstore.errors import VerificationError
        from sigstore.models import Bundle as SigstoreBundle
        from sigstore.models import InvalidBundle
        from sigstore.verify import Verifier
        from sigstore.verify.policy import Identity

        verifier = Verifier.production()
        try:
            verifier.verify_dsse(SigstoreBundle.from_json(bundle.raw), Identity(identity=identity, issuer=issuer))
        except (VerificationError, InvalidBundle) as error:
            raise GateError(
                f"{where} is not signed by {identity} ({issuer}): {error}", hint="check --identity and --issuer"
            ) from error
    return identity


@contextmanager
def _sigstore() -> Iterator[None]:
    """Turns errors of the package sigstore into words."""
    try:
        yield
    except ImportError as error:
        raise ConfigError(f"signing without a key needs the Python package sigstore ({error})", hint=INSTALL) from error
    except (ConfigError, GateError):
        raise
    except Exception as error:  # its libraries for TUF, OIDC and HTTP have errors of their own
        raise ToolError(f"cannot reach or use Sigstore: {_reason(error)}", hint=OFFLINE) from error


def _reason(error: Any) -> str:
    while error.__cause__ is not None and not str(error):
        error = error.__cause__
    return str(error) or type(error).__name__
