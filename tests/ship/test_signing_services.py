"""Keys that stay where they are: in PKCS#11 tokens, clouds and vaults; and Sigstore without a network."""

import base64
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from packager.core.errors import ConfigError, MobpackError, ToolError
from packager.signing.keys import open_signer
from tests.cases.signing_cases import Key
from tests.cases.signing_services import key, proves, soft, token

__all__ = ["key", "soft", "token"]


Answer = Callable[[str, Mapping[str, str], dict[str, Any]], dict[str, Any] | None]
"""Path, headers and JSON of a request -> JSON of the answer, or None for an error."""


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


@pytest.mark.usefixtures("aws_account")
def test_a_key_in_aws_signs(key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(aws(key)) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL_KMS", address)
        proves("awskms:alias/release", key)
        proves("awskms:///alias/release", key)
        with pytest.raises(ToolError, match="awskms:alias/other: ClientError") as caught:
            open_signer("awskms:alias/other")
    assert "credentials" in caught.value.hint


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


def test_a_key_in_vault_signs(key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_TOKEN", "token")
    with served(vault(key)) as address:
        monkeypatch.setenv("VAULT_ADDR", address)
        proves("hashivault://release", key)
        with pytest.raises(ToolError, match="the key 'other' in Vault"):
            open_signer("hashivault://other")
    with pytest.raises(ToolError, match="Connection"):
        open_signer("hashivault://release")


def test_a_key_of_vault_of_another_type_is_refused(key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(vault(key, "ed25519")) as address:
        monkeypatch.setenv("VAULT_ADDR", address)
        with pytest.raises(ConfigError, match="of the type ed25519") as caught:
            open_signer("hashivault://release")
    assert "type=ecdsa-p256" in caught.value.hint


def test_errors_of_services_are_not_bugs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "nowhere")
    with pytest.raises(MobpackError, match="NoRegionError"):
        open_signer("awskms:alias/release")
