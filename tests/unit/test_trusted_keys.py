"""`[package] trust`: which keys and versions are accepted, and what is said of the others."""

import base64
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from packager import config
from packager.core.errors import ConfigError
from packager.core.findings import Report
from packager.core.values import ElementType, Package, Signature, Trust
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.web import Web
from packager.workflows.inputs import inputs_of
from packager.workflows.options import options_of
from packager.workflows.trusted_keys import refuse_unverified, release_number, trust_of
from tests.cases.onnx_text import linear, saved
from tests.cases.trust_vectors import IN_USE, NEXT, STRANGER, TRUST, spki
from tests.golden.cases import plan, specs

UNSIGNED = Package(name="models", version="1.2.3", license="")
FLOAT = specs("x", ("x", ElementType.FLOAT, (1,)))
PROJECT = """\
[package]
name = "models"
version = "{version}"
trust = {trust}

[model.m]
path = "m.onnx"

[target.android]
"""


def pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def project(folder: Path, trust: str, version: str = "1.2.3") -> config.Config:
    saved(folder / "m.onnx", linear())
    path = folder / "mobpack.toml"
    path.write_text(PROJECT.format(trust=trust, version=version), encoding="utf-8")
    return config.load(path, targets=(), settings=())


def refusal(folder: Path, trust: str, version: str = "1.2.3") -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        trust_of(project(folder, trust, version))
    return caught.value


def test_keys_are_read_beside_the_project_if_there_are_any(tmp_path: Path) -> None:
    (tmp_path / "release.pub").write_bytes(pem(IN_USE))
    (tmp_path / "next.pub").write_bytes(pem(NEXT))
    number = (1 << 40) + (2 << 20) + 3
    assert trust_of(project(tmp_path, '"release.pub"')) == Trust(keys=(spki(IN_USE),), number=number)
    both = project(tmp_path, '["release.pub", "next.pub"]')
    assert trust_of(both) == Trust(keys=(spki(IN_USE), spki(NEXT)), number=number)
    assert {tmp_path / "release.pub", tmp_path / "next.pub"} <= set(inputs_of(both, ("android",), None).files)
    kept = options_of(both, ("android",))["trust"]
    assert isinstance(kept, dict)
    assert (len(kept["keys"]), kept["number"]) == (2, number)
    opened = project(tmp_path, "[]")
    assert trust_of(opened) is None
    assert "trust" not in options_of(opened, ("android",))


def test_what_is_no_public_key_is_refused(tmp_path: Path) -> None:
    secret = IN_USE.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "release.key").write_bytes(secret)
    error = refusal(tmp_path, '"release.key"')
    assert "is a PRIVATE key: whoever has it can sign models in your name" in error.message
    assert "openssl pkey -in release.key -pubout" in error.hint
    other = ec.generate_private_key(ec.SECP384R1())
    edwards = ed25519.Ed25519PrivateKey.generate().public_key()
    k1 = ec.derive_private_key(7, ec.SECP256K1())
    damaged = pem(IN_USE).replace(b"\n-----END", b"A\n-----END")
    for content, words in {
        pem(other): "secp384r1: apps trust P-256",
        pem(k1): "secp256k1: apps trust P-256",
        edwards.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo): "not a key of an elliptic curve",
        b"release": "not a public key in PEM form",
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n": "is a certificate",
        damaged: "not a public key in PEM form",
    }.items():
        (tmp_path / "release.pub").write_bytes(content)
        assert words in refusal(tmp_path, '"release.pub"').message
    wrong = bytearray(spki(IN_USE))
    wrong[-1] ^= 1
    text = f"-----BEGIN PUBLIC KEY-----\n{base64.b64encode(wrong).decode()}\n-----END PUBLIC KEY-----\n"
    (tmp_path / "release.pub").write_text(text, encoding="ascii", newline="\n")
    assert "not a public key in PEM form" in refusal(tmp_path, '"release.pub"').message
    for name, key in (("a.pub", IN_USE), ("b.pub", NEXT), ("c.pub", STRANGER)):
        (tmp_path / name).write_bytes(pem(key))
    assert "missing.pub" in refusal(tmp_path, '"missing.pub"').message
    assert "3 keys" in refusal(tmp_path, '["a.pub", "b.pub", "c.pub"]').message
    assert "the same key twice" in refusal(tmp_path, '["a.pub", "a.pub"]').message


@pytest.mark.parametrize(
    ("version", "number"),
    [("1.2.3", (1, 2, 3)), ("1.2.3-rc.1", (1, 2, 3)), ("0.1", (0, 1, 0)), ("7", (7, 0, 0)), ("1.2.3+5", (1, 2, 3))],
)
def test_a_version_has_a_number_in_the_order_of_releases(version: str, number: tuple[int, int, int]) -> None:
    major, minor, patch = number
    assert release_number(version) == major * 2**40 + minor * 2**20 + patch


@pytest.mark.parametrize("version", ["2024a", "9000.0.0", "1.2.3.4", "1.1048576.0", "v1"])
def test_a_version_without_a_place_among_others_is_refused(tmp_path: Path, version: str) -> None:
    (tmp_path / "release.pub").write_bytes(pem(IN_USE))
    assert "cannot be ordered among other versions" in refusal(tmp_path, '"release.pub"', version).message


def test_a_target_that_cannot_verify_is_refused(tmp_path: Path) -> None:
    (tmp_path / "release.pub").write_bytes(pem(IN_USE))
    opened = project(tmp_path, '"release.pub"')
    refuse_unverified(opened, ("android",))

    class Opens:
        VERIFIES = False

    changed = opened.model_copy(update={"target": opened.target.model_copy(update={"android": Opens()})})
    with pytest.raises(ConfigError, match="android cannot verify signatures yet"):
        refuse_unverified(changed, ("android",))


def test_a_class_has_another_name_than_what_verifies() -> None:
    signed = Package(name="models", version="1.2.3", license="", trust=TRUST)
    models = tuple(plan(name, Signature(inputs=FLOAT, outputs=FLOAT)) for name in ("trust", "trust-problem"))
    report = Report(parities=())
    for package in (signed, UNSIGNED):  # the same, so that a package can begin to trust keys
        view = Web().view(package, models, report)
        assert {model.class_name for model in view.names.models} == {"TrustModel", "TrustProblemModel"}
    assert {model.class_name for model in Ios().view(signed, models, report).models} == {
        "TrustModel",
        "TrustProblemModel",
    }
    assert "TrustProblemModel" in {model.class_name for model in Android().view(signed, models, report).models}
