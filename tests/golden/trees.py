"""The packages of all cases for all targets, and how they differ from the stored ones."""

import difflib
import os
from collections.abc import Mapping
from pathlib import PurePosixPath

from packager.targets.react_native.target import HEADERS
from tests.golden import stored
from tests.golden.cases import (
    CASES,
    CPP_CASES,
    FLUTTER_CASES,
    IOS_CASES,
    JVM_CASES,
    NODE_CASES,
    PYTHON_CASES,
    REACT_NATIVE_CASES,
    WEB_CASES,
    Case,
    Paged,
    Published,
    Wheel,
    Wrapped,
    api_of,
)
from tests.golden.stored import COMPLETE, Printed

Packaged = Case | Wrapped | Published | Paged | Wheel
TREES: Mapping[str, Mapping[str, Packaged]] = {
    "android": CASES,
    "ios": IOS_CASES,
    "react_native": REACT_NATIVE_CASES,
    "web": WEB_CASES,
    "flutter": FLUTTER_CASES,
    "python": PYTHON_CASES,
    "cpp": CPP_CASES,
    "jvm": JVM_CASES,
    "node": NODE_CASES,
}
BASES = {
    "everything": ("image_classifier",),
    "trusted": ("image_classifier", "cpu_alone"),
    "delivered": ("trusted", "cpu_alone"),
    "encrypted": ("cpu_alone", "image_classifier"),
}
"""Case -> those that it is like; the first one that the target has is what it is stored as changes of."""
NAMES = (
    *("kotlin_package", "onnxruntime", "module", "c_module", "cpp_namespace", "cmake_target", "npm_name", "pub_name"),
    *("plugin", "asset_folder", "bundle", "library", "spec", "version"),
)
"""Fields of views that are names of a package, or differ between packages like them."""
SHOWN = ("lib/api.d.ts", "lib/models/classifier.d.ts")
"""compiled, but shown in the pages of the documentation"""


def base_of(target: str, case: str) -> str:
    """The case that a case is stored as changes of, after its target where that is another one; empty for a complete
    one."""
    if target == "jvm":
        return f"android/{case}"
    bases = (*BASES.get(case, ()), COMPLETE)
    return next(each for each in bases if each in TREES[target]) if case != COMPLETE else ""


def printed(target: str, case: str) -> Printed:
    """A package as it is stored, without what other tests derive."""
    made = TREES[target][case]
    texts = {path.as_posix(): text for path, text in made.texts().items() if not _is_derived(target, case, path)}
    models = [(each.class_name, each.name, each.method) for each in api_of(made).models]
    return Printed(texts=texts, names=_names(made), models=models)


def unreviewed(target: str, case: str) -> str:
    """A diff from the package that is stored to the one that is printed; with UPDATE_GOLDEN=1 stores that one."""
    made, base = printed(target, case), base_of(target, case)
    if os.environ.get("UPDATE_GOLDEN"):
        stored.write(target, case, made, base, printed(*stored.place(target, base)) if base else None)
        return ""
    known = stored.read(target, case)
    lines: list[str] = []
    for path in sorted(known.keys() | made.texts.keys()):
        old, new = (texts.get(path, "").split("\n") for texts in (known, made.texts))
        lines += difflib.unified_diff(old, new, f"golden/{path}", f"generated/{path}", lineterm="")
    return "\n".join(lines)


def _is_derived(target: str, case: str, path: PurePosixPath) -> bool:
    """Headers of ONNX Runtime, and what the compiler makes of the TypeScript beside it."""
    is_compiled = path.parts[0] == "lib" and not (case == COMPLETE and path.as_posix() in SHOWN)
    return target == "react_native" and (path.parent == HEADERS or is_compiled)


def _names(made: Packaged) -> dict[str, str]:
    """The names of a package as templates have them."""
    if isinstance(made, Wrapped | Published | Paged | Wheel):
        view = made.view()
        names = getattr(view, "names", None) or getattr(view, "runtime", None)
        views = [names, getattr(names, "android", None), getattr(names, "apple", None)]
    else:
        views = [made.view().runtime]
    found = {name: getattr(view, name) for name in NAMES for view in views if getattr(view, name, "")}
    return {"name": made.package.name, **found}
