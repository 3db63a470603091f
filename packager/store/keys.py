"""What a result depends on, as one string."""

import hashlib
import json
from functools import cache
from pathlib import Path

from packager.hashes import known_sha256
from packager.render import templates_folder


@cache
def code_digest() -> str:
    """Hex sha256 of mobpack's own code, pins and templates: other code may give other results."""
    digest = hashlib.sha256()
    for folder in (Path(__file__).parents[1], templates_folder()):
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def key_of(inputs: object) -> str:
    """Hex sha256 of `inputs` as canonical JSON."""
    text = json.dumps(inputs, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def content_key(file: Path | None) -> str:
    """Hex sha256 of a stored file, read once in a process; empty for none."""
    return known_sha256(file) if file else ""
