"""Signs a release: the bundles inside its packages, then its packages, its provenance and its manifest."""

import json
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from packager.core import parsing, user_files
from packager.core.characters import to_json
from packager.core.errors import ConfigError, GateError, ToolError
from packager.distribution.release.contents import (
    Inside,
    Listed,
    Manifest,
    entries_in,
    inside,
    manifest_of,
    model_name,
    unpack,
)
from packager.distribution.release.publish import MANIFEST, staged
from packager.files.atomic import atomic_file, link_or_copy
from packager.files.hashes import sha256_of
from packager.files.zips import TARBALLS, Content, write_zip
from packager.signing.envelope import IN_TOTO, MAX_BUNDLE_BYTES, Bundle, parsed, written
from packager.signing.model_signing import UNSIGNED_NAME, signed_files, statement
from packager.signing.statements import LINK, release_statement
from packager.targets.maven import ALGORITHMS, digests
from packager.targets.typescript.tarball import PREFIX, write_tarball

PROVENANCE = "provenance.intoto.json"
SIG = ".sig"
MODELS = f".{UNSIGNED_NAME}"
"""end of the name of the bundle about the models in a package"""
TEXTS = (".json", ".module")
"""ends of the names of files that contain checksums of packages"""
MAX_TEXT_BYTES = 64 << 20
CHECKSUMS = tuple(f".{algorithm}" for algorithm in ALGORITHMS)

Sign = Callable[[str, bytes], Bundle]
"""Payload type and payload -> signed bundle."""


@dataclass(frozen=True, kw_only=True)
class ReleaseSigner:
    """Who signs a release."""

    sign: Sign
    key: str
    """hex sha256 of the key's SubjectPublicKeyInfo; empty for an identity"""


def sign_release(dist: Path, signer: ReleaseSigner, verify: Callable[[Path], object]) -> tuple[str, ...]:
    """Signs the release in `dist`, all of it or nothing, and returns the paths of the signatures in it.

    Every `models.sig` inside a package is signed in place, which changes the package: its checksums are renewed.
    Raises ConfigError if `dist` is no release, or its apps trust other keys; GateError if a package does not hold the
    files that it lists, and what `verify` raises for a release that is not what was built.
    """
    before = _identity(dist)
    verify(dist)
    sign = _once(signer.sign)
    known = manifest_of(dist).trusted_keys

    def for_apps(bundle: Bundle) -> Bundle:
        _refuse_distrusted(signer.key, known)
        return sign(bundle.payload_type, bundle.payload)

    with staged(dist) as staging:
        _rewritten(dist, staging, for_apps, put=link_or_copy)
        paths = _sign_beside(staging, sign)
        if _identity(dist) != before:
            raise ToolError(f"{dist} was replaced while it was being signed", hint="run the same command again")
        return paths


def _identity(folder: Path) -> tuple[int, int]:
    """Tells a folder from another one in its place."""
    status = folder.stat()
    return status.st_dev, status.st_ino


def _refuse_distrusted(key: str, known: Sequence[str]) -> None:
    """Raises ConfigError for a key whose signatures the packages' own code would refuse."""
    if not key:
        raise ConfigError("the packages' apps verify models with a key", hint="sign with --key, not --identity")
    if known and key not in known:
        raise ConfigError(
            "the packages' apps trust other keys than this one, and would refuse their models",
            hint="sign with a key of [package] trust, or add this one's public key there and build again",
        )


def without_signatures(dist: Path, out: Path) -> None:
    """Writes the release in `dist` to the empty folder `out` as it was before it was signed."""
    _rewritten(
        dist, out, lambda bundle: Bundle(payload=bundle.payload, payload_type=bundle.payload_type), put=shutil.copyfile
    )


def beside(dist: Path, manifest: Manifest) -> tuple[str, ...]:
    """Paths that the signatures of a release can have in it, outside of packages: of what is there."""
    models = (f"{each.path}{MODELS}" for each in manifest.files if each.has_models)
    provenance = (f"{PROVENANCE}{SIG}",) if (dist / PROVENANCE).is_file() else ()
    return (f"{MANIFEST}{SIG}", *provenance, *models)


def covered(dist: Path, signatures: Collection[str]) -> dict[str, str]:
    """Path -> digest of what the signature of a release is about: all entries but the `signatures` beside them, which
    are made, or verified, at the same time."""
    return {name: digest for name, digest in entries_in(dist).items() if name not in signatures}


def _once(sign: Sign) -> Sign:
    """Signs each payload once: a key's device may give other bytes each time, and copies of a file must be equal."""
    signed: dict[tuple[str, bytes], Bundle] = {}

    def remembered(payload_type: str, payload: bytes) -> Bundle:
        if (payload_type, payload) not in signed:
            signed[payload_type, payload] = sign(payload_type, payload)
        return signed[payload_type, payload]

    return remembered


