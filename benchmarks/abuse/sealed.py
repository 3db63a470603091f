"""Encrypted files that were changed, and keys that are none: nothing is opened, and nothing is encrypted with them."""

import base64
import itertools
import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.abuse.command import Place
from benchmarks.abuse.result import Result
from packager.core.errors import ConfigError, ToolError
from packager.signing.encryption import key_of, open_sealed, seal
from packager.signing.encryption.sealing import file_key
from tests.cases.encryption_cases import CHANGES, CHUNK, KEY, KEY_ID, OTHER_KEY

BYTES = 3 * CHUNK + 7
FORMS = {
    "zeros": bytes(32),
    "zeros in digits": b"0" * 64,
    "zeros in Base64": base64.b64encode(bytes(32)),
    "half a key in digits": KEY[:16].hex().encode(),
    "24 bytes in Base64": base64.b64encode(KEY[:24]),
    "a password": b"correct horse battery staple 123",
    "Base64 with bits that mean nothing": base64.b64encode(KEY)[:-2] + b"9=",
    "Base64 without its end": base64.b64encode(KEY)[:-1],
    "a byte too few": KEY[:31],
    "a byte too many": KEY + b"\xff",
    "nothing": b"",
}


def attack(place: Place, flips: int, seed: int) -> Iterator[Result]:
    folder = place.folder / "sealed"
    folder.mkdir()
    (folder / "plain").write_bytes(random.Random(seed).randbytes(BYTES))
    yield _changed(folder, flips, seed)
    yield _keys(folder)
    yield _names(folder)


def _changed(folder: Path, flips: int, seed: int) -> Result:
    """Every change that tests know, bits of all kinds of bytes, and another key."""
    seal(folder / "plain", folder / "sealed", key=KEY, key_id=KEY_ID, chunk_bytes=CHUNK)
    right, rng = (folder / "sealed").read_bytes(), random.Random(seed)
    files = {name: change(right) for name, change in CHANGES.items()}
    for _ in range(flips):
        changed, place, bit = bytearray(right), rng.randrange(len(right)), rng.randrange(8)
        changed[place] ^= 1 << bit
        files[f"bit {bit} of byte {place}"] = bytes(changed)
    taken = [name for name, content in files.items() if _opens(folder, content, KEY)]
    taken += ["another key"] if _opens(folder, right, OTHER_KEY) else []
    return Result(attack="encrypted files that were changed", tries=len(files) + 1, exceptions=tuple(taken))


def _opens(folder: Path, content: bytes, key: bytes) -> bool:
    (folder / "changed").write_bytes(content)
    try:
        open_sealed(folder / "changed", folder / "opened", key=key)
    except ToolError:
        return (folder / "opened").exists()
    return True


def _keys(folder: Path) -> Result:
    taken = []
    for name, form in FORMS.items():
        file = folder / "key"
        file.touch(mode=0o600)
        file.write_bytes(form)
        try:
            key_of(str(file))
        except ConfigError:
            continue
        taken.append(name)
    return Result(
        attack="keys that are none, or that can be read in two ways", tries=len(FORMS), exceptions=tuple(taken)
    )


def _names(folder: Path) -> Result:
    """The same key of a file and the same nonces would give away the difference of two texts."""
    found: dict[bytes, str] = {}
    shared = []
    names = [KEY_ID, "models-2", "models-10", "m", "a" * 64]
    kinds = list(itertools.product(names, (CHUNK, 2 * CHUNK)))
    for name, chunk_bytes in kinds:
        header = seal(folder / "plain", folder / "named", key=KEY, key_id=name, chunk_bytes=chunk_bytes)
        kind = f"{name} with chunks of {chunk_bytes}"
        if (before := found.setdefault(file_key(KEY, header), kind)) != kind:
            shared.append(f"{kind} has the key of {before}")
    return Result(attack="one key under several names", tries=len(kinds), exceptions=tuple(shared))
