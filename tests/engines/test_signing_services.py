"""Keys that stay where they are: in PKCS#11 tokens, clouds and vaults; and Sigstore without a network."""

from pathlib import Path
from urllib.parse import quote

import pytest

from packager.core.errors import ConfigError, ToolError
from packager.signing.keys import open_signer
from packager.signing.passwords import PASSWORD
from tests.cases.signing_cases import Key
from tests.cases.signing_services import key, proves, soft, token
from tests.toolchain.signing_tools import PIN, TOKEN, Token, with_sigstore

__all__ = ["key", "soft", "token"]


def uri_of(token: Token, path: str = f"token={TOKEN};object=signing", more: str = "") -> str:
    return f"pkcs11:{path}?module-path={quote(str(token.module))}{more}"


def test_a_key_in_a_token_signs(token: Token, key: Key, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proves(uri_of(token), key)
    proves(uri_of(token, f"token={TOKEN};id=%01"), key)
    monkeypatch.delenv(PASSWORD)
    (tmp_path / "pin").write_text(f"{PIN}\n", encoding="utf-8")
    proves(uri_of(token, more=f"&pin-source=file:{tmp_path / 'pin'}"), key)


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


def test_sigstore_without_a_network_says_to_use_a_key(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"graph")
    refused = dict.fromkeys(("HTTPS_PROXY", "https_proxy"), "http://127.0.0.1:9")
    alone = {"HOME": str(tmp_path / "home"), "XDG_DATA_HOME": str(tmp_path / "home"), **refused}
    done = with_sigstore("-m", "packager.cli", "sign", tmp_path, "--identity", "sigstore", **alone)
    assert done.returncode == ToolError.EXIT_CODE, done.stderr
    assert "cannot reach or use Sigstore" in done.stderr
    assert "without one, sign and verify with a key: --key" in done.stderr
    assert not (tmp_path / "model.sig").exists()
