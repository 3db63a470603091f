"""Time stamps of signatures (RFC 3161), by an authority that OpenSSL is on this machine."""

import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID

from packager.core.errors import ConfigError, GateError, ToolError
from packager.signing.envelope import parsed, written
from packager.workflows import signing
from tests.cases.signing_cases import Key, certificate, make_key, make_release
from tests.toolchain import command

SETTINGS = """\
[tsa]
default_tsa = authority
[authority]
serial = {folder}/serial
signer_cert = {folder}/stamp.crt
signer_key = {folder}/stamp.pem
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
"""
STAMPED = "manifest.json.sig"


@dataclass(kw_only=True)
class Authority:
    """An authority that answers at an address."""

    folder: Path
    server: ThreadingHTTPServer = field(init=False)
    answer: bytes | None = None
    """what it answers in place of a time stamp"""
    status: int = 200

    def __post_init__(self) -> None:
        key = make_key(self.folder, "stamp")
        self.root = self.folder / "stamp.crt"
        self.root.write_bytes(_certificate(key).public_bytes(Encoding.PEM))
        (self.folder / "serial").write_text("01\n", encoding="utf-8")
        (self.folder / "openssl.cnf").write_text(SETTINGS.format(folder=self.folder), encoding="utf-8")
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/"

    def stamp(self, query: bytes) -> bytes:
        (self.folder / "query.tsq").write_bytes(query)
        files = ("-queryfile", self.folder / "query.tsq", "-config", self.folder / "openssl.cnf")
        done = subprocess.run(["openssl", "ts", "-reply", *files], capture_output=True, check=True)
        return done.stdout


def _certificate(key: Key) -> x509.Certificate:
    """The authority's certificate, which its own key has signed."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, key.private.parent.name)])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.key.public_key())
    now = datetime.now(UTC)
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    purpose = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING])
    return builder.add_extension(purpose, critical=True).sign(key.key, SHA256())


def _handler(authority: Authority) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Content-Type"] == "application/timestamp-query"
            answer = authority.stamp(query) if authority.answer is None else authority.answer
            self.send_response(authority.status)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    return Handler


@pytest.fixture
def authority(tmp_path: Path) -> Iterator[Authority]:
    found = Authority(folder=tmp_path / "authority")
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    return make_release(tmp_path / "dist", has_trust=True)


def test_a_release_is_stamped_and_the_time_is_said(dist: Path, authority: Authority, tmp_path: Path) -> None:
    make_key(tmp_path)
    done = command.run("sign", "dist", "--key", "release.pem", "--timestamp", authority.url, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    judged = ("verify", "dist", "--key", "release.pub", "--timestamp-authority", str(authority.root))
    done = command.run(*judged, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{STAMPED}: signed by release.pub, before {datetime.now(UTC):%Y-%m-%d}T" in done.stdout
    assert command.run("verify", "dist", "--key", "release.pub", folder=tmp_path).returncode == 0
    assert command.run("sign", "dist", "--key", "release.pem", folder=tmp_path).returncode == 0
    done = command.run(*judged, folder=tmp_path)
    assert (done.returncode, "has no time stamp" in done.stderr) == (6, True), done.stderr


def test_a_certificate_must_have_been_valid_then(
    dist: Path, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = make_key(tmp_path)
    own = certificate(tmp_path / "release.crt", key)
    signer = signing.signer(str(key.private), own)
    signing.sign(dist, signing.stamping(signer, authority.url))

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return datetime.now(UTC) + timedelta(days=30)

    monkeypatch.setattr(signing, "datetime", Later)
    with pytest.raises(GateError, match="has expired"):
        signing.verify_place(dist, signing.trust([own], None))
    found = signing.verify_place(dist, signing.trust([own], None, authority=authority.root))
    assert STAMPED in found.signatures


def test_stamps_of_others_are_refused(dist: Path, authority: Authority, tmp_path: Path) -> None:
    key = make_key(tmp_path)
    signing.sign(dist, signing.stamping(signing.signer(str(key.private), None), authority.url))
    other = Authority(folder=tmp_path / "other")
    other.server.shutdown()
    other.server.server_close()
    with pytest.raises(GateError, match=f"time stamp of {STAMPED} does not verify"):
        signing.verify_place(dist, signing.trust([key.public], None, authority=other.root))
    theirs = next(dist.glob("npm/*.sig"))
    mine = parsed((dist / STAMPED).read_bytes(), "mine")
    stamps = parsed(theirs.read_bytes(), "theirs").timestamps
    assert stamps
    (dist / STAMPED).write_bytes(written(type(mine)(**{**vars(mine), "timestamps": stamps})))
    with pytest.raises(GateError, match=r"does not verify.*Mismatch"):
        signing.verify_place(dist, signing.trust([key.public], None, authority=authority.root))


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [(b"", 500, "500"), (b"no stamp", 200, "gives no time stamp"), (bytes(100_000), 200, "more than 65536 bytes")],
)
def test_what_is_no_stamp_is_named_and_nothing_is_signed(
    dist: Path, authority: Authority, tmp_path: Path, answer: bytes, status: int, reason: str
) -> None:
    authority.answer, authority.status = answer, status
    key, copy = make_key(tmp_path), shutil.copytree(dist, tmp_path / "copy")
    with pytest.raises(ToolError, match=reason):
        signing.sign(dist, signing.stamping(signing.signer(str(key.private), None), authority.url))
    files = {path.relative_to(dist): path.read_bytes() for path in dist.rglob("*") if path.is_file()}
    assert files == {path.relative_to(copy): path.read_bytes() for path in copy.rglob("*") if path.is_file()}


def test_a_stamp_of_something_else_is_named(dist: Path, authority: Authority, tmp_path: Path) -> None:
    key = make_key(tmp_path)
    signer = signing.stamping(signing.signer(str(key.private), None), authority.url)
    authority.answer = signer.sign("text/plain", b"something else").timestamps[0]
    with pytest.raises(ToolError, match="stamped something else"):
        signing.sign(dist, signer)


@pytest.mark.parametrize("address", ["", "ftp://example.com", "example.com", "https://"])
def test_an_address_that_no_authority_has_is_named(tmp_path: Path, address: str) -> None:
    key = make_key(tmp_path)
    with pytest.raises(ConfigError, match="not the address of a time stamp authority"):
        signing.stamping(signing.signer(str(key.private), None), address)
