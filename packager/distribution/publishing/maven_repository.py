"""Maven repositories that take files by HTTP PUT, such as Nexus, Artifactory, Reposilite and object stores; and
folders, to rehearse."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.distribution.publishing.addresses import checked
from packager.distribution.publishing.credentials import Credentials
from packager.distribution.publishing.folders import FolderRegistry, folder_of
from packager.distribution.publishing.http import Http, reader_of
from packager.distribution.publishing.maven_files import Library, checksummed, libraries, media_type
from packager.distribution.publishing.registry import (
    ConflictError,
    PublishingSession,
    RegistryRequest,
    State,
    TransientError,
)
from packager.distribution.publishing.release import ReleaseToPublish, digest, size_of
from packager.targets.maven import ALGORITHMS, METADATA, Coordinates, merged_metadata, versions_of

CREDENTIALS = Credentials(
    token="MOBPACK_MAVEN_TOKEN",  # names of variables, no secrets  # noqa: S106
    username="MOBPACK_MAVEN_USERNAME",
    password="MOBPACK_MAVEN_PASSWORD",  # noqa: S106
)
MERGED = "merged with the repository's list"


@dataclass(frozen=True, kw_only=True)
class MavenRepository:
    """A repository at an address, or in a folder. Its readers find a version when all of its files are there:
    artifacts come first, then what names them, and the list of versions last."""

    NAME: ClassVar[str] = "maven"
    address: str = ""

    def __post_init__(self) -> None:
        folder = folder_of(self.address)
        address = folder.as_posix() if folder else checked(self.address, "--to maven")
        object.__setattr__(self, "address", address)

    def plan(self, release: ReleaseToPublish, folder: Path) -> tuple[RegistryRequest, ...]:
        return tuple(request for library in libraries(release) for request in self._requests(library))

    def _requests(self, library: Library) -> Iterator[RegistryRequest]:
        artifacts = [each for each in library.files if not each.name.endswith((".module", ".pom"))]
        entries = [each for each in library.files if each not in artifacts]
        for group in (artifacts, *([each] for each in entries)):
            for file in group:
                yield self._put(file.name, f"{library.folder}/{file.path.name}", file.path)
            for file in group:  # after their file: Artifactory refuses a checksum without one
                for name, algorithm in checksummed(file.path.name):
                    content = digest(file.path, algorithm).encode()
                    yield self._put(f"{file.name}.{algorithm}", f"{library.folder}/{name}", content)
        for name in (METADATA, *(name for name, _ in checksummed(METADATA))):
            yield RegistryRequest(
                registry=self.NAME,
                method="PUT",
                address=f"{self.address}/{library.home}/{name}",
                file=f"maven/{library.home}/{name}",
                size_bytes=None,
                sha256="",
                note=MERGED,
                version=library.coordinates.version,
            )

    def _put(self, file: str, place: str, content: bytes | Path) -> RegistryRequest:
        return RegistryRequest(
            registry=self.NAME,
            method="PUT",
            address=f"{self.address}/{place}",
            file=file,
            size_bytes=size_of(content),
            sha256=digest(content, "sha256"),
            content=content,
        )

    def state(self, request: RegistryRequest, session: PublishingSession) -> State:
        http = self._store(session)
        if request.content is None:
            return self._state_of_list(request, http)
        if isinstance(request.content, bytes):  # servers may end a checksum with a line break or the file's name
            answer = http.get(request.address)
            if answer.status == 200 and answer.body.split()[:1] == [request.content]:
                return State.SAME
        return http.compare(request.address, request.content)

    def _store(self, session: PublishingSession) -> Http | FolderRegistry:
        return FolderRegistry() if folder_of(self.address) else Http(session=session, credentials=CREDENTIALS)

    def _state_of_list(self, request: RegistryRequest, http: Http | FolderRegistry) -> State:
        """A list that lacks the version is as good as none: it is merged."""
        place, algorithm = _place(request)
        listed = http.get(place)
        if listed.status == 404 or request.version not in versions_of(listed.body.decode("utf-8", "replace")):
            return State.ABSENT
        if not algorithm:
            return State.SAME
        found = http.get(request.address)
        is_right = found.status == 200 and found.body.split()[:1] == [digest(listed.body, algorithm).encode()]
        return State.SAME if is_right else State.ABSENT

    def send(self, request: RegistryRequest, session: PublishingSession) -> str:
        http = self._store(session)
        if request.content is not None:
            self._sent(http, request, request.content, {})
            return ""
        place, algorithm = _place(request)
        listed = http.get(place)
        text = listed.body if listed.status == 200 else b""
        if algorithm:
            self._sent(http, request, digest(text, algorithm).encode(), {})
            return ""
        merged = merged_metadata(text.decode("utf-8", "replace"), self._coordinates(request)).encode()
        self._sent(http, request, merged, _condition(listed.status, listed.headers.get("etag", "")))
        return f"{self.address} is a folder: a rehearsal, of which apps get nothing" if folder_of(self.address) else ""

    def _sent(
        self, http: Http | FolderRegistry, request: RegistryRequest, content: bytes | Path, condition: Mapping[str, str]
    ) -> None:
        headers = {"Content-Type": media_type(request.file), **condition}
        body = reader_of(content)
        answer = http.send("PUT", request.address, body, size_bytes=size_of(content), headers=headers)
        if answer.status == 412 and condition:
            raise TransientError(f"{request.address} was changed by somebody else meanwhile (412)", wait_s=0)
        if answer.status == 412:
            raise ConflictError("a condition failed (412)")

    def _coordinates(self, request: RegistryRequest) -> Coordinates:
        *group, artifact, _ = request.address.removeprefix(f"{self.address}/").split("/")
        return Coordinates(group=".".join(group), artifact=artifact, version=request.version)


def _place(request: RegistryRequest) -> tuple[str, str]:
    """The address of the list, and the algorithm if the request is for its checksum."""
    place, _, suffix = request.address.rpartition(".")
    return (place, suffix) if suffix in ALGORITHMS else (request.address, "")


def _condition(status: int, etag: str) -> Mapping[str, str]:
    """Headers by which a server refuses to replace a list that somebody else has changed. Weak tags cannot be used."""
    if status == 404:
        return {"If-None-Match": "*"}
    return {"If-Match": etag} if etag.startswith('"') else {}
