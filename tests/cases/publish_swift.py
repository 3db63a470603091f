"""A double of a registry of Swift packages that answers as SE-0292 and SE-0391 say, and a repository for tags."""

import base64
import io
import json
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest

from packager.distribution.publishing import RegistryOutcome, publish, registries
from tests.cases.registries import Answered, Asked, Server, Waits, parts_of

SCOPE = "swift-registry.scope=acme"

VERSION = {"Content-Version": "1"}

JSON = {**VERSION, "Content-Type": "application/json"}

ZIP = {**VERSION, "Content-Type": "application/zip"}

SWIFT = {**VERSION, "Content-Type": "text/x-swift"}

PROBLEM = json.dumps({"detail": "release already exists"}).encode()


@dataclass
class SwiftDouble:
    """Releases of a registry: place -> parts of the form that made it."""

    server: Server = field(default_factory=Server)
    releases: dict[str, dict[str, bytes]] = field(default_factory=dict)
    status: int = 201

    def __post_init__(self) -> None:
        self.server.handle = lambda server, asked: self.answer(asked)

    def answer(self, asked: Asked) -> Answered:
        if asked.method == "PUT":
            return self.put(asked)
        place = asked.path.removesuffix(".zip").removesuffix("/Package.swift")
        if asked.path == "/acme/vision":
            return Answered(200, json.dumps({"releases": {"1.0.0": {}}}).encode(), JSON)
        if place not in self.releases:
            return Answered(404)
        parts = self.releases[place]
        if asked.path.endswith(".zip"):
            return Answered(200, parts["source-archive"], {**ZIP, **_signature_headers(parts)})
        if asked.path.endswith("/Package.swift"):
            with zipfile.ZipFile(io.BytesIO(parts["source-archive"])) as archive:
                return Answered(200, archive.read("vision-1.0.0/Package.swift"), SWIFT)
        return Answered(200, json.dumps({"id": "acme.vision", "version": "1.0.0", **_described(parts)}).encode(), JSON)

    def put(self, asked: Asked) -> Answered:
        assert asked.headers["Accept"] == "application/vnd.swift.registry.v1+json"
        if asked.path in self.releases:
            return Answered(409, PROBLEM)
        self.releases[asked.path] = parts_of(asked)
        return Answered(self.status)


def _described(parts: Mapping[str, bytes]) -> dict[str, object]:
    resource: dict[str, object] = {
        "name": "source-archive",
        "type": "application/zip",
        "checksum": sha256(parts["source-archive"]).hexdigest(),
    }
    if signature := parts.get("source-archive-signature"):
        signed = {"signatureBase64Encoded": base64.b64encode(signature).decode(), "signatureFormat": "cms-1.0.0"}
        resource["signing"] = signed
    return {"resources": [resource], "metadata": json.loads(parts.get("metadata", b"{}"))}


def _signature_headers(parts: Mapping[str, bytes]) -> dict[str, str]:
    signature = parts.get("source-archive-signature")
    if signature is None:
        return {}
    encoded = base64.b64encode(signature).decode()
    return {"X-Swift-Package-Signature-Format": "cms-1.0.0", "X-Swift-Package-Signature": encoded}


def published(
    dist: Path, double: SwiftDouble, *settings: str, waits: Waits | None = None
) -> tuple[RegistryOutcome, ...]:
    known = registries([f"swift-registry={double.server.address}"], [SCOPE, *settings])
    return publish(dist, known, (waits or Waits()).session, is_dry=False)


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate that signs code, and its key: P-256, as SE-0391 says."""
    folder = tmp_path_factory.mktemp("identity")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command += ["-subj", "/CN=Ada", "-addext", "extendedKeyUsage=codeSigning", "-keyout", str(key)]
    subprocess.run([*command, "-out", str(certificate)], check=True, capture_output=True)
    return certificate, key


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty bare repository, and settings of git that change files and ignore some."""
    (tmp_path / "ignored").write_text("*.swift\n", encoding="utf-8")
    settings = (
        f"[user]\nname = Ada\nemail = ada@example.com\n[core]\nautocrlf = true\nexcludesFile = {tmp_path}/ignored\n"
    )
    (tmp_path / "gitconfig").write_text(settings, encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path / "vision.git"], check=True)
    return tmp_path / "vision.git"


def tagged(dist: Path, repository: Path, *settings: str) -> tuple[RegistryOutcome, ...]:
    return publish(dist, registries([f"swift-git={repository}"], settings), Waits().session, is_dry=False)
