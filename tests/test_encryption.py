"""Encrypted model files: the format, its vectors, and where keys come from."""

import base64
import json
import os
import struct
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from packager.core.errors import ConfigError, ToolError
from packager.encryption import key_of, open_sealed, read_header, seal
from tests.encryption_cases import CHANGES, CHUNK, HEADER_BYTES, KEY, KEY_ID

VECTORS = Path(__file__).parent / "data" / "encryption" / "vectors.json"
SIZES = (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 7)


def content(size: int) -> bytes:
    return bytes(index * 7 % 251 for index in range(size))


def sealed(tmp_path: Path, size: int, key: bytes = KEY) -> Path:
    plain = tmp_path / "plain"
    plain.write_bytes(content(size))
    seal(plain, tmp_path / "sealed", key=key, key_id=KEY_ID, chunk_bytes=CHUNK)
    return tmp_path / "sealed"


@pytest.mark.parametrize("size", SIZES)
def test_a_file_comes_back_and_grows_by_a_header_and_a_tag_for_each_chunk(size: int, tmp_path: Path) -> None:
    file = sealed(tmp_path, size)
    header = open_sealed(file, tmp_path / "opened", key=KEY)
    assert (tmp_path / "opened").read_bytes() == content(size)
    assert (header.key_id, header.size_bytes, header.chunk_bytes) == (KEY_ID, size, CHUNK)
    assert file.stat().st_size == HEADER_BYTES + size + 16 * max(1, -(-size // CHUNK))


def test_every_byte_is_what_the_page_says(tmp_path: Path) -> None:
    """Written once more, from docs/encryption.md, with the library's own HKDF."""
    file = sealed(tmp_path, 2 * CHUNK + 5).read_bytes()
    plain = content(2 * CHUNK + 5)
    digest = sha256(plain).digest()
    header = b"MPCRYPT\x01" + struct.pack("<IQ", CHUNK, len(plain)) + digest + bytes([len(KEY_ID)]) + KEY_ID.encode()
    key = HKDF(algorithm=SHA256(), length=32, salt=digest, info=b"mobpack model file v1").derive(KEY)
    expected = header
    for index in range(3):
        number = index.to_bytes(4, "big")
        chunk = plain[index * CHUNK : (index + 1) * CHUNK]
        expected += AESGCM(key).encrypt(bytes(8) + number, chunk, header + number + bytes([index == 2]))
    assert file == expected


def test_the_same_file_and_key_give_the_same_bytes_and_another_key_others(tmp_path: Path) -> None:
    first = sealed(tmp_path, 5000).read_bytes()
    assert sealed(tmp_path, 5000).read_bytes() == first
    assert sealed(tmp_path, 5000, bytes(32)).read_bytes()[HEADER_BYTES:] != first[HEADER_BYTES:]


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_was_changed_is_refused_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    file = sealed(tmp_path, 2 * CHUNK + 5)
    file.write_bytes(CHANGES[name](file.read_bytes()))
    with pytest.raises(ToolError) as refused:
        open_sealed(file, tmp_path / "opened", key=KEY)
    assert refused.value.hint
    assert not (tmp_path / "opened").exists()


def test_another_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="encrypted with another key"):
        open_sealed(sealed(tmp_path, 10), tmp_path / "opened", key=bytes(32))


def test_the_vectors_are_those_of_this_code(tmp_path: Path) -> None:
    """`UPDATE_VECTORS=1` writes them; implementations in other languages read them."""
    vectors: dict[str, Any] = {"key": KEY.hex(), "key-id": KEY_ID, "files": []}
    for size in (0, 1, CHUNK, 2 * CHUNK + 5):
        file = sealed(tmp_path, size).read_bytes()
        vectors["files"].append({"plain": encoded(content(size)), "sealed": encoded(file)})
    changed = sealed(tmp_path, 2 * CHUNK + 5).read_bytes()
    vectors["refused"] = [{"why": why, "sealed": encoded(change(changed))} for why, change in CHANGES.items()]
    text = json.dumps(vectors, indent=1) + "\n"
    if os.environ.get("UPDATE_VECTORS"):
        VECTORS.parent.mkdir(exist_ok=True)
        VECTORS.write_text(text, encoding="utf-8", newline="\n")
    assert VECTORS.read_text(encoding="utf-8") == text


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_a_header_can_be_read_without_a_key(tmp_path: Path) -> None:
    file = sealed(tmp_path, 10)
    with file.open("rb") as opened:
        header = read_header(opened, file)
    assert (header.key_id, header.sha256) == (KEY_ID, sha256(content(10)).digest())


@pytest.mark.parametrize("form", [KEY, KEY.hex().encode(), KEY.hex().upper().encode() + b"\n", base64.b64encode(KEY)])
def test_a_key_is_read_in_each_form(form: bytes, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.touch(mode=0o600)
    file.write_bytes(form)
    assert key_of(str(file)).value == KEY


def test_a_key_comes_from_the_environment_and_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_KEY", KEY.hex())
    key = key_of("env:OUR_KEY")
    assert key.value == KEY
    assert KEY.hex() not in repr(key)
    assert str(KEY) not in repr(key)
    assert key.fingerprint not in (KEY.hex(), sha256(KEY).hexdigest())
    monkeypatch.delenv("OUR_KEY")
    with pytest.raises(ConfigError, match="the variable OUR_KEY of the environment has no key"):
        key_of("env:OUR_KEY")


@pytest.mark.parametrize("form", [b"", KEY[:31], KEY.hex()[:-2].encode(), b"z" * 64, base64.b64encode(KEY + b"1")])
def test_what_is_no_key_is_refused(form: bytes, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.touch(mode=0o600)
    file.write_bytes(form)
    with pytest.raises(ConfigError, match="is no key of 32 bytes"):
        key_of(str(file))


def test_a_key_in_the_project_or_that_others_can_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    file = tmp_path / "project" / "key"
    file.touch(mode=0o600)
    file.write_bytes(KEY)
    with pytest.raises(ConfigError, match="is in the project"):
        key_of(str(file), tmp_path / "project")
    file.chmod(0o644)
    with pytest.raises(ConfigError, match="other users of this machine can read the key"):
        key_of(str(file))
    with pytest.raises(ConfigError, match="cannot read the key"):
        key_of(str(tmp_path / "nothing"))
