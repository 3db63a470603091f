"""Certificates of signers: which authorities' signers count, for which purpose, and with which subject."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from packager.cli import main
from packager.config import CacheTable
from packager.core.errors import ConfigError, GateError
from packager.files.store.listing import UnusableError
from packager.signing.envelope import Bundle, parsed, written
from packager.signing.keys import FileSigner, chain_of, signed
from packager.signing.verifying import trusted, verify
from packager.workflows import shared_store, signing
from tests.cases import certificate_cases
from tests.cases.certificate_cases import LEAF, RIGHT, WRONG, Chain, Files, also_named
from tests.cases.signing_cases import make_key, make_release

Mobpack = Callable[..., tuple[int, str, str]]


@pytest.fixture
def mobpack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Mobpack:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["mobpack", *map(str, arguments)])
        with pytest.raises(SystemExit) as exited:
            main()
        assert isinstance(exited.value.code, int)
        return (exited.value.code, *capfd.readouterr())

    return run


def bundle_of(files: Files) -> Bundle:
    """Signed by whoever has the key: an attacker's tool refuses nothing."""
    certificates = x509.load_pem_x509_certificates(files.chain.read_bytes())
    chain = [each.public_bytes(Encoding.DER) for each in certificates]
    return parsed(written(signed(FileSigner(key=files.key.key), "text/plain", b"payload", chain)), "bundle")


@pytest.mark.parametrize("name", RIGHT)
def test_an_authority_vouches_for_who_signs_code(tmp_path: Path, name: str) -> None:
    files = certificate_cases.written(tmp_path, RIGHT[name])
    assert verify(bundle_of(files), trusted([files.root]), "bundle").path == files.root
    assert chain_of(files.chain, FileSigner(key=files.key.key))


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_chain_is_refused_in_words(tmp_path: Path, name: str) -> None:
    files = certificate_cases.written(tmp_path, WRONG[name])
    with pytest.raises(GateError) as caught:
        verify(bundle_of(files), trusted([files.root]), "bundle")
    assert len(caught.value.message) > 40
    assert caught.value.hint


@pytest.mark.parametrize(
    "name",
    [
        *("a TLS server", "no purpose", "a CA as a signer", "a key that may not sign"),
        *("an expired issuer", "an expired signer", "a signer of tomorrow"),
    ],
)
def test_nothing_is_signed_with_a_certificate_that_readers_refuse(tmp_path: Path, name: str) -> None:
    files = certificate_cases.written(tmp_path, WRONG[name])
    with pytest.raises(ConfigError):
        signing.signer(str(files.key.private), files.chain)


def test_one_of_several_authorities_vouches_for_code_alone(tmp_path: Path) -> None:
    for name in ("a TLS server", "a CA as a signer"):
        files = certificate_cases.written(tmp_path / name, WRONG[name])
        with pytest.raises(GateError, match="may not sign releases"):
            verify(bundle_of(files), trusted([files.chain]), "bundle")
    files, other = (certificate_cases.written(tmp_path / name, Chain()) for name in ("a", "b"))
    found = verify(bundle_of(files), trusted([other.root, files.root]), "bundle")
    assert found.path == files.root
    with pytest.raises(GateError, match="has not issued"):
        verify(bundle_of(files), trusted([other.root]), "bundle")
    files = certificate_cases.signed_by_authority(tmp_path)
    alone = parsed(written(signed(FileSigner(key=files.key.key), "text/plain", b"payload")), "bundle")
    for bundle in (bundle_of(files), alone):
        with pytest.raises(GateError, match="may not sign releases: it is that of an authority"):
            verify(bundle, trusted([files.root]), "bundle")
    files = certificate_cases.signed_by_stranger(tmp_path)
    with pytest.raises(GateError, match="has not issued"):
        verify(bundle_of(files), trusted([files.root]), "bundle")
    assert verify(bundle_of(files), trusted([files.chain]), "bundle").path == files.chain


def serials(files: Files) -> list[int]:
    return [each.serial_number for each in x509.load_pem_x509_certificates(files.chain.read_bytes())]


