"""The variants in the packages of a search that settings in mobpack.toml can name."""

import json
from collections.abc import Sequence
from pathlib import Path

from packager.config import SOURCE
from packager.core import toml, user_files
from packager.core.errors import MobpackError
from packager.devices.package import DevicePackage
from packager.release.contents import MAX_MANIFEST_BYTES
from packager.release.publish import MANIFEST

FOLDERS_UP = 2
"""from a library for Android to the folder of its release"""


def nameable(project: Path, target: str, packages: Sequence[tuple[DevicePackage, Sequence[str]]]) -> dict[str, str]:
    """Path of a package -> its variant, for those that a package of `project` can have beside its own: their manifest
    and the project name the variant, and the first package, with the project's own variant, has their providers."""
    if not project.is_file():
        return {}
    try:
        document = toml.read(project)
    except MobpackError:  # whoever writes to it says so
        return {}
    own = document.get("target", {}).get(target, {}).get("variant", SOURCE)
    known = {SOURCE, *document.get("variant", {})} - {own}
    (first, providers), *others = packages
    if shipped_variant(first, target) != own:
        return {}
    found = {
        str(package.path): shipped_variant(package, target) for package, tried in others if set(tried) <= set(providers)
    }
    return {path: variant for path, variant in found.items() if variant in known}


def shipped_variant(package: DevicePackage, target: str) -> str:
    """The variant of the models in a package, as the manifest of its release says; empty if it is in none."""
    for folder in package.path.absolute().parents[:FOLDERS_UP]:
        try:
            manifest = json.loads(user_files.read(folder / MANIFEST, limit_bytes=MAX_MANIFEST_BYTES))
            if any(each["sha256"] == package.sha256 for each in manifest["artifacts"]):
                return str(manifest["options"]["target"][target]["variant"])
        except (MobpackError, OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return ""
