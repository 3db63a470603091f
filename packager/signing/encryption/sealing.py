"""The format of encrypted model files, version 2: AES-256-GCM over chunks. docs/formats.md describes every byte."""

import hashlib
import hmac
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from packager.core.errors import ToolError
from packager.files.atomic import atomic_file

MAGIC = b"MPCRYPT\x02"
"""ASCII and the version"""
FIXED = struct.Struct("<8sIQ32sB")
"""magic, bytes of a chunk, bytes of the file, SHA-256 of the file, bytes of the key's name"""
KEY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
CHUNK_BYTES = 1 << 20
MIN_CHUNK_BYTES = 1 << 12
MAX_CHUNK_BYTES = 1 << 24
KEY_BYTES = 32
TAG_BYTES = 16
INFO = b"mobpack model file v2"
"""what the key of a file is derived for, before the header (HKDF, RFC 5869)"""
MAX_CHUNKS = 1 << 32
AGAIN = "build or download the file again"


@dataclass(frozen=True, kw_only=True)
class Header:
    """The beginning of an encrypted file, which every chunk vouches for."""

    chunk_bytes: int
    size_bytes: int
    """of the file as it was"""
    sha256: bytes
    """of the file as it was"""
    key_id: str

    def encoded(self) -> bytes:
        name = self.key_id.encode("ascii")
        return FIXED.pack(MAGIC, self.chunk_bytes, self.size_bytes, self.sha256, len(name)) + name

    @property
    def chunks(self) -> int:
        """An empty file has one, which is empty."""
        return max(1, -(-self.size_bytes // self.chunk_bytes))


def seal(source: Path, target: Path, *, key: bytes, key_id: str, chunk_bytes: int = CHUNK_BYTES) -> Header:
    """Encrypts `source` into `target`. The same file and key give the same bytes.

    Raises ToolError if `target` cannot be written, ValueError for a key that is none.
    """
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    with source.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
        size_bytes = file.tell()
        header = Header(chunk_bytes=chunk_bytes, size_bytes=size_bytes, sha256=digest, key_id=key_id)
        encoded = header.encoded()
        cipher = AESGCM(file_key(key, header))
        file.seek(0)
        with atomic_file(target) as out:
            out.write(encoded)
            for index in range(header.chunks):
                chunk = file.read(chunk_bytes)
                out.write(cipher.encrypt(nonce(index), chunk, associated(encoded, index, header.chunks)))
    return header


def open_sealed(source: Path, target: Path, *, key: bytes) -> Header:
    """Decrypts `source` into `target`, which appears only when all of it was right.

    Raises ToolError for a file that was changed, cut, or encrypted with another key.
    """
    from cryptography.exceptions import InvalidTag

    with source.open("rb") as file:
        header = read_header(file, source)
        digest = hashlib.sha256()
        with atomic_file(target) as out:
            try:
                for chunk in _chunks(file, header, key):
                    digest.update(chunk)
                    out.write(chunk)
            except InvalidTag as error:
                raise ToolError(f"{source} was changed, or encrypted with another key", hint=AGAIN) from error
            if file.read(1) or digest.digest() != header.sha256:
                raise ToolError(f"{source} is not what its header says", hint=AGAIN)
    return header


def _chunks(file: IO[bytes], header: Header, key: bytes) -> Iterator[bytes]:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    encoded, cipher = header.encoded(), AESGCM(file_key(key, header))
    left = header.size_bytes
    for index in range(header.chunks):
        size = min(left, header.chunk_bytes)
        yield cipher.decrypt(nonce(index), file.read(size + TAG_BYTES), associated(encoded, index, header.chunks))
        left -= size


def read_header(file: IO[bytes], path: Path) -> Header:
    """The header of an encrypted file, which is then read up to its first chunk. Raises ToolError for another file."""
    fixed = file.read(FIXED.size)
    if len(fixed) < FIXED.size or not fixed.startswith(MAGIC):
        raise ToolError(
            f"{path} is not an encrypted model file of version 2", hint="name a file that mobpack encrypted"
        )
    _, chunk_bytes, size_bytes, sha256, length = FIXED.unpack(fixed)
    key_id = file.read(length).decode("ascii", errors="replace")
    header = Header(chunk_bytes=chunk_bytes, size_bytes=size_bytes, sha256=sha256, key_id=key_id)
    is_right = (
        len(key_id) == length
        and KEY_ID.fullmatch(key_id) is not None
        and MIN_CHUNK_BYTES <= chunk_bytes <= MAX_CHUNK_BYTES
        and header.chunks < MAX_CHUNKS
    )
    if not is_right:
        raise ToolError(f"{path} has a damaged header", hint=AGAIN)
    return header


def file_key(key: bytes, header: Header) -> bytes:
    """The key of one file: HKDF-SHA256 of `key`, with the SHA-256 of the file as salt, and INFO and the whole header as
    info. Two files with different content, names of keys or chunks never share it: nonces need only count chunks.

    Raises ValueError for a key that is none.
    """
    if problem := problem_of(key):
        raise ValueError(f"the key {problem}")
    extracted = hmac.digest(header.sha256, key, "sha256")
    return hmac.digest(extracted, INFO + header.encoded() + b"\x01", "sha256")


def problem_of(key: bytes) -> str:
    """The reason why nothing is encrypted with `key`; empty for a key that may be used."""
    if len(key) != KEY_BYTES:
        return f"has {len(key)} bytes, not {KEY_BYTES}"
    return "" if any(key) else "is all zeros: nobody has set it"


def nonce(index: int) -> bytes:
    """8 zero bytes and the number of the chunk, big-endian."""
    return struct.pack(">QI", 0, index)


def associated(header: bytes, index: int, chunks: int) -> bytes:
    """Bytes that a chunk vouches for beside its content: the header, its place, and whether it is the last."""
    return header + struct.pack(">IB", index, index == chunks - 1)
