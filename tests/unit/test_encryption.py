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
from packager.signing.encryption import key_of, open_sealed, read_header, seal
from packager.signing.encryption.sealing import file_key
from tests.cases.encryption_cases import CHANGES, CHUNK, HEADER_BYTES, KEY, KEY_ID, OTHER_KEY, VECTORS

NO_NAMES = (".models", "-1", "a b", "a/b", "x" * 65)
"""no names of keys: they could be paths, or options of a program"""
SIZES = (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 7)


def content(size: int) -> bytes:
    return bytes(index * 7 % 251 for index in range(size))


def sealed(tmp_path: Path, size: int, key: bytes = KEY, key_id: str = KEY_ID) -> Path:
    plain = tmp_path / "plain"
    plain.write_bytes(content(size))
    seal(plain, tmp_path / "sealed", key=key, key_id=key_id, chunk_bytes=CHUNK)
    return tmp_path / "sealed"


def header_of(plain: bytes, key_id: str) -> bytes:
    about = struct.pack("<IQ", CHUNK, len(plain)) + sha256(plain).digest()
    return b"MPCRYPT\x02" + about + bytes([len(key_id)]) + key_id.encode()


def derived(plain: bytes, key: bytes, header: bytes) -> bytes:
    """With the library's own HKDF."""
    info = b"mobpack model file v2" + header
    return HKDF(algorithm=SHA256(), length=32, salt=sha256(plain).digest(), info=info).derive(key)


