"""A server of a channel of The Update Framework that does to devices whatever somebody in between could do."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec

from tests.cases import delivery_server
from tests.cases.delivery_releases import CHANNEL, MODEL, Published
from tests.cases.delivery_server import Edit, Forever, nothing
from tests.cases.tuf_repository import NOBODY, UNEDITED, Json, Repository, Signers, target, target_path
from tests.toolchain.react_native.download.server import Certificate, Fault, serving

PACKAGE = "models"
TIMESTAMP = f"/{CHANNEL}/timestamp.json"
RELEASES = f"{MODEL}/releases.json"
"""path of the target with the releases of the model"""


@dataclass(kw_only=True)
class TufChannel(delivery_server.Channel):
    """A server with a channel, and a second one without https that nobody should ask."""

    repository: Repository = field(init=False)
    is_tuf: bool = True

    def __post_init__(self) -> None:
        blobs = {path: content for path, content in self.published.files().items() if path.startswith("/blobs/")}
        self.healthy = {self.path_of(path.rpartition("/")[2]): content for path, content in blobs.items()}
        self.restart()

    def restart(self) -> None:
        self.repository = Repository(package=PACKAGE, channel=CHANNEL)
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
        self.address.files.by_path.update(self.repository.files(document, number, edits, signers))

    def put_target(self, path: str, content: bytes) -> Json:
        """Gives out a target, and tells what targets metadata says of it."""
        self.address.files.by_path[target_path(path, content)] = content
        return target(content)

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
