"""in-toto statements: which files a signature is about."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from packager.core import parsing
from packager.core.characters import to_json
from packager.core.errors import GateError
from packager.core.parsing import Json
from packager.signing.envelope import AGAIN, IN_TOTO, NOT_JSON, Bundle

STATEMENT = "https://in-toto.io/Statement/v1"
RELEASE = "https://in-toto.io/attestation/release/v0.1"
"""predicate type of the statement about all files of a release"""

KIND = "mobpack-"
"""start of the names of digests of entries that are no plain files"""
LINK, EXECUTABLE, FOLDER = "link", "executable", "folder"


@dataclass(frozen=True, kw_only=True)
class ReleaseName:
    """The release that files belong to."""

    package: str
    version: str

    @property
    def number(self) -> int:
        """Grows with the version, and no double rounds it: major * 2^40 + minor * 2^20 + patch. A pre-release has the
        number of its release; a part that does not fit counts as the largest that does."""
        core = self.version.partition("+")[0].partition("-")[0].split(".")
        major, minor, patch = (
            int(each.lstrip("0")[:18] or 0) if each.isdecimal() else 0 for each in (*core, "0", "0")[:3]
        )
        return min(major, (1 << 13) - 1) << 40 | min(minor, (1 << 20) - 1) << 20 | min(patch, (1 << 20) - 1)


def payload(document: Mapping[str, object]) -> bytes:
    """A statement as the bytes to sign: keys sorted, no spaces."""
    return to_json(json.loads(json.dumps(document, sort_keys=True)), separators=(",", ":")).encode()


def release_statement(release: ReleaseName, digests: Mapping[str, str]) -> bytes:
    """The statement that the entries with `digests` (path -> digest) are those of `release`; any file of them can be
    verified alone."""
    subjects = [{"name": name, "digest": _digest_set(digests[name])} for name in sorted(digests)]
    predicate = {"purl": f"pkg:generic/{release.package}@{release.version}", "releaseId": release.version}
    return payload({"_type": STATEMENT, "subject": subjects, "predicateType": RELEASE, "predicate": predicate})


def _digest_set(digest: str) -> dict[str, str]:
    """A sha256 under a name for its kind of entry, so that no file passes for a link, or the other way around. An
    executable has both, as other tools verify it as a file."""
    kind, _, sha256 = digest.rpartition(":")
    name = f"{KIND}{kind}" if kind else "sha256"
    return {name: sha256, **({"sha256": sha256} if kind == EXECUTABLE else {})}


def statement_in(bundle: Bundle, predicate_type: str, where: str) -> Json:
    """The statement that `bundle` signs. Raises GateError if it is none of `predicate_type` (empty: of any)."""
    if bundle.payload_type != IN_TOTO:
        raise GateError(f"{where} signs '{bundle.payload_type}', not a statement about files", hint=AGAIN)
    try:
        document = parsing.json_of(bundle.payload)
    except NOT_JSON as error:
        raise GateError(f"{where} signs something that is not JSON: {error}", hint=AGAIN) from error
    if not isinstance(document, dict) or document.get("_type") != STATEMENT:
        raise GateError(f"{where} does not sign an in-toto statement (v1)", hint=AGAIN)
    if predicate_type and document.get("predicateType") != predicate_type:
        raise GateError(
            f"{where} has the wrong predicate type: '{document.get('predicateType')}' in place of '{predicate_type}'",
            hint="it is a signature for another purpose: take the one of these files",
        )
    return document


def subjects_of(statement: Json, where: str) -> dict[str, str]:
    """Paths -> digests of the entries that a statement is about: a sha256, of others than files after their kind."""
    try:
        return {str(each["name"]): _digest_in(each["digest"]) for each in statement["subject"]}
    except (KeyError, TypeError, AttributeError) as error:
        raise GateError(f"{where} names no files with a sha256", hint=AGAIN) from error


def _digest_in(digests: Json) -> str:
    kinds = [name.removeprefix(KIND) for name in digests if name.startswith(KIND)]
    return f"{kinds[0]}:{digests[KIND + kinds[0]]}" if kinds else str(digests["sha256"])
