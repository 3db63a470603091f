"""Keys that stay where they are: in PKCS#11 tokens, clouds and vaults; and Sigstore without a network."""

import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from packager.core.errors import ConfigError, GateError, ToolError
from packager.signing import pkcs11_keys
from packager.signing.keys import open_signer
from packager.workflows import signing
from tests.cases.signing_cases import Key
from tests.cases.signing_services import key

__all__ = ["key"]


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("pkcs11:token=release;object=signing", "does not name the token's library"),
        ("pkcs11:object=signing?module-path=/nowhere/lib.so", "does not exist"),
        ("pkcs11:token=release?module-path={file}", "names no key"),
        ("pkcs11:objekt=signing?module-path={file}", "unknown part 'objekt'"),
        ("pkcs11:object=signing?module-path={file}&pin-value=1234", "every user of the machine"),
        ("pkcs11:object=signing?module-path={file}&pin-source=file:/nowhere", "cannot read the PIN"),
    ],
)
def test_a_wrong_uri_of_a_token_is_refused(tmp_path: Path, uri: str, words: str) -> None:
    (tmp_path / "library.so").write_bytes(b"")
    with pytest.raises(ConfigError, match=words) as caught:
        open_signer(uri.format(file=tmp_path / "library.so"))
    assert "1234" not in caught.value.message + caught.value.hint


def test_wrong_uris_and_libraries_of_tokens_are_refused(tmp_path: Path) -> None:
    (tmp_path / "library.so").write_bytes(b"")
    with pytest.raises(ToolError, match="is not a PKCS#11 library"):
        open_signer(f"pkcs11:object=signing?module-path={tmp_path / 'library.so'}")
    path = quote(str(Path(pkcs11_keys.__file__)))
    found = pkcs11_keys.parse(f"pkcs11:token=my%20token;object=a%3Bb;id=%00%FF;type=private?module-path={path}")
    assert (found.token, found.label, found.key_id) == ("my token", "a;b", b"\0\xff")


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("awskmz:alias/release", "no file, and no known address"),
        ("awskms:", "names no key"),
        ("https://example.com/key", "no known address"),
    ],
)
def test_an_unknown_address_of_a_key_is_refused(uri: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        open_signer(uri)


@pytest.mark.parametrize("uri", ["gcpkms:projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1"])
def test_a_service_without_its_library_names_what_to_install(uri: str) -> None:
    with pytest.raises(ConfigError, match="needs the library of its service") as caught:
        open_signer(uri)
    assert caught.value.hint == "run: pip install 'mobpack[gcpkms]'"


def test_keys_and_identities_sign_differently(key: Key, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.onnx").write_bytes(b"graph")
    signing.sign(tmp_path, signing.signer(str(key.private), None))
    someone = signing.trust([], signing.Identity(name="me@example.com", issuer="https://example.com"))
    with pytest.raises(GateError, match="is signed with a key, not by an identity"):
        signing.verify_place(tmp_path, someone)
    vector = Path(__file__).parents[1] / "data/model_signing/test-vectors/v1.0/valid/sigstore.bundle.json"
    with pytest.raises(GateError, match="signed without a key, by an identity of Sigstore"):
        signing.verify_place(tmp_path, signing.trust([key.public], None), vector)
    monkeypatch.setitem(sys.modules, "sigstore", None)
    (tmp_path / "model.onnx").write_bytes(b"graph")
    with pytest.raises(ConfigError, match="needs the Python package sigstore") as caught:
        signing.sign(tmp_path, signing.keyless_signer())
    assert caught.value.hint == "run: pip install 'mobpack[sigstore]'"
