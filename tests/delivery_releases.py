"""Three releases of a small package, and a channel that delivers two of them, made as a publisher makes them."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy
import onnx

from packager.channel import publishing
from packager.channel.log import Signing
from packager.channel.publishing import Terms
from packager.channel.storage import Folder
from packager.workflows import signing
from tests.channel_cases import place_of
from tests.keys import Tree
from tests.onnx_text import linear, saved
from tests.signing_cases import Key, write_key
from tests.toolchain.kept import kept
from tests.trust_vectors import IN_USE

ROOT = Path(__file__).parents[1]
MODEL, CHANNEL = "scorer", "stable"
BUNDLED, FIRST, SECOND = VERSIONS = ("1.2.3", "1.3.0", "1.4.0")
"""the release that the app was built with, and those that the channel has for it"""
PROJECT = f"""\
[package]
name = "models"
version = "{{version}}"
license = "MIT"
trust = "release.pub"
channel = "{CHANNEL}"

[model.{MODEL}]
path = "{MODEL}.onnx"
card = {{{{ license = "MIT" }}}}

[parity]
random-samples = 1
"""
TARGETS: Mapping[str, str] = {
    "android": '[target.android]\ngroup = "com.example"\nproviders = ["xnnpack"]\n',
    "ios": '[target.ios]\nproviders = ["xnnpack"]\n',
    "web": '[target.web]\npackage = "@example/models"\n',
    "react_native": """\
[target.android]
group = "com.example"
providers = ["xnnpack"]

[target.ios]
providers = ["xnnpack"]

[target.react_native]
package = "react-native-models"
""",
}


def graph(version: str) -> onnx.ModelProto:
    """The model in a version: its sum grows by 1 with each."""
    model = linear()
    for each in model.graph.initializer:
        if each.name == "w":
            values = onnx.numpy_helper.to_array(each).copy()
            values[1] += VERSIONS.index(version)
            each.CopyFrom(onnx.numpy_helper.from_array(values, "w"))
    return model


@cache
def sum_of(version: str) -> float:
    """Sum of the outputs of a version for the inputs `i / 64`."""
    weights = {each.name: onnx.numpy_helper.to_array(each) for each in graph(version).graph.initializer}
    inputs = numpy.arange(64, dtype=numpy.float64) / 64
    return float((inputs @ weights["w"].astype(numpy.float64) + weights["b"]).sum())


def key(folder: Path) -> Key:
    """The key that apps trust, in files."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_key(folder, "release", IN_USE)


def releases(target: str) -> Mapping[str, Path]:
    """The signed releases for a target, by their version. Nobody may write to them."""
    tree = Tree(ROOT)

    def make(folder: Path) -> None:
        for version in VERSIONS:
            _build(folder / version, version, target)

    folder = kept(f"delivery-{target}", make, tree.key(tree.program(Path(__file__))), target)
    return {version: folder / version for version in VERSIONS}


def _build(dist: Path, version: str, target: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch)
        saved(project / f"{MODEL}.onnx", graph(version))
        signer = key(project)
        text = PROJECT.format(version=version) + TARGETS[target]
        (project / "mobpack.toml").write_text(text, encoding="utf-8", newline="\n")
        for command in (["build", "--target", target], ["sign", "dist", "--key", str(signer.private)]):
            done = subprocess.run(
                [sys.executable, "-m", "packager.cli", *command],
                cwd=project,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
        shutil.copytree(project / "dist", dist)


@dataclass(frozen=True, kw_only=True)
class Published:
    """A channel in a folder, and its documents in their order."""

    folder: Path
    documents: tuple[bytes, ...]

    def files(self) -> dict[str, bytes]:
        """All files by their paths on a server."""
        return {
            f"/{path.relative_to(self.folder).as_posix()}": path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        }


def publish(target: str, folder: Path) -> Published:
    """Publishes the releases for a target one after the other, with deltas between them."""
    signer = key(folder.parent / f"{folder.name}-key")
    place = place_of(Folder(root=folder), signer, channel=CHANNEL)
    documents = []
    for dist in releases(target).values():
        how = Signing(signer=signing.signer(str(signer.private), None), now=datetime.now(UTC), days=90)
        publishing.publish(place, dist, Terms(), how)
        documents.append((folder / CHANNEL / "channel.json").read_bytes())
    return Published(folder=folder, documents=tuple(documents))
