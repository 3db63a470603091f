"""Assets of a pub package: the apps of each platform get the files that they open."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from packager.targets.flutter.view import DeclaredAssetView
from packager.targets.typescript.files import Layout
from packager.targets.typescript.view import FileView, GoldenView

LARGEST_BYTES = 1 << 30
"""largest asset that Android opens (github.com/flutter/flutter/issues/128021); elsewhere models are opened as files"""
ANDROID, IOS = "android", "ios"
DESKTOPS = ("linux", "macos", "windows")
APPLE = ("ios", "macos")


def platforms(included: Sequence[str]) -> tuple[str, ...]:
    """Where a package with the files of the targets `included` runs."""
    return tuple(sorted({*included, *DESKTOPS}))


def declared(
    folder: PurePosixPath,
    layout: Layout,
    opened: Mapping[str, Mapping[str, tuple[FileView, ...]]],
    golden: Sequence[GoldenView],
) -> tuple[DeclaredAssetView, ...]:
    """Entries of the files in `layout`. `opened` has the files of each model, by target."""
    portable = set(_portable(next(iter(opened.values())), golden))
    return tuple(
        DeclaredAssetView(path=f"{folder}/{each.content.path}", platforms=found)
        for each in layout.placed()
        if (found := _platforms(each.content.sha256, each.content.size_bytes, layout, opened, portable))
    )


def too_large(layout: Layout) -> tuple[str, ...]:
    """Names of the files that no asset of Android can be."""
    return tuple(
        each.content.path
        for each in layout.placed()
        if each.content.size_bytes > LARGEST_BYTES and ANDROID in layout.users[each.content.sha256]
    )


def _platforms(
    sha256: str, size_bytes: int, layout: Layout, opened: Mapping[str, object], portable: set[str]
) -> tuple[str, ...]:
    users = layout.users[sha256]
    found = set(DESKTOPS if sha256 in portable else ())
    if IOS in opened:
        found -= {"macos"}
    if IOS in users:
        found |= set(APPLE)
    if ANDROID in users and size_bytes <= LARGEST_BYTES:
        found.add(ANDROID)
    return tuple(sorted(found))


def _portable(opened: Mapping[str, tuple[FileView, ...]], golden: Sequence[GoldenView]) -> Iterator[str]:
    """SHA-256 of files that desktops open: those of the CPU."""
    names = set()
    for files in opened.values():
        for each in files:
            if "cpu" in each.providers:
                names.add(each.path)
                yield each.sha256
                yield from (weights.sha256 for weights in each.weights)
    for made in golden:
        if names & {each.path for each in made.files}:
            yield made.file.sha256
