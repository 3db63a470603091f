"""Maven Central, through the Portal's Publisher API: one bundle, signed and complete.

The API: https://central.sonatype.org/publish/publish-portal-api/
"""

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar
from urllib.parse import urlencode

from packager.core import parsing
from packager.core.errors import ConfigError, ToolError, nearest
from packager.distribution.publishing.addresses import checked, host_of
from packager.distribution.publishing.credentials import Credentials
from packager.distribution.publishing.gpg import sign
from packager.distribution.publishing.http import Http
from packager.distribution.publishing.maven_files import Library, checksummed, is_own, libraries, pom_fields
from packager.distribution.publishing.multipart import Form, Part
from packager.distribution.publishing.registry import PublishingSession, RegistryRequest, State, TransientError
from packager.distribution.publishing.release import ReleaseToPublish, digest
from packager.files.atomic import atomic_file
from packager.files.user_cache import cache_folder
from packager.files.zips import Content, write_zip
from packager.targets.kotlin.javadoc import write_javadoc

CREDENTIALS = Credentials(
    username="MOBPACK_CENTRAL_USERNAME",
    password="MOBPACK_CENTRAL_PASSWORD",  # the name of a variable  # noqa: S106
    is_pair_a_token=True,
)
BUNDLE = "central-bundle.zip"
MAX_BUNDLE_BYTES = 1 << 30
"""limit of the Portal for one upload"""
TYPES = ("USER_MANAGED", "AUTOMATIC")
GOING_ON = ("PENDING", "VALIDATING", "PUBLISHING")
ENDED = ("FAILED", "")
EXAMPLES = {
    "license": 'license = "Apache-2.0"',
    "description": 'description = "Says which animal a picture shows."',
    "url": 'url = "https://example.com/vision"',
    "scm": 'scm = "https://example.com/vision.git"',
    "developers": 'developers = ["Ada Lovelace"]',
}
POLL_S = 10.0


