"""cosign and the reference of Model Signing verify what mobpack signs, and mobpack what they sign."""

import json
from pathlib import Path

import pytest

from packager.core.errors import GateError
from packager.signing.model_signing import PREDICATE, folder_digests, statement
from packager.signing.statements import RELEASE
from packager.workflows import signing
from tests.cases.signing_cases import Key, make_key, make_release
from tests.toolchain.signing_tools import Cosign, cosign, with_sigstore

REFERENCE = ("-c", "from model_signing._cli import main; main()")
OFFLINE = ("--insecure-ignore-tlog", "--key")


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Cosign:
    return cosign(tmp_path_factory.mktemp("cosign"))


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return make_key(tmp_path / "keys")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    path.mkdir()
    (path / "model.onnx").write_bytes(b"graph")
    (path / "weights.bin").write_bytes(b"weights")
    return path


def test_cosign_verifies_a_signed_folder(tool: Cosign, folder: Path, key: Key, tmp_path: Path) -> None:
    signing.sign(folder, signing.signer(str(key.private), None))
    check = ("verify-blob-attestation", "--bundle", folder / "model.sig", "--type", PREDICATE, "--check-claims=false")
    done = tool.run(*check, *OFFLINE, key.public)
    assert (done.returncode, "Verified OK" in done.stderr) == (0, True), done.stderr
    assert tool.run(*check, *OFFLINE, make_key(tmp_path / "other").public).returncode != 0


def test_cosign_verifies_each_file_of_a_signed_release_alone(tool: Cosign, key: Key, tmp_path: Path) -> None:
    dist = make_release(tmp_path / "dist", has_trust=True)
    signing.sign(dist, signing.signer(str(key.private), None))
    check = ("verify-blob-attestation", "--bundle", dist / "manifest.json.sig", "--type", RELEASE, *OFFLINE, key.public)
    for name in ("manifest.json", "android/vision-1.2.3.aar", "report.html"):
        done = tool.run(*check, dist / name)
        assert (done.returncode, "Verified OK" in done.stderr) == (0, True), done.stderr
    (dist / "report.html").write_text("changed", encoding="utf-8")
    assert "do not match" in tool.run(*check, dist / "report.html").stderr


def test_mobpack_verifies_a_folder_that_cosign_has_signed(tool: Cosign, folder: Path, key: Key, tmp_path: Path) -> None:
    prefix = tmp_path / "cosign"
    made = tool.run("import-key-pair", "--key", key.private, "--output-key-prefix", prefix)
    assert made.returncode == 0, made.stderr
    unsigned = tmp_path / "statement.json"
    unsigned.write_bytes(statement(folder_digests(folder, ()), name="model", ignored=()))
    bundle = tmp_path / "cosign.sig"
    options = ("--use-signing-config=false", "--tlog-upload=false", "--type", PREDICATE)
    done = tool.run(
        "attest-blob", "--key", f"{prefix}.key", "--statement", unsigned, "--bundle", bundle, *options, "--yes"
    )
    assert done.returncode == 0, done.stderr
    trust = signing.trust([Path(f"{prefix}.pub")], None)
    assert signing.verify_place(folder, trust, bundle).signatures == {"cosign.sig": f"{prefix}.pub"}
    (folder / "weights.bin").write_bytes(b"weighTs")
    with pytest.raises(GateError, match=r"changed: weights\.bin"):
        signing.verify_place(folder, trust, bundle)
    assert "publicKey" in json.loads(bundle.read_text(encoding="utf-8"))["verificationMaterial"]


def test_the_reference_implementation_verifies_a_signed_folder(folder: Path, key: Key, tmp_path: Path) -> None:
    signing.sign(folder, signing.signer(str(key.private), None))
    arguments = ("verify", "key", folder, "--signature", folder / "model.sig", "--public_key")
    done = with_sigstore(*REFERENCE, *arguments, key.public)
    assert (done.returncode, "Verification succeeded" in done.stdout) == (0, True), done.stderr
    assert with_sigstore(*REFERENCE, *arguments, make_key(tmp_path / "other").public).returncode != 0


def test_mobpack_verifies_a_folder_that_the_reference_implementation_has_signed(
    folder: Path, key: Key, tmp_path: Path
) -> None:
    bundle = tmp_path / "reference.sig"
    arguments = ("sign", "key", folder, "--signature", bundle, "--private_key", key.private)
    done = with_sigstore(*REFERENCE, *arguments)
    assert done.returncode == 0, done.stderr
    trust = signing.trust([key.public], None)
    assert signing.verify_place(folder, trust, bundle).files == 2
    (folder / "extra").write_bytes(b"")
    with pytest.raises(GateError, match="not signed: extra"):
        signing.verify_place(folder, trust, bundle)
