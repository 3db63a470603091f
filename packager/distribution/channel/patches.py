"""Deltas from the releases that devices have to a new one, as blobs of a channel."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from packager.core.errors import GateError
from packager.distribution import deltas
from packager.distribution.channel.document import ChannelFile, ChannelModel, Delta, ModelFile, ModelRelease
from packager.distribution.channel.storage import AbsentError, ChannelStorage, reading
from packager.files.hashes import sha256_of

WORTH = 0.8
"""share of a file's size below which a delta is kept"""

MAX_BLOB_BYTES = 8 << 30
"""Most that is read of a blob whose size nobody has signed; what is longer has another sha256."""
Role = tuple[str, str, str, tuple[str, ...], str]


@dataclass(frozen=True, kw_only=True)
class Local:
    """Blobs as files of this machine: those of a release, and those that had to be fetched for a comparison."""

    storage: ChannelStorage
    names: Mapping[str, str]
    """sha256 -> name in the store, of blobs that documents have named"""
    scratch: Path
    """an empty folder"""
    paths: dict[str, Path]
    """sha256 -> file"""
    made: dict[tuple[str, str], Delta | None] = field(default_factory=dict)
    """sha256 of two files -> the delta between them; None if it is not worth its bytes"""

    def path(self, sha256: str) -> Path:
        """Raises GateError if the blob in the store is not the one that its name says."""
        if sha256 not in self.paths:
            path = self.scratch / sha256
            self._fetch(self.names[sha256], path)
            if sha256_of(path) != sha256:
                raise GateError(
                    f"{self.names[sha256]} was changed", hint="remove it and publish the release that has it again"
                )
            self.paths[sha256] = path
        return self.paths[sha256]

    def _fetch(self, name: str, path: Path) -> None:
        try:
            source = self.storage.opened(name)
        except AbsentError as error:
            raise GateError(f"{name} is missing", hint="publish the release that has it again") from error
        left = MAX_BLOB_BYTES
        with reading(name), source, path.open("wb") as file:
            while left > 0 and (piece := source.read(min(1 << 20, left))):
                left -= file.write(piece)

    def delta(self, old: str, new: str) -> Delta | None:
        if (old, new) not in self.made:
            self.made[old, new] = self._delta(old, new)
        return self.made[old, new]

    def _delta(self, old: str, new: str) -> Delta | None:
        after = self.path(new)
        content = deltas.make(self.path(old), after)
        if len(content) >= after.stat().st_size * WORTH:
            return None
        sha256 = hashlib.sha256(content).hexdigest()
        self.paths[sha256] = self.scratch / sha256
        self.paths[sha256].write_bytes(content)
        return Delta(source=old, sha256=sha256, size_bytes=len(content))


def with_deltas(entry: ChannelModel, local: Local, *, count: int) -> ChannelModel:
    """The entry, with deltas to the files of its newest release from those of the `count` releases before, where they
    are smaller than the files."""
    newest, *others = entry.releases
    olds = [dict(_roles(each)) for each in others[:count]]
    files = tuple(_with_deltas(each, olds, local) for each in newest.files)
    return replace(entry, releases=(replace(newest, files=files), *others))


def _with_deltas(model_file: ModelFile, olds: Sequence[Mapping[Role, str]], local: Local) -> ModelFile:
    def added(file: ChannelFile, role: Role) -> ChannelFile:
        known = {each.source for each in file.deltas}
        sources = dict.fromkeys(old[role] for old in olds if role in old and old[role] not in (file.sha256, *known))
        made = [local.delta(source, file.sha256) for source in sources]
        return replace(file, deltas=(*file.deltas, *(each for each in made if each)))

    return replace(
        model_file,
        file=added(model_file.file, _role(model_file)),
        data=tuple(added(each, _role(model_file, each.name)) for each in model_file.data),
    )


def _roles(release: ModelRelease) -> Iterator[tuple[Role, str]]:
    """Role and sha256 of each file."""
    for each in release.files:
        yield _role(each), each.file.sha256
        yield from ((_role(each, file.name), file.sha256) for file in each.data)


def _role(model_file: ModelFile, data: str = "") -> Role:
    return (model_file.target, model_file.inside, model_file.provider, model_file.chips, data)


def without_deltas(release: ModelRelease) -> tuple[ModelFile, ...]:
    return tuple(
        replace(
            each,
            file=replace(each.file, deltas=()),
            data=tuple(replace(file, deltas=()) for file in each.data),
        )
        for each in release.files
    )
