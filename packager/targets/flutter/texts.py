"""Maps the templates of a package for Flutter to its files."""

from pathlib import Path, PurePosixPath

from packager.files.installed import templates_folder
from packager.render.templates import render
from packager.targets.flutter.view import AppleView, NamesView

ROOT = PurePosixPath("flutter")
"""below templates/"""
TEMPLATE = ".j2"
PARTIAL = "_"
MODEL = PurePosixPath("lib/src/models/model.dart.j2")
"""rendered once per model"""
PIPELINE = PurePosixPath("lib/src/pipelines/pipeline.dart.j2")
"""rendered once per pipeline"""
LIBRARY = PurePosixPath("lib/package.dart.j2")
"""gets the name of the package"""
OF_TRUST = frozenset({"envelope.dart", "p256.dart", "trust.dart"})
"""names of files that only packages with trusted keys have"""
OF_UPDATES = frozenset({"updates.dart", "updating"})
"""names of files and folders that only packages with a channel have"""
OF_ENCRYPTION = frozenset({"aes_gcm.dart", "decryption.dart"})
"""names of files that only packages with encrypted models have"""
OF_TUNING = frozenset({"tuning.dart"})
"""names of files that only packages with settings for some chips have"""
OF_VARIANTS = frozenset({"variants.dart"})
"""names of files that only packages with variants for some chips have"""
OF_PIPELINES = frozenset({"stages.dart"})
"""names of files that only packages with pipelines have"""
ANDROID = PurePosixPath("android")
DARWIN = PurePosixPath("darwin")
MANIFEST = ANDROID / "AndroidManifest.xml.j2"
IN_C, HEADER, PLUGIN = DARWIN / "address.c.j2", DARWIN / "address.h.j2", DARWIN / "Plugin.swift.j2"
README = f"{ROOT}/{PARTIAL}{{}}.readme.md{TEMPLATE}"
"""part of a provider in the README"""


def texts(names: NamesView) -> dict[PurePosixPath, str]:
    """Rendered templates by path in the package."""
    printed = {
        place_of(path, names): render(str(ROOT / path), names)
        for path in found()
        if path.suffix == TEMPLATE
        and path not in (MODEL, PIPELINE)
        and not path.name.startswith(PARTIAL)
        and _ships(path, names)
    }
    models = {MODEL.parent / f"{model.file}.dart": render(str(ROOT / MODEL), model) for model in names.models}
    pipelines = {PIPELINE.parent / f"{each.file}.dart": render(str(ROOT / PIPELINE), each) for each in names.pipelines}
    return {**printed, **models, **pipelines}


def copies(names: NamesView) -> dict[PurePosixPath, Path]:
    """Files that the package contains unmodified."""
    return {
        path: templates_folder() / ROOT / path for path in found() if path.suffix != TEMPLATE and _ships(path, names)
    }


def _ships(path: PurePosixPath, names: NamesView) -> bool:
    """Whether the package has a use for a file."""
    half = {ANDROID: names.android, DARWIN: names.apple}
    if path.parent in half and half[path.parent] is None:
        return False
    parts = {part.removesuffix(TEMPLATE) for part in path.parts}
    return (
        (names.trust is not None or not parts & OF_TRUST)
        and (names.delivery is not None or not parts & OF_UPDATES)
        and (names.is_encrypted or not parts & OF_ENCRYPTION)
        and (any(each.is_tuned for each in names.models) or not parts & OF_TUNING)
        and (any(each.variants for each in names.models) or not parts & OF_VARIANTS)
        and (bool(names.pipelines) or not parts & OF_PIPELINES)
    )


def place_of(template: PurePosixPath, names: NamesView) -> PurePosixPath:
    """`lib/package.dart.j2` -> `lib/page_orientation.dart`"""
    if template == LIBRARY:
        return template.with_name(f"{names.pub_name}.dart")
    if template == MANIFEST:
        return ANDROID / "src" / "main" / "AndroidManifest.xml"
    if template.parent == DARWIN and names.apple:
        return _in_swift_package(template, names.pub_name, names.apple)
    return template.with_name(template.name.removesuffix(TEMPLATE))


def _in_swift_package(template: PurePosixPath, pub_name: str, apple: AppleView) -> PurePosixPath:
    home = DARWIN / pub_name
    sources = home / "Sources"
    places = {
        PLUGIN: sources / pub_name / f"{apple.plugin}.swift",
        IN_C: sources / apple.c_module / f"{apple.c_module}.c",
        HEADER: sources / apple.c_module / "include" / f"{apple.c_module}.h",
    }
    return places.get(template, home / template.name.removesuffix(TEMPLATE))


def found() -> list[PurePosixPath]:
    """Paths of all files below templates/flutter."""
    folder = templates_folder() / ROOT
    return [PurePosixPath(path.relative_to(folder).as_posix()) for path in sorted(folder.rglob("*")) if path.is_file()]
