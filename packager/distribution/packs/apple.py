"""Packs for Apple's stores: managed asset packs of Background Assets, and On-Demand Resources."""

import plistlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from packager.core.characters import to_json
from packager.render.templates import render

EVENTS = ("firstInstallation", "subsequentUpdate")
POLICIES: Mapping[str, Mapping[str, object]] = {
    "install-time": {"essential": {"installationEventTypes": list(EVENTS)}},
    "fast-follow": {"prefetch": {"installationEventTypes": list(EVENTS)}},
    "on-demand": {"onDemand": {}},
}
"""Download policy of each way of delivery, as Apple's `Creating managed asset packs` has them."""
PLATFORMS = ("iOS", "macOS")
EXTENSION_POINT = "com.apple.background-asset-downloader-extension"
EXTENSION = PurePosixPath("extension")


@dataclass(frozen=True, kw_only=True)
class DownloaderExtension:
    """Values of the extension's source."""

    name: str


def background_assets(*, name: str, delivery: str, folder: PurePosixPath, app_group: str) -> dict[PurePosixPath, str]:
    """The manifest for `xcrun ba-package`, whose paths are relative to the folder with it, the extension that Apple's
    hosting needs, and the keys of both Info.plist files."""
    document = {
        "assetPackID": name,
        "downloadPolicy": POLICIES[delivery],
        "fileSelectors": [{"directory": str(folder)}],
        "platforms": list(PLATFORMS),
    }
    app = {"BAAppGroupID": app_group, "BAHasManagedAssetPacks": True, "BAUsesAppleHosting": True}
    extension = {"EXAppExtensionAttributes": {"EXExtensionPointIdentifier": EXTENSION_POINT}}
    return {
        PurePosixPath("Manifest.json"): to_json(document, indent=2) + "\n",
        PurePosixPath("app/Info.plist"): _plist(app),
        EXTENSION / "Info.plist": _plist(extension),
        EXTENSION / "DownloaderExtension.swift": render(
            "packs/apple/DownloaderExtension.swift.j2", DownloaderExtension(name=name)
        ),
    }


def on_demand_resources(*, name: str, delivery: str, folder: PurePosixPath) -> dict[PurePosixPath, str]:
    """The tag of the folder, as the project's build settings have it: when the system fetches it is said there."""
    settings = {
        "install-time": ("ON_DEMAND_RESOURCES_INITIAL_INSTALL_TAGS", name),
        "fast-follow": ("ON_DEMAND_RESOURCES_PREFETCH_ORDER", name),
    }
    lines = [
        "// Add the folder to the app's target as a folder reference, with this tag under On Demand Resource Tags:",
        f"// {folder.parts[0]}: {name}",
        "ENABLE_ON_DEMAND_RESOURCES = YES",
    ]
    if delivery in settings:
        lines.append(" = ".join(settings[delivery]))
    return {PurePosixPath("OnDemandResources.xcconfig"): "\n".join(lines) + "\n"}


def _plist(values: Mapping[str, object]) -> str:
    return plistlib.dumps(values, sort_keys=False).decode()
