"""Verifies a release: its files are those of the manifest, and its signatures are those of trusted keys."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.core import user_files
from packager.core.errors import ConfigError, GateError
from packager.distribution.release.contents import (
    AGAIN,
    Listed,
    Manifest,
    digest_of,
    files_in,
    inside,
    is_executable,
    manifest_of,
    refuse_special,
)
from packager.distribution.release.evidence import OF_ONE_MACHINE
from packager.distribution.release.publish import MANIFEST
from packager.distribution.release.signatures import (
    CHECKSUMS,
    MODELS,
    PROVENANCE,
    SIG,
    beside,
    covered,
    is_list,
    model_digests,
    refuse_unlisted,
)
from packager.signing.envelope import MAX_BUNDLE_BYTES, Bundle, parsed
from packager.signing.model_signing import signed_files
from packager.signing.statements import RELEASE, statement_in, subjects_of
from packager.signing.verifying import refuse_differences
from packager.targets.maven import ALGORITHMS, digests

UNLISTED = (*OF_ONE_MACHINE, PROVENANCE)
"""files of a release that its manifest cannot list: they belong to one machine, or are made after it"""
PROJECT = "project"
"""folder of a target's build project"""
SHOWN = 5

Trust = Callable[[Bundle, str], str]
"""Bundle and its name -> who has signed it. Raises GateError if nobody trusted has."""


@dataclass(frozen=True, kw_only=True)
class Verified:
    """Result of verifying a release."""

    package: str
    version: str
    files: int
    """number of files that are in the manifest, in an archive, or checksums and signatures of those"""
    unlisted: tuple[str, ...]
    """the others, such as the report: only a signature vouches for them"""
    signatures: Mapping[str, str]
    """path of a signature -> who has signed"""


def verify_release(dist: Path, trust: Trust | None = None) -> Verified:
    """Verifies the release in `dist`; with `trust`, its signatures too.

    Raises ConfigError if `dist` is no release, GateError if a file or a signature is not as it should be.
    """
    manifest = manifest_of(dist)
    refuse_special(dist)
    unlisted = _check_files(dist, manifest)
    signatures = _check_signatures(dist, manifest, trust) if trust else {}
    return Verified(
        package=manifest.release.package,
        version=manifest.release.version,
        files=len(files_in(dist)) - len(unlisted),
        unlisted=unlisted,
        signatures=signatures,
    )


def _check_files(dist: Path, manifest: Manifest) -> tuple[str, ...]:
    """Compares the files with the manifest. Returns the files that it does not list, which may be there."""
    _refuse_without_permissions(dist)
    found = set(files_in(dist)) - {MANIFEST, *beside(dist, manifest)}
    listed = {each.path: each.sha256 for each in manifest.files}
    present = {name: digest_of(dist / name) for name in sorted(listed) if name in found}
    refuse_differences(listed, present, f"{dist / MANIFEST}")
    rest = found - listed.keys()
    rest -= _checksums(dist, rest)
    for each in manifest.files:
        if each.path.endswith(".zip"):
            rest -= _unpacked_beside(dist, each, manifest, rest)
    unlisted = {name for name in rest if name in UNLISTED or _is_project(name)}
    if strange := sorted(rest - unlisted):
        more = " ..." if len(strange) > SHOWN else ""
        raise GateError(
            f"{dist} has files that are not part of the release: {', '.join(strange[:SHOWN])}{more}",
            hint="remove them, or get the release again from where it was published",
        )
    return tuple(sorted(unlisted))


def _refuse_without_permissions(dist: Path) -> None:
    """Raises GateError where everything can be executed: nobody can tell what somebody has made executable."""
    files = [dist / name for name in files_in(dist) if not (dist / name).is_symlink()]
    if files and all(map(is_executable, files)):
        raise GateError(
            f"every file of {dist} is executable, as on disks that keep no permissions",
            hint="verify a copy on a disk that keeps them, such as your home folder",
        )


