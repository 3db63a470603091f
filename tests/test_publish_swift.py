"""Publishing Swift packages: to a registry, which is a double that answers as SE-0292 and SE-0391 say, and as tags of a
git repository, from which the real Swift package manager takes them."""

import base64
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest

from packager.core.errors import ConfigError, GateError, ToolError
from packager.distribution.publishing import RegistryOutcome, publish, registries
from packager.files.hashes import sha256_of
from tests.registries import LOCAL, Answered, Asked, Fault, Server, Waits, parts_of, release, results, serving
from tests.toolchain.swift import PROGRAMS, Finished, Swift, swift

pytestmark = pytest.mark.by_content

SCOPE = "swift-registry.scope=acme"
PLACE = "/acme/vision/1.0.0"
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


@pytest.mark.programs
def test_a_registry_gets_the_archive_and_its_metadata_once(tmp_path: Path) -> None:
    dist, double = release(tmp_path / "dist"), SwiftDouble()
    with serving(double.server):
        assert results(published(dist, double)) == {"sent"}
        assert results(published(dist, double)) == {"already there"}
    archive = dist / "swift" / "vision-1.0.0.zip"
    assert double.releases == {PLACE: {"source-archive": archive.read_bytes(), "metadata": b'{"description": "Sees."}'}}
    assert len(double.server.changed()) == 1


@pytest.mark.programs
def test_other_bytes_are_refused(tmp_path: Path) -> None:
    double = SwiftDouble()
    with serving(double.server):
        double.releases[PLACE] = {"source-archive": b"another archive"}
        with pytest.raises(GateError, match=rf"{PLACE} is there with other bytes"):
            published(release(tmp_path / "dist"), double)


@pytest.mark.programs
@pytest.mark.parametrize("fault", [429, 500, "cut", "late"])
def test_a_registry_that_fails_is_tried_again_and_409_of_our_own_upload_is_none(tmp_path: Path, fault: Fault) -> None:
    double = SwiftDouble()
    double.server.faults = {1: fault}
    with serving(double.server):
        assert results(published(release(tmp_path / "dist"), double)) == {"sent"}
    assert list(double.releases) == [PLACE]


@pytest.mark.programs
def test_a_registry_may_accept_a_package_and_work_on_it(tmp_path: Path) -> None:
    double = SwiftDouble(status=202)
    with serving(double.server):
        [outcome] = published(release(tmp_path / "dist"), double)
    assert outcome.words == "accepted; the registry is still at work on it"


