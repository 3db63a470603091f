"""OpenSSF Model Signing: bundles of folders follow the specification, and no change of files or bundles passes."""

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from packager.cli.sign import sign as sign_command
from packager.cli.verify import verify as verify_command
from packager.core.errors import ConfigError, GateError
from packager.distribution.release.checking import Verified
from packager.signing.envelope import pae, parsed
from packager.signing.model_signing import signed_files, statement, unsigned_bundle
from packager.signing.statements import ReleaseName
from packager.workflows import signing
from tests.cases.schemas import jsonschema
from tests.cases.signing_cases import Key, make_key

SPECIFICATION = Path(__file__).parents[1] / "data" / "model_signing"
VECTORS = SPECIFICATION / "test-vectors" / "v1.0"
BUNDLE = "model.sig"


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return make_key(tmp_path / "keys")


@pytest.fixture
def folder(tmp_path: Path, key: Key) -> Path:
    """A signed folder of model files."""
    path = tmp_path / "model"
    (path / "weights").mkdir(parents=True)
    (path / "model.onnx").write_bytes(b"graph")
    (path / "weights" / "0.bin").write_bytes(b"weights")
    signing.sign(path, signing.signer(str(key.private), None))
    return path


def verified(folder: Path, *keys: Key) -> Verified:
    return signing.verify_place(folder, signing.trust([each.public for each in keys], None))


def schemas() -> tuple[jsonschema.Draft202012Validator, jsonschema.Draft202012Validator]:
    """Of bundles, and of the statements in them."""
    found = {
        path.name: json.loads(path.read_text(encoding="utf-8"))
        for path in (SPECIFICATION / "schemas" / "v1.0").glob("*.json")
    }
    resources = [
        (each["$id"], Resource.from_contents(each, default_specification=DRAFT202012)) for each in found.values()
    ]
    registry: Registry[Any] = Registry().with_resources(resources)
    return (
        jsonschema.Draft202012Validator(found["bundle.schema.json"], registry=registry),
        jsonschema.Draft202012Validator(found["statement.schema.json"], registry=registry),
    )


