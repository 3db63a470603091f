"""Swift names: the module, and classes that do not collide with generated code."""

import re
from collections.abc import Iterable

from packager.core import class_names, names
from packager.core.apple import SYSTEM_MODULES
from packager.core.class_names import class_name, pipeline_class_name
from packager.core.errors import ConfigError, SettingError

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*")
SUFFIX = "Kit"
SUFFIX_BESIDE_APPLE = "Models"
"""suffix if Apple has a Kit of that name"""

UNUSABLE_MODULES = frozenset(name.lower() for name in SYSTEM_MODULES)
"""in lower case: macOS file systems ignore case"""
IN_SWIFT = frozenset({"Swift", "Foundation", class_names.PACKAGES})
"""those whose names the files of a package use"""


def module_name(package: str, given: str = "") -> str:
    """Name of the Swift module: `page-orientation` -> `PageOrientationKit`, or the name `given`.

    `vision` -> `VisionModels`, because VisionKit is Apple's. Raises SettingError for an unusable
    name.
    """
    if not given:
        stem = names.pascal_case(package).removesuffix(SUFFIX)
        made = stem + SUFFIX
        return stem + SUFFIX_BESIDE_APPLE if made.lower() in UNUSABLE_MODULES else made
    if not IDENTIFIER.fullmatch(given) or given[0].islower():
        raise SettingError(
            f"module '{given}' is not a valid name for a Swift module", hint="use capitalized words: OrientationKit"
        )
    _, owners = class_names.RESERVED.get(given.lower(), ("", ()))
    if IN_SWIFT & {*owners} or given.lower() in UNUSABLE_MODULES:
        free = f"{given.removesuffix(SUFFIX)}{SUFFIX_BESIDE_APPLE}"
        raise SettingError(f"module '{given}' clashes with a name that Swift code uses", hint=f"try {free}")
    return given


def refuse_classes(module: str, models: Iterable[str], pipelines: Iterable[str]) -> None:
    """Raises ConfigError for a class with the name of the module that it is in: Swift cannot tell the two apart."""
    classes = {
        **{f"model '{each}'": class_name(each) for each in models},
        **{f"pipeline '{each}'": pipeline_class_name(each) for each in pipelines},
    }
    for owner, found in classes.items():
        if found.lower() == module.lower():
            raise ConfigError(
                f"target.ios.module: '{module}' is the class of {owner}, too",
                hint=f'for example: module = "{module.removesuffix(SUFFIX)}{SUFFIX_BESIDE_APPLE}"',
            )