def _is_project(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return len(parts) > 2 and parts[1] == PROJECT


def _checksums(dist: Path, names: set[str]) -> set[str]:
    """The checksum files among `names`. Raises GateError for one that is wrong."""
    found = {name for name in names if name.endswith(CHECKSUMS) and (dist / name).with_suffix("").is_file()}
    for path in sorted({(dist / name).with_suffix("") for name in found}):
        for algorithm, digest in zip(ALGORITHMS, digests(path), strict=True):
            checksum = Path(f"{path}.{algorithm}")
            if checksum.is_file() and not _is_text(checksum, digest):
                raise GateError(f"{checksum} is not the checksum of {path.name}", hint=AGAIN)
    return found


def _is_text(path: Path, text: str) -> bool:
    try:
        return user_files.read(path, limit_bytes=len(text) + 16).decode("utf-8", errors="replace").strip() == text
    except OSError:  # it is larger, or has changed meanwhile
        return False


def _unpacked_beside(dist: Path, archive: Listed, manifest: Manifest, names: set[str]) -> set[str]:
    """The files among `names` in the folder beside `archive` that it was unpacked to. Raises GateError if they differ
    from those in the archive."""
    path = PurePosixPath(archive.path)
    # Named by the archive, whose name may be another one than that of the package: `page_orientation-1.0.0.zip`.
    version = f"-{manifest.release.version}" if archive.has_models else ""
    folder = path.with_name(path.stem.removesuffix(version))
    found = {name for name in names if PurePosixPath(name).is_relative_to(folder)}
    if found:
        packed = {PurePosixPath(*name.parts[1:]).as_posix(): each.sha256 for name, each in inside(dist / path).items()}
        present = {PurePosixPath(name).relative_to(folder).as_posix(): digest_of(dist / name) for name in found}
        refuse_differences(packed, present, archive.path)
    return found


def _check_signatures(dist: Path, manifest: Manifest, trust: Trust) -> dict[str, str]:
    """Path -> signer of all signatures. Raises GateError if one is missing or wrong."""
    path = f"{MANIFEST}{SIG}"
    bundle = _bundle(dist, path)
    signers = {path: trust(bundle, path)}
    statement = statement_in(bundle, RELEASE, path)
    possible = beside(dist, manifest)
    refuse_differences(subjects_of(statement, path), covered(dist, possible), path)
    if (dist / PROVENANCE).is_file():
        signers[f"{PROVENANCE}{SIG}"] = _check_provenance(dist, trust)
    for each in manifest.files:
        if each.has_models:
            signers |= _check_models(dist, each, trust)
    unused = {name: "" for name in possible if name not in signers and os.path.lexists(dist / name)}
    refuse_differences({}, unused, path)
    return signers


def _check_provenance(dist: Path, trust: Trust) -> str:
    path = f"{PROVENANCE}{SIG}"
    bundle = _bundle(dist, path)
    if bundle.payload != user_files.read(dist / PROVENANCE, limit_bytes=MAX_BUNDLE_BYTES):
        raise GateError(f"{path} signs another provenance than {PROVENANCE}", hint=AGAIN)
    statement_in(bundle, "", path)
    return trust(bundle, path)


def _check_models(dist: Path, package: Listed, trust: Trust) -> dict[str, str]:
    """Verifies the bundle beside a package, and those inside."""
    entries = inside(dist / package.path)
    signers: dict[str, str] = {}
    if present := model_digests(entries, package.kind):
        path = f"{package.path}{MODELS}"
        bundle = _bundle(dist, path)
        signers[path] = trust(bundle, path)
        refuse_differences(signed_files(bundle, path).digests, present, path)
    lists = [name for name in entries if is_list(package.kind, name)]
    for name in lists:
        where = f"{package.path}/{name}"
        signers[where] = trust(parsed(entries[name].bundle, where), where)
    if lists:
        refuse_unlisted(entries, package.kind, package.path)
    return signers


def _bundle(dist: Path, name: str) -> Bundle:
    """A signature of a release. Raises GateError for a file of another kind: no signature is about itself."""
    try:
        content = user_files.read(dist / name, limit_bytes=MAX_BUNDLE_BYTES)
    except FileNotFoundError as error:
        raise GateError(
            f"the release is not signed: {dist / name} is missing", hint=f"run: mobpack sign {dist} --key release.pem"
        ) from error
    except OSError as error:
        raise ConfigError(f"cannot read {dist / name}: {error.strerror or error}", hint=AGAIN) from error
    if (dist / name).is_symlink() or is_executable(dist / name):
        raise GateError(f"{dist / name} is a link, or can be executed: a signature is a plain file", hint=AGAIN)
    return parsed(content, name)