def written(plain: bytes, *, key: bytes = KEY, key_id: str = KEY_ID) -> bytes:
    """An encrypted file, written once more from docs/formats.md."""
    header = header_of(plain, key_id)
    file, count = header, max(1, -(-len(plain) // CHUNK))
    for index in range(count):
        number = index.to_bytes(4, "big")
        chunk = plain[index * CHUNK : (index + 1) * CHUNK]
        cipher = AESGCM(derived(plain, key, header))
        file += cipher.encrypt(bytes(8) + number, chunk, header + number + bytes([index == count - 1]))
    return file


@pytest.mark.parametrize("size", SIZES)
def test_a_file_comes_back_and_grows_by_a_header_and_a_tag_for_each_chunk(size: int, tmp_path: Path) -> None:
    file = sealed(tmp_path, size)
    header = open_sealed(file, tmp_path / "opened", key=KEY)
    assert (tmp_path / "opened").read_bytes() == content(size)
    assert (header.key_id, header.size_bytes, header.chunk_bytes) == (KEY_ID, size, CHUNK)
    assert file.stat().st_size == HEADER_BYTES + size + 16 * max(1, -(-size // CHUNK))


@pytest.mark.parametrize("size", SIZES)
def test_every_byte_is_what_the_page_says(size: int, tmp_path: Path) -> None:
    assert sealed(tmp_path, size).read_bytes() == written(content(size))


def test_headers_differ_whatever_is_equal(tmp_path: Path) -> None:
    first = sealed(tmp_path, 5000).read_bytes()
    assert sealed(tmp_path, 5000).read_bytes() == first
    assert sealed(tmp_path, 5000, OTHER_KEY).read_bytes()[HEADER_BYTES:] != first[HEADER_BYTES:]
    # One key under two names, and one file in chunks of two sizes: a nonce must not come twice under a key.
    plain = tmp_path / "plain"
    plain.write_bytes(content(5000))
    kinds = [(name, chunk) for name in (KEY_ID, "models-2", "models-10") for chunk in (CHUNK, 2 * CHUNK)]
    headers = [seal(plain, tmp_path / "s", key=KEY, key_id=name, chunk_bytes=chunk) for name, chunk in kinds]
    assert len({file_key(KEY, header) for header in headers}) == len(kinds)
    texts = {sealed(tmp_path, CHUNK, key_id=name).read_bytes()[-CHUNK - 16 : -16] for name in (KEY_ID, "models-2")}
    assert len(texts) == 2, "the same stream of the cipher for two names"
    file = sealed(tmp_path, 10)
    with file.open("rb") as opened:
        header = read_header(opened, file)
    assert (header.key_id, header.sha256) == (KEY_ID, sha256(content(10)).digest())
    with pytest.raises(ToolError, match="encrypted with another key"):
        open_sealed(sealed(tmp_path, 10), tmp_path / "opened", key=OTHER_KEY)


def test_a_key_of_zeros_encrypts_and_opens_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is all zeros"):
        sealed(tmp_path, 10, bytes(32))
    (tmp_path / "sealed").write_bytes(written(content(10), key=bytes(32)))
    with pytest.raises(ValueError, match="is all zeros"):
        open_sealed(tmp_path / "sealed", tmp_path / "opened", key=bytes(32))
    assert not (tmp_path / "opened").exists()


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_was_changed_is_refused_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    file = sealed(tmp_path, 2 * CHUNK + 5)
    file.write_bytes(CHANGES[name](file.read_bytes()))
    with pytest.raises(ToolError) as refused:
        open_sealed(file, tmp_path / "opened", key=KEY)
    assert refused.value.hint
    assert not (tmp_path / "opened").exists()


def test_the_vectors_are_those_of_this_code(tmp_path: Path) -> None:
    """`UPDATE_VECTORS=1` writes them; implementations in other languages read them."""
    vectors: dict[str, Any] = {"key": KEY.hex(), "key-id": KEY_ID, "files": []}
    for size, name in ((0, KEY_ID), (1, KEY_ID), (1, "models-2"), (CHUNK, "A"), (2 * CHUNK + 5, KEY_ID)):
        plain = content(size)
        file = sealed(tmp_path, size, key_id=name).read_bytes()
        derivation = derived(plain, KEY, header_of(plain, name)).hex()
        vectors["files"].append(
            {"key-id": name, "file-key": derivation, "plain": encoded(plain), "sealed": encoded(file)}
        )
    changed = sealed(tmp_path, 2 * CHUNK + 5).read_bytes()
    vectors["refused"] = [{"why": why, "sealed": encoded(change(changed))} for why, change in CHANGES.items()]
    for name in NO_NAMES:
        file = written(content(1), key_id=name)
        vectors["refused"].append({"why": f"encrypted under the name '{name[:9]}'", "sealed": encoded(file)})
    zeros = {"why": "encrypted with zeros", "key": "00" * 32, "sealed": encoded(written(content(1), key=bytes(32)))}
    vectors["refused"].append(zeros)
    text = json.dumps(vectors, indent=1) + "\n"
    if os.environ.get("UPDATE_VECTORS"):
        VECTORS.parent.mkdir(exist_ok=True)
        VECTORS.write_text(text, encoding="utf-8", newline="\n")
    assert VECTORS.read_text(encoding="utf-8") == text


def test_each_vector_is_opened_or_refused(tmp_path: Path) -> None:
    for each in (vectors := json.loads(VECTORS.read_text(encoding="utf-8")))["files"]:
        (tmp_path / "sealed").write_bytes(base64.b64decode(each["sealed"]))
        header = open_sealed(tmp_path / "sealed", tmp_path / "opened", key=KEY)
        assert (tmp_path / "opened").read_bytes() == base64.b64decode(each["plain"])
        assert (header.key_id, file_key(KEY, header).hex()) == (each["key-id"], each["file-key"])
    for each in vectors["refused"]:
        (tmp_path / "sealed").write_bytes(base64.b64decode(each["sealed"]))
        with pytest.raises((ToolError, ValueError)):
            open_sealed(tmp_path / "sealed", tmp_path / "other", key=bytes.fromhex(each.get("key", KEY.hex())))
        assert not (tmp_path / "other").exists(), each["why"]


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


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


def key_in(tmp_path: Path, form: bytes) -> Path:
    file = tmp_path / "key"
    file.touch(mode=0o600)
    file.write_bytes(form)
    return file


NO_KEYS = {
    "nothing": b"",
    "31 bytes": KEY[:31],
    "62 digits": KEY.hex()[:-2].encode(),
    "64 letters": b"z" * 64,
    "33 bytes in Base64": base64.b64encode(KEY + b"1"),
    "half a key in digits": KEY[:16].hex().encode(),
    "half a key in 31 digits and a line's end": KEY[:16].hex()[:-1].encode() + b"\n",
    "24 bytes in Base64": base64.b64encode(KEY[:24]),
    "a password": b"correct horse battery staple 123",
    "Base64 with bits that mean nothing": base64.b64encode(KEY)[:-2] + b"9=",
    "Base64 with one more sign of its end": base64.b64encode(KEY) + b"=",
    "Base64 without its end": base64.b64encode(KEY)[:-1],
    "digits with a blank": KEY.hex()[:32].encode() + b" " + KEY.hex()[32:].encode(),
}


@pytest.mark.parametrize("name", NO_KEYS)
def test_what_is_no_key_is_refused(name: str, tmp_path: Path) -> None:
    """Each form has one meaning, and each key in Base64 one form."""
    with pytest.raises(ConfigError, match="is not a key of 32 bytes") as refused:
        key_of(str(key_in(tmp_path, NO_KEYS[name])))
    assert "openssl rand" in refused.value.hint


@pytest.mark.parametrize("form", [bytes(32), b"0" * 64, base64.b64encode(bytes(32))])
def test_a_key_of_zeros_is_refused_in_each_form(form: bytes, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is all zeros"):
        key_of(str(key_in(tmp_path, form)))


@pytest.mark.parametrize("form", ["\u00e4" * 16, "\udcff" * 32])
def test_a_variable_has_text_and_no_bytes(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_KEY", form)
    with pytest.raises(ConfigError, match="is not a key of 32 bytes"):
        key_of("env:OUR_KEY")


def test_a_key_in_the_project_or_that_others_can_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    file = tmp_path / "project" / "key"
    file.touch(mode=0o600)
    file.write_bytes(KEY)
    (tmp_path / "link").symlink_to(tmp_path / "project")
    for path in (file, tmp_path / "link" / "key"):
        with pytest.raises(ConfigError, match="is in the project"):
            key_of(str(path), tmp_path / "project")
    file.chmod(0o644)
    with pytest.raises(ConfigError, match="other users of this machine can read the key"):
        key_of(str(file))
    with pytest.raises(ConfigError, match="cannot read the key"):
        key_of(str(tmp_path / "nothing"))
