"""Names in wheels: of the distribution, its module, and what is in it."""

import builtins
import keyword
import re
import sys
from collections.abc import Iterable

from packager.core.errors import SettingError
from packager.core.names import snake_case

DISTRIBUTION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
"""a name on PyPI: packaging.python.org, "Names and normalization\""""
PRE_RELEASES = {"alpha": "a", "a": "a", "beta": "b", "b": "b", "c": "rc", "rc": "rc", "pre": "rc", "preview": "rc"}
VERSION = re.compile(r"(\d+(?:\.\d+)*)(?:[-_.]?([a-z]+)[-_.]?(\d*))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?", re.I)
TAKEN_MODULES = frozenset({"numpy", "onnxruntime", "PIL"})
ENTRY = "__init__.py"
"""file of the module that apps import"""
LOCAL = frozenset("cls count documents each fed found is_first numpy outputs row seed self some top".split())
"""names that parameters cannot have, because the surrounding code uses them"""


def distribution(package: str, given: str) -> str:
    """Name of the wheel on PyPI: `given`, or that of the package. Raises SettingError for one that PyPI refuses."""
    name = given or package
    if not DISTRIBUTION.fullmatch(name):
        raise SettingError(
            f"package '{name}' is not allowed: PyPI has letters, digits, '-', '_' and '.'",
            hint="write it as in page-orientation",
        )
    return name


def module(distribution: str) -> str:
    """Name that apps import: `page-orientation` -> `page_orientation`; `json` -> `json_models`, because Python has a
    module of that name."""
    made = re.sub(r"[^a-z0-9]+", "_", distribution.lower()).strip("_")
    if made[0].isdigit():
        made = f"models_{made}"
    return f"{made}_models" if made in {*sys.stdlib_module_names, *TAKEN_MODULES} or keyword.iskeyword(made) else made


def version_of(version: str) -> str:
    """`1.0.0-beta.2` -> `1.0.0b2`, as PEP 440 writes it. Raises SettingError for a version that it has no form for."""
    found = VERSION.fullmatch(version)
    stage = found and (found[2] or "").lower()
    if not found or (stage and stage not in PRE_RELEASES):
        raise SettingError(
            f"version '{version}' has no form in PEP 440, which wheels follow",
            hint="use a version like 1.2.0 or 1.2.0-rc.1",
        )
    end = f"{PRE_RELEASES[stage]}{int(found[3] or 0)}" if stage else ""
    local = f"+{re.sub('[-_.]', '.', found[4].lower())}" if found[4] else ""
    return ".".join(str(int(part)) for part in found[1].split(".")) + end + local


def members(identifiers: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Identifier -> name of a member or a parameter, all of them different, none in `taken`, and no keyword."""
    used = {*taken}
    chosen = {}
    for identifier in identifiers:
        plain = snake_case(identifier)
        if keyword.iskeyword(plain) or plain in used or hasattr(builtins, plain):
            plain += "_value"
        name, number = plain, 2
        while name in used:
            name, number = f"{plain}_{number}", number + 1
        used.add(name)
        chosen[identifier] = name
    return chosen


def modules(models: Iterable[str]) -> dict[str, str]:
    """Model name -> name of its module: `Mobile-Net` -> `mobile_net`."""
    chosen: dict[str, str] = {}
    for model in models:
        plain = re.sub(r"[^a-z0-9]+", "_", model.lower()).strip("_")
        name, number = f"{plain}_model" if keyword.iskeyword(plain) else plain, 2
        while name in chosen.values():
            name, number = f"{plain}_{number}", number + 1
        chosen[model] = name
    return chosen