def _rewritten(
    dist: Path, staging: Path, change: Callable[[Bundle], Bundle], *, put: Callable[[Path, Path], object]
) -> None:
    """Puts the files of the release into `staging`, without the signatures beside them, with `change` applied to each
    bundle in packages and folders, and with all checksums renewed."""
    manifest = manifest_of(dist)
    left_out = {dist / name for name in beside(dist, manifest)}
    shutil.copytree(
        dist,
        staging,
        symlinks=True,
        dirs_exist_ok=True,
        copy_function=lambda source, target: Path(source) in left_out or put(Path(source), Path(target)),
    )
    changed: dict[str, Path] = {}
    for each in manifest.files:
        if each.has_models and _rewrite_package(staging / each.path, each.kind, change):
            changed[each.sha256] = staging / each.path
    for loose in sorted(staging.rglob(UNSIGNED_NAME)):
        where = str(dist / loose.relative_to(staging))
        _write(loose, _changed(user_files.read(loose, limit_bytes=MAX_BUNDLE_BYTES), change, where))
    if changed:
        _renew(dist, staging, manifest, changed)


def _rewrite_package(package: Path, kind: str, change: Callable[[Bundle], Bundle]) -> bool:
    """Applies `change` to the bundles in a package; whether there are any."""
    found = inside(package)
    bundles = {name: each.bundle for name, each in found.items() if is_list(kind, name)}
    if not bundles:
        return False
    refuse_unlisted(found, kind, str(package))
    renewed = {name: _changed(each, change, f"{name} in {package.name}") for name, each in bundles.items()}
    with TemporaryDirectory(dir=package.parent) as scratch:
        _write_package(package, {**unpack(package, Path(scratch)), **renewed})
    return True


def _write_package(package: Path, entries: Mapping[PurePosixPath, Content]) -> None:
    if not package.name.endswith(TARBALLS):
        write_zip(package, entries)
        return
    files = {name: each for name, each in entries.items() if isinstance(each, bytes | Path)}
    write_tarball(package, {name.relative_to(PREFIX): each for name, each in files.items()})


def _changed(content: bytes, change: Callable[[Bundle], Bundle], where: str) -> bytes:
    return written(change(parsed(content, where)))


def is_list(kind: str, name: PurePosixPath) -> bool:
    """Whether a file of a package of `kind` is a list of its models, signed or not."""
    return name.name == UNSIGNED_NAME and bool(model_name(kind, str(name)))


def refuse_unlisted(entries: Mapping[PurePosixPath, Inside], kind: str, where: str) -> None:
    """Raises GateError unless the bundles in a package list each of its model files, with its digest, and no others.

    A bundle names files by their paths from its folder in an app, where folders of an npm package are merged: a file
    belongs to a name if its path ends with it.
    """
    models = {f"/{name}": each.sha256 for name, each in entries.items() if _is_model(kind, name)}
    listed: set[str] = set()
    for bundle in sorted(name for name in entries if is_list(kind, name)):
        place = f"{bundle} in {where}"
        for name, digest in signed_files(parsed(entries[bundle].bundle, place), place).digests.items():
            matching = [path for path, own in models.items() if path.endswith(f"/{name}") and own == digest]
            if not matching:
                raise GateError(
                    f"{place} lists {name}, which is missing or has other content",
                    hint="get the package again from where it was published, or build it again",
                )
            listed.update(matching)
    if unlisted := sorted(models.keys() - listed):
        raise GateError(f"{unlisted[0][1:]} in {where} is not listed by its {UNSIGNED_NAME}", hint="build it again")


def _is_model(kind: str, name: PurePosixPath) -> bool:
    return bool(model_name(kind, str(name))) and name.name != UNSIGNED_NAME


def _renew(dist: Path, staging: Path, manifest: Manifest, changed: Mapping[str, Path]) -> None:
    """Puts copies of changed packages in place, and renews every checksum of them in the release."""
    for each in manifest.files:
        if each.sha256 in changed and staging / each.path != changed[each.sha256]:
            _replace(changed[each.sha256], staging / each.path)
    texts: dict[str, str] = {}
    for each in manifest.files:
        if each.sha256 in changed:
            texts |= _new_digests(dist / each.path, staging / each.path)
    for path in sorted(staging.rglob("*")):
        if path.name.endswith(TEXTS) and path.is_file() and not path.is_symlink() and path.name != MANIFEST:
            _renew_text(path, dist / path.relative_to(staging), texts)
    _renew_sizes(staging, manifest, changed)
    for path in sorted(staging.rglob("*")):
        if path.name.endswith(CHECKSUMS) and path.with_suffix("").is_file():
            _write(path, dict(zip(ALGORITHMS, digests(path.with_suffix("")), strict=True))[path.suffix[1:]].encode())
    _renew_manifest(staging, manifest)
    if (staging / PROVENANCE).is_file():
        _renew_subjects(staging)


