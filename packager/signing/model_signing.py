"""OpenSSF Model Signing v1.0: the signed list of a model's files (github.com/ossf/model-signing-spec)."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.core.errors import ConfigError, GateError
from packager.core.parsing import Json
from packager.files.hashes import sha256_of
from packager.signing.envelope import AGAIN, Bundle, written
from packager.signing.statements import STATEMENT, ReleaseName, payload, statement_in

PREDICATE = "https://model_signing/signature/v1.0"
UNSIGNED_NAME = "models.sig"
"""name of a bundle beside the models of a package, before and after signing"""
FOLDER_NAME = "model.sig"
"""name of the bundle in a folder that was signed by itself"""
IGNORED = (".git", ".gitattributes", ".github", ".gitignore")
"""names at the top of a folder that the specification leaves out"""


@dataclass(frozen=True, kw_only=True)
class SignedFiles:
    """Files that a bundle lists."""

    digests: Mapping[str, str]
    """path -> sha256"""
    ignored: tuple[str, ...]
    """paths from the top of the folder that it leaves out on purpose"""
    release: Json
    """package, version and number of the release; empty in bundles of others"""


def statement(
    digests: Mapping[str, str],
    *,
    name: str,
    ignored: Sequence[str],
    release: ReleaseName | None = None,
) -> bytes:
    """The statement about files (path -> sha256) of the model `name`, to be signed. Raises ConfigError without
    files."""
    if not digests:
        raise ConfigError(f"{name} has no files to sign", hint="name the folder that holds the model's files")
    names = sorted(digests)
    root = hashlib.sha256(b"".join(bytes.fromhex(digests[each]) for each in names)).hexdigest()
    subject: dict[str, object] = {"name": name, "digest": {"sha256": root}}
    if release:
        subject["annotations"] = {
            "mobpack.package": release.package,
            "mobpack.version": release.version,
            "mobpack.number": release.number,
        }
    return payload(
        {
            "_type": STATEMENT,
            "subject": [subject],
            "predicateType": PREDICATE,
            "predicate": {
                "resources": [{"name": each, "digest": digests[each], "algorithm": "sha256"} for each in names],
                "serialization": {
                    "method": "files",
                    "hash_type": "sha256",
                    "allow_symlinks": False,
                    "ignore_paths": sorted(ignored),
                },
            },
        }
    )


def unsigned_bundle(digests: Mapping[str, str], release: ReleaseName) -> bytes:
    """The bundle that a build puts beside the models of a package, for `mobpack sign` to complete.

    `digests` maps paths from the bundle's folder, as an app sees it, to sha256.
    """
    signed = statement(digests, name=release.package, ignored=(UNSIGNED_NAME,), release=release)
    return written(Bundle(payload=signed))


def folder_digests(folder: Path, ignored: Sequence[str]) -> dict[str, str]:
    """Path -> sha256 of the files in `folder`, without the paths in `ignored` and git's.

    Raises ConfigError for a symbolic link and for a name that is not UTF-8: a signature cannot be about them.
    """
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        name = relative.as_posix()
        if relative.parts[0] in IGNORED or is_ignored(name, ignored):
            continue
        if path.is_symlink():
            raise ConfigError(f"{path} is a symbolic link: it cannot be signed", hint="put the file itself there")
        if path.is_file():
            _refuse_undecodable(path, name)
            found[name] = sha256_of(path)
    return found


def is_ignored(name: str, ignored: Sequence[str]) -> bool:
    """Whether `name` is one of the paths `ignored`, or below one."""
    return any(name == each or name.startswith(f"{each}/") for each in ignored)


def _refuse_undecodable(path: Path, name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        shown = name.encode(errors="backslashreplace").decode()
        raise ConfigError(f"'{shown}' in {path.parent} is not UTF-8", hint="rename the file") from error


def signed_files(bundle: Bundle, where: str) -> SignedFiles:
    """The files that an OMS bundle is about. Raises GateError if it is none, or of a form that is not supported."""
    document = statement_in(bundle, PREDICATE, where)
    try:
        predicate = document["predicate"]
        rules = predicate["serialization"]
        resources = [(each["name"], each["digest"], each["algorithm"]) for each in predicate["resources"]]
        subject = document["subject"][0]
        ignored = tuple(_top(each) for each in rules.get("ignore_paths", ()))
        method, algorithm = rules["method"], rules["hash_type"]
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise GateError(f"{where} is not a list of a model's files: {error!r}", hint=AGAIN) from error
    if method != "files" or {algorithm, *(each[2] for each in resources)} != {"sha256"}:
        raise GateError(
            f"{where} hashes {method} with {algorithm}: mobpack verifies whole files with sha256 only",
            hint="sign again with the method `files` and sha256",
        )
    names = [name for name, _, _ in resources]
    if len(set(names)) < len(names) or any(_is_outside(name) for name in names):
        raise GateError(f"{where} lists a file twice, or one outside of its folder", hint=AGAIN)
    return SignedFiles(
        digests={name: digest for name, digest, _ in resources},
        ignored=ignored,
        release=subject.get("annotations", {}) if isinstance(subject, dict) else {},
    )


def _top(path: str) -> str:
    return path.removeprefix("./").rstrip("/")


def _is_outside(name: object) -> bool:
    return not isinstance(name, str) or not name or name.startswith("/") or ".." in PurePosixPath(name).parts