def changed(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Applies `change` to the JSON of the bundle."""
    path = folder / BUNDLE
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def statement_of(folder: Path) -> dict[str, Any]:
    document = json.loads((folder / BUNDLE).read_text(encoding="utf-8"))
    statement: dict[str, Any] = json.loads(base64.b64decode(document["dsseEnvelope"]["payload"]))
    return statement


def signed_again(folder: Path, key: Key, statement: dict[str, Any], payload_type: str = "") -> None:
    """Puts another statement into the bundle, signed with the trusted key."""

    def replace(document: dict[str, Any]) -> None:
        envelope = document["dsseEnvelope"]
        payload = json.dumps(statement).encode()
        envelope["payloadType"] = payload_type or envelope["payloadType"]
        signature = key.key.sign(pae(envelope["payloadType"], payload), ec.ECDSA(SHA256()))
        envelope["payload"] = base64.b64encode(payload).decode()
        envelope["signatures"][0]["sig"] = base64.b64encode(signature).decode()

    changed(folder, replace)


def test_a_bundle_passes_the_schemas(folder: Path) -> None:
    of_bundle, of_statement = schemas()
    of_bundle.validate(json.loads((folder / BUNDLE).read_text(encoding="utf-8")))
    of_statement.validate(statement_of(folder))
    _, of_statement = schemas()
    bundle = parsed(unsigned_bundle({"a.ort": "0" * 64}, ReleaseName(package="vision", version="1.2.3")), "bundle")
    of_statement.validate(json.loads(bundle.payload))
    assert bundle.signature == b""
    assert len(list(VECTORS.glob("*/*.json"))) == 8


@pytest.mark.parametrize("path", sorted(VECTORS.glob("*/*.json")), ids=lambda path: path.stem)
def test_the_vectors_of_the_specification_are_told_apart(path: Path) -> None:
    """Three are valid; of the others, one has the wrong predicate and four are no bundles."""
    if path.parent.name == "valid":
        found = signed_files(parsed(path.read_bytes(), path.name), path.name)
        assert set(found.digests) >= {"signme-1", "signme-2"}
        return
    with pytest.raises(GateError) as caught:
        signed_files(parsed(path.read_bytes(), path.name), path.name)
    assert path.name in caught.value.message
    assert ("wrong predicate type" in caught.value.message) == (path.parent.name == "invalid-payload")


@pytest.mark.parametrize("path", sorted(VECTORS.glob("valid/*.json")), ids=lambda path: path.stem)
def test_the_root_digest_is_computed_as_in_the_vectors(path: Path) -> None:
    bundle = parsed(path.read_bytes(), path.name)
    own = statement(signed_files(bundle, path.name).digests, name="m", ignored=())
    assert json.loads(own)["subject"][0]["digest"] == json.loads(bundle.payload)["subject"][0]["digest"]


def test_pae_is_that_of_the_dsse_specification() -> None:
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_signed_folders_verify_with_either_key_and_the_same_bytes(folder: Path, key: Key, tmp_path: Path) -> None:
    before = (folder / BUNDLE).read_bytes()
    signing.sign(folder, signing.signer(str(key.private), None))
    assert (folder / BUNDLE).read_bytes() == before
    found = verified(folder, key)
    assert (found.files, found.signatures) == (2, {BUNDLE: str(key.public)})
    new = make_key(tmp_path / "new", "next")
    assert verified(folder, new, key).signatures[BUNDLE] == str(key.public)


def change_a_byte(folder: Path) -> None:
    (folder / "weights" / "0.bin").write_bytes(b"weighTs")


def remove_a_file(folder: Path) -> None:
    (folder / "model.onnx").unlink()


def add_a_file(folder: Path) -> None:
    (folder / "extra.bin").write_bytes(b"")


def rename_a_file(folder: Path) -> None:
    (folder / "model.onnx").rename(folder / "Model.onnx")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (change_a_byte, "changed: weights/0.bin"),
        (remove_a_file, "missing: model.onnx"),
        (add_a_file, "not signed: extra.bin"),
        (rename_a_file, "missing: model.onnx; not signed: Model.onnx"),
    ],
)
def test_a_change_of_the_files_is_named(folder: Path, key: Key, change: Callable[[Path], None], words: str) -> None:
    change(folder)
    with pytest.raises(GateError, match=words):
        verified(folder, key)


def test_a_link_in_place_of_a_file_is_refused(folder: Path, key: Key, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"graph")
    (folder / "model.onnx").unlink()
    (folder / "model.onnx").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(GateError, match="symbolic link"):
        verified(folder, key)
    with pytest.raises(ConfigError, match="symbolic link"):
        signing.sign(folder, signing.signer(str(key.private), None))


def test_other_keys_payloads_and_purposes_are_refused(folder: Path, tmp_path: Path, key: Key) -> None:
    with pytest.raises(GateError, match=r"signed by another key than .*other\.pub"):
        verified(folder, make_key(tmp_path / "other", "other"))
    statement = statement_of(folder)
    statement["predicate"]["resources"][0]["digest"] = "0" * 64

    def replace(document: dict[str, Any]) -> None:
        document["dsseEnvelope"]["payload"] = base64.b64encode(json.dumps(statement).encode()).decode()

    changed(folder, replace)
    with pytest.raises(GateError, match="changed after signing"):
        verified(folder, key)
    signed_again(folder, key, {**statement_of(folder), "predicateType": "https://slsa.dev/provenance/v1"})
    with pytest.raises(GateError, match=r"wrong predicate type: 'https://slsa\.dev/provenance/v1'"):
        verified(folder, key)
    signed_again(folder, key, statement_of(folder), "text/plain")
    with pytest.raises(GateError, match="signs 'text/plain'"):
        verified(folder, key)
    changed(folder, lambda document: document["dsseEnvelope"].update(signatures=[]))
    with pytest.raises(GateError, match="is not signed"):
        verified(folder, key)


@pytest.mark.parametrize("share", [0, 0.3, 0.9])
def test_a_bundle_that_is_cut_short_is_refused(folder: Path, key: Key, share: float) -> None:
    content = (folder / BUNDLE).read_bytes()
    (folder / BUNDLE).write_bytes(content[: int(len(content) * share)])
    with pytest.raises(GateError, match="cut short"):
        verified(folder, key)


def test_r_and_s_beside_each_other_are_told_from_der(folder: Path, key: Key) -> None:
    def replace(document: dict[str, Any]) -> None:
        signature = document["dsseEnvelope"]["signatures"][0]
        r, s = decode_dss_signature(base64.b64decode(signature["sig"]))
        signature["sig"] = base64.b64encode(r.to_bytes(32, "big") + s.to_bytes(32, "big")).decode()

    changed(folder, replace)
    with pytest.raises(GateError, match="not in DER form but r and s beside each other"):
        verified(folder, key)


@pytest.mark.parametrize(
    ("key_of", "value", "words"),
    [
        ("mediaType", "application/json", "not a Sigstore bundle"),
        ("dsseEnvelope", None, "'dsseEnvelope' is missing"),
        ("verificationMaterial", [], "'verificationMaterial' is missing or of another type"),
    ],
)
def test_what_is_no_bundle_is_refused(folder: Path, key: Key, key_of: str, value: object, words: str) -> None:
    changed(folder, lambda document: document.update({key_of: value}))
    with pytest.raises(GateError, match=words):
        verified(folder, key)


@pytest.mark.parametrize("name", ["../model.onnx", "/etc/passwd"])
def test_a_list_with_files_outside_of_the_folder_is_refused(folder: Path, key: Key, name: str) -> None:
    statement = statement_of(folder)
    statement["predicate"]["resources"][0]["name"] = name
    signed_again(folder, key, statement)
    with pytest.raises(GateError, match="outside of its folder"):
        verified(folder, key)


def test_an_empty_folder_cannot_be_signed(tmp_path: Path, key: Key) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="no files to sign"):
        signing.sign(tmp_path / "empty", signing.signer(str(key.private), None))


def test_shards_are_refused_in_words(folder: Path, key: Key) -> None:
    statement = statement_of(folder)
    statement["predicate"]["serialization"] |= {"method": "shards", "shard_size": 10}
    signed_again(folder, key, statement)
    with pytest.raises(GateError, match="hashes shards with sha256"):
        verified(folder, key)


def test_git_s_own_files_at_the_top_are_not_signed(folder: Path, key: Key) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref", encoding="utf-8")
    assert verified(folder, key).files == 2


def test_the_number_against_rollback_grows_with_the_version(folder: Path) -> None:
    for version, older in [
        ("1.2.3", "1.2.2"),
        ("1.3.0", "1.2.999"),
        ("2.0.0", "1.99.99"),
        ("1.0.0", "0.9"),
        ("2", "1.9.9"),
    ]:
        assert ReleaseName(package="m", version=version).number > ReleaseName(package="m", version=older).number
    number = ReleaseName(package="m", version="99999.9999999.9999999-rc.1+build").number
    assert float(number) == number < 1 << 53
    with pytest.raises(ConfigError, match="only a signature can be verified"):
        signing.verify_place(folder, None)


def test_the_commands_print_json(folder: Path, key: Key, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy", ignore=shutil.ignore_patterns(BUNDLE))
    signed = CliRunner().invoke(sign_command, [str(copy), "--key", str(key.private), "--json"])
    assert json.loads(signed.output)["signatures"] == [BUNDLE]
    found = CliRunner().invoke(verify_command, [str(copy), "--key", str(key.public), "--json"])
    assert json.loads(found.output) == {
        "schema-version": 1,
        "release": str(copy),
        "package": "copy",
        "version": "",
        "files": 2,
        "unlisted": [],
        "signatures": {BUNDLE: str(key.public)},
    }
