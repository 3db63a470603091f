"""PyPI and other Python package indexes: one request for each wheel.

The requests are those of PyPI's documentation: its upload API, PEP 503 and PEP 691, and trusted publishers.
"""

import html.parser
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from email import message_from_bytes
from email.message import Message
from email.policy import compat32
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote, urljoin, urlsplit

from packager.core import parsing
from packager.core.errors import ConfigError, ToolError
from packager.distribution.publishing.addresses import checked, host_of
from packager.distribution.publishing.credentials import ACTIONS, Credentials
from packager.distribution.publishing.http import Http, patiently, reader_of
from packager.distribution.publishing.multipart import Form, Part
from packager.distribution.publishing.registry import ConflictError, PublishingSession, RegistryRequest, State
from packager.distribution.publishing.release import FileToPublish, ReleaseToPublish
from packager.files.zips import DAMAGE

TOKEN = "MOBPACK_PYPI_TOKEN"  # the name of a variable  # noqa: S105
CREDENTIALS = Credentials(
    token=TOKEN,
    token_user="__token__",  # noqa: S106
    username="MOBPACK_PYPI_USERNAME",
    password="MOBPACK_PYPI_PASSWORD",  # noqa: S106
)
GITLAB = "PYPI_ID_TOKEN"
"""variable with GitLab's identity token for PyPI"""
JSON = "application/vnd.pypi.simple.v1+json"
LISTS = {"classifier": "classifiers", "project_url": "project_urls"}
"""headers of METADATA whose fields have other names: those of the upload API"""


@dataclass(frozen=True, kw_only=True)
class PyPI:
    """PyPI, or the index at an address. A file appears there whole or not at all."""

    NAME: ClassVar[str] = "pypi"
    address: str = ""
    """that files are sent to: that of the upload API for PyPI"""
    index: str = ""
    """address of the index that lists the files (PEP 503); default: `simple` below `address`"""

    def __post_init__(self) -> None:
        slash = "/" if self.address.endswith("/") else ""
        object.__setattr__(self, "address", f"{checked(self.address, '--to pypi')}{slash}")
        if self.index:
            object.__setattr__(self, "index", checked(self.index, "--set pypi.index"))

    def plan(self, release: ReleaseToPublish, folder: Path) -> tuple[RegistryRequest, ...]:
        files = release.of_kind("wheel")
        if not files:
            raise ConfigError("the release has no wheel", hint="build one with `mobpack build --target python`")
        return tuple(self._request(file) for file in files)

    def _request(self, file: FileToPublish) -> RegistryRequest:
        described = _metadata(file.path)
        return RegistryRequest(
            registry=self.NAME,
            method="POST",
            address=self.address,
            file=file.name,
            size_bytes=file.size_bytes,
            sha256=file.sha256,
            note=f"{described['Name']} {described['Version']}",
            content=file.path,
        )

    def state(self, request: RegistryRequest, session: PublishingSession) -> State:
        path = request.path
        name = re.sub("[-_.]+", "-", str(_metadata(path)["Name"])).lower()
        page = f"{self._index()}/{quote(name)}/"
        http = Http(session=session, credentials=CREDENTIALS)
        answer = http.get(page, accept=f"{JSON}, text/html;q=0.5")
        if answer.status == 404:
            return State.ABSENT
        listed = dict(_listed(answer.body, answer.headers.get("content-type", ""), page))
        if path.name not in listed:
            return State.ABSENT
        address, sha256 = listed[path.name]
        if sha256:
            return State.SAME if sha256 == request.sha256 else State.OTHER
        return http.compare(address, path)

    def _index(self) -> str:
        return (
            self.index
            or f"{_site(self.address)}{urlsplit(self.address).path.rstrip('/').removesuffix('/legacy')}/simple"
        )

    def send(self, request: RegistryRequest, session: PublishingSession) -> str:
        path = request.path
        form = Form(parts=tuple(_parts(path, request.sha256)))
        http = Http(session=_with_identity(session, request.address), credentials=CREDENTIALS)
        headers = {"Content-Type": form.media_type}
        try:
            http.send("POST", request.address, form.opened, size_bytes=form.size_bytes(), headers=headers)
        except ToolError as error:
            if "already exist" in error.message:  # PyPI answers 400, not 409
                raise ConflictError(error.message) from error
            raise
        return ""