@pytest.mark.programs
def test_an_expired_token_is_said(tmp_path: Path) -> None:
    double = SwiftDouble()
    double.server.authorization = "Bearer fresh"
    waits = Waits({"MOBPACK_SWIFT_TOKEN": "old-s3cret"})
    with serving(double.server), pytest.raises(ToolError, match="wrong or have expired") as error:
        published(release(tmp_path / "dist"), double, waits=waits)
    assert "set MOBPACK_SWIFT_TOKEN" in error.value.hint
    assert "old-s3cret" not in f"{error.value} {error.value.hint}"


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate that signs code, and its key: P-256, as SE-0391 says."""
    folder = tmp_path_factory.mktemp("identity")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command += ["-subj", "/CN=Ada", "-addext", "extendedKeyUsage=codeSigning", "-keyout", str(key)]
    subprocess.run([*command, "-out", str(certificate)], check=True, capture_output=True)
    return certificate, key


@pytest.mark.programs
def test_a_certificate_signs_the_archive_and_its_metadata(tmp_path: Path, identity: tuple[Path, Path]) -> None:
    certificate, key = identity
    double = SwiftDouble()
    settings = (f"swift-registry.certificate={certificate}", f"swift-registry.key={key}")
    dist = release(tmp_path / "dist")
    with serving(double.server):
        published(dist, double, *settings)
        assert results(published(dist, double, *settings)) == {"already there"}, "with other signatures"
        with pytest.raises(GateError, match="other bytes"):
            published(dist, double)
    [headers] = [each for each in double.server.headers if "Content-Type" in each]
    assert headers["X-Swift-Package-Signature-Format"] == "cms-1.0.0"
    parts = double.releases[PLACE]
    assert list(parts) == ["source-archive", "metadata", "source-archive-signature", "metadata-signature"]
    for name in ("source-archive", "metadata"):
        assert is_signed(parts[name], parts[f"{name}-signature"], certificate, tmp_path)
        assert not is_signed(parts[name] + b"x", parts[f"{name}-signature"], certificate, tmp_path)


def is_signed(content: bytes, signature: bytes, certificate: Path, folder: Path) -> bool:
    (folder / "content").write_bytes(content)
    (folder / "signature").write_bytes(signature)
    command = ["openssl", "cms", "-verify", "-binary", "-inform", "DER", "-in", str(folder / "signature")]
    command += ["-content", str(folder / "content"), "-CAfile", str(certificate), "-purpose", "any"]
    return subprocess.run([*command, "-out", "/dev/null"], check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["swift-registry.scope="], "packages of a Swift registry have a scope"),
        ([SCOPE, "swift-registry.key=a.pem"], "a signature needs a certificate and its key"),
        ([SCOPE, "swift-registry.key=a.pem", "swift-registry.certificate=b.pem"], r"b\.pem is no file"),
        ([SCOPE, "swift-registry.package=visoin"], "the release has no Swift package 'visoin'"),
    ],
)
def test_what_cannot_be_published_is_refused_by_the_plan(tmp_path: Path, settings: list[str], message: str) -> None:
    dist = release(tmp_path / "dist")
    with pytest.raises(ConfigError, match=message):
        publish(dist, registries(["swift-registry=https://swift.example"], settings), Waits().session, is_dry=True)


@pytest.mark.programs
def test_a_package_that_depends_on_a_path_says_what_to_publish_first(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist", dependencies=LOCAL)
    double = SwiftDouble()
    with serving(double.server):
        with pytest.raises(ConfigError, match=r"vision depends on \.\./onnxruntime-binary-1\.29\.0 by path") as error:
            published(dist, double)
        assert "publish onnxruntime-binary first" in error.value.hint
        published(dist, double, "swift-registry.package=onnxruntime-binary")
    assert list(double.releases) == ["/acme/onnxruntime-binary/1.29.0"]


def test_versions_have_three_parts(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"version 1\.0 of vision: Swift packages need three parts"):
        published(release(tmp_path / "dist", version="1.0"), SwiftDouble(Server(address="https://swift.example")))


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


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


@pytest.mark.programs
def test_a_tag_has_the_package_at_its_root_and_is_made_once(tmp_path: Path, repository: Path) -> None:
    dist = release(tmp_path / "dist")
    [outcome] = tagged(dist, repository)
    assert outcome.words == f"publish it with: git -C {repository} push origin releases 1.0.0"
    assert git(repository, "ls-tree", "-r", "--name-only", "1.0.0").split() == [
        "Package.swift",
        "Sources/VisionModels/Vision.swift",
    ]
    show = ["git", "-C", str(repository), "show", "1.0.0:Sources/VisionModels/Vision.swift"]
    assert subprocess.run(show, check=True, capture_output=True).stdout == b"public let answer = 42\r\n"
    assert results(tagged(dist, repository)) == {"already there"}
    tagged(release(tmp_path / "next", version="1.1.0"), repository)
    assert git(repository, "tag").split() == ["1.0.0", "1.1.0"]
    assert git(repository, "rev-list", "--count", "releases") == "1", "the files are the same"


@pytest.mark.programs
def test_a_tag_with_other_files_is_refused(tmp_path: Path, repository: Path) -> None:
    tagged(release(tmp_path / "one"), repository)
    commit = git(repository, "rev-parse", "releases")
    empty = git(repository, "hash-object", "-t", "tree", "-w", "/dev/null")
    git(repository, "tag", "--force", "1.0.0", git(repository, "commit-tree", empty, "-m", "another"))
    with pytest.raises(GateError, match=r"vision\.git#1\.0\.0 is there with other bytes"):
        tagged(release(tmp_path / "two"), repository)
    assert git(repository, "rev-parse", "releases") == commit


@pytest.mark.programs
def test_a_call_that_ended_before_the_tag_is_continued(tmp_path: Path, repository: Path) -> None:
    dist = release(tmp_path / "dist")
    tagged(dist, repository)
    commit = git(repository, "rev-parse", "releases")
    git(repository, "tag", "--delete", "1.0.0")
    assert results(tagged(dist, repository)) == {"sent"}
    assert git(repository, "rev-parse", "1.0.0^{commit}", "releases").split() == [commit, commit]


@pytest.mark.programs
def test_folders_that_are_no_repository_and_branches_in_use_are_refused(tmp_path: Path, repository: Path) -> None:
    dist = release(tmp_path / "dist")
    (tmp_path / "plain").mkdir()
    for place, message in {"plain": "is not a git repository", "gone": "is not there"}.items():
        with pytest.raises(ConfigError, match=message) as error:
            tagged(dist, tmp_path / place)
        assert "git init --bare" in error.value.hint
    subprocess.run(["git", "clone", "--quiet", repository, tmp_path / "clone"], check=True, capture_output=True)
    git(tmp_path / "clone", "checkout", "--quiet", "-b", "releases")
    with pytest.raises(ConfigError, match="branch releases is checked out"):
        tagged(dist, tmp_path / "clone")
    assert results(tagged(dist, tmp_path / "clone", "swift-git.branch=others")) == {"sent"}


@pytest.mark.programs
def test_git_without_a_name_of_its_user_says_so(tmp_path: Path, repository: Path) -> None:
    (tmp_path / "gitconfig").write_text("[user]\nuseConfigOnly = true\n", encoding="utf-8")
    with pytest.raises(ToolError, match="git commit-tree failed"):
        tagged(release(tmp_path / "dist"), repository)


@pytest.mark.swift
def test_the_real_package_manager_builds_an_app_with_the_tag(tmp_path: Path, repository: Path) -> None:
    tools = swift()
    tagged(release(tmp_path / "dist"), repository)
    app = tmp_path / "app"
    (app / "Sources" / "App").mkdir(parents=True)
    (app / "Package.swift").write_text(
        "// swift-tools-version: 5.9\nimport PackageDescription\n"
        f'let package = Package(name: "app", dependencies: [.package(url: "{repository}", from: "1.0.0")],\n'
        'targets: [.executableTarget(name: "App", dependencies: '
        '[.product(name: "VisionModels", package: "vision")])])\n',
        encoding="utf-8",
    )
    (app / "Sources" / "App" / "main.swift").write_text("import VisionModels\nprint(answer)\n", encoding="utf-8")
    mounts = {str(repository): repository}
    command = ["swift", "run", "-j", "2", "--disable-sandbox", "--scratch-path", str(app / "scratch")]
    environment = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    done = tools.run(command, cwd=app, mounts=mounts, environment=environment)
    assert done.returncode == 0, done.output
    assert done.output.rstrip().endswith("42")
    pins = json.loads((app / "Package.resolved").read_text(encoding="utf-8"))["pins"]
    assert [each["state"]["version"] for each in pins] == ["1.0.0"]


@pytest.mark.swift
@pytest.mark.parametrize("trusted", [True, False])
def test_the_real_package_manager_verifies_what_a_registry_has(
    tmp_path: Path, identity: tuple[Path, Path], trusted: bool
) -> None:
    """The signature is checked by Swift's own code, against a root that it is told to trust."""
    certificate, key = identity
    tools, double, app = swift(), SwiftDouble(), tmp_path / "app"
    (app / "roots").mkdir(parents=True)
    if trusted:
        der = ["openssl", "x509", "-in", str(certificate), "-outform", "DER", "-out", str(app / "roots" / "root.cer")]
        subprocess.run(der, check=True)
    settings = (f"swift-registry.certificate={certificate}", f"swift-registry.key={key}")
    with serving(double.server):
        published(release(tmp_path / "dist"), double, *settings)
        done = _resolved(tools, app, double.server.address)
    if trusted:
        assert done.returncode == 0, done.output
        assert "GET /acme/vision/1.0.0.zip" in double.server.requests
    else:
        assert done.returncode != 0
        assert "is not trusted" in done.output


