"""The origin of a stored result that another machine has made: the cache that it came from, and who has signed it."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from packager.core import parsing, user_files
from packager.files import host

MAX_ORIGIN_BYTES = 1 << 20
ORIGIN = "origin.json"
"""File of an entry, beside its index; results that were made on this machine have none."""

OWN = "own"
"""File of an entry of a result that belongs to this machine alone."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    cache: str
    """address of the store"""
    signer: str
    """identity of the trusted key that has signed it; empty where none had to"""


def write_origin(entry: Path, origin: Origin) -> None:
    path = entry / ORIGIN
    path.write_text(json.dumps(asdict(origin)), encoding="utf-8", newline="\n")
    host.sync(path)


def origin_of(entry: Path) -> Origin | None:
    """The origin of an entry; None for one that was made on this machine."""
    try:
        document = parsing.json_of(user_files.read(entry / ORIGIN, limit_bytes=MAX_ORIGIN_BYTES))
        return Origin(cache=str(document["cache"]), signer=str(document["signer"]))
    except FileNotFoundError:
        return None
    except (OSError, *parsing.DAMAGE):
        return Origin(cache="an unknown cache", signer="")
