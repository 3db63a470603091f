"""Keys of signatures: deterministic, kept from others, and refused in words; certificates with their dates."""

import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from packager.core.errors import ConfigError, GateError, MobpackError
from packager.signing import certificates
from packager.signing.certificates import refuse_unusable
from packager.signing.envelope import Bundle, parsed, written
from packager.signing.keys import FileSigner, open_signer, public_key, signed, spki
from packager.signing.passwords import PASSWORD
from packager.signing.verifying import trusted, verify
from packager.workflows import signing
from tests.cases.signing_cases import SECRET, Key, certificate, make_key

RFC_6979_KEY = 0xC9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721
"""the private key of RFC 6979, A.2.5"""


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return make_key(tmp_path / "keys")


@pytest.mark.parametrize(
    ("message", "r", "s"),
    [
        (
            b"sample",
            0xEFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716,
            0xF7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8,
        ),
        (
            b"test",
            0xF1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367,
            0x019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083,
        ),
    ],
)
def test_signatures_are_those_of_rfc_6979(message: bytes, r: int, s: int) -> None:
    signer = FileSigner(key=ec.derive_private_key(RFC_6979_KEY, ec.SECP256R1()))
    assert decode_dss_signature(signer.sign(message)) == (r, s)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_private_key_that_others_can_open_is_refused_with_the_command_to_run(key: Key, mode: int) -> None:
    key.private.chmod(mode)
    with pytest.raises(ConfigError) as caught:
        open_signer(str(key.private))
    assert f"mode {mode:04o}" in caught.value.message
    assert caught.value.hint == f"run: chmod 600 {key.private}"
    assert stat.S_IMODE(key.private.stat().st_mode) == mode


NOBODY = 65534
"""user that root becomes for a moment, because root reads every file"""


def test_a_private_key_without_permission_bits_is_refused_with_the_command_to_run(key: Key) -> None:
    key.private.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        with pytest.raises(ConfigError, match="cannot read the key") as caught:
            open_signer(str(key.private))
    finally:
        os.seteuid(user)
    assert caught.value.hint == f"run: chmod u+r {key.private}"


def test_the_password_of_a_key_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = make_key(tmp_path, password=SECRET)
    with pytest.raises(ConfigError, match="has a password") as caught:
        open_signer(str(key.private))
    assert PASSWORD in caught.value.hint
    monkeypatch.setenv(PASSWORD, "")  # a secret that CI does not have
    with pytest.raises(ConfigError, match="has a password"):
        open_signer(str(key.private))
    monkeypatch.setenv(PASSWORD, "wrong")
    with pytest.raises(ConfigError, match="cannot be opened with the password"):
        open_signer(str(key.private))
    monkeypatch.setenv(PASSWORD, SECRET)
    assert open_signer(str(key.private)).public_key() == key.key.public_key()


def test_a_password_without_need_is_said(key: Key, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PASSWORD, SECRET)
    with pytest.raises(ConfigError, match="has no password"):
        open_signer(str(key.private))


def rsa_key(path: Path) -> None:
    key = rsa.generate_private_key(65537, 2048)
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def pem(kind: str, body: str = "AAAA") -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----\n", encoding="utf-8")

    return write


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "cannot read the key"),
        (lambda path: path.mkdir(), "a folder, not a file"),
        (lambda path: path.write_bytes(b""), "no key in PEM form"),
        (pem("PUBLIC KEY"), "is a public key: signing needs the private one"),
        (pem("PRIVATE KEY"), "is a damaged private key"),
        (pem("ENCRYPTED SIGSTORE PRIVATE KEY"), "cosign's own form"),
        (rsa_key, "not a key of an elliptic curve"),
        (
            lambda path: make_key(path.parent, path.stem, curve=ec.SECP384R1()),
            "of the curve secp384r1: releases are signed with P-256",
        ),
    ],
)
def test_what_is_no_private_p_256_key_is_refused(tmp_path: Path, make: Callable[[Path], object], words: str) -> None:
    path = tmp_path / "key.pem"
    make(path)
    if path.is_file():
        path.chmod(0o600)
    with pytest.raises(ConfigError) as caught:
        open_signer(str(path))
    assert words in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (pem("PRIVATE KEY"), "is a private key: verifying needs the public one"),
        (pem("PUBLIC KEY"), "is not a public key"),
        (lambda path: path.write_bytes(b"ssh-rsa AAAA"), "is not a public key"),
        (pem("CERTIFICATE"), "is not a certificate"),
    ],
)
def test_what_is_no_public_key_is_refused(tmp_path: Path, make: Callable[[Path], object], words: str) -> None:
    make(tmp_path / "key.pub")
    with pytest.raises(ConfigError, match=words):
        public_key(tmp_path / "key.pub")