@dataclass(frozen=True, kw_only=True)
class MavenCentral:
    """The Portal takes a bundle as a whole or not at all; nothing of it is public before its validation."""

    NAME: ClassVar[str] = "maven-central"
    address: str = "https://central.sonatype.com"
    published: str = ""
    """address at which Maven Central can be read, its own or a mirror's: to compare what is published already"""
    gpg_key: str = ""
    """fingerprint or address of the key to sign with; empty for gpg's default key"""
    publishing_type: str = "USER_MANAGED"
    """AUTOMATIC, or USER_MANAGED: somebody presses a button in the Portal"""
    wait_s: str = "1800"
    """how long to wait for the Portal"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "address", checked(self.address, "--to maven-central"))
        if self.published:
            object.__setattr__(self, "published", checked(self.published, "maven-central.published"))
        if self.publishing_type not in TYPES:
            hint = nearest(self.publishing_type, TYPES)
            raise ConfigError(f"maven-central.publishing-type: '{self.publishing_type}' is unknown", hint=hint)
        if not self.wait_s.isdigit():
            raise ConfigError(f"maven-central.wait-s: '{self.wait_s}' is not a number of seconds", hint="such as 1800")

    def plan(self, release: ReleaseToPublish, folder: Path) -> tuple[RegistryRequest, ...]:
        found = libraries(release)
        for library in found:
            _require_fields(library, is_own=is_own(library, release))
        entries: dict[PurePosixPath, Content] = {}
        for library in found:
            entries |= self._entries(library, folder)
        bundle = write_zip(folder / BUNDLE, entries)
        if bundle.stat().st_size > MAX_BUNDLE_BYTES:
            raise ConfigError(
                f"the bundle has {bundle.stat().st_size:,} bytes; Maven Central takes at most {MAX_BUNDLE_BYTES:,}",
                hint="quantize the model, or publish to a repository of your own",
            )
        own = found[-1].coordinates
        query = urlencode({"name": f"{own.group}:{own.artifact}:{own.version}", "publishingType": self.publishing_type})
        return (
            RegistryRequest(
                registry=self.NAME,
                method="POST",
                address=f"{self.address}/api/v1/publisher/upload?{query}",
                file=BUNDLE,
                size_bytes=bundle.stat().st_size,
                sha256=digest(bundle, "sha256"),
                parts=tuple(sorted(map(str, entries))),
                note=f"{len(entries)} files",
                content=bundle,
            ),
        )

    def _entries(self, library: Library, folder: Path) -> Mapping[PurePosixPath, Content]:
        """Files of the bundle: those of the library and its documentation, each with signature and checksums."""
        files = [each.path for each in library.files]
        sources = next((path for path in files if path.name == f"{library.stem}-sources.jar"), None)
        if sources is None:
            raise ConfigError(
                f"{library.stem} has no -sources.jar, which Maven Central requires",
                hint="publish runtimes of your own to a repository of your own: --to maven=https://HOST/PATH",
            )
        title = f"{library.coordinates.group}:{library.stem}"
        javadoc = folder / f"{library.stem}-javadoc.jar"
        if all(path.name != javadoc.name for path in files):
            files.append(write_javadoc(javadoc, title, sources))
        signatures = sign(files, folder, self.gpg_key)
        entries: dict[PurePosixPath, Content] = {}
        for path in (*files, *signatures):
            entries[PurePosixPath(library.folder, path.name)] = path
        for path in files:
            for name, algorithm in checksummed(path.name):
                entries[PurePosixPath(library.folder, name)] = digest(path, algorithm).encode()
        return entries

    def state(self, request: RegistryRequest, session: PublishingSession) -> State:
        http = Http(session=session, credentials=CREDENTIALS)
        bundle = request.path
        deployment = self._deployment(bundle)
        status = self._status(http, deployment)["deploymentState"] if deployment else ""
        if status == "PUBLISHED":
            return State.SAME
        if status not in ENDED:
            return State.STARTED
        states = {self._state_of(folder, bundle, http) for folder in sorted(_folders(bundle))}
        return next((each for each in (State.OTHER, State.ABSENT) if each in states), State.SAME)

    def _state_of(self, folder: str, bundle: Path, http: Http) -> State:
        """State of one library, by what is public of it."""
        *group, name, version = folder.split("/")
        query = urlencode({"namespace": ".".join(group), "name": name, "version": version})
        answer = http.get(f"{self.address}/api/v1/publisher/published?{query}")
        if answer.status == 404 or not _document(answer.body, self.address).get("published"):
            return State.ABSENT
        if not self.published:
            raise ToolError(
                f"version {version} of {name} is published: mobpack cannot tell whether it has these bytes",
                hint="name an address at which Maven Central can be read: --set maven-central.published=https://HOST/PATH",
            )
        public = Http(session=http.session, credentials=Credentials())
        with zipfile.ZipFile(bundle) as archive:
            for entry in archive.namelist():
                if entry.startswith(f"{folder}/") and entry.endswith((".aar", ".jar", ".pom", ".module")):
                    found = public.compare(f"{self.published}/{entry}", archive.read(entry))
                    if found is State.ABSENT:
                        raise ToolError(
                            f"version {version} of {name} is published, but {self.published}/{entry} cannot be read "
                            "yet: mobpack cannot tell whether it has these bytes",
                            hint="run the same command again in half an hour",
                        )
                    if found is State.OTHER:
                        return State.OTHER
        return State.SAME

    def send(self, request: RegistryRequest, session: PublishingSession) -> str:
        http = Http(session=session, credentials=CREDENTIALS)
        bundle = request.path
        deployment = self._deployment(bundle)
        if not deployment or self._status(http, deployment)["deploymentState"] in ENDED:
            deployment = self._uploaded(http, request, bundle)
        return self._awaited(http, deployment, bundle)

    def _uploaded(self, http: Http, request: RegistryRequest, bundle: Path) -> str:
        part = Part(name="bundle", content=bundle, file_name=BUNDLE)
        form = Form(parts=[part])
        try:
            answer = http.send(
                "POST",
                request.address,
                form.opened,
                size_bytes=form.size_bytes(),
                headers={"Content-Type": form.media_type},
            )
        except TransientError as error:
            if error.is_refusal:
                raise
            raise ToolError(
                f"{error.message}: the bundle may have arrived, or not",
                hint=f"look at {self.address}/publishing/deployments, drop what you find there of this version, "
                "then run the same command again",
            ) from error
        deployment = answer.body.decode("utf-8", "replace").strip().strip('"')
        with atomic_file(self._remembered(bundle)) as file:
            file.write(json.dumps({"deployment": deployment}).encode())
        return deployment

    def _awaited(self, http: Http, deployment: str, bundle: Path) -> str:
        """Asks until the Portal has validated the bundle, or published it if that follows by itself."""
        page = f"{self.address}/publishing/deployments"
        left_s = float(self.wait_s)
        while True:
            status = self._status(http, deployment)
            state = status["deploymentState"]
            if state == "PUBLISHED":
                return "published; readers get it within half an hour"
            if state == "VALIDATED" and self.publishing_type == "USER_MANAGED":
                return f"validated as deployment {deployment}; publish it at {page}"
            if state in ENDED:
                self._remembered(bundle).unlink(missing_ok=True)
                raise ToolError(
                    f"the bundle is refused by Maven Central: {_errors(status)}",
                    hint=f"nothing of it is public; correct it and run the command again. Deployment: {page}",
                )
            if left_s <= 0:
                raise ToolError(
                    f"deployment {deployment} is still {state} after {self.wait_s} s",
                    hint="run the same command again: it goes on waiting, and uploads nothing twice",
                )
            http.session.say(f"deployment {deployment}: {state.lower()}")
            http.session.sleep(POLL_S)
            left_s -= POLL_S

    def _status(self, http: Http, deployment: str) -> dict[str, str]:
        """The Portal's answer; its state is empty if it does not know the deployment."""
        query = urlencode({"id": deployment})
        answer = http.get(f"{self.address}/api/v1/publisher/status?{query}", method="POST")
        if answer.status == 404:
            return {"deploymentState": ""}
        document = _document(answer.body, self.address)
        return {
            "errors": json.dumps(document.get("errors", {})),
            "deploymentState": str(document.get("deploymentState", "")),
        }

    def _deployment(self, bundle: Path) -> str:
        """The deployment that an earlier run has made of the same files; empty if there is none."""
        try:
            return str(parsing.json_of(self._remembered(bundle).read_text(encoding="utf-8"))["deployment"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def _remembered(self, bundle: Path) -> Path:
        """The file that remembers the deployment of a bundle. Signatures differ from run to run and are left out."""
        found = hashlib.sha256(f"{self.address} {self.publishing_type}".encode())
        with zipfile.ZipFile(bundle) as archive:
            for entry in archive.infolist():
                if not entry.filename.endswith(".asc"):
                    found.update(f"{entry.filename} {entry.CRC} {entry.file_size}\n".encode())
                if entry.filename.endswith(".sha256"):
                    found.update(archive.read(entry))
        return cache_folder() / "publishing" / f"central-{found.hexdigest()[:32]}.json"


def _require_fields(library: Library, *, is_own: bool) -> None:
    """Raises ConfigError with all the keys that Maven Central requires and the POM lacks."""
    missing = [key for key, text in pom_fields(library).items() if not text]
    if missing and is_own:
        raise ConfigError(
            f"[package] lacks {', '.join(missing)}, which Maven Central requires",
            hint=f"add to mobpack.toml, and build again: {'; '.join(EXAMPLES[key] for key in missing)}",
        )
    if missing:
        raise ConfigError(
            f"the POM of {library.stem} has no {', '.join(missing)}, which Maven Central requires",
            hint="publish runtimes of your own to a repository of your own: --to maven=https://HOST/PATH",
        )


def _folders(bundle: Path) -> set[str]:
    with zipfile.ZipFile(bundle) as archive:
        return {name.rpartition("/")[0] for name in archive.namelist()}


def _document(body: bytes, address: str) -> dict[str, object]:
    try:
        found = parsing.json_of(body)
    except ValueError as error:
        raise ToolError(
            f"{host_of(address)} answers with something other than JSON", hint="check the address"
        ) from error
    if not isinstance(found, dict):
        raise ToolError(f"{host_of(address)} answers with something unexpected", hint="check the address")
    return found


def _errors(status: Mapping[str, str]) -> str:
    """The Portal's errors: a map from component to sentences."""
    found = parsing.json_of(status.get("errors", "{}"))
    if not isinstance(found, dict) or not found:
        return "it gives no reason"
    texts = (f"{name}: {', '.join(map(str, each)) if isinstance(each, list) else each}" for name, each in found.items())
    return "; ".join(texts)
