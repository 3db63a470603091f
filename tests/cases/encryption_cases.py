"""Encrypted files that were changed, and a tiny model whose packages are encrypted, for tests of each platform."""

import base64
import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from packager.core.findings import Report
from packager.core.values import Package, Plan
from packager.files.store import Store
from packager.signing.encryption import ModelKey, seal
from packager.workflows.encrypting import encrypted
from packager.workflows.packages import Contents
from packager.workflows.requested import BuildRequest
from tests.toolchain import trusted

VECTORS = Path(__file__).parents[1] / "data" / "encryption" / "vectors.json"
KEY = bytes(range(32))
OTHER_KEY = bytes(range(1, 33))
KEY_ID = "models-1"
CHUNK = 4096
HEADER_BYTES = 53 + len(KEY_ID)
PACKAGE = Package(name="models", version="1.2.3", license="", encryption=KEY_ID)

Change = Callable[[bytes], bytes]
FIRST = slice(HEADER_BYTES, HEADER_BYTES + CHUNK + 16)
SECOND = slice(FIRST.stop, FIRST.stop + CHUNK + 16)


def flipped(index: int) -> Change:
    def change(file: bytes) -> bytes:
        changed = bytearray(file)
        changed[index] ^= 1
        return bytes(changed)

    return change


def _tail(file: bytes) -> bytes:
    """The last chunk, which is shorter than the others."""
    return file[-((len(file) - HEADER_BYTES - 1) % (CHUNK + 16) + 1) :]


CHANGES: Mapping[str, Change] = {
    "a bit of a chunk": flipped(HEADER_BYTES + 3),
    "a bit of the last tag": flipped(-1),
    "the digest": flipped(20),
    "the name of the key": flipped(HEADER_BYTES - 1),
    "cut by a byte": lambda file: file[:-1],
    "cut by the last chunk": lambda file: file[: -len(_tail(file))],
    "the last chunk twice": lambda file: file + _tail(file),
    "a byte more": lambda file: file + b"\0",
    "chunks in another order": lambda file: file[: FIRST.start] + file[SECOND] + file[FIRST] + file[SECOND.stop :],
    "the first chunk twice": lambda file: file[: FIRST.start] + file[FIRST] + file[FIRST] + file[SECOND.stop :],
    "a smaller size": lambda file: file[:12] + struct.pack("<Q", 2 * CHUNK) + file[20 : SECOND.stop],
    "another version": lambda file: b"MPCRYPT\x03" + file[8:],
    "the version before": lambda file: b"MPCRYPT\x01" + file[8:],
    "a chunk of 0 bytes": lambda file: file[:8] + bytes(4) + file[12:],
    "a chunk of 32 MiB": lambda file: file[:8] + struct.pack("<I", 1 << 25) + file[12:],
    "a size beyond all chunks": lambda file: file[:12] + b"\xff" * 8 + file[20:],
    "a key without a name": lambda file: file[:52] + b"\0" + file[53:],
    "a key with a name in other letters": lambda file: file[:53] + b"\xff" + file[54:],
    "the header alone": lambda file: file[:HEADER_BYTES],
    "half a header": lambda file: file[:30],
    "nothing": lambda _: b"",
}
"""Changes to an encrypted file of three chunks or more."""


def contents(folder: Path, store: Store, target: str, *, is_apart: bool = False) -> tuple[Contents, Plan]:
    """Contents of an encrypted package, and the plan with the files as they were: in one file, or, where `is_apart`, in
    a graph and a file with its weights, before the same in one file."""
    plan = trusted.plan(folder, store, target, "xnnpack")
    plan = replace(plan, choices=plan.choices[-1:])
    if is_apart:
        graph, _ = trusted.plan(folder, store, target, "xnnpack").choices
        plan = replace(plan, choices=(replace(graph, provider="cpu"), *plan.choices))
    plain = Contents(package=PACKAGE, plans=(plan,), report=Report(parities=()), golden={}, runtimes={})
    request = BuildRequest(targets=(target,), out=folder, model_key=ModelKey(value=KEY))
    return encrypted(plain, request, folder / "encrypted"), plan


def write_changed(model: Path, folder: Path) -> None:
    """Writes the model encrypted in small chunks, as `right`, and with each change, to `folder`."""
    seal(model, folder / "right", key=KEY, key_id=KEY_ID, chunk_bytes=CHUNK)
    right = (folder / "right").read_bytes()
    for name, change in CHANGES.items():
        (folder / name).write_bytes(change(right))


def write_vectors(folder: Path) -> tuple[int, int]:
    """Writes the vectors of all languages to `folder`, each as files `<number>.sealed`, `.key` and, where it is to be
    opened, `.plain`: for programs that do not read JSON. The numbers of those to open, and of those to refuse."""
    folder.mkdir()
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    for number, each in enumerate((*vectors["files"], *vectors["refused"])):
        (folder / f"{number}.sealed").write_bytes(base64.b64decode(each["sealed"]))
        (folder / f"{number}.key").write_bytes(bytes.fromhex(each.get("key", vectors["key"])))
        if "plain" in each:
            (folder / f"{number}.plain").write_bytes(base64.b64decode(each["plain"]))
    return len(vectors["files"]), len(vectors["refused"])
