"""Signed releases that somebody else has made or changed, which `verify` refuses, and documents with wrong dates, which
nobody signs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from benchmarks.abuse.command import Place, run
from benchmarks.abuse.result import Result
from packager.core.errors import GateError
from packager.distribution.channel import publishing, rotating
from packager.distribution.channel.places import Signing
from packager.distribution.channel.publishing import Terms
from packager.distribution.channel.storage import ChannelFolder
from packager.distribution.release import signatures
from packager.distribution.release.checking import verify_release
from packager.signing.keys import FileSigner, signed
from packager.workflows import signing
from tests.cases import certificate_cases
from tests.cases.certificate_cases import RIGHT, WRONG, Files
from tests.cases.channel_cases import Release as ChannelRelease
from tests.cases.channel_cases import make_release as make_channel_release
from tests.cases.channel_cases import place_of, signing_of
from tests.cases.signing_cases import make_key, make_release

GATE = 6


def attack(place: Place) -> Iterator[Result]:
    folder = place.folder / "signatures"
    folder.mkdir()
    yield _certificates(folder, place)
    yield _additions(folder, place)
    yield _clocks(folder)


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


TEXT = "android/project/notes.txt"


def _written(name: str, mode: int = 0o644) -> Callable[[Path], None]:
    def change(dist: Path) -> None:
        if not (dist / name).exists():
            (dist / name).parent.mkdir(parents=True, exist_ok=True)
            (dist / name).write_bytes(b"#!/bin/sh\necho evil\n")
        (dist / name).chmod(mode)

    return change


def _linked(dist: Path) -> None:
    target = (dist / TEXT).read_text(encoding="utf-8")
    (dist / TEXT).unlink()
    (dist / TEXT).symlink_to(target)


def _unlinked(dist: Path) -> None:
    link = dist / "swift/vision/Current"
    target = link.readlink().as_posix()
    link.unlink()
    link.write_text(target, encoding="utf-8")


ADDITIONS: dict[str, Callable[[Path], None]] = {
    **{f"{name} of something else": _written(name, 0o755) for name in ("provenance.intoto.json.sig", "x.sig")},
    **{f"a file {name}": _written(name) for name in ("android/project/a.kt", "report.json", "android/b", "models.sig")},
    "a script": _written("android/project/build.sh", 0o755),
    "a folder of a project": lambda dist: (dist / "android/project/empty").mkdir(),
    "a folder at the top": lambda dist: (dist / "empty").mkdir(),
    "a folder in a package": lambda dist: (dist / "swift/vision/empty").mkdir(),
    "a text that is a link": _linked,
    "a link that is a text": _unlinked,
    "a link beside": lambda dist: (dist / "android/project/link").symlink_to("/etc/passwd"),
    "a link to a folder": lambda dist: (dist / "android/project/folder").symlink_to("/etc"),
    **{
        f"{name} that can be executed": _written(name, mode)
        for name, mode in (
            ("report.html", 0o755),
            ("swift/vision-1.2.3.json", 0o2755),
            ("android/vision-1.2.3.aar", 0o4644),
            ("manifest.json", 0o744),
            (TEXT, 0o645),
            ("manifest.json.sig", 0o755),
        )
    },
}


def _additions(folder: Path, place: Place) -> Result:
    """A signed release, to which something was added, or of which an entry became one of another kind."""
    key = make_key(folder / "keys")
    faults = []
    for index, (name, change) in enumerate(ADDITIONS.items()):
        dist = make_release(folder / f"added-{index}", links={"Current": "A"})
        _written(TEXT)(dist)
        (dist / TEXT).write_text("../../report.html", encoding="utf-8")
        signing.sign(dist, signing.signer(str(key.private), None))
        change(dist)
        if fault := _fault(dist, key.public, place):
            faults.append(f"{name}: {fault}")
    return Result(attack="signed releases with something more", tries=len(ADDITIONS), exceptions=tuple(faults))


BEGAN = datetime(2027, 6, 1, tzinfo=UTC)
CLOCKS = {
    "1970": datetime(1970, 1, 1, tzinfo=UTC),
    "the day before": BEGAN - timedelta(days=1),
    "a second before": BEGAN - timedelta(seconds=1),
    "two years ahead": BEGAN + timedelta(days=2 * 366),
    "20 years ahead": BEGAN + timedelta(days=20 * 366),
    "9999": datetime(9999, 1, 1, tzinfo=UTC),
}


def _clocks(folder: Path) -> Result:
    """Every command that signs a document, by a publisher whose clock is wrong."""
    key = make_key(folder / "publisher")
    dist = make_channel_release(folder / "dist", ChannelRelease())
    began = place_of(ChannelFolder(root=folder / "channel"), key)
    new = replace(began, storage=ChannelFolder(root=folder / "new"))
    for number in range(2):
        publishing.publish(began, dist, Terms(percent=10 + number), signing_of(now=BEGAN))
    changes: dict[str, Callable[[Signing], object]] = {
        "publish": lambda by: publishing.publish(began, dist, Terms(percent=99), by),
        "promote": lambda by: publishing.promote(began, by, percent=50),
        "rollback": lambda by: publishing.rollback(began, by),
        "renew": lambda by: rotating.renew(began, by),
    }
    tries = [(f"{name}, {clock}", change, now) for name, change in changes.items() for clock, now in CLOCKS.items()]
    for clock in ("1970", "20 years ahead", "9999"):
        tries.append((f"first, {clock}", lambda by: publishing.publish(new, dist, Terms(), by), CLOCKS[clock]))
    faults = [name for name, change, now in tries if _signs(change, signing_of(now=now))]
    return Result(attack="documents of publishers with a wrong clock", tries=len(tries), exceptions=tuple(faults))


def _signs(change: Callable[[Signing], object], by: Signing) -> bool:
    try:
        change(by)
    except GateError:
        return False
    return True


def _release(files: Files) -> Path:
    """A release as an attacker signs it, whose tool refuses no certificate."""
    chain = [each.public_bytes(Encoding.DER) for each in x509.load_pem_x509_certificates(files.chain.read_bytes())]
    key = FileSigner(key=files.key.key)
    dist = make_release(files.chain.parent / "dist")
    signer = signatures.ReleaseSigner(sign=lambda kind, payload: signed(key, kind, payload, chain), key="")
    signatures.sign_release(dist, signer, verify_release)
    return dist


def _fault(dist: Path, key: Path, place: Place, *options: str) -> str:
    """The mistake of `verify`; empty if it refuses the release in words."""
    return _fault_of(["verify", str(dist), "--key", str(key), *options], place)


def _fault_of(command: Sequence[str], place: Place) -> str:
    answer = run(list(command), place, place.folder / "said.txt", is_bounded=True)
    return answer.fault or ("" if answer.code == GATE else f"ended with {answer.code}")
