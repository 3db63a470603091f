"""Keys that stay where they are: in PKCS#11 tokens, clouds and vaults; and Sigstore without a network."""

import base64
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from packager.core.errors import ConfigError, GateError, MobpackError, ToolError
from packager.signing import pkcs11_keys
from packager.signing.keys import open_signer, signed
from packager.signing.passwords import PASSWORD
from packager.signing.verifying import trusted, verify
from packager.workflows import signing
from tests.signing_cases import Key, make_key
from tests.toolchain.signing_tools import PIN, TOKEN, Token, soft_token, with_sigstore

pytestmark = pytest.mark.by_content

Answer = Callable[[str, Mapping[str, str], dict[str, Any]], dict[str, Any] | None]
"""Path, headers and JSON of a request -> JSON of the answer, or None for an error."""


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Key:
    return make_key(tmp_path_factory.mktemp("keys"))


def proves(uri: str, key: Key) -> None:
    """The key at `uri` signs what `key` verifies."""
    bundle = signed(open_signer(uri), "text/plain", b"payload")
    assert verify(bundle, trusted([key.public]), "bundle").path == key.public


@pytest.fixture(scope="module")
def soft(key: Key, tmp_path_factory: pytest.TempPathFactory) -> Token:
    """Its library reads its settings once for each process."""
    return soft_token(tmp_path_factory.mktemp("token"), key.private)


@pytest.fixture
def token(soft: Token, monkeypatch: pytest.MonkeyPatch) -> Token:
    for name, value in {**soft.variables, PASSWORD: PIN}.items():
        monkeypatch.setenv(name, value)
    return soft


def uri_of(token: Token, path: str = f"token={TOKEN};object=signing", more: str = "") -> str:
    return f"pkcs11:{path}?module-path={quote(str(token.module))}{more}"


