"""Packs for Google Play: a module of an app's Gradle project, and the same as a module of an app bundle."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.distribution.packs.contents import PackedFile
from packager.distribution.packs.groups import DeviceGroup, tiers
from packager.distribution.packs.proto_xml import Element, document
from packager.files.zips import write_zip
from packager.render.templates import render

ASSETS = PurePosixPath("src/main/assets")
COMMON = "pack"
"""folder of the files that every device gets"""
TARGETED = "group"
"""folder of the files that only some groups of devices get, each group under the same path"""
EMPTY = "none"
"""file in the folder of the tier for all other devices: a tier without files is none"""


@dataclass(frozen=True, kw_only=True)
class PlayKind:
    """A kind of pack that Play knows."""

    plugin: str
    """Gradle plugin that builds it"""
    block: str
    """its settings in a build script"""
    type: str
    """type of its module in an app bundle"""


KINDS: Mapping[str, PlayKind] = {
    "ai-pack": PlayKind(plugin="com.android.ai-pack", block="aiPack", type="ai-pack"),
    "asset-pack": PlayKind(plugin="com.android.asset-pack", block="assetPack", type="asset-pack"),
}
TARGETINGS = ("groups", "tiers")


@dataclass(frozen=True, kw_only=True)
class BuildScript:
    """Values of the pack's build script."""

    plugin: str
    block: str
    name: str
    delivery: str


def assets(
    package: str, placed: Mapping[str, Sequence[PackedFile]], groups: Sequence[DeviceGroup], targeting: str
) -> Mapping[PurePosixPath, str]:
    """The SHA-256 of each file by its path among the assets, with the suffixes that Play removes; empty for a file
    without content."""
    root = PurePosixPath("mobpack", package)
    found = {root / COMMON / file.sha256: file.sha256 for file in placed[""]}
    suffixes = {group.name: f"group_{group.name}" for group in groups}
    if targeting == "tiers":
        suffixes = {group.name: f"tier_{level}" for level, group in tiers(groups).items()}
    for group in groups:
        folder = root / f"{TARGETED}#{suffixes[group.name]}"
        found |= {folder / file.sha256: file.sha256 for file in placed[group.name]}
        if targeting == "tiers" and not placed[group.name]:
            found[folder / EMPTY] = ""
    if targeting == "tiers" and groups:
        found[root / f"{TARGETED}#tier_0" / EMPTY] = ""
    return dict(sorted(found.items()))


def build_script(kind: PlayKind, name: str, delivery: str) -> str:
    """The Gradle build script of the pack."""
    return render(
        "packs/build.gradle.kts.j2",
        BuildScript(plugin=kind.plugin, block=kind.block, name=name, delivery=delivery),
    )


def manifest(kind: PlayKind, *, name: str, delivery: str, app: str) -> bytes:
    """The pack's manifest in a bundle, as Android's Gradle plugin writes it, for the app with the id `app`."""
    return document(
        Element(
            name="manifest",
            attributes={"package": app, "split": name},
            children=(
                Element(
                    name="dist:module",
                    attributes={"dist:type": kind.type},
                    children=(
                        Element(name="dist:fusing", attributes={"dist:include": True}),
                        Element(name="dist:delivery", children=(Element(name=f"dist:{delivery}"),)),
                    ),
                ),
            ),
        )
    )


def write_module(path: Path, *, manifest: bytes, assets: Mapping[PurePosixPath, str], files: Path) -> None:
    """Writes a module for `bundletool build-bundle`; `files` is the folder with the files by SHA-256."""
    entries: dict[PurePosixPath, bytes | Path] = {PurePosixPath("manifest/AndroidManifest.xml"): manifest}
    entries |= {"assets" / name: files / sha256 if sha256 else b"" for name, sha256 in assets.items()}
    write_zip(path, entries)
