"""Signed releases that somebody else has made or changed: `verify` accepts none of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from benchmarks.abuse.command import Place, run
from benchmarks.abuse.result import Result
from packager.release import signatures
from packager.release.checking import verify_release
from packager.signing.keys import FileSigner, signed
from tests import certificate_cases
from tests.certificate_cases import RIGHT, WRONG, Files
from tests.signing_cases import make_release

GATE = 6


def attack(place: Place) -> Iterator[Result]:
    folder = place.folder / "signatures"
    folder.mkdir()
    yield _certificates(folder, place)


def _certificates(folder: Path, place: Place) -> Result:
    """Releases whose signers have a certificate from the trusted authority, for something else or against its rules."""
    made = {name: certificate_cases.written(folder / f"wrong-{index}", WRONG[name]) for index, name in enumerate(WRONG)}
    made["a signer who vouches for itself"] = certificate_cases.signed_by_stranger(folder / "stranger")
    made["the authority itself"] = certificate_cases.signed_by_authority(folder / "authority")
    other = certificate_cases.written(folder / "other", RIGHT["2 certificates by ecdsa"])
    made["another authority's signer"] = replace(other, root=made["a TLS server"].root)
    faults = [
        f"{name}: {fault}" for name, files in made.items() if (fault := _fault(_release(files), files.root, place))
    ]
    named = _fault(other.chain.parent / "dist", other.root, place, "--subject", "CN=another")
    faults += [f"another subject: {named}"] if named else []
    return Result(
        attack="releases signed with certificates that may not", tries=len(made) + 1, exceptions=tuple(faults)
    )


def _release(files: Files) -> Path:
    """A release as an attacker signs it, whose tool refuses no certificate."""
    chain = [each.public_bytes(Encoding.DER) for each in x509.load_pem_x509_certificates(files.chain.read_bytes())]
    key = FileSigner(key=files.key.key)
    dist = make_release(files.chain.parent / "dist")
    signer = signatures.Signer(sign=lambda kind, payload: signed(key, kind, payload, chain), key="")
    signatures.sign_release(dist, signer, verify_release)
    return dist


def _fault(dist: Path, key: Path, place: Place, *options: str) -> str:
    """The mistake of `verify`; empty if it refuses the release in words."""
    return _fault_of(["verify", str(dist), "--key", str(key), *options], place)


def _fault_of(command: Sequence[str], place: Place) -> str:
    answer = run(list(command), place, place.folder / "said.txt", is_bounded=True)
    return answer.fault or ("" if answer.code == GATE else f"ended with {answer.code}")
