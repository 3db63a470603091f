"""The sample app for React Native, with its packages installed as its README says, and without network."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from packager.files.user_cache import cache_folder
from tests.toolchain import node
from tests.toolchain.react_native.packages import unpack
from tests.toolchain.sample_package import NOTES, VISION, SamplePackage

SOURCE = Path(__file__).parents[3] / "sample_apps" / "react_native"
PACKAGES = {"react-native-vision": VISION, "react-native-notes": NOTES}
"""The packages of mobpack that the app depends on."""
OURS = ("assets", "src")
"""Source folders of the app; its tools' output lies beside them."""
NO_OTHERS: Mapping[str, Path] = {}


def archive(name: str, package: SamplePackage) -> Path:
    """The npm package that the app depends on."""
    [found] = (package.dist() / "npm").glob(f"{name}-*.tgz")
    return found


def make(folder: Path, others: Mapping[str, Path] = NO_OTHERS) -> Path:
    """A copy of the app in `folder`, with the packages where the app expects them, or `others` in their place."""
    wanted = json.loads((SOURCE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    project = node.project("expo")
    modules = node.link(project, folder)
    (modules / ".bin").symlink_to(project / "node_modules" / ".bin")
    for name, package in PACKAGES.items():
        packed = others.get(name) or archive(name, package)
        assert wanted[name] == f"file:../{package.name}/dist/npm/{packed.name}"
        unpack(packed, folder.parent / name)
        shutil.copytree(folder.parent / name / "package", modules / name, copy_function=os.link)
    for path in SOURCE.iterdir():
        if path.name in OURS:
            shutil.copytree(path, folder / path.name)
        elif path.is_file():
            shutil.copy(path, folder)
    return folder


def config(folder: Path, name: str, suffixes: Sequence[str], without: Sequence[str] = ("src/*.channel.tsx",)) -> Path:
    """A configuration of TypeScript that finds modules with `suffixes`, and no other in the files `without`."""
    options = {"moduleSuffixes": suffixes, "noEmit": True}
    settings = {"extends": "./tsconfig.json", "compilerOptions": options, "exclude": without}
    path = folder / f"tsconfig.{name}.json"
    path.write_text(json.dumps(settings), encoding="utf-8", newline="\n")
    return path


def run(folder: Path, name: str, *arguments: str, channel: str = "") -> node.Finished:
    """Runs a command of the app's packages, such as `expo`; the app takes newer models from the address `channel`.

    Metro keeps what it has transformed, by content.
    """
    scratch = cache_folder() / "metro"
    scratch.mkdir(exist_ok=True)
    program = node.tool(node.project("expo"), name)
    variables = {"TMPDIR": str(scratch), **({"EXPO_PUBLIC_CHANNEL": channel} if channel else {})}
    return node.run([program, *arguments], cwd=folder, environment=variables)