def test_certificates_that_may_not_sign_or_of_other_keys_are_refused(key: Key, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no digitalSignature"):
        made(key, certificate(tmp_path / "c.crt", key, may_sign=False))
    other = certificate(tmp_path / "c.crt", make_key(tmp_path, "other"))
    with pytest.raises(ConfigError, match="is the certificate of another key"):
        made(key, other)
    numbers = key.key.public_key().public_numbers()
    assert len(spki(key.public)) == 91
    assert spki(key.public)[-65:] == b"\x04" + numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")


def made(key: Key, chain: Path | None = None) -> Bundle:
    return parsed(written(signing.signer(str(key.private), chain).sign("text/plain", b"payload")), "bundle")


def test_a_certificate_is_trusted_as_itself_and_through_its_issuer(key: Key, tmp_path: Path) -> None:
    root, middle = make_key(tmp_path, "root"), make_key(tmp_path, "middle")
    chain = certificate(tmp_path / "chain.crt", key, issuer=middle)
    issuer = certificate(tmp_path / "middle.crt", middle, issuer=root, is_authority=True)
    authority = certificate(tmp_path / "root.crt", root, is_authority=True)
    alone = made(key, chain)
    chain.write_bytes(chain.read_bytes() + issuer.read_bytes())
    bundle = made(key, chain)
    assert len(bundle.certificates) == 2
    for path in (authority, chain, key.public):
        assert verify(bundle, trusted([path]), "bundle").path == path
    with pytest.raises(GateError, match="has not issued"):
        verify(alone, trusted([authority]), "bundle")


def test_certificates_are_trusted_through_their_issuer_in_their_dates(key: Key, tmp_path: Path) -> None:
    # Otherwise anybody with a certificate could make another.
    root = make_key(tmp_path, "root")
    chain = certificate(tmp_path / "chain.crt", key, issuer=root)
    signer_alone = certificate(tmp_path / "root.crt", root, is_authority=False)
    with pytest.raises(GateError, match="has not issued"):
        verify(made(key, chain), trusted([signer_alone]), "bundle")
    stranger = make_key(tmp_path / "stranger", "root")
    chain = certificate(tmp_path / "chain.crt", key, issuer=stranger)
    authority = certificate(tmp_path / "root.crt", make_key(tmp_path, "root"), is_authority=True)
    with pytest.raises(GateError, match="has not issued"):
        verify(made(key, chain), trusted([authority]), "bundle")
    authority = certificate(tmp_path / "root.crt", root, is_authority=True, days=(-3, -2))
    with pytest.raises(GateError, match="has expired on"):
        verify(made(key, chain), trusted([authority]), "bundle")
    path = certificate(tmp_path / "c.crt", key, days=(0, 1))
    (found,) = x509.load_pem_x509_certificates(path.read_bytes())
    begin = found.not_valid_before_utc
    refuse_unusable(found, "c.crt", begin - certificates.CLOCK_SKEW + timedelta(seconds=1))
    with pytest.raises(GateError, match="is not valid before"):
        refuse_unusable(found, "c.crt", begin - certificates.CLOCK_SKEW - timedelta(seconds=1))


@pytest.mark.parametrize(
    ("days", "words", "hint"),
    [
        ((-2, -1), "has expired on ", "new certificate"),
        ((1, 2), "is not valid before ", "set the clock if it is wrong"),
    ],
)
def test_a_certificate_out_of_its_dates_neither_signs_nor_verifies(
    key: Key, tmp_path: Path, days: tuple[int, int], words: str, hint: str
) -> None:
    chain = certificate(tmp_path / "chain.crt", key, days=days)
    attempts: list[tuple[type[MobpackError], Callable[[], object]]] = [
        (ConfigError, lambda: made(key, chain)),
        (GateError, lambda: verify(made(key), trusted([chain]), "bundle")),
    ]
    for kind, attempt in attempts:
        with pytest.raises(kind) as caught:
            attempt()
        assert words in caught.value.message
        assert f"this machine's clock says {datetime.now(UTC):%Y-%m-%d}" in caught.value.message
        assert hint in caught.value.hint


@pytest.mark.parametrize("curve", [ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1()], ids=lambda curve: curve.name)
def test_signatures_of_all_curves_of_the_specification_verify(tmp_path: Path, curve: ec.EllipticCurve) -> None:
    from cryptography.hazmat.primitives import hashes

    key = make_key(tmp_path, curve=curve)
    algorithm = {256: hashes.SHA256(), 384: hashes.SHA384(), 521: hashes.SHA512()}[curve.key_size]

    class Signer:
        def public_key(self) -> ec.EllipticCurvePublicKey:
            return key.key.public_key()

        def sign(self, message: bytes) -> bytes:
            return key.key.sign(message, ec.ECDSA(algorithm))

    bundle = signed(Signer(), "text/plain", b"payload")
    assert verify(bundle, trusted([key.public]), "bundle").path == key.public
