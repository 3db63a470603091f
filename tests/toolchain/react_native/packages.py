"""React Native packages that `mobpack build` makes of test models: built once per test run, then shared."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper

from tests.onnx_text import saved
from tests.toolchain import jsc, models, node
from tests.toolchain.chromium import allow_data_alone
from tests.toolchain.debian_root import make_alone
from tests.toolchain.require import fetched

VERSION = "1.2.3"
PINS = ("model-orientation", "model-silero-vad", "model-minilm")
ONE = """\
[package]
name = "page-orientation"
version = "{version}"

[model.orientation]
path = '{orientation}'

[parity]
random-samples = 1

[target.android]
group = "com.example"
providers = ["nnapi", "xnnpack"]

[target.ios]
providers = ["coreml", "xnnpack"]
"""
SEVERAL = """\
[package]
name = "models"
version = "{version}"

[model.orientation]
path = '{orientation}'

[model.silero-vad]
path = '{silero_vad}'
shapes = {{ batch = 1, sequence = 576 }}

[model.minilm]
path = '{minilm}'

[model.every-type]
path = '{every_type}'

[model.names]
path = '{names}'

[parity]
random-samples = 1

[target.android]
group = "com.example"
providers = ["xnnpack"]

[target.ios]
providers = ["xnnpack"]

[target.react_native]
package = "@example/models"
"""
NAMES = ("caf\u00e9", "cafe\u0301", '数"\\(x)', "it's`${1}`*/", "constructor", "__proto__", "let", "a-b", "</a>{{b}}")
"""Names of inputs. Two are the same in two normal forms of Unicode; some end strings, comments and templates."""


@dataclass(frozen=True)
class Built:
    """The output of `mobpack build`. Nobody writes to it: `author` and `app` give copies."""

    project: Path
    """with mobpack.toml, and the output in `dist`"""

    @property
    def archive(self) -> Path:
        """The npm tarball."""
        [archive] = (self.project / "dist" / "npm").glob("*.tgz")
        return archive

    @property
    def package(self) -> Path:
        """The tarball's content."""
        return self.project / "unpacked" / "package"

    @property
    def description(self) -> dict[str, Any]:
        """Its package.json."""
        found: dict[str, Any] = json.loads((self.package / "package.json").read_text(encoding="utf-8"))
        return found

    @property
    def name(self) -> str:
        """Name under which an app imports the package."""
        return str(self.description["name"])

    def author(self, folder: Path) -> Path:
        """The package with node_modules inside, as its author works on it. Replace files, do not write to them."""
        shutil.copytree(self.package, folder, copy_function=os.link)
        node.link(node.project("react_native"), folder)
        return folder

    def app(self, folder: Path, project: str = jsc.NEWEST) -> Path:
        """A project that depends on the package. Replace files of the package, do not write to them."""
        modules = node.link(node.project(project), folder)
        shutil.copytree(self.package, modules / self.name, copy_function=os.link)
        text = json.dumps({"name": "app", "private": True, "dependencies": {self.name: self.description["version"]}})
        (folder / "package.json").write_text(text, encoding="utf-8")
        return folder


def page_orientation(factory: pytest.TempPathFactory) -> Built:
    """`react-native-page-orientation`: one model, all names by default."""
    return _built("page-orientation", _one_model, factory)


def several(factory: pytest.TempPathFactory) -> Built:
    """`@example/models`: three real models, one of every element type, and one with difficult names."""
    return _built("models", _several_models, factory)


def _one_model(folder: Path) -> None:
    text = ONE.format(version=VERSION, orientation=models.orientation())
    (folder / "mobpack.toml").write_text(text, encoding="utf-8")


def _several_models(folder: Path) -> None:
    paths = {
        "orientation": models.orientation(),
        "silero_vad": models.silero_vad(),
        "minilm": models.minilm(),
        "every_type": models.every_type(folder),
        "names": names(folder / "names.onnx"),
    }
    (folder / "mobpack.toml").write_text(SEVERAL.format(version=VERSION, **paths), encoding="utf-8")


def names(path: Path) -> Path:
    """A model whose tensors have difficult names: each output is the negative of an input."""
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["count"]) for name in NAMES]
    outputs = [helper.make_tensor_value_info(f"-{name}", TensorProto.FLOAT, ["count"]) for name in NAMES]
    nodes = [helper.make_node("Neg", [name], [f"-{name}"]) for name in NAMES]
    graph = helper.make_graph(nodes, "names", tensors, outputs)
    return saved(path, helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]))


def _built(name: str, write: Callable[[Path], None], factory: pytest.TempPathFactory) -> Built:
    """Built by the first process of the tests that asks."""
    for pin in PINS:
        fetched(pin)
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "react_native" / name

    def make(made: Path) -> None:
        write(made)
        build(made)
        unpack(Built(made).archive, made / "unpacked")

    make_alone(folder, make)
    return Built(folder)


def build(folder: Path) -> None:
    """Runs `mobpack build` for React Native on a project."""
    done = subprocess.run(
        [sys.executable, "-m", "packager.cli", "build", "--target", "react_native"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as packed:
        allow_data_alone(packed)
        packed.extractall(folder)


def entries(archive: Path) -> Mapping[str, tuple[int, bytes]]:
    """Mode and content of every file of a tarball, by path."""
    found = {}
    with tarfile.open(archive) as packed:
        for member in packed:
            file = packed.extractfile(member)
            assert file, f"{member.name} is no file"
            found[member.name] = (member.mode, file.read())
    return found
