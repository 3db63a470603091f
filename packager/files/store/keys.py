"""Key of a result: its inputs, and the code that computes it."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from packager.files.hashes import known_sha256
from packager.files.store.closure import INSTALLED, Code, digest, digest_of_the_wheel

LAYOUT = 2
"""Version of the store's layout: entries of another version have other keys."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A kind of result, and the code that makes it: other code, another key."""

    name: str
    """name of the folder with its results"""
    caller: str
    """`__name__` of the module that asks for the result; its imports count only if they are named below"""
    computed_by: tuple[str, ...] = ()
    """modules that compute it, with all that they import and start"""
    templates: tuple[str, ...] = ()
    """files and folders of templates/ that are rendered, or copied, into it"""
    is_shared: bool = True
    """whether other machines get the result: not if it was measured on this one, or if parts of it are executed"""

    @cached_property
    def code(self) -> str:
        """Hex sha256 of the code and the files that make the result; in an installed wheel, of all its files."""
        return digest_of_the_wheel() or self.code_in(INSTALLED)

    def code_in(self, code: Code) -> str:
        own = code.module(self.caller)
        return digest(code, self.computed_by, [own] if own else [], self.templates)

    def key(self, inputs: object) -> str:
        """Key of the result for `inputs` (any JSON value)."""
        return key_of([LAYOUT, self.name, self.code, inputs])


def key_of(inputs: object) -> str:
    """Hex sha256 of `inputs` as canonical JSON."""
    text = json.dumps(inputs, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def content_key(file: Path | None) -> str:
    """Hex sha256 of a stored file, read once per process; empty for None."""
    return known_sha256(file) if file else ""
