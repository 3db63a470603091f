"""Names in pub packages: their own, and those of their classes and members."""

import re
from collections.abc import Iterable

from packager.core.apple import SYSTEM_MODULES
from packager.core.errors import SettingError

PUB_NAME = re.compile(r"[a-z][a-z0-9_]*")
MAX_PUB_NAME = 64
KEYWORDS = frozenset(
    """
    abstract as assert async await base break case catch class const continue covariant default deferred do dynamic
    else enum export extends extension external factory false final finally for function get hide if implements import
    in interface is late library mixin new null of on operator part required rethrow return sealed set show static
    super switch sync this throw true try type typedef var void when while with yield
    """.split()
)
"""The Dart Language Specification, "Reserved Words", "Built-in identifiers" and words with a meaning in some places"""
TAKEN_PACKAGES = frozenset({"camera", "dart", "flutter", "flutter_test", "meta", "sky_engine", "test"})
"""names of packages that apps have"""
MODULES = frozenset(name.lower() for name in SYSTEM_MODULES)
"""names that a Swift module of the package's cannot have on the disks of Macs, which ignore case"""
TAKEN = KEYWORDS | TAKEN_PACKAGES | MODULES
LOCAL = frozenset(
    """
    cancel cancellation carried count firstFrame frame generated given isFirst isLast latestOf options outputs
    pcmTensors rankedBy rankedInLists rowCount rowsOf seed seedTensor some soundTensors source state textTensor
    textsTensor top
    """.split()
)
"""names that parameters cannot have, because the surrounding code uses them"""


def pub_name(package: str, given: str = "") -> str:
    """Name of the package: `page-orientation` -> `page_orientation`, or `given`.

    `flutter` -> `flutter_models`, `vision` -> `vision_models`, because another package, or a module of Apple's, has the
    plain name. Raises SettingError for a name that pub rejects.
    """
    if not given:
        made = package.replace("-", "_")
        return f"{made}_models" if made in TAKEN else made
    if not PUB_NAME.fullmatch(given) or len(given) > MAX_PUB_NAME:
        raise SettingError(
            f"package '{given}' is not allowed: pub allows at most {MAX_PUB_NAME} lower-case letters, digits and '_'",
            hint="write it as in page_orientation",
        )
    if given in TAKEN:
        raise SettingError(f"package '{given}' is already taken", hint=f"try {given}_models")
    return given


def file_names(models: Iterable[str]) -> dict[str, str]:
    """Model name -> name of its file without the suffix: `Mobile-Net` -> `mobile_net`."""
    used: set[str] = set()
    chosen = {}
    for model in models:
        plain = re.sub(r"[^a-z0-9]+", "_", model.lower()).strip("_")
        name, number = plain, 2
        while name in used:
            name, number = f"{plain}_{number}", number + 1
        used.add(name)
        chosen[model] = name
    return chosen


def members(identifiers: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Identifier -> name of a member or a parameter in Dart, none of them in `taken`."""
    used = {*taken}
    chosen: dict[str, str] = {}
    for identifier in identifiers:
        name, number = identifier, 2
        if name in used:
            name += "Value"
        while name in used:
            name, number = f"{identifier}{number}", number + 1
        used.add(name)
        chosen[identifier] = name
    return chosen
