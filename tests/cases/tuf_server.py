"""A server of a channel of The Update Framework that does to devices whatever somebody in between could do."""

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec

from tests.cases import delivery_server
from tests.cases.delivery_releases import CHANNEL, MODEL, Published
from tests.cases.delivery_server import Edit, Forever, nothing
from tests.cases.tuf_repository import Json, Repository, signed_by, target
from tests.toolchain.react_native.download.server import Certificate, Fault, serving

PACKAGE = "models"
TIMESTAMP = f"/{CHANNEL}/timestamp.json"
RELEASES = f"{MODEL}/releases.json"
"""path of the target with the releases of the model"""
Signers = Mapping[str, Sequence[ec.EllipticCurvePrivateKey]]
NOBODY: Signers = {}
UNEDITED: Mapping[str, Edit] = {}


@dataclass(kw_only=True)
class TufChannel(delivery_server.Channel):
    """A server with a channel, and a second one without https that nobody should ask."""

    repository: Repository = field(init=False)
    delegated: dict[str, Json] = field(default_factory=dict)
    """what every snapshot says of delegated roles: none may lose one"""
    is_tuf: bool = True

    def __post_init__(self) -> None:
        blobs = {path: content for path, content in self.published.files().items() if path.startswith("/blobs/")}
        self.healthy = {self.path_of(path.rpartition("/")[2]): content for path, content in blobs.items()}
        self.restart()

    def restart(self) -> None:
        self.repository = Repository(package=PACKAGE, channel=CHANNEL)
        self.delegated.clear()
        super().restart()

    def show(self, number: int) -> None:
        self._serve(self.document(number), number)

    def publish(
        self,
        edit: Edit = nothing,
        *,
        number: int = 0,
        key: ec.EllipticCurvePrivateKey | None = None,
        kind: str = "timestamp",
        change: Callable[[bytes], bytes] = bytes,
        edits: Mapping[str, Edit] = UNEDITED,
        signers: Signers = NOBODY,
    ) -> None:
        """Signs what the newest document says again, and gives it out: with a number, the next one if none is given,
        after an `edit` of the document and the `edits` of what each role signs. All roles sign with `key`, single ones
        with the `signers`; the timestamp has the type `kind` and is changed afterwards by `change`."""
        document = self.document()
        self.number += not number
        document["number"] = number or self.number
        edit(document)
        typed = {"timestamp": lambda signed: signed.update(_type=kind)}
        everybody = {role: [key] for role in ("timestamp", "snapshot", "targets")} if key else {}
        self._serve(document, number or self.number, {**typed, **edits}, {**everybody, **signers})
        self.rewrite(change)

    def _serve(
        self, document: Json, number: int, edits: Mapping[str, Edit] = UNEDITED, signers: Signers = NOBODY
    ) -> None:
        """The `number` names the files; the metadata has the versions that the document has."""
        files, folder = self.address.files.by_path, f"/{CHANNEL}"
        for version, content in enumerate(self.repository.roots, 1):
            files[f"{folder}/{version}.root.json"] = content
        found = self._targets(document)
        targets = self._made("targets", document, edits, signers, targets=found)
        files[f"{folder}/{number}.targets.json"] = targets
        meta = {"targets.json": {"version": document.get("number")}, **self.delegated}
        snapshot = self._made("snapshot", document, edits, signers, meta=meta)
        files[f"{folder}/{number}.snapshot.json"] = snapshot
        meta = {"snapshot.json": {"version": document.get("number"), **target(snapshot)}}
        files[TIMESTAMP] = self._made("timestamp", document, edits, signers, meta=meta)

    def _targets(self, document: Json) -> Json | None:
        """Puts the releases of the document into a file of their own, and gives what targets metadata says of it."""
        if "models" not in document:
            return None
        elsewhere = {"models", "number", "published", "expires"}
        kept = {key: value for key, value in document.items() if key not in elsewhere}
        found = {}
        for model in document["models"]:
            text = {**kept, "model": model["name"], "releases": model["releases"]}
            path = f"{model['name']}/releases.json"
            found[path] = self.put_target(path, json.dumps(text).encode())
        return found

    def put_target(self, path: str, content: bytes) -> Json:
        """Gives out a target, and tells what targets metadata says of it."""
        folder, _, name = path.rpartition("/")
        self.address.files.by_path[f"/targets/{folder}/{hashlib.sha256(content).hexdigest()}.{name}"] = content
        return target(content)

    def _made(self, role: str, document: Json, edits: Mapping[str, Edit], signers: Signers, **fields: object) -> bytes:
        named = {name: document[name] for name in ("package", "channel", "published") if name in document}
        expires = {"expires": document["expires"]} if "expires" in document else {}
        signed = self.repository.named(role, document.get("number"), mobpack=named, **expires, **fields)
        signed = {name: value for name, value in signed.items() if value is not None}
        edits.get(role, nothing)(signed)
        return signed_by(signed, signers.get(role, self.repository.roles[role].keys))

    def sign(self, content: bytes, **_: Any) -> None:
        """Gives out any text as the timestamp."""
        self.address.files.by_path[TIMESTAMP] = content

    def rewrite(self, change: Callable[[bytes], bytes]) -> None:
        self.address.files.by_path[TIMESTAMP] = change(self.address.files.by_path[TIMESTAMP])

    def metadata(self, role: str) -> str:
        """Path of the newest file of a role."""
        return TIMESTAMP if role == "timestamp" else f"/{CHANNEL}/{self.number}.{role}.json"

    def on_metadata(self, role: str, fault: Fault) -> None:
        """All requests for the newest file of a role go wrong."""
        self.address.files.faults_by_path[self.metadata(role)] = Forever([fault])

    def on_document(self, *faults: Fault) -> None:
        self.address.files.faults_by_path[TIMESTAMP] = deque(faults)

    def on_every_document(self, fault: Fault) -> None:
        self.on_metadata("timestamp", fault)

    def path_of(self, sha256: str) -> str:
        return f"/targets/{MODEL}/{sha256}.{sha256}"

    def is_file(self, path: str) -> bool:
        return path.startswith("/targets/") and not path.endswith(".releases.json")


@contextmanager
def channel(published: Published, pair: Certificate | None) -> Iterator[TufChannel]:
    """Serves a channel with https, if there is a certificate, and the same files without."""
    with serving(pair) as address, serving() as plain:
        yield TufChannel(address=address, plain=plain, published=published)
