"""npm registries, through the user's own npm: its configuration, its credentials, its provenance."""

import base64
import hashlib
import re
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from packager.core import parsing
from packager.core.errors import ConfigError, ToolError, nearest
from packager.core.parsing import Json
from packager.distribution.publishing.addresses import checked, host_of
from packager.distribution.publishing.credentials import ACTIONS
from packager.distribution.publishing.registry import (
    ConflictError,
    PublishingSession,
    RegistryRequest,
    State,
    TransientError,
)
from packager.distribution.publishing.release import FileToPublish, ReleaseToPublish
from packager.files.processes import children
from packager.files.processes.commands import last_lines
from packager.files.processes.downloads import NPM_OPTIONS, npm
from packager.files.processes.inherited import NPM

TOKEN = "NODE_AUTH_TOKEN"  # the name of a variable  # noqa: S105
GITLAB = {"publishing": "NPM_ID_TOKEN", "provenance": "SIGSTORE_ID_TOKEN"}
IDENTITY = (*ACTIONS, *GITLAB.values(), "GITHUB_*", "RUNNER_*", "CI", "GITLAB_CI", "CI_*", "NPM_CONFIG_OTP")
"""Variables by which npm proves where it runs, to publish without a token and to attest the package."""
NEEDED = {"npm": (11, 5, 1), "node": (22, 14, 0)}
"""Oldest versions that publish without a token ("Trusted publishing" in npm's documentation)."""
ACCESS = ("", "public", "restricted")
PROVENANCE = ("auto", "required", "never")
NO_IDENTITY = "no identity of a CI job is there"
HOW_TO_GET = "in GitHub Actions, give the job `permissions: id-token: write`; in GitLab, an id_token SIGSTORE_ID_TOKEN"
CREDENTIALS = (
    f"set {TOKEN} to a token that may publish, run `npm login`, or publish from a CI job that the package names as its "
    "trusted publisher"
)
TRANSIENT = ("E429", "ECONNRESET", "ECONNREFUSED", "ETIMEDOUT", "EAI_AGAIN", "ERR_SOCKET_TIMEOUT", "ENOTFOUND")
THERE = ("E409", "EPUBLISHCONFLICT")