def _resolved(tools: Swift, app: Path, address: str) -> Finished:
    """`swift package resolve` of an app that depends on acme.vision, and takes only what is signed."""
    (app / "Sources" / "App").mkdir(parents=True)
    (app / "Package.swift").write_text(
        "// swift-tools-version: 5.9\nimport PackageDescription\n"
        'let package = Package(name: "app", dependencies: [.package(id: "acme.vision", from: "1.0.0")],\n'
        'targets: [.executableTarget(name: "App", dependencies: '
        '[.product(name: "VisionModels", package: "acme.vision")])])\n',
        encoding="utf-8",
    )
    (app / "Sources" / "App" / "main.swift").write_text("import VisionModels\nprint(answer)\n", encoding="utf-8")
    signing = {
        "onUnsigned": "error",
        "onUntrustedCertificate": "error",
        "trustedRootCertificatesPath": str(app / "roots"),
        "includeDefaultTrustedRootCertificates": False,
        "validationChecks": {"certificateExpiration": "disabled", "certificateRevocation": "disabled"},
    }
    document = {"registries": {}, "security": {"default": {"signing": signing}}, "authentication": {}, "version": 1}
    shared, programs = app / "shared", app / "programs"
    for folder in (shared, programs):
        folder.mkdir()
    (shared / "registries.json").write_text(json.dumps(document), encoding="utf-8")
    unzip = programs / "unzip"  # the toolchain has none, and the package manager starts one
    unzip.write_text(f'#!/bin/sh\nexec chroot /host {sys.executable} -m zipfile -e "$1" "$3"\n', encoding="utf-8")
    unzip.chmod(0o755)
    environment = {"HOME": str(app / "home"), "PATH": f"{programs}:{PROGRAMS}"}
    command = ["swift", "package-registry", "set", "--allow-insecure-http", address]
    done = tools.run(command, cwd=app, environment=environment)
    assert done.returncode == 0, done.output
    command = ["swift", "package", "--config-path", str(shared), "--scratch-path", str(app / "scratch"), "resolve"]
    return tools.run(command, cwd=app, environment=environment)


@pytest.mark.programs
def test_the_archive_of_a_tag_is_the_one_of_the_release(tmp_path: Path, repository: Path) -> None:
    dist = release(tmp_path / "dist")
    [planned] = publish(dist, registries([f"swift-git={repository}"], []), Waits().session, is_dry=True)
    assert planned.request.sha256 == sha256_of(dist / "swift" / "vision-1.0.0.zip")
    assert git(repository, "tag") == ""
