"""The variants in the packages of a search that settings in mobpack.toml can name."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packager.config import SOURCE
from packager.core import parsing, toml, user_files
from packager.core.errors import MobpackError
from packager.distribution.release.publish import MANIFEST, MAX_MANIFEST_BYTES

FOLDERS_UP = 2
"""from a library for Android, or a Swift package, to the folder of its release"""


@dataclass(frozen=True, kw_only=True)
class Searched:
    """A package of a search."""

    name: str
    """as its candidates have it"""
    variant: str
    """of its models; empty if nothing tells it"""
    providers: Sequence[str]


def nameable(project: Path, target: str, packages: Sequence[Searched]) -> dict[str, str]:
    """Name of a package -> its variant, for those that a package of `project` can have beside its own: their manifest
    and the project name the variant, and the first package, with the project's own variant, has their providers."""
    if not project.is_file():
        return {}
    try:
        document = toml.read(project)
    except MobpackError:  # whoever writes to it says so
        return {}
    own = document.get("target", {}).get(target, {}).get("variant", SOURCE)
    known = {SOURCE, *document.get("variant", {})} - {own}
    first, *others = packages
    if first.variant != own:
        return {}
    return {
        each.name: each.variant
        for each in others
        if each.variant in known and set(each.providers) <= set(first.providers)
    }


def shipped_variant(package: Path, sha256: str, target: str) -> str:
    """The variant of the models in a package of that content, as the manifest of its release says; empty if it is in
    none."""
    for folder in package.absolute().parents[:FOLDERS_UP]:
        try:
            manifest = parsing.json_of(user_files.read(folder / MANIFEST, limit_bytes=MAX_MANIFEST_BYTES))
            if any(each["sha256"] == sha256 for each in manifest["artifacts"]):
                return str(manifest["options"]["target"][target]["variant"])
        except (MobpackError, OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return ""
