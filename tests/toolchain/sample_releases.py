"""Two releases of the package of the sample apps that show pictures, and a channel with both."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from packager.channel import publishing
from packager.channel.log import Signing
from packager.channel.publishing import Terms
from packager.channel.storage import Folder
from packager.workflows import signing
from tests import delivery_releases
from tests.channel_cases import place_of
from tests.toolchain import vision

ROOT = Path(__file__).parents[2]
OURS, NEWER = "1.0.0", "1.1.0"
"""the release that an app is built with, and the one that the channel has for it: another mean tells them apart"""


def publish(root: Path, target: str) -> None:
    """Builds both in `root`, which then looks like this repository's with the first one built, and has the channel in
    `channel/`."""
    models = root / vision.FOLDER
    shutil.copytree(vision.root() / vision.FOLDER / "build" / "models", models / "build" / "models")
    for name in ("mobpack.toml", "coffee.jpg"):
        shutil.copy(ROOT / vision.FOLDER / name, models)
    key = delivery_releases.key(models)
    project = models / "mobpack.toml"
    text = project.read_text(encoding="utf-8")
    signer = signing.signer(str(key.private), None)
    place = place_of(Folder(root=root / "channel"), key)
    for version, mean, dist in ((OURS, "127.0", "dist"), (NEWER, "126.5", "newer")):
        options = f'version = "{version}"\ntrust = "release.pub"\nchannel = "stable"'
        changed = text.replace(f'version = "{OURS}"', options).replace("mean = [127.0]", f"mean = [{mean}]")
        project.write_text(changed, encoding="utf-8", newline="\n")
        run([sys.executable, "-m", "packager.cli", "build", "--target", target, "--out", dist], models)
        run([sys.executable, "-m", "packager.cli", "sign", dist, "--key", key.private], models)
        publishing.publish(place, models / dist, Terms(), Signing(signer=signer, now=datetime.now(UTC), days=90))


def run(command: Sequence[str | Path], folder: Path) -> None:
    """Raises AssertionError with what the command said, when it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