def _parts(path: Path, sha256: str) -> Iterator[Part]:
    """The fields of a form, and the file."""
    described = _metadata(path)
    fields = [(":action", "file_upload"), ("protocol_version", "1"), ("filetype", "bdist_wheel")]
    fields += [("pyversion", path.stem.split("-")[-3]), ("sha256_digest", sha256)]
    for header, value in described.items():
        name = header.lower().replace("-", "_")
        fields.append((LISTS.get(name, name), str(value)))
    fields.append(("description", str(described.get_payload())))
    for name, text in fields:
        yield Part(name=name, content=text.encode(), media_type="text/plain; charset=utf-8")
    yield Part(name="content", content=path, file_name=path.name)


def _metadata(path: Path) -> "Message[str, str]":
    """METADATA of a wheel. Raises ConfigError for a damaged one."""
    try:
        with zipfile.ZipFile(path) as archive:
            [name] = [each for each in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", each)]
            found = message_from_bytes(archive.read(name).decode().encode(), policy=compat32)
    except (*DAMAGE, ValueError) as error:
        raise ConfigError(f"{path} is not a wheel: {error}", hint="build the packages again") from error
    if not found["Name"] or not found["Version"]:
        raise ConfigError(f"{path} has no name and version in METADATA", hint="build the packages again")
    return found


def _listed(body: bytes, media_type: str, page: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Files in the answer of an index: name -> address, sha256; an empty sha256 where the index has none."""
    if "json" not in media_type:
        links = _Links()
        links.feed(body.decode("utf-8", "replace"))
        for address, name in links.found:
            _, _, fragment = address.partition("#")
            yield (
                name.strip(),
                (urljoin(page, address), fragment.removeprefix("sha256=") if "sha256=" in fragment else ""),
            )
        return
    try:
        for each in parsing.json_of(body)["files"]:
            yield each["filename"], (urljoin(page, each["url"]), each["hashes"].get("sha256", ""))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolError(
            f"{page} is not an index as PEP 691 describes it", hint="name the index: --set pypi.index=https://HOST/PATH"
        ) from error


class _Links(html.parser.HTMLParser):
    """Links of a page, with their texts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._address = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._address = dict(attrs).get("href") or "" if tag == "a" else ""

    def handle_data(self, data: str) -> None:
        if self._address and data.strip():
            self.found.append((self._address, data))
            self._address = ""


def _with_identity(session: PublishingSession, address: str) -> PublishingSession:
    """The session with a token for the identity of a CI job (trusted publishing), where the index gives tokens and no
    other credentials are there. Raises ToolError, TransientError."""
    variables = session.variables
    has_identity = bool(variables.get(GITLAB)) or all(map(variables.get, ACTIONS))
    if CREDENTIALS.header(variables) or not has_identity:
        return session
    site = f"{_site(address)}/_/oidc"
    anybody = Http(session=session, credentials=Credentials())
    audience = anybody.get(f"{site}/audience")
    if audience.status == 404:  # an index that knows no trusted publishers
        return session
    identity = variables.get(GITLAB) or _identity(session, _text(audience.body, "audience", site))
    body = json.dumps({"token": identity}).encode()
    made = patiently(
        lambda: anybody.send(
            "POST",
            f"{site}/mint-token",
            reader_of(body),
            size_bytes=len(body),
            headers={"Content-Type": "application/json"},
        ),
        session,
    )
    return replace(session, variables={**variables, TOKEN: _text(made.body, "token", site)})


def _site(address: str) -> str:
    """The site of an index: PyPI takes files at a host of its own."""
    return f"{urlsplit(address).scheme}://{host_of(address).removeprefix('upload.')}"


def _identity(session: PublishingSession, audience: str) -> str:
    """The identity token of a job of GitHub Actions."""
    where, token = ACTIONS
    address = f"{session.variables[where]}&audience={quote(audience)}"
    http = Http(session=session, credentials=Credentials(token=token))
    return _text(http.get(address).body, "value", host_of(address))


def _text(body: bytes, key: str, source: str) -> str:
    try:
        found: Any = parsing.json_of(body)[key]
    except (ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, str):
        raise ToolError(f"{source} gives no '{key}'", hint=f"set {TOKEN} to a token that may publish")
    return found