def _new_digests(before: Path, after: Path) -> dict[str, str]:
    return dict(zip(digests(before), digests(after), strict=True))


def _replace(source: Path, target: Path) -> None:
    target.unlink()  # it may be a link to the file of the release that is to be replaced
    shutil.copyfile(source, target)


def _renew_text(path: Path, before: Path, digests_now: Mapping[str, str]) -> None:
    """Replaces digests in a text; a digest is long enough to be nothing else."""
    text = user_files.read(before, limit_bytes=MAX_TEXT_BYTES).decode("utf-8")
    renewed = text
    for old, new in digests_now.items():
        renewed = renewed.replace(old, new)
    if renewed != text:
        _write(path, renewed.encode())


def _renew_sizes(staging: Path, manifest: Manifest, changed: Mapping[str, Path]) -> None:
    """Sizes of changed files in Gradle's module metadata, which stand two lines below their names."""
    for each in manifest.files:
        path = staging / each.path
        module = path.with_suffix(".module")
        if each.sha256 not in changed or not module.is_file():
            continue
        text = user_files.read(module, limit_bytes=MAX_TEXT_BYTES).decode("utf-8")
        pattern = rf'("url": {re.escape(json.dumps(path.name))},\s*"size": )\d+'
        size = path.stat().st_size
        _write(module, re.sub(pattern, lambda found: f"{found[1]}{size}", text).encode())  # noqa: B023


def _renew_manifest(staging: Path, manifest: Manifest) -> None:
    """The manifest with the digests and sizes that its files have now."""
    document: dict[str, Any] = dict(manifest.document)
    document["artifacts"] = [
        {
            **entry,
            "sha256": sha256_of(staging / entry["path"]),
            "size-bytes": (staging / entry["path"]).stat().st_size,
        }
        for entry in manifest.document["artifacts"]
    ]
    _write(staging / MANIFEST, (to_json(document, indent=2) + "\n").encode())


def _renew_subjects(staging: Path) -> None:
    """The provenance with the digests that the files of the release have now."""
    path = staging / PROVENANCE
    with parsing.damage_as(lambda reason: ConfigError(f"{PROVENANCE}: {reason}", hint="build the packages again")):
        document = parsing.json_of(user_files.read(path, limit_bytes=MAX_TEXT_BYTES))
        for subject in document["subject"]:
            subject["digest"] = {"sha256": sha256_of(staging / subject["name"])}
    _write(path, (to_json(document, indent=2) + "\n").encode())


def _sign_beside(staging: Path, sign: Sign) -> tuple[str, ...]:
    """Writes the signatures beside the files of a release. Returns their paths."""
    manifest = manifest_of(staging)
    paths = [path for each in manifest.files if each.has_models for path in _sign_models(staging, each, manifest, sign)]
    if (staging / PROVENANCE).is_file():
        content = user_files.read(staging / PROVENANCE, limit_bytes=MAX_TEXT_BYTES)
        paths.append(f"{PROVENANCE}{SIG}")
        _write(staging / paths[-1], written(sign(IN_TOTO, content)))
    paths.append(f"{MANIFEST}{SIG}")
    payload = release_statement(manifest.release, covered(staging, paths))
    _write(staging / paths[-1], written(sign(IN_TOTO, payload)))
    return tuple(paths)


def _sign_models(staging: Path, package: Listed, manifest: Manifest, sign: Sign) -> Iterator[str]:
    found = model_digests(inside(staging / package.path), package.kind)
    if not found:
        return
    payload = statement(found, name=manifest.release.package, ignored=(), release=manifest.release)
    _write(staging / f"{package.path}{MODELS}", written(sign(IN_TOTO, payload)))
    yield f"{package.path}{MODELS}"


def model_digests(entries: Mapping[PurePosixPath, Inside], kind: str) -> dict[str, str]:
    """Path below the package's folder of models -> sha256, of its model files. Raises GateError for a link there."""
    found = {model_name(kind, str(name)): each.sha256 for name, each in entries.items() if _is_model(kind, name)}
    if links := [name for name, digest in found.items() if digest.startswith(LINK)]:
        raise GateError(f"{links[0]} in a package is a link: apps open files", hint="build the package again")
    return found


def _write(path: Path, content: bytes) -> None:
    with atomic_file(path) as file:
        file.write(content)
