"""`mobpack sign` and `mobpack verify`: releases, and folders of a model's files."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from packager.core import user_files
from packager.core.errors import ConfigError, GateError
from packager.distribution.release import MANIFEST
from packager.distribution.release.checking import Trust, Verified, verify_release
from packager.distribution.release.signatures import PROVENANCE, SIG, ReleaseSigner, sign_release
from packager.files.atomic import atomic_file
from packager.signing import keyless
from packager.signing.envelope import AGAIN, IN_TOTO, MAX_BUNDLE_BYTES, Bundle, parsed, written
from packager.signing.keys import chain_of, der, open_signer, signed
from packager.signing.model_signing import FOLDER_NAME, IGNORED, folder_digests, signed_files, statement
from packager.signing.timestamps import refuse_address, stamped, time_of
from packager.signing.verifying import TrustedKey, refuse_differences, signer_of, trusted, verify


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Who must have signed without a key: a name that an issuer has confirmed to Sigstore."""

    name: str
    issuer: str


def signer(key: str, certificate: Path | None) -> ReleaseSigner:
    """Signs with the key that `key` names. Raises ConfigError or ToolError if it cannot be used."""
    opened = open_signer(key)
    chain = chain_of(certificate, opened) if certificate else ()

    def sign(payload_type: str, payload: bytes) -> Bundle:
        return signed(opened, payload_type, payload, chain)

    return ReleaseSigner(sign=sign, key=hashlib.sha256(der(opened.public_key())).hexdigest())


def stamping(signer: ReleaseSigner, url: str) -> ReleaseSigner:
    """Signs as `signer` does, and has the authority at `url` say when."""
    refuse_address(url)
    return replace(signer, sign=lambda kind, payload: stamped(signer.sign(kind, payload), url))


def keyless_signer() -> ReleaseSigner:
    """Signs as an identity that Sigstore confirms."""
    return ReleaseSigner(sign=keyless.sign, key="")


def trust(
    keys: Sequence[Path], identity: Identity | None, *, subject: str | None = None, authority: Path | None = None
) -> Trust:
    """Accepts what one of `keys`, or `identity`, has signed; with `subject`, with a certificate about it alone; with
    the certificate of a time stamp `authority`, at a time that it has confirmed, at which certificates must have been
    valid.

    Raises ConfigError for keys that cannot be used, and for a subject without certificates.
    """
    if identity:
        return lambda bundle, where: keyless.verify(bundle, identity.name, identity.issuer, where)
    return _accepting(trusted(keys, subject), "--key", authority)


def _accepting(keys: Sequence[TrustedKey], option: str, authority: Path | None = None) -> Trust:
    def accept(bundle: Bundle, where: str) -> str:
        time = time_of(bundle, authority, where) if authority else None
        found = verify(bundle, keys, where, option=option, now=time or datetime.now(UTC))
        signer = signer_of(bundle, found)
        who = f"{found.path} ({signer})" if signer else str(found.path)
        return f"{who}, before {time:%Y-%m-%dT%H:%M:%SZ}" if time else who

    return accept


def sign(place: Path, signer: ReleaseSigner) -> tuple[str, ...]:
    """Signs the release, or the folder of model files, at `place`. Returns the paths of the signatures in it."""
    if (place / MANIFEST).is_file():
        return sign_release(place, signer, verify_release)  # nothing is signed that is not what was built
    if not place.is_dir():
        raise ConfigError(f"{place} is not a folder", hint="name the folder that `mobpack build` writes, such as dist")
    _refuse_without_manifest(place)
    signature = place / FOLDER_NAME
    found = folder_digests(place, (FOLDER_NAME,))
    payload = statement(found, name=user_files.resolved(place).name, ignored=(*IGNORED, FOLDER_NAME))
    with atomic_file(signature) as file:
        file.write(written(signer.sign(IN_TOTO, payload)))
    return (FOLDER_NAME,)


def _refuse_without_manifest(place: Path) -> None:
    """Raises ConfigError for a release whose manifest is lost: signed as a model, it would pass for whole."""
    for left in (f"{MANIFEST}{SIG}", PROVENANCE, "report.json"):
        if (place / left).exists():
            raise ConfigError(
                f"{place} has {left}, but no {MANIFEST}: it is an incomplete release, not a folder of model files",
                hint="build the packages again, or get the release again",
            )


def verify_place(place: Path, trust: Trust | None, signature: Path | None = None) -> Verified:
    """Verifies the release, or the signed folder of model files, at `place`; `signature` is the bundle of a folder, if
    it is not in there."""
    if (place / MANIFEST).is_file() and signature is None:
        return verify_release(place, trust)
    path = signature or place / FOLDER_NAME
    if not place.is_dir() or not path.is_file():
        raise ConfigError(
            f"{place} is neither a release of mobpack ({MANIFEST} is missing) nor a signed folder ({path} is missing)",
            hint="name the folder that `mobpack build` writes, such as dist, or the bundle with --signature",
        )
    if trust is None:
        raise ConfigError(f"{place} has no {MANIFEST}: only a signature can be verified", hint="give --key release.pub")
    return _verify_folder(place, path, trust)


def _verify_folder(folder: Path, path: Path, trust: Trust) -> Verified:
    bundle = _read(path)
    who = trust(bundle, str(path))
    listed = signed_files(bundle, str(path))
    ignored = list(listed.ignored)
    if user_files.resolved(path).is_relative_to(user_files.resolved(folder)):
        ignored.append(user_files.resolved(path).relative_to(user_files.resolved(folder)).as_posix())
    try:
        found = folder_digests(folder, ignored)
    except ConfigError as error:
        raise GateError(error.message, hint=AGAIN) from error
    refuse_differences(listed.digests, found, str(path))
    return Verified(
        package=str(listed.release.get("mobpack.package", user_files.resolved(folder).name)),
        version=str(listed.release.get("mobpack.version", "")),
        files=len(listed.digests),
        unlisted=(),
        signatures={path.name: who},
    )


def _read(path: Path) -> Bundle:
    try:
        return parsed(user_files.read(path, limit_bytes=MAX_BUNDLE_BYTES), str(path))
    except OSError as error:
        raise GateError(f"cannot read {path}: {error.strerror or error}", hint=AGAIN) from error
