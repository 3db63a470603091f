"""A server of a channel that does to devices whatever a server, or somebody in between, could do."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec

from packager.distribution.channel.document import TIME
from tests.cases.delivery_releases import CHANNEL, MODEL, Published
from tests.cases.tuf_repository import NOBODY, UNEDITED, Edit, Json, Repository, Signers, nothing, target, target_path
from tests.toolchain.react_native.download.server import Address, Certificate, Fault, Handler, serving

PACKAGE = "models"
TIMESTAMP = f"/{CHANNEL}/timestamp.json"
RELEASES = f"{MODEL}/releases.json"
"""path of the target with the releases of the model"""
SILENCE_S = 2.0
HONEST = 1000
"""number of a document that is larger than those of all scenarios"""


class Forever(deque[Fault | None]):
    """The same fault for every request."""

    def popleft(self) -> Fault | None:
        return self[0]


@dataclass(kw_only=True)
class Channel:
    """A server with a channel, and a second one without https that nobody should ask."""

    address: Address
    plain: Address
    published: Published
    healthy: dict[str, bytes] = field(init=False)
    number: int = 0
    """of the newest document"""
    repository: Repository = field(init=False)

    def __post_init__(self) -> None:
        self.healthy = {path: content for path, content in self.published.files().items() if self.is_file(path)}
        self.restart()

    @property
    def url(self) -> str:
        return self.address.url

    def reset(self) -> None:
        """All files as they were published, no faults, and the document with the first release."""
        files = self.address.files
        files.by_path.clear()
        files.by_path.update(self.healthy)
        self.plain.files.by_path.clear()
        self.plain.files.by_path.update(self.healthy)
        self.plain.files.requests.clear()
        files.faults.clear()
        files.faults_by_path.clear()
        files.requests.clear()
        self.show(2)

    def restart(self) -> None:
        """The same, no document has been signed again, and no keys have changed."""
        self.repository = Repository(package=PACKAGE, channel=CHANNEL)
        self.reset()
        self.number = len(self.published.documents)

    def show(self, number: int) -> None:
        """Gives out a document as it was published."""
        self._serve(self.document(number), number)

    def document(self, number: int = 3) -> Json:
        """The contents of a document: the models and their releases, and what each role says."""
        return deepcopy(self.published.documents[number - 1])

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

    def sign(self, content: bytes) -> None:
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

    def on_blobs(self, fault: Fault) -> None:
        """All requests for blobs go wrong."""
        for path in self.address.files.by_path:
            if self.is_file(path):
                self.address.files.faults_by_path[path] = Forever([fault])

    def on_each_blob(self, *faults: Fault) -> None:
        """The first requests for each blob go wrong, one after the other."""
        for path in self.address.files.by_path:
            if self.is_file(path):
                self.address.files.faults_by_path[path] = deque(faults)

    def on_deltas(self, fault: Fault) -> None:
        for path in self.deltas():
            self.address.files.faults_by_path[path] = Forever([fault])

    def change_blobs(self, paths: list[str], change: Callable[[bytes], bytes]) -> None:
        for path in paths:
            self.address.files.by_path[path] = change(self.healthy[path])

    def put(self, content: bytes) -> Json:
        """Adds a blob, and gives what a document says of it."""
        sha256 = hashlib.sha256(content).hexdigest()
        self.address.files.by_path[self.path_of(sha256)] = content
        return {"sha256": sha256, "size-bytes": len(content)}

    def blobs(self) -> list[str]:
        """Paths of the files of the newest release that the one before lacks."""
        newest, before = (set(_files(each)) for each in releases(self.document())[:2])
        return sorted(self.path_of(each) for each in newest - before)

    def models(self, index: int = 0) -> list[str]:
        """Paths of the model files of a release, without those of its self-test."""
        golden = {file["sha256"] for each in releases(self.document())[index]["files"] for file in each["golden"]}
        return sorted(self.path_of(each) for each in set(_files(releases(self.document())[index])) - golden)

    def path_of(self, sha256: str) -> str:
        """Path of a blob."""
        return f"/targets/{MODEL}/{sha256}.{sha256}"

    def is_file(self, path: str) -> bool:
        """Whether a path is that of a blob."""
        return path.startswith("/targets/") and not path.endswith(".releases.json")

    def deltas(self) -> list[str]:
        """Paths of all deltas to the newest release."""
        newest = releases(self.document())[0]
        found = {delta["sha256"] for file in files_of(newest) for delta in file["deltas"]}
        assert found, "the channel has no deltas"
        return sorted(self.path_of(each) for each in found)

    def forget(self) -> None:
        """Forgets the requests until now."""
        self.address.files.requests.clear()

    @property
    def asked(self) -> list[str]:
        """Paths of the requests since the last look."""
        found = [each.path for each in self.address.files.requests]
        self.address.files.requests.clear()
        return found


def releases(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The releases of the model, the newest first."""
    [model] = (each for each in document["models"] if each["name"] == MODEL)
    found: list[dict[str, Any]] = model["releases"]
    return found


def files_of(release: dict[str, Any]) -> list[dict[str, Any]]:
    """Entries of all files of a release."""
    return [file for each in release["files"] for file in (each["file"], *each["data"], *each["golden"])]


def _files(release: dict[str, Any]) -> list[str]:
    return [file["sha256"] for file in files_of(release)]


@contextmanager
def channel(published: Published, pair: Certificate | None) -> Iterator[Channel]:
    """Serves a channel with https, if there is a certificate, and the same files without."""
    with serving(pair) as address, serving() as plain:
        yield Channel(address=address, plain=plain, published=published)


def expired(document: dict[str, Any]) -> None:
    dated(-2, -1)(document)


def dated(published: int, expires: int) -> Edit:
    """Gives a document other dates, in days from now."""

    def edit(document: dict[str, Any]) -> None:
        for name, days in (("published", published), ("expires", expires)):
            document[name] = (datetime.now(UTC) + timedelta(days=days)).strftime(TIME)

    return edit


def without_deltas(document: dict[str, Any]) -> None:
    for release in releases(document):
        for file in files_of(release):
            file["deltas"] = []


def flipped(content: bytes) -> bytes:
    """Another byte in the middle."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def silent(handler: Handler) -> None:
    """Half of the file, then nothing, then the end."""
    handler.answer(sent=len(handler.content) // 2)
    handler.wfile.flush()
    handler.files.ended.wait(SILENCE_S)


def claiming(extra: int) -> Fault:
    """A `Content-Length` that is too large by so many bytes; what is sent are the right ones."""

    def fault(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(handler.content) + extra))
        handler.end_headers()
        handler.wfile.write(handler.content)
        handler.close_connection = True

    return fault


def padded(extra: int) -> Fault:
    """More bytes than the file has, announced."""

    def fault(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(handler.content) + extra))
        handler.end_headers()
        handler.wfile.write(handler.content + bytes(extra))

    return fault


def endless(handler: Handler) -> None:
    """Bytes without end, and without a length."""
    handler.send_response(200)
    handler.end_headers()
    handler.close_connection = True
    while not handler.files.ended.wait(0.001):
        handler.wfile.write(handler.content or bytes(1000))


def busy(handler: Handler) -> None:
    handler.refuse(429, ("Retry-After", "3600"))


def unchanged(handler: Handler) -> None:
    """Says that the client has it already, whoever asks."""
    handler.refuse(304)


def elsewhere(address: str) -> Fault:
    """A redirect to the same path at another address, which ends with `/`."""
    return lambda handler: handler.refuse(302, ("Location", address + handler.path[1:]))
