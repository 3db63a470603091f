"""Keys in PKCS#11 tokens, and the proof that a signature is theirs."""

import pytest

from packager.distribution.channel.signers import public_key, signer
from packager.signing.keys import open_signer, signed
from packager.signing.passwords import PASSWORD
from packager.signing.verifying import trusted, verify
from tests.cases.signing_cases import Key, make_key
from tests.toolchain.signing_tools import PIN, Token, soft_token


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Key:
    return make_key(tmp_path_factory.mktemp("keys"))


def proves(uri: str, key: Key) -> None:
    """The key at `uri` signs what `key` verifies: releases, and metadata of channels."""
    bundle = signed(open_signer(uri), "text/plain", b"payload")
    assert verify(bundle, trusted([key.public]), "bundle").path == key.public
    public_key(str(key.public)).verify_signature(signer(uri).sign(b"metadata"), b"metadata")


@pytest.fixture(scope="module")
def soft(key: Key, tmp_path_factory: pytest.TempPathFactory) -> Token:
    """Its library reads its settings once for each process."""
    return soft_token(tmp_path_factory.mktemp("token"), key.private)


@pytest.fixture
def token(soft: Token, monkeypatch: pytest.MonkeyPatch) -> Token:
    for name, value in {**soft.variables, PASSWORD: PIN}.items():
        monkeypatch.setenv(name, value)
    return soft
