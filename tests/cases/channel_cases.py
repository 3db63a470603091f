"""Releases and channels for tests, and stores that fail."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import IO, Any

from tuf.api.metadata import Metadata, Root

from packager.distribution.channel import rotating
from packager.distribution.channel.places import Signing
from packager.distribution.channel.repository import Repository
from packager.distribution.channel.roles import ROLES, RoleKeys
from packager.distribution.channel.signers import public_key, signer
from packager.distribution.channel.storage import ChannelStorage, StoredFile
from packager.files.zips import write_zip
from tests.cases.signing_cases import Key, digest

NOW = datetime.now(UTC).replace(microsecond=0)
LABELS = ("cat", "dog")
NO_TIMES = (
    "tomorrow",
    "2099-1-1T0:0:0Z",
    "2099-01-01T00:00:00+0",
    "2099-00-01T00:00:00Z",
    "2099-13-01T00:00:00Z",
    "2099-02-30T00:00:00Z",
    "2099-04-31T00:00:00Z",
    "2099-01-01T24:00:00Z",
    "2099-01-01T23:60:00Z",
    "2099-01-01T23:59:60Z",
)
"""Ends of a document that every language refuses."""


@dataclass(frozen=True, kw_only=True)
class Release:
    """The contents of a release in a test."""

    version: str = "1.0.0"
    weights: bytes = b"weights"
    labels: tuple[str, ...] = LABELS
    package: str = "vision"


def make_release(dist: Path, made: Release) -> Path:
    """A release with a package for Android, whose model `classifier` has a graph and the weights that it refers to."""
    graph = b"graph of " + made.weights
    files = {"classifier-unfused.onnx.tflite": graph, "classifier.ort.tflite": made.weights}
    stem = f"android/{made.package}-{made.version}.aar"
    (dist / "android").mkdir(parents=True)
    folder = f"assets/mobpack/{made.package}"
    write_zip(dist / stem, {PurePosixPath(folder, name): content for name, content in files.items()})
    document = {
        "schema-version": 1,
        "mobpack": "0.1.0",
        "package": {"name": made.package, "version": made.version},
        "models": [model_entry(made.labels)],
        "compiled": [
            {"sha256": digest(made.weights), "data-files": []},
            {"sha256": digest(graph), "data-files": ["model.ort"], "data-sha256": [digest(made.weights)]},
        ],
        "plans": [
            {
                "model": "classifier",
                "target": "android",
                "inside": "",
                "choices": [
                    {"provider": "xnnpack", "sha256": digest(graph), "format": "onnx", "chips": []},
                    {"provider": "cpu", "sha256": digest(made.weights), "format": "ort", "chips": []},
                ],
            }
        ],
        "runtimes": {"android": "com.microsoft.onnxruntime:onnxruntime-android:1.29.0"},
        "options": {"contract": {"classifier": SETTINGS}, "target": {"android": {"runtime-range": "[1.29,1.32)"}}},
        "artifacts": [{"path": stem, "kind": "aar", "sha256": "0" * 64}],
    }
    (dist / "manifest.json").write_text(json.dumps(document), encoding="utf-8", newline="\n")
    return dist


SETTINGS: Mapping[str, Any] = {
    "inputs": {"image": {"kind": "image", "mean": [127.0]}},
    "outputs": {"logits": {"kind": "classes", "activation": "softmax"}},
}


def model_entry(labels: tuple[str, ...] = LABELS) -> dict[str, Any]:
    """A model as in a manifest."""
    return {
        "name": "classifier",
        "sha256": "a" * 64,
        "size-bytes": 100,
        "inputs": [{"name": "pixels", "identifier": "pixels", "element": "uint8", "shape": ["height", "width", 3]}],
        "outputs": [{"name": "scores", "identifier": "scores", "element": "float", "shape": [len(labels)]}],
        "contract": {
            "method": "classify",
            "inputs": [{"kind": "image", "identifier": "image", "pixels": "pixels"}],
            "outputs": [{"kind": "classes", "identifier": "logits", "scores": "scores", "labels": list(labels)}],
        },
    }


def place_of(storage: ChannelStorage, key: Key, *, channel: str = "stable") -> Repository:
    """A channel of which `key` has all roles."""
    return repository_of(storage, root_of(key, channel=channel), key)


def signing_of(*, days: int = 90, now: datetime = NOW, after: int = 0) -> Signing:
    return Signing(now=now, days=days, after=after)


def later(days: float) -> datetime:
    return NOW + timedelta(days=days)


class KilledError(Exception):
    """Simulates a process that is killed."""


def nothing() -> None:
    """Happens before a write unless a test says otherwise."""


@dataclass(kw_only=True)
class Watched:
    """A store that calls `before` ahead of every write and fails at one of them."""

    inner: ChannelStorage
    fails_at: int = 0
    """number of the write at which the process is killed, from 1; 0: never"""
    is_late: bool = False
    """whether it is killed after the write instead of before"""
    before: Callable[[], None] = nothing
    writes: list[str] = field(default_factory=list)
    has_lists: bool = True

    def read(self, name: str, *, limit_bytes: int) -> bytes | None:
        return self.inner.read(name, limit_bytes=limit_bytes)

    def opened(self, name: str) -> IO[bytes]:
        return self.inner.opened(name)

    def listed(self, folder: str) -> list[StoredFile]:
        return self.inner.listed(folder)

    def create(self, name: str, content: bytes) -> None:
        self._write(name, lambda: self.inner.create(name, content))

    def replace(self, name: str, content: bytes, *, expected: bytes | None) -> None:
        self._write(name, lambda: self.inner.replace(name, content, expected=expected))

    def upload(self, name: str, path: Path) -> None:
        self._write(name, lambda: self.inner.upload(name, path))

    def delete(self, name: str) -> None:
        self._write(name, lambda: self.inner.delete(name))

    def _write(self, name: str, write: Callable[[], None]) -> None:
        self.before()
        self.writes.append(name)
        is_last = len(self.writes) == self.fails_at
        if is_last and not self.is_late:
            raise KilledError
        write()
        if is_last:
            raise KilledError


def root_of(
    key: Key,
    *,
    package: str = "vision",
    channel: str = "stable",
    now: datetime = NOW,
    days: int = 365,
    **keys: Sequence[Key],
) -> Metadata[Root]:
    """A first root; `root=[a, b]` gives the role other keys than `key`, both of which have to sign."""
    roles = {name: role_keys(*keys.get(name, [key])) for name in ROLES}
    signers = signers_of(key, *keys.get("root", []))
    return rotating.begin(package, channel, roles, signers, now, days)


def role_keys(*keys: Key) -> RoleKeys:
    return RoleKeys(keys=tuple(public_key(str(each.public)) for each in keys), threshold=len(keys))


def signers_of(*keys: Key) -> tuple[Any, ...]:
    return tuple(signer(str(each.private)) for each in keys)


def repository_of(storage: ChannelStorage, root: Metadata[Root], *keys: Key) -> Repository:
    return Repository(storage=storage, trusted=root.to_bytes(), signers=signers_of(*keys))
