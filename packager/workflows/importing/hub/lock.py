"""`MODEL.onnx.lock`, beside an imported model: the commit on the hub, and the sha256 of every file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packager.core.errors import ConfigError
from packager.core.parsing import Json
from packager.core.toml import read as read_toml

SUFFIX = ".lock"


@dataclass(frozen=True, kw_only=True)
class HubLock:
    source: str
    """name of the model, as the user has given it"""
    repository: str
    commit: str
    files: Mapping[str, str]
    """path in the repository -> sha256, the model's first"""


def place(output: Path) -> Path:
    return output.with_name(output.name + SUFFIX)


def read(path: Path, source: str) -> HubLock | None:
    """The lock at `path`; None if there is none, or one of another source. Raises ConfigError for a damaged one."""
    if not path.exists():
        return None
    document = read_toml(path)
    try:
        found = _of(document)
    except (KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{path} is damaged: {type(error).__name__} {error}", hint="remove it, then import the model again"
        ) from error
    return found if found.source == source else None


def _of(document: Json) -> HubLock:
    files = {str(each["name"]): str(each["sha256"]) for each in document["file"]}
    return HubLock(source=document["source"], repository=document["repository"], commit=document["commit"], files=files)


def text(lock: HubLock) -> str:
    lines = [
        "# Written by mobpack import: the same files are fetched the next time. --update fetches the newest.",
        f"source = {json.dumps(lock.source)}",
        f"repository = {json.dumps(lock.repository)}",
        f"commit = {json.dumps(lock.commit)}",
    ]
    for name, sha256 in lock.files.items():
        lines += ["", "[[file]]", f"name = {json.dumps(name)}", f"sha256 = {json.dumps(sha256)}"]
    return "\n".join(lines) + "\n"