@pytest.mark.parametrize("kind", certificate_cases.KINDS)
@pytest.mark.parametrize("number", [0, 1], ids=["the signer", "its issuer"])
def test_a_certificate_that_its_issuer_has_revoked_is_refused(tmp_path: Path, kind: str, number: int) -> None:
    """By lists after the certificate of the authority."""
    files = certificate_cases.written(tmp_path, Chain(kind=kind))
    before = trusted([files.root])
    certificate_cases.revoked(files, [])
    current = trusted([files.root])
    assert verify(bundle_of(files), current, "bundle").path == files.root
    assert current[0].identity != before[0].identity
    other = certificate_cases.written(tmp_path / "revoked", Chain(kind=kind))
    certificate_cases.revoked(other, [serials(other)[number]])
    with pytest.raises(GateError, match="revoked"):
        verify(bundle_of(other), trusted([other.root]), "bundle")


def test_a_list_that_has_ended_or_is_missing_or_of_another_key_lets_nobody_pass(tmp_path: Path) -> None:
    ended, missing, forged, own = (certificate_cases.written(tmp_path / name, Chain()) for name in "abcd")
    certificate_cases.revoked(ended, [], days=(-3, -1))
    certificate_cases.add_list(missing.root, certificate_cases.named("authority 0"), missing.issuer_keys[0], [])
    for number, key in enumerate(ended.issuer_keys):
        certificate_cases.add_list(forged.root, certificate_cases.named(f"authority {number}"), key, [])
    for files in (ended, missing, forged):
        with pytest.raises(GateError, match=r"has not issued by the rules of X\.509"):
            verify(bundle_of(files), trusted([files.root]), "bundle")
    certificate_cases.add_list(own.chain, certificate_cases.named("authority 0"), own.issuer_keys[0], [])
    with pytest.raises(ConfigError, match="no authority whose certificates it can revoke"):
        trusted([own.chain])


@pytest.mark.parametrize("title", [b"x509 crl", b"CRL"])
def test_a_list_under_another_title_is_not_passed_over(tmp_path: Path, title: bytes) -> None:
    files = certificate_cases.written(tmp_path, Chain())
    certificate_cases.revoked(files, serials(files))
    files.root.write_bytes(files.root.read_bytes().replace(b"X509 CRL", title))
    with pytest.raises(ConfigError, match="has another title than X509 CRL"):
        trusted([files.root])


@pytest.mark.parametrize("cut", [-40, -200])
def test_a_damaged_list_is_a_configuration_error(tmp_path: Path, cut: int) -> None:
    files = certificate_cases.written(tmp_path, Chain())
    certificate_cases.revoked(files, [])
    content = files.root.read_bytes()
    end = b"" if cut == -40 else b"\n-----END X509 CRL-----\n"
    files.root.write_bytes(content[:cut] + end)
    with pytest.raises(ConfigError, match=r"list of revoked certificates|not a certificate in PEM form"):
        trusted([files.root])


def test_a_subject_without_a_certificate_or_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = make_key(tmp_path)
    with pytest.raises(ConfigError, match="only certificates have subjects"):
        trusted([key.public], "CN=signer")
    files = certificate_cases.written(tmp_path, Chain())
    monkeypatch.setitem(sys.modules, "pyhanko_certvalidator", None)
    with pytest.raises(ConfigError, match="pyhanko-certvalidator") as caught:
        verify(bundle_of(files), trusted([files.root]), "bundle")
    assert "mobpack[certificates]" in caught.value.hint
    assert verify(bundle_of(files), trusted([files.chain]), "bundle").path == files.chain


def test_no_order_of_certificates_matters_and_lower_authorities_may_be_trusted(tmp_path: Path) -> None:
    files = certificate_cases.written(tmp_path, Chain(issuers=2))
    leaf, first, second = x509.load_pem_x509_certificates(files.chain.read_bytes())
    (root,) = x509.load_pem_x509_certificates(files.root.read_bytes())
    for others in ([second, first], [first, second, root], [root, first, second, second]):
        certificate_cases.save(files.chain, [leaf, *others])
        for each in (root, second, first):
            authority = certificate_cases.save(tmp_path / "authority.pem", [each])
            assert verify(bundle_of(files), trusted([authority]), "bundle").path == authority


def test_thousands_of_or_damaged_certificates_are_refused(tmp_path: Path) -> None:
    files = certificate_cases.written(tmp_path, Chain())
    files.chain.write_bytes(files.chain.read_bytes() * 500)
    with pytest.raises(GateError, match="there are 1000 certificates"):
        verify(bundle_of(files), trusted([files.root]), "bundle")
    whole = bundle_of(files)
    first, *rest = whole.certificates
    count = 0
    for index in range(0, len(first), 31):
        changed = bytearray(first)
        changed[index] ^= 1
        chain = [bytes(changed), *rest]
        bundle = signed(FileSigner(key=files.key.key), "text/plain", b"payload", chain)
        with pytest.raises(GateError):
            verify(bundle, trusted([files.root]), "bundle")
        count += 1
    assert count > 10


