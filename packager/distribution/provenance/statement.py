"""The statement: in-toto's Statement v1 with the predicate of SLSA's Provenance v1, without times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packager import __version__
from packager.core import parsing, user_files
from packager.core.characters import to_json
from packager.core.errors import ToolError
from packager.distribution.locking import Lock
from packager.distribution.provenance.parameters import BuildParameters, parameters_of
from packager.distribution.provenance.resources import TOOL, dependencies, lock_of, states
from packager.distribution.release.signatures import PROVENANCE
from packager.files.hashes import known_sha256

FILE_NAME = PROVENANCE
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "urn:mobpack:build:v1"
"""docs/provenance.md describes it."""
BUILDER = "urn:mobpack:command-line"
"""mobpack on a machine that the statement says nothing about: who signs it vouches for that."""
MAX_BYTES = 256 << 20
UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def statement(
    lock: Lock, parameters: BuildParameters, configuration: Mapping[str, object], chain: Sequence[object], release: Path
) -> str:
    """The statement about all files of the folder `release`, as JSON text. The same files made of the same `lock` give
    the same text.

    `configuration` is that of the manifest, `chain` says how each model file came to be (`links`).
    """
    document = {
        "_type": STATEMENT_TYPE,
        "subject": _subjects(release),
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {**parameters.document(), "configuration": configuration},
                "internalParameters": {**states(lock), "notLocked": list(lock.not_locked)},
                "resolvedDependencies": dependencies(lock),
            },
            "runDetails": {
                "builder": {"id": BUILDER, "version": {TOOL: __version__}},
                "byproducts": list(chain),
            },
        },
    }
    return to_json(document, indent=2) + "\n"


def _subjects(release: Path) -> list[dict[str, object]]:
    """Every file of the release but the statement, by path."""
    files = {path.relative_to(release).as_posix(): path for path in release.rglob("*") if path.is_file()}
    return [
        {"name": name, "digest": {"sha256": known_sha256(files[name])}} for name in sorted(files) if name != FILE_NAME
    ]


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Content of a statement about a build."""

    parameters: BuildParameters
    lock: Lock
    """everything that was used, without options"""
    subjects: Mapping[str, str]
    """path in the release -> sha256"""


def read(release: Path) -> Statement | None:
    """The statement in the folder `release`; None if it has none. Raises ToolError for one that cannot be read."""
    path = release / FILE_NAME
    if not path.exists():
        return None
    try:
        document = parsing.json_of(user_files.read(path, limit_bytes=MAX_BYTES))
        definition = document["predicate"]["buildDefinition"]
        if definition["buildType"] != BUILD_TYPE:
            raise ValueError(f"buildType is {definition['buildType']}")
        machine = {key: value for key, value in definition["internalParameters"].items() if key != "notLocked"}
        return Statement(
            parameters=parameters_of(definition["externalParameters"]),
            lock=lock_of(definition["resolvedDependencies"], machine),
            subjects={each["name"]: each["digest"]["sha256"] for each in document["subject"]},
        )
    except UNREADABLE as error:
        raise ToolError(
            f"{path} is not a statement of mobpack about a build: {error}",
            hint="get the release again, or remove the file to rebuild by the manifest alone",
        ) from error
