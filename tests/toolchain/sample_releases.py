"""Two releases of the package of the sample apps that show pictures, and a channel with both."""

import json
import shutil
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy
from numpy.typing import NDArray
from PIL import Image

from packager.distribution.channel import publishing
from packager.distribution.channel.places import Signing
from packager.distribution.channel.publishing import Terms
from packager.distribution.channel.repository import Repository
from packager.distribution.channel.storage import ChannelFolder
from packager.files.processes import downloads
from tests.cases import delivery_releases
from tests.cases.channel_cases import signers_of
from tests.cases.tuf_repository import root_text
from tests.toolchain import command, vision, without_classes

ROOT = Path(__file__).parents[2]
OURS, NEWER = "1.0.0", "1.1.0"
"""the release that an app is built with, and the one that the channel has for it: another mean tells them apart"""


def publish(root: Path, target: str) -> None:
    """Builds both in `root`, which then looks like this repository's with the first one built, and has the channel in
    `channel/`. No app runs the code of the newer one."""
    models = root / vision.FOLDER
    shutil.copytree(vision.root() / vision.FOLDER / "build" / "models", models / "build" / "models")
    for name in ("mobpack.toml", "coffee.jpg"):
        shutil.copy(ROOT / vision.FOLDER / name, models)
    key = delivery_releases.key(models)
    (models / "stable.root.json").write_text(root_text("vision", "stable"), encoding="utf-8", newline="\n")
    text = (models / "mobpack.toml").read_text(encoding="utf-8")
    releases = {"dist": (OURS, "127.0"), "newer": (NEWER, "126.5")}
    for dist, (version, mean) in releases.items():
        options = f'version = "{version}"\ntrust = "release.pub"\nchannel = "stable.root.json"'
        changed = text.replace(f'version = "{OURS}"', options).replace("mean = [127.0]", f"mean = [{mean}]")
        (models / f"{dist}.toml").write_text(changed, encoding="utf-8", newline="\n")
        program = Path(without_classes.__file__) if version == NEWER else None
        _mobpack("build", "--config", f"{dist}.toml", "--target", target, "--out", dist, folder=models, program=program)
        _mobpack("sign", dist, "--key", key.private, folder=models)
    storage, trusted = ChannelFolder(root=root / "channel"), (models / "stable.root.json").read_bytes()
    repository = Repository(storage=storage, trusted=trusted, signers=signers_of(key))
    for dist in releases:
        publishing.publish(repository, models / dist, Terms(), Signing(now=datetime.now(UTC), days=90))


def _mobpack(*arguments: str | Path, folder: Path, program: Path | None = None) -> None:
    done = command.run(*arguments, folder=folder, program=program)
    assert done.returncode == 0, done.stdout + done.stderr


def coffee() -> NDArray[numpy.uint8]:
    """A picture of espresso, in RGBA: rows, columns, colours."""
    with zipfile.ZipFile(downloads.fetch("data-pictures")) as wheel, wheel.open("skimage/data/coffee.png") as file:
        return numpy.asarray(Image.open(file).convert("RGBA"))


def with_other_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a channel, by path, where somebody has changed the last byte of every model and delta."""
    return {
        path: content[:-1] + bytes([content[-1] ^ 1]) if _is_model(path) else content for path, content in files.items()
    }


def _is_model(path: str) -> bool:
    return path.startswith("/targets/") and not path.endswith("releases.json")


def with_another_document(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a channel where somebody has given the newer release and the channel another number, without the
    key."""
    newest = "/stable/timestamp.json"
    lists = {
        each: content.replace(NEWER.encode(), b"9.9.9")
        for each, content in files.items()
        if each.endswith(".releases.json")
    }
    assert any(NEWER.encode() in files[each] for each in lists)
    timestamp = json.loads(files[newest])
    timestamp["signed"]["version"] += 1
    return {**files, **lists, newest: json.dumps(timestamp).encode()}


def run(command: Sequence[str | Path], folder: Path) -> None:
    """Raises AssertionError with what the command said, when it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
