"""Keys and releases that tests sign."""

import hashlib
import json
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID

from packager.core.values import Package
from packager.files.hashes import sha256_of
from packager.files.zips import Content, ZipLink, unpack, write_zip
from packager.signing.model_signing import UNSIGNED_NAME, unsigned_bundle
from packager.signing.statements import ReleaseName
from packager.targets import maven
from packager.targets.typescript.tarball import write_tarball

WEIGHTS, GRAPH, GOLDEN = b"weights" * 1000, b"graph", b"golden"
RELEASE = ReleaseName(package="vision", version="1.2.3")
NO_LINKS: Mapping[str, str] = {}
SECRET = "a secret"


@dataclass(frozen=True)
class Key:
    """A key pair in two files."""

    private: Path
    public: Path
    key: ec.EllipticCurvePrivateKey


def make_key(folder: Path, name: str = "release", *, curve: ec.EllipticCurve | None = None, password: str = "") -> Key:
    folder.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(curve or ec.SECP256R1())
    return write_key(folder, name, key, password)


def write_key(folder: Path, name: str, key: ec.EllipticCurvePrivateKey, password: str = "") -> Key:
    encryption = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    private.chmod(stat.S_IRUSR | stat.S_IWUSR)
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return Key(private, public, key)


def certificate(
    path: Path,
    key: Key,
    *,
    issuer: Key | None = None,
    days: tuple[int, int] = (-1, 1),
    is_authority: bool = False,
    may_sign: bool = True,
) -> Path:
    """A certificate of `key`, valid from and to so many days from now, issued by `issuer` or by itself."""
    now = datetime.now(UTC)
    of = issuer or key
    built = (
        x509.CertificateBuilder()
        .subject_name(_named(key.private.stem))
        .issuer_name(_named(of.private.stem))
        .public_key(key.key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(days=days[0]))
        .not_valid_after(now + timedelta(days=days[1]))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(_usage(may_sign=may_sign), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False)
        .sign(of.key, SHA256())
    )
    path.write_bytes(built.public_bytes(Encoding.PEM))
    return path


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _usage(*, may_sign: bool) -> x509.KeyUsage:
    others = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign")
    usages: dict[str, bool] = dict.fromkeys(others, False)
    return x509.KeyUsage(
        digital_signature=may_sign, key_cert_sign=True, encipher_only=False, decipher_only=False, **usages
    )


def make_release(
    dist: Path, *, has_trust: bool = False, keys: Sequence[str] = (), links: Mapping[str, str] = NO_LINKS
) -> Path:
    """A release as a build lays it out, with an Android, a Swift and an npm package; with `has_trust`, for apps that
    verify their models, with `keys` (hex sha256) if the manifest names them. The Swift package contains `links`."""
    dist.mkdir(parents=True)
    stem = f"{RELEASE.package}-{RELEASE.version}"
    aar = write_zip(_below(dist / "android" / f"{stem}.aar"), _aar(has_trust=has_trust))
    repository = maven.write_repository(
        dist / "maven",
        coordinates=maven.Coordinates(group="com.example", artifact=RELEASE.package, version=RELEASE.version),
        package=Package(name=RELEASE.package, version=RELEASE.version, license="MIT"),
        library=aar,
        sources_jar=None,
        dependencies=(),
    )
    swift = write_zip(_below(dist / "swift" / f"{stem}.zip"), _swift(stem, links, has_trust=has_trust))
    unpack(swift, dist / "swift" / RELEASE.package)
    registry = dist / "swift" / f"{stem}.json"
    registry.write_text(json.dumps({"checksum": sha256_of(swift)}) + "\n", encoding="utf-8", newline="\n")
    npm = write_tarball(_below(dist / "npm" / f"{stem}.tgz"), _npm(has_trust=has_trust))
    listed = {aar: "aar", swift: "swift-package", npm: "npm-package", registry: "swift-registry"}
    listed |= {path: "maven" for path in repository if path.suffix[1:] not in maven.ALGORITHMS}
    (dist / "report.html").write_text("<html></html>\n", encoding="utf-8", newline="\n")
    manifest = {
        "schema-version": 1,
        "mobpack": "0.1.0",
        "package": {"name": RELEASE.package, "version": RELEASE.version},
        "options": {"trust": {"keys": list(keys)}} if keys else {},
        "artifacts": [_entry(path, kind, dist) for path, kind in sorted(listed.items())],
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (dist / "manifest.json").write_text(text, encoding="utf-8", newline="\n")
    return dist


def _below(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _entry(path: Path, kind: str, dist: Path) -> dict[str, Any]:
    return {
        "target": "android",
        "kind": kind,
        "path": path.relative_to(dist).as_posix(),
        "sha256": sha256_of(path),
        "size-bytes": path.stat().st_size,
    }


def _aar(*, has_trust: bool) -> dict[PurePosixPath, Content]:
    models = {"a.ort.tflite": WEIGHTS, "a.golden.safetensors": GOLDEN}
    return {
        PurePosixPath("classes.jar"): b"classes",
        **_placed("assets/mobpack/vision", models, models, has_trust=has_trust),
    }


def _swift(stem: str, links: Mapping[str, str], *, has_trust: bool) -> dict[PurePosixPath, Content]:
    models = {"a/model.ort": WEIGHTS, "a/fixed.onnx": GRAPH}
    folder = f"{stem}/Sources/VisionKit/Resources/Models"
    return {
        PurePosixPath(f"{stem}/Package.swift"): b"// swift",
        **{PurePosixPath(stem, name): ZipLink(target) for name, target in links.items()},
        **_placed(folder, models, models, has_trust=has_trust),
    }


def _npm(*, has_trust: bool) -> dict[PurePosixPath, bytes | Path]:
    """In an app, the files of `both` are beside those of its platform."""
    both, android, ios = {"a.ort.tflite": WEIGHTS}, {"a.onnx.tflite": GRAPH}, {"a.golden": GOLDEN}
    placed = {
        PurePosixPath("package.json"): b"{}",
        **_placed("models/both/mobpack/Vision", both, {}, has_trust=False),
        **_placed("models/android/mobpack/Vision", android, both | android, has_trust=has_trust),
        **_placed("models/ios/mobpack/Vision", ios, both | ios, has_trust=has_trust),
    }
    return {name: content for name, content in placed.items() if isinstance(content, bytes)}


def _placed(
    folder: str, files: Mapping[str, bytes], listed: Mapping[str, bytes], *, has_trust: bool
) -> dict[PurePosixPath, Content]:
    found: dict[PurePosixPath, Content] = {PurePosixPath(folder, name): content for name, content in files.items()}
    if has_trust:
        digests = {name: digest(content) for name, content in listed.items()}
        found[PurePosixPath(folder, UNSIGNED_NAME)] = unsigned_bundle(digests, RELEASE)
    return found


def digest(content: bytes) -> str:

    return hashlib.sha256(content).hexdigest()
