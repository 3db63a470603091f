"""Makes the pack of a release: the folder that an app's project takes in, and what a store reads."""

import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager import __version__
from packager.core.characters import to_json
from packager.core.errors import ConfigError
from packager.distribution.packs import apple, contents, groups, play
from packager.distribution.packs.contents import PackContents, PackedFile
from packager.distribution.packs.groups import DeviceGroup
from packager.files.replaced_folder import FolderKind, replaced

KINDS = (*play.KINDS, "background-assets", "on-demand-resources")
DELIVERIES = ("install-time", "fast-follow", "on-demand")
FOLDER = FolderKind(words="packs of `mobpack pack`", mark="packs.json", option="--to")
PACK_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")
APPLICATION_ID = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)+", re.ASCII)
MOST_BYTES = 1_500_000_000
"""of a pack of Play's, compressed: developer.android.com/google/play/on-device-ai"""


@dataclass(frozen=True, kw_only=True)
class PackRequest:
    """Kind and contents of the pack to make of a release."""

    kind: str
    delivery: str
    name: str = ""
    """empty for the package's"""
    app: str = ""
    """application id of the app (Play), or its app group (Background Assets)"""
    groups: tuple[str, ...] = ()
    targeting: str = "groups"


@dataclass(frozen=True, kw_only=True)
class Packed:
    """A file in a pack."""

    group: str
    """empty for all devices"""
    file: PackedFile


@dataclass(frozen=True, kw_only=True)
class Pack:
    """A pack as it was written."""

    name: str
    kind: str
    delivery: str
    written: tuple[str, ...]
    """paths of what an app's build needs, relative to the folder"""
    files: tuple[Packed, ...]
    groups: tuple[DeviceGroup, ...]

    @property
    def most_bytes(self) -> int:
        """Size of what a device gets, for the group that gets most."""
        sizes = dict.fromkeys(("", *(group.name for group in self.groups)), 0)
        for packed in self.files:
            sizes[packed.group] += packed.file.size_bytes
        return sizes.pop("") + max(sizes.values(), default=0)


def pack(release: Path, out: Path, request: PackRequest) -> Pack:
    """Writes the pack that `request` describes of `release` to `out`, which is replaced as a whole.

    Raises ConfigError for a request that does not fit the release, ToolError if a package is damaged or `out` cannot
    be written.
    """
    if request.kind not in play.KINDS and (request.groups or request.targeting != "groups"):
        raise ConfigError(f"{request.kind} has no groups of devices", hint="leave --group and --targeting out")
    target = "android" if request.kind in play.KINDS else "ios"
    with tempfile.TemporaryDirectory() as scratch, replaced(out, FOLDER) as folder:
        files = Path(scratch)
        found = contents.read(release, files, target=target)
        name = _pack_name(request.name or found.package.replace("-", "_"))
        written = (_play if target == "android" else _apple)(found, files, folder, name, request)
        (folder / FOLDER.mark).write_text(_listing(found, written), encoding="utf-8", newline="\n")
    return written


def _play(found: PackContents, files: Path, folder: Path, name: str, request: PackRequest) -> Pack:
    if request.app and not APPLICATION_ID.fullmatch(request.app):
        raise ConfigError(f"'{request.app}' is not an application id", hint="for example: --app com.example.app")
    given = [groups.parse(text, found.providers) for text in request.groups]
    chosen = contents.with_chips(given, found.files)
    placed = contents.placed(found.files, chosen)
    _refuse_empty(placed, given)
    assets = play.assets(found.package, placed, chosen, request.targeting)
    kind = play.KINDS[request.kind]
    for path, sha256 in assets.items():
        _copy(files / sha256 if sha256 else None, folder / name / play.ASSETS / path)
    _write(folder / name / "build.gradle.kts", play.build_script(kind, name, request.delivery))
    written = [name]
    if request.app:
        manifest = play.manifest(kind, name=name, delivery=request.delivery, app=request.app)
        play.write_module(folder / f"{name}.zip", manifest=manifest, assets=assets, files=files)
        written.append(f"{name}.zip")
    if chosen:
        written += _targeting(folder, chosen, request.targeting)
    return Pack(
        name=name,
        kind=request.kind,
        delivery=request.delivery,
        written=tuple(written),
        files=tuple(Packed(group=group, file=file) for group, each in placed.items() for file in each),
        groups=chosen,
    )


def _targeting(folder: Path, chosen: Sequence[DeviceGroup], targeting: str) -> list[str]:
    """The groups in the form that belongs to the suffixes of folders, and as bundletool reads them."""
    _write(folder / "device_tier_config.json", groups.tier_config(chosen))
    if targeting == "tiers":
        return ["device_tier_config.json"]
    _write(folder / "device_targeting_config.xml", groups.targeting_config(chosen))
    return ["device_targeting_config.xml", "device_tier_config.json"]


def _apple(found: PackContents, files: Path, folder: Path, name: str, request: PackRequest) -> Pack:
    place = PurePosixPath("mobpack", found.package)
    for file in found.files:
        _copy(files / file.sha256, folder / name / place / file.sha256)
    if request.kind == "background-assets":
        if not re.fullmatch(r"group\.[A-Za-z0-9.-]+", request.app):
            raise ConfigError(
                "the pack needs the app group that the app and its extension share",
                hint="for example: --app group.com.example.app",
            )
        texts = apple.background_assets(name=name, delivery=request.delivery, folder=place, app_group=request.app)
    else:
        texts = apple.on_demand_resources(name=name, delivery=request.delivery, folder=place)
    for path, text in texts.items():
        _write(folder / name / path, text)
    return Pack(
        name=name,
        kind=request.kind,
        delivery=request.delivery,
        written=tuple(f"{name}/{path}" for path in sorted(texts)),
        files=tuple(Packed(group="", file=file) for file in found.files),
        groups=(),
    )


def _pack_name(name: str) -> str:
    if not PACK_NAME.fullmatch(name):
        raise ConfigError(
            f"'{name}' cannot be the name of a pack", hint="begin with a letter; letters, digits and _ may follow"
        )
    return name


def _refuse_empty(placed: contents.Placed, given: Sequence[DeviceGroup]) -> None:
    for group in given:
        if not placed[group.name]:
            raise ConfigError(
                f"no file of the models is for the group {group.name}",
                hint="name a provider that has a file of its own, or a chip that files were compiled for",
            )


def _copy(file: Path | None, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if file is None:
        path.touch()
    else:
        shutil.copyfile(file, path)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _listing(found: PackContents, made: Pack) -> str:
    document = {
        "schema-version": 1,
        "mobpack": __version__,
        "package": found.package,
        "version": found.version,
        "name": made.name,
        "kind": made.kind,
        "delivery": made.delivery,
        "files": [
            {
                "group": each.group,
                "sha256": each.file.sha256,
                "size-bytes": each.file.size_bytes,
                "names": list(each.file.names),
                "providers": sorted({provider for provider, _ in each.file.uses}),
            }
            for each in made.files
        ],
    }
    return to_json(document, indent=2) + "\n"
