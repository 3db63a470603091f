"""Maps the templates of a package for React Native to its files."""

from pathlib import Path, PurePosixPath

from packager.targets.react_native.view import NamesView, ReactNativeView
from packager.targets.typescript import texts as shared
from packager.targets.typescript.texts import PARTIAL, TEMPLATE

ROOT = PurePosixPath("react_native")
"""below templates/"""
MODULE = "Module"
"""replaced by the package's module in names of templates"""
KOTLIN = PurePosixPath("android/src/main/kotlin")
OF_PICTURES = frozenset({"image", "Pictures"})
"""stems of templates that packages without pictures lack"""
OF_UPDATES = frozenset({"Delivery", "Delta", "DeviceState", "FreshFile", "Inflated", "ModuleDelivery", "Storage"})
"""stems of templates that only packages with a channel have, beside the shared ones"""
OF_TUNING = frozenset({"Identifier", "tuning"})
"""stems of files that only packages with tuned settings have"""
DEVICE = f"{ROOT / KOTLIN}/{PARTIAL}{{}}.device.kt{TEMPLATE}"
README = f"{ROOT}/{PARTIAL}{{}}.readme.md{TEMPLATE}"
"""parts of providers: where the Kotlin describes the device, and in the README"""


def texts(view: ReactNativeView) -> dict[PurePosixPath, str]:
    """Rendered templates by path in the package."""
    printed = {
        place_of(path, view.names): shared.rendered(root, path, view.names)
        for root, path in shared.templates(ROOT, updates=view.names.delivery is not None)
        if not shared.is_of_one(path) and _ships(path, view)
    }
    return {**printed, **shared.texts_of_all(view.names.models, view.names.pipelines)}


def copies(view: ReactNativeView) -> dict[PurePosixPath, Path]:
    """Files that the package contains unmodified."""
    shipped = shared.copies(ROOT, updates=view.names.delivery is not None)
    found = {**shipped, **shared.typed_copies({each.module for each in view.names.exports})}
    return {path: file for path, file in found.items() if _has(path, view)}


def _ships(path: PurePosixPath, view: ReactNativeView) -> bool:
    stem = path.name.partition(".")[0]
    has_use = view.names.has_pictures or stem not in OF_PICTURES
    if stem in OF_UPDATES and view.names.delivery is None:
        return False
    return has_use and _has(path, view)


def _has(path: PurePosixPath, view: ReactNativeView) -> bool:
    """Whether the package has trusted keys, or tuned settings, where the file is of these."""
    if path.name.partition(".")[0] in OF_TUNING and not view.names.is_tuned:
        return False
    return view.names.trust is not None or not shared.is_of_trust(path)


def place_of(template: PurePosixPath, names: NamesView) -> PurePosixPath:
    """`cpp/ModuleCxx.h.j2` -> `cpp/PageOrientationCxx.h`; Kotlin goes to the folder of its package."""
    name = template.name.removesuffix(TEMPLATE).replace(MODULE, names.module)
    folder = template.parent
    return (folder.joinpath(*names.kotlin_package.split(".")) if folder == KOTLIN else folder) / name
