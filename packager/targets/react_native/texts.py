"""Maps the templates of an npm package to its files: every file in their folder is part of the package."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from packager.files.installed import templates_folder
from packager.render import render
from packager.targets.react_native.view import NamesView, ReactNativeView

ROOT = PurePosixPath("react_native")
"""below templates/"""
TEMPLATE = ".j2"
MODULE = "Module"
"""stands for the package's module in names of templates"""
KOTLIN = PurePosixPath("android/src/main/kotlin")
MODEL = "model"
"""`models/model.*`: templates that are rendered once per model"""
TYPED = "typed"
"""folder of files that contracts need"""
OF_PICTURES = frozenset({"image", "Pictures"})
"""stems of templates that packages without pictures lack"""
PARTIAL = "_"
"""prefix of templates that others include"""
DEVICE = f"{ROOT / KOTLIN}/{PARTIAL}{{}}.device.kt{TEMPLATE}"
README = f"{ROOT}/{PARTIAL}{{}}.readme.md{TEMPLATE}"
"""parts of providers: where the Kotlin describes the device, and in the README"""


def texts(view: ReactNativeView) -> dict[PurePosixPath, str]:
    """Rendered templates by path in the package."""
    printed = {}
    for template in templates():
        if template.name.partition(".")[0] in OF_PICTURES and not view.names.has_pictures:
            continue
        if is_of_model(template):
            for model in view.names.models:
                place = template.parent / template.name.replace(MODEL, model.file, 1).removesuffix(TEMPLATE)
                printed[place] = render(str(ROOT / template), model)
        else:
            printed[place_of(template, view.names)] = render(str(ROOT / template), view.names)
    return printed


def copies() -> dict[PurePosixPath, Path]:
    """Files that every package contains unmodified."""
    root = templates_folder() / ROOT
    return {path: root / path for path in _found() if path.suffix != TEMPLATE and path.parent.name != TYPED}


def typed_copies(view: ReactNativeView) -> dict[PurePosixPath, Path]:
    """Files that contracts need, unmodified."""
    root = templates_folder() / ROOT
    wanted = {each.module for each in view.names.exports}
    return {
        path: root / path for path in _found() if path.parent.name == TYPED and path.name.partition(".")[0] in wanted
    }


def templates() -> list[PurePosixPath]:
    """Templates that are rendered by themselves."""
    return [path for path in _found() if path.suffix == TEMPLATE and not path.name.startswith(PARTIAL)]


def is_of_model(template: PurePosixPath) -> bool:
    return template.parent.name == "models" and template.name.partition(".")[0] == MODEL


def place_of(template: PurePosixPath, names: NamesView) -> PurePosixPath:
    """`cpp/ModuleCxx.h.j2` -> `cpp/PageOrientationCxx.h`; Kotlin goes to the folder of its package."""
    name = template.name.removesuffix(TEMPLATE).replace(MODULE, names.module)
    folder = template.parent
    return (folder.joinpath(*names.kotlin_package.split(".")) if folder == KOTLIN else folder) / name


def _found() -> Iterator[PurePosixPath]:
    root = templates_folder() / ROOT
    for path in sorted(root.rglob("*")):
        if path.is_file():
            yield PurePosixPath(path.relative_to(root).as_posix())