@pytest.mark.environments
def test_a_key_in_a_token_signs(token: Token, key: Key, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proves(uri_of(token), key)
    proves(uri_of(token, f"token={TOKEN};id=%01"), key)
    monkeypatch.delenv(PASSWORD)
    (tmp_path / "pin").write_text(f"{PIN}\n", encoding="utf-8")
    proves(uri_of(token, more=f"&pin-source=file:{tmp_path / 'pin'}"), key)


@pytest.mark.environments
def test_what_a_token_refuses_is_said_in_words(token: Token, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, kind, words in (
        ("token=other;object=signing", ToolError, "no token 'other'"),
        (f"token={TOKEN};object=other", ConfigError, "does not have exactly one EC key 'other'"),
    ):
        with pytest.raises(kind, match=words):
            open_signer(uri_of(token, path))
    monkeypatch.setenv(PASSWORD, "9999")
    with pytest.raises(ToolError, match="refuses the PIN"):
        open_signer(uri_of(token))
    monkeypatch.delenv(PASSWORD)
    with pytest.raises(ConfigError, match="needs its PIN"):
        open_signer(uri_of(token)).sign(b"payload")


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


def test_a_file_that_is_no_library_of_a_token_is_named(tmp_path: Path) -> None:
    (tmp_path / "library.so").write_bytes(b"")
    with pytest.raises(ToolError, match="is no PKCS#11 library"):
        open_signer(f"pkcs11:object=signing?module-path={tmp_path / 'library.so'}")


def test_the_parts_of_a_uri_are_unescaped() -> None:
    path = quote(str(Path(pkcs11_keys.__file__)))
    found = pkcs11_keys.parse(f"pkcs11:token=my%20token;object=a%3Bb;id=%00%FF;type=private?module-path={path}")
    assert (found.token, found.label, found.key_id) == ("my token", "a;b", b"\0\xff")


@contextmanager
def served(answer: Answer) -> Iterator[str]:
    """Address of a service on this machine that gives the answers of `answer`."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found = answer(self.path, dict(self.headers), json.loads(body or b"{}"))
            content = json.dumps(found if found is not None else {"message": "denied", "errors": ["denied"]}).encode()
            self.send_response(200 if found is not None else 400)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = _answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def signature(key: Key, digest: bytes) -> bytes:
    return key.key.sign(digest, ec.ECDSA(utils.Prehashed(SHA256())))


def aws(key: Key) -> Answer:
    """KMS's answers about one key, by its JSON protocol."""

    def answer(_: str, headers: Mapping[str, str], asked: dict[str, Any]) -> dict[str, Any] | None:
        if asked["KeyId"] != "alias/release":
            return None
        action = headers["X-Amz-Target"].partition(".")[2]
        if action == "GetPublicKey":
            der = key.key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
            return {"PublicKey": base64.b64encode(der).decode(), "SigningAlgorithms": ["ECDSA_SHA_256"]}
        assert (action, asked["MessageType"], asked["SigningAlgorithm"]) == ("Sign", "DIGEST", "ECDSA_SHA_256")
        return {"Signature": base64.b64encode(signature(key, base64.b64decode(asked["Message"]))).decode()}

    return answer


@pytest.fixture
def aws_account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.mark.programs
@pytest.mark.usefixtures("aws_account")
def test_a_key_in_aws_signs(key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(aws(key)) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL_KMS", address)
        proves("awskms:alias/release", key)
        proves("awskms:///alias/release", key)
        with pytest.raises(ToolError, match="awskms:alias/other: ClientError") as caught:
            open_signer("awskms:alias/other")
    assert "credentials" in caught.value.hint


@pytest.mark.programs
@pytest.mark.usefixtures("aws_account")
def test_a_service_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_KMS", "http://127.0.0.1:9")
    with pytest.raises(ToolError, match="EndpointConnectionError"):
        open_signer("awskms:alias/release")


def vault(key: Key, kind: str = "ecdsa-p256") -> Answer:
    """The answers of Vault's transit engine about one key."""

    def answer(path: str, _: Mapping[str, str], asked: dict[str, Any]) -> dict[str, Any] | None:
        if path == "/v1/transit/keys/release":
            pem = key.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
            versions = {"9": {"public_key": "older"}, "10": {"public_key": pem}}
            return {"data": {"type": kind, "keys": versions}}
        if path != "/v1/transit/sign/release":
            return None
        assert (asked["prehashed"], asked["hash_algorithm"]) == (True, "sha2-256")
        assert (asked["marshaling_algorithm"], asked["key_version"]) == ("asn1", 10)
        made = signature(key, base64.b64decode(asked["input"]))
        return {"data": {"signature": f"vault:v10:{base64.b64encode(made).decode()}"}}

    return answer


@pytest.mark.programs
def test_a_key_in_vault_signs(key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_TOKEN", "token")
    with served(vault(key)) as address:
        monkeypatch.setenv("VAULT_ADDR", address)
        proves("hashivault://release", key)
        with pytest.raises(ToolError, match="the key 'other' in Vault"):
            open_signer("hashivault://other")
    with pytest.raises(ToolError, match="Connection"):
        open_signer("hashivault://release")


@pytest.mark.programs
def test_a_key_of_vault_of_another_type_is_refused(key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(vault(key, "ed25519")) as address:
        monkeypatch.setenv("VAULT_ADDR", address)
        with pytest.raises(ConfigError, match="of the type ed25519") as caught:
            open_signer("hashivault://release")
    assert "type=ecdsa-p256" in caught.value.hint


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


@pytest.mark.programs
def test_errors_of_services_are_not_bugs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "nowhere")
    with pytest.raises(MobpackError, match="NoRegionError"):
        open_signer("awskms:alias/release")


@pytest.mark.environments
def test_sigstore_without_a_network_says_to_use_a_key(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"graph")
    refused = dict.fromkeys(("HTTPS_PROXY", "https_proxy"), "http://127.0.0.1:9")
    alone = {"HOME": str(tmp_path / "home"), "XDG_DATA_HOME": str(tmp_path / "home"), **refused}
    done = with_sigstore("-m", "packager.cli", "sign", tmp_path, "--identity", "sigstore", **alone)
    assert done.returncode == ToolError.EXIT_CODE, done.stderr
    assert "cannot reach or use Sigstore" in done.stderr
    assert "without one, sign and verify with a key: --key" in done.stderr
    assert not (tmp_path / "model.sig").exists()


def test_without_its_library_sigstore_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sigstore", None)
    (tmp_path / "model.onnx").write_bytes(b"graph")
    with pytest.raises(ConfigError, match="needs the Python package sigstore") as caught:
        signing.sign(tmp_path, signing.keyless_signer())
    assert caught.value.hint == "run: pip install 'mobpack[sigstore]'"


def test_a_key_s_signature_is_not_that_of_an_identity(key: Key, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"graph")
    signing.sign(tmp_path, signing.signer(str(key.private), None))
    someone = signing.trust([], signing.Identity(name="me@example.com", issuer="https://example.com"))
    with pytest.raises(GateError, match="is signed with a key, not by an identity"):
        signing.verify_place(tmp_path, someone)


def test_an_identity_s_signature_is_not_that_of_a_key(key: Key, tmp_path: Path) -> None:
    vector = Path(__file__).parent / "data/model_signing/test-vectors/v1.0/valid/sigstore.bundle.json"
    with pytest.raises(GateError, match="signed without a key, by an identity of Sigstore"):
        signing.verify_place(tmp_path, signing.trust([key.public], None), vector)
