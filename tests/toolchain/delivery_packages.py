"""Three signed releases of a small package for each target, made as a publisher makes them, once for the same code."""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy
import onnx

from tests.cases.onnx_text import onnx_model, saved, weight
from tests.cases.signing_cases import Key, write_key
from tests.cases.trust_vectors import IN_USE
from tests.cases.tuf_repository import root_text
from tests.toolchain import command, environments, without_classes
from tests.toolchain.kept import kept, product

MODEL, CHANNEL = "scorer", "stable"
BUNDLED, FIRST, SECOND = VERSIONS = ("1.2.3", "1.3.0", "1.4.0")
"""the release that the app was built with, and those that the channel has for it"""
PROJECT = f"""\
[package]
name = "models"
version = "{{version}}"
license = "MIT"
trust = "release.pub"
channel = "{CHANNEL}.root.json"

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
    "flutter": '[target.android]\ngroup = "com.example"\nproviders = ["xnnpack"]\n\n[target.flutter]\n',
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


MIDDLE = 12
"""weights of next to nothing: more than the 64 KiB at either end that later loads look at"""


def graph(version: str) -> onnx.ModelProto:
    """The model in a version: its sum grows by 1 with each."""
    terms = [f"m{at} = MatMul (x, z{at})" for at in range(MIDDLE)]
    sums = [f"s{at + 1} = Add (s{at}, m{at})" for at in range(MIDDLE)]
    nodes = " ".join(["xw = MatMul (x, w)", "s0 = Add (xw, b)", *terms, *sums, f"y = Identity (s{MIDDLE})"])
    model = onnx_model(
        f"(float[1, 64] x) => (float[1, 64] y) {{ {nodes} }}",
        weights={
            "w": weight(64, 64),
            "b": weight(64, seed=1),
            **{f"z{at}": numpy.full((64, 64), 1e-30 * at, numpy.float32) for at in range(MIDDLE)},
        },
    )
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


@dataclass(frozen=True)
class Releases:
    """The releases for a target."""

    target: str

    def folders(self) -> Mapping[str, Path]:
        """Folders of a build by their version. Nobody may write to them."""
        folder = self._folder()
        return {version: folder / version for version in VERSIONS}

    def _folder(self) -> Path:
        return kept(f"delivery-{self.target}", self._make, product())

    def _make(self, folder: Path) -> None:
        if "[target.android]" in TARGETS[self.target]:
            environments.have("android")  # else manifest and report say less of XNNPACK
        with tempfile.TemporaryDirectory() as scratch:
            projects = {version: _project(Path(scratch, version), version, self.target) for version in VERSIONS}
            for version, project in projects.items():
                _build(project, self.target, has_classes=self.target == "android" and version == BUNDLED)
            for project in projects.values():
                _run(project, "sign", "dist", "--key", "release.pem")
            for version, project in projects.items():
                shutil.copytree(project / "dist", folder / version)


def _build(project: Path, target: str, *, has_classes: bool) -> None:
    """Builds a release. Only the code of the one that an app has is run, and only that of Android's is in the .aar."""
    _run(project, "build", "--target", target, program=None if has_classes else Path(without_classes.__file__))


def _run(project: Path, *arguments: str, program: Path | None = None) -> None:
    done = command.run(*arguments, folder=project, program=program)
    assert done.returncode == 0, done.stdout + done.stderr


RELEASES: Mapping[str, Releases] = {target: Releases(target) for target in TARGETS}


def _project(folder: Path, version: str, target: str) -> Path:
    """Writes the project of a release, and the key that signs it."""
    signer = key(folder)
    assert signer.private.name == "release.pem"
    saved(folder / f"{MODEL}.onnx", graph(version))
    text = PROJECT.format(version=version) + TARGETS[target]
    (folder / f"{CHANNEL}.root.json").write_text(root_text("models", CHANNEL), encoding="utf-8", newline="\n")
    (folder / "mobpack.toml").write_text(text, encoding="utf-8", newline="\n")
    return folder