SUBJECTS = {
    "CN=signer": True,
    "CN=signer,O=Acme": True,
    "O=Acme,CN=signer": True,
    "O=Acme": True,
    "signer": True,
    "ci@acme.example": True,
    "CN=sign": False,
    "CN=signer,O=Other": False,
    "CN=signer,OU=Acme": False,
    "Acme": False,
    "acme.example": False,
}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_verifier_names_the_subject(tmp_path: Path, subject: str) -> None:
    files = certificate_cases.written(tmp_path, Chain(leaf=also_named(x509.RFC822Name("ci@acme.example"))))
    for path in (files.root, files.chain):
        keys = trusted([path], subject)
        if SUBJECTS[subject]:
            assert verify(bundle_of(files), keys, "bundle").path == path
        else:
            with pytest.raises(GateError, match="signed by CN=signer,O=Acme, not by "):
                verify(bundle_of(files), keys, "bundle")


@pytest.mark.parametrize("subject", ["", " ", "=", "CN=", "NOTHING=x", "CN=a,,"])
def test_a_text_that_names_no_subject_is_refused(tmp_path: Path, subject: str) -> None:
    """CI sets the variable of a missing setting to an empty text."""
    files = certificate_cases.written(tmp_path, Chain())
    with pytest.raises(ConfigError, match="names no subject"):
        trusted([files.root], subject)


def test_the_command_takes_the_subject_and_says_who_has_signed(mobpack: Mobpack, tmp_path: Path) -> None:
    files = certificate_cases.written(tmp_path / "keys", Chain())
    dist = make_release(tmp_path / "dist")
    code, _, said = mobpack("sign", dist, "--key", files.key.private, "--certificate", files.chain)
    assert code == 0, said
    code, out, said = mobpack("verify", dist, "--key", files.root, "--subject", "CN=signer", "--json")
    assert code == 0, said
    assert set(json.loads(out)["signatures"].values()) == {f"{files.root} (CN=signer,O=Acme)"}
    assert mobpack("verify", dist, "--key", files.root, "--subject", "CN=other")[0] == 6
    assert mobpack("verify", dist, "--subject", "CN=signer")[0] == 2


def test_a_shared_cache_takes_results_of_the_subject_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = certificate_cases.written(tmp_path / "ours", Chain())
    monkeypatch.setenv(shared_store.KEY, str(ours.key.private))
    monkeypatch.setenv(shared_store.CERTIFICATE, str(ours.chain))
    table = CacheTable(remote=str(tmp_path / "cache"), trust=ours.root, subject="CN=signer")
    seal = shared_store._seal(table, is_written=True)
    assert seal.sign
    content = seal.sign(b"{}")
    assert seal.open(content) == (b"{}", next(iter(seal.trusted)))
    other = shared_store._seal(table.model_copy(update={"subject": "CN=other"}), is_written=False)
    assert not other.trusted & seal.trusted, "what one subject has signed must not count for another one later"
    with pytest.raises(UnusableError, match=r"not by CN=other"):
        other.open(content)
    with pytest.raises(ConfigError, match="belongs to a certificate"):
        shared_store._seal(CacheTable(subject="CN=signer"), is_written=False)


def test_a_signer_s_validity_is_that_of_the_moment_of_signing(tmp_path: Path) -> None:
    """There are no time stamps: what has expired is signed again."""
    files = certificate_cases.written(tmp_path, Chain(leaf=LEAF))
    (leaf, *_) = x509.load_pem_x509_certificates(files.chain.read_bytes())
    keys, bundle = trusted([files.root]), bundle_of(files)
    for moment, is_valid in (
        (leaf.not_valid_before_utc.replace(year=2020), False),
        (leaf.not_valid_before_utc, True),
        (leaf.not_valid_after_utc, True),
        (leaf.not_valid_after_utc.replace(year=2040), False),
    ):
        if is_valid:
            assert verify(bundle, keys, "bundle", now=moment)
        else:
            with pytest.raises(GateError, match=r"expired|not valid before"):
                verify(bundle, keys, "bundle", now=moment)