@dataclass(frozen=True, kw_only=True)
class Npm:
    """npm's registry, or another one at an address. A package appears there whole or not at all."""

    NAME: ClassVar[str] = "npm"
    address: str = ""
    """empty for the one that the package names (`npm-registry` in [package]), or else the one that npm is set to"""
    tag: str = ""
    """name for `npm install PACKAGE@NAME`; empty for `latest`, or `next` for a pre-release"""
    access: str = ""
    """`public` or `restricted`; empty for npm's default: packages with a scope are restricted at first"""
    provenance: str = "auto"
    """`auto`: where CI gives an identity; `required`; `never`"""

    def __post_init__(self) -> None:
        if self.address:
            object.__setattr__(self, "address", checked(self.address, "--to npm"))
        _refuse_unknown("npm.access", self.access, ACCESS)
        _refuse_unknown("npm.provenance", self.provenance, PROVENANCE)

    def plan(self, release: ReleaseToPublish, folder: Path) -> tuple[RegistryRequest, ...]:
        files = release.of_kind("npm-package", "web-package", "node-package")
        if not files:
            raise ConfigError(
                "the release has no npm package",
                hint="build one with `mobpack build --target web`, or with --target node or react_native",
            )
        return tuple(self._request(file) for file in files)

    def _request(self, file: FileToPublish) -> RegistryRequest:
        described = _package_json(file.path)
        name, version = str(described["name"]), str(described["version"])
        registry = self._registry(described, name)
        tag = self.tag or ("next" if "-" in version else "latest")
        return RegistryRequest(
            registry=self.NAME,
            method="npm publish",
            address=f"{registry}/{quote(name, safe='@')}",
            file=file.name,
            size_bytes=file.size_bytes,
            sha256=file.sha256,
            note=f"{name}@{version}, tag {tag}",
            content=file.path,
            version=version,
        )

    def _registry(self, described: Json, name: str) -> str:
        own = _named_registry(described)
        if own and self.address and own != self.address:
            raise ConfigError(
                f"--to npm={self.address}: {name} is for {own} alone",
                hint="change npm-registry in [package], and build again",
            )
        return self.address or checked(own or _configured_registry(name), "the registry of npm")

    def state(self, request: RegistryRequest, session: PublishingSession) -> State:
        registry, name = _parts(request)
        done = _npm(["view", f"{name}@{request.version}", "dist", "--json"], registry, name, session)
        if done.code == "E404" or (not done.code and not done.document):
            return State.ABSENT
        if done.code:
            raise _failure(done, request)
        dist = done.document[-1] if isinstance(done.document, list) else done.document
        return State.SAME if _is_same(dist, request) else State.OTHER

    def send(self, request: RegistryRequest, session: PublishingSession) -> str:
        registry, name = _parts(request)
        is_npms_own = not self.address and not _named_registry(_package_json(request.path))
        has_provenance, words = self.attested(session, is_npms_own=is_npms_own)
        if is_npms_own:
            refuse_old_tools(session)
        tag = request.note.rpartition(" ")[2]
        command = ["publish", str(request.path.absolute()), "--json", "--tag", tag]
        command += ["--access", self.access] if self.access else []
        # a trusted publisher of a public repository attests by default, whatever npm is not told
        command += ["--provenance" if has_provenance else "--no-provenance"]
        done = _npm(command, registry, name, session)
        if done.code in THERE or "previously published" in done.summary:
            raise ConflictError(done.summary)
        if done.code:
            raise _failure(done, request)
        return words

    def attested(self, session: PublishingSession, *, is_npms_own: bool) -> tuple[bool, str]:
        """Whether npm is to attest where the package was built, and words on it. Raises ToolError if it must and
        cannot."""
        has_identity = all(map(session.variables.get, ACTIONS)) or bool(session.variables.get(GITLAB["provenance"]))
        if self.provenance == "never":
            return False, ""
        if self.provenance == "required" and not has_identity:
            raise ToolError(f"no provenance: {NO_IDENTITY}", hint=HOW_TO_GET)
        if self.provenance == "required" or (is_npms_own and has_identity):
            return True, "with provenance"
        reason = f"{NO_IDENTITY} ({HOW_TO_GET})" if is_npms_own else "only npm's own registry is known to take it"
        return False, f"without provenance: {reason}"


@dataclass(frozen=True, kw_only=True)
class Done:
    """A run of npm that has ended."""

    document: Any
    code: str
    """npm's code of the error, such as E404; empty if there was none"""
    summary: str


def _npm(arguments: list[str], registry: str, name: str, session: PublishingSession) -> Done:
    """Runs npm in an empty folder. The token is passed in the environment, where npm looks for settings."""
    command = [npm(), *arguments, "--registry", f"{registry}/", *NPM_OPTIONS]
    if name.startswith("@"):  # a registry of the scope in .npmrc would win over --registry
        command.append(f"--{name.partition('/')[0]}:registry={registry}/")
    token = session.variables.get(TOKEN, "")
    place = registry.partition(":")[2]
    own = {f"npm_config_{place}/:_authToken": token} if token else {}
    done = children.run(command, inherits=(*NPM, *IDENTITY), environment={**own, "NO_UPDATE_NOTIFIER": "1"})
    document = _json(done.stdout)
    if done.returncode == 0:
        return Done(document=document, code="", summary="")
    error = document.get("error", {}) if isinstance(document, dict) else {}
    summary = str(error.get("summary") or last_lines(done.stderr or done.stdout, 3))
    found = re.search(r"npm error code (\S+)", done.stderr)
    code = str(error.get("code") or (found[1] if found else "unknown"))
    return Done(document=document, code=code, summary=summary.replace(token, "***") if token else summary)


