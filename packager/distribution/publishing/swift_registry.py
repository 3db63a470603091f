"""Swift package registries (SE-0292, SE-0321, SE-0391): one request for each package."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.core import parsing
from packager.core.characters import to_json
from packager.core.errors import ConfigError, ToolError
from packager.distribution.publishing.addresses import checked
from packager.distribution.publishing.cms import FORMAT, signature
from packager.distribution.publishing.credentials import Credentials
from packager.distribution.publishing.http import Http
from packager.distribution.publishing.multipart import Form, Part
from packager.distribution.publishing.registry import PublishingSession, RegistryRequest, State
from packager.distribution.publishing.release import ReleaseToPublish, digest
from packager.distribution.publishing.signed_manifests import is_same_but_for_signatures, sign_manifests
from packager.distribution.publishing.swift_archives import archive_of
from packager.files.zips import DAMAGE

CREDENTIALS = Credentials(
    token="MOBPACK_SWIFT_TOKEN",  # names of variables, no secrets  # noqa: S106
    username="MOBPACK_SWIFT_USERNAME",
    password="MOBPACK_SWIFT_PASSWORD",  # noqa: S106
)
VERSION_1 = "application/vnd.swift.registry.v1+json"
ARCHIVE = "application/vnd.swift.registry.v1+zip"
SCOPE = "--set swift-registry.scope=SCOPE"


@dataclass(frozen=True, kw_only=True)
class SwiftRegistry:
    """A registry at an address. A version appears there whole or not at all."""

    NAME: ClassVar[str] = "swift-registry"
    address: str = ""
    scope: str = ""
    """the scope of the packages: `acme` of acme.vision"""
    certificate: str = ""
    """file with the certificate to sign with, in PEM; empty for no signature"""
    key: str = ""
    """file with the certificate's private key, in PEM"""
    package: str = ""
    """`onnxruntime-binary` for the runtime's package; empty for the release's own"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "address", checked(self.address, "--to swift-registry"))
        if not self.scope:
            raise ConfigError("a package in a Swift registry needs a scope", hint=f"add {SCOPE}")
        if bool(self.certificate) != bool(self.key):
            raise ConfigError(
                "a signature needs a certificate and its key",
                hint="set both swift-registry.certificate and swift-registry.key, or neither",
            )

    def plan(self, release: ReleaseToPublish, folder: Path) -> tuple[RegistryRequest, ...]:
        archive = archive_of(release, self.package)
        path = archive.file.path
        if self.key:
            path = sign_manifests(path, folder, self._signature)
        return (
            RegistryRequest(
                registry=self.NAME,
                method="PUT",
                address=f"{self.address}/{self.scope}/{archive.name}/{archive.version}",
                file=archive.file.name,
                size_bytes=path.stat().st_size,
                sha256=digest(path, "sha256"),
                parts=tuple(part.name for part in self._parts(path)),
                note="signed" if self.key else "not signed",
                content=path,
            ),
        )

    def _parts(self, path: Path) -> Iterator[Part]:
        """The archive, what is said of it, and their signatures."""
        metadata = _metadata(path)
        contents: dict[str, bytes | Path] = {"source-archive": path, "metadata": metadata}
        yield Part(name="source-archive", content=path, media_type="application/zip", file_name=path.name)
        yield Part(name="metadata", content=metadata, media_type="application/json")
        if self.key:
            for name, content in contents.items():
                yield Part(name=f"{name}-signature", content=self._signature(content))

    def _signature(self, content: bytes | Path) -> bytes:
        return signature(content, Path(self.certificate), Path(self.key))

    def state(self, request: RegistryRequest, session: PublishingSession) -> State:
        http = Http(session=session, credentials=CREDENTIALS)
        answer = http.get(request.address, accept=VERSION_1)
        if answer.status == 404:
            return State.ABSENT
        try:
            checksums = {
                each["checksum"]
                for each in parsing.json_of(answer.body)["resources"]
                if each["name"] == "source-archive"
            }
        except (ValueError, KeyError, TypeError) as error:
            raise ToolError(
                f"{request.address} is not described as SE-0292 says", hint="check the address of the registry"
            ) from error
        if checksums == {request.sha256} or (self.key and _is_ours(request, http)):
            return State.SAME
        return State.OTHER

    def send(self, request: RegistryRequest, session: PublishingSession) -> str:
        assert isinstance(request.content, Path)
        http = Http(session=session, credentials=CREDENTIALS)
        form = Form(parts=tuple(self._parts(request.content)))
        headers = {"Content-Type": form.media_type, "Accept": VERSION_1}
        if self.key:
            headers["X-Swift-Package-Signature-Format"] = FORMAT
        answer = http.send("PUT", request.address, form.opened, size_bytes=form.size_bytes(), headers=headers)
        return "accepted; the registry is still at work on it" if answer.status == 202 else ""


def _is_ours(request: RegistryRequest, http: Http) -> bool:
    """Whether the registry has the archive with other signatures. Raises ToolError, TransientError."""
    assert isinstance(request.content, Path)
    with tempfile.TemporaryDirectory() as scratch:
        found = Path(scratch, "archive.zip")
        if not http.download(f"{request.address}.zip", found, accept=ARCHIVE):
            return False
        try:
            return is_same_but_for_signatures(request.content, found)
        except DAMAGE:
            return False


def _metadata(archive: Path) -> bytes:
    """Metadata of the release (SE-0391) as JSON: what the file beside the archive says of it."""
    described = archive.with_suffix(".json")
    if not described.is_file():
        return to_json({}).encode()
    with parsing.damage_as(lambda reason: ConfigError(f"{described}: {reason}", hint="build the packages again")):
        return to_json(parsing.json_of(described.read_text(encoding="utf-8")).get("metadata", {})).encode()