def _failure(done: Done, request: RegistryRequest) -> Exception:
    host = host_of(request.address)
    if done.code in TRANSIENT or re.fullmatch(r"E5\d\d", done.code):
        return TransientError(f"{host} fails for npm ({done.code}: {done.summary})")
    if done.code in ("ENEEDAUTH", "E401"):
        return ToolError(
            f"{host} asks for credentials, or does not accept those that npm has: they may have expired ({done.code})",
            hint=CREDENTIALS,
        )
    if done.code == "E403":
        return ToolError(f"{host} refuses {request.file} (403): {done.summary}", hint=CREDENTIALS)
    if done.code == "E413":
        return ToolError(
            f"{request.file} is larger than {host} takes (413)",
            hint="raise the registry's limit (max_body_size of Verdaccio, client_max_body_size of nginx)",
        )
    return ToolError(f"npm cannot publish {request.file} ({done.code}): {done.summary}", hint="see what npm says")


def refuse_old_tools(session: PublishingSession) -> None:
    """Raises ToolError if only the identity of a CI job is there to publish with, and npm is too old to use it."""
    has_identity = all(map(session.variables.get, ACTIONS)) or bool(session.variables.get(GITLAB["publishing"]))
    if session.variables.get(TOKEN) or not has_identity:
        return
    found = _json(children.run([npm(), "version", "--json"], inherits=NPM).stdout)
    if old := too_old(found if isinstance(found, dict) else {}):
        raise ToolError(
            f"publishing without a token needs {old}",
            hint=f"run `npm install --global npm@latest`, or set {TOKEN} to one that may publish",
        )


def too_old(versions: Mapping[str, object]) -> str:
    """The programs that are too old for trusted publishing, in words; empty if none is."""
    found = []
    for name, needed in NEEDED.items():
        text = str(versions.get(name, "0"))
        if tuple(int(part) for part in re.findall(r"[0-9]{1,9}", text)[:3]) < needed:
            found.append(f"{name} {'.'.join(map(str, needed))} or newer (this is {text})")
    return " and ".join(found)


def _is_same(dist: Any, request: RegistryRequest) -> bool:
    """Whether the registry's digests are those of the file."""
    content = request.path.read_bytes()
    sha512 = f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"
    if isinstance(dist, dict) and dist.get("integrity"):
        return sha512 in str(dist["integrity"]).split()
    sha1 = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    return isinstance(dist, dict) and dist.get("shasum") == sha1


def _named_registry(described: Json) -> str:
    """The registry that a package names for itself; empty if it names none."""
    return str(described.get("publishConfig", {}).get("registry", "")).rstrip("/")


def _configured_registry(name: str) -> str:
    """The registry that npm is set to, for the scope of the package or else for all."""
    scope = [f"{name.partition('/')[0]}:registry"] if name.startswith("@") else []
    for key in (*scope, "registry"):
        found = children.run([npm(), "config", "get", key], inherits=NPM).stdout.strip()
        if found and found != "undefined":
            return found
    raise ToolError("npm names no registry", hint="write --to npm=https://HOST/PATH")


def _package_json(path: Path) -> Json:
    try:
        with tarfile.open(path, "r:gz") as archive:
            entry = archive.extractfile("package/package.json")
            found = parsing.json_of(entry.read()) if entry else None
        if isinstance(found, dict) and found.get("name") and found.get("version"):
            return found
    except (tarfile.TarError, OSError, KeyError, ValueError, EOFError) as error:
        raise ConfigError(f"{path} is not an npm package: {error}", hint="build the packages again") from error
    raise ConfigError(f"{path} has no package.json with a name", hint="build the packages again")


def _parts(request: RegistryRequest) -> tuple[str, str]:
    """The registry and the name of the package."""
    registry, _, name = request.address.rpartition("/")
    return registry, name.replace("%2F", "/")


def _json(text: str) -> Any:
    try:
        return parsing.json_of(text)
    except ValueError:
        return None


def _refuse_unknown(key: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ConfigError(f"{key}: '{value}' is unknown", hint=nearest(value, filter(None, known)))
