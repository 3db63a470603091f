"""A React Native package whose JavaScript and C++ run together as in an app: its code, its files, a case."""

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident
from typing import Any

import pytest

from tests.toolchain import jsc, node
from tests.toolchain.react_native import codegen, packages

SCRIPTS = jsc.HOST / "script"
MODULE = "Models"
ASSETS = f"mobpack/{MODULE}"
RESULT = re.compile(r"^RESULT (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class App:
    """A program with the package's C++, the package's JavaScript in one file, and a copy of its models beside them."""

    program: jsc.Program
    script: Path
    scratch: Path
    """folder that it may write to: the app's cache, and files of cases"""

    @property
    def bundle(self) -> Path:
        """The folder of the package's files. Replace them, do not write to them."""
        return self.program.path.parent / f"{MODULE}Models.bundle"

    def run(
        self,
        case: str,
        *,
        os: str = "ios",
        engine: str = "plain",
        onnxruntime: Path | None = None,
        environment: Mapping[str, str] | None = None,
        **plan: Any,
    ) -> Any:
        """Run a case of `script/` in an engine of host/Engine.h and give its result, or fail the test."""
        written = self.plan(case, os=os, **plan)
        done = self.program.run(
            self.script,
            written,
            onnxruntime=onnxruntime or jsc.onnxruntime(),
            environment={"XDG_CACHE_HOME": str(self.scratch / "caches"), "HOST_ENGINE": engine, **(environment or {})},
        )
        results = RESULT.findall(done.output)
        assert done.returncode == 0, done.output
        assert results, done.output
        return json.loads(results[-1])

    def plan(self, case: str, *, os: str = "ios", **plan: Any) -> Path:
        """The file with the script's instructions."""
        folders = {"scratch": str(self.scratch / case), "cache": str(self.scratch / "caches" / "android")}
        (self.scratch / case).mkdir(parents=True, exist_ok=True)
        path = self.scratch / f"{case}.json"
        made = path.with_name(f"{get_ident()}.new")  # the same case may run in another thread
        made.write_text(json.dumps({"case": case, "os": os, **folders, **plan}), encoding="utf-8")
        return made.replace(path)

    def replace(self, file: str, content: bytes) -> None:
        """Replace a file of the package."""
        (self.bundle / file).unlink()
        (self.bundle / file).write_bytes(content)


@dataclass(frozen=True)
class Code:
    """Native code that apps with the package share."""

    program: jsc.Program
    script: Path
    models: Path
    """the folder of the package's files for both platforms"""

    def app(self, folder: Path) -> App:
        """An app of its own in `folder`."""
        installed = folder / "app"
        installed.mkdir(parents=True)
        shutil.copy(self.program.path, installed / "app")
        for platform in ("both", "ios"):
            source = self.models / platform / ASSETS
            if source.is_dir():
                shutil.copytree(source, installed / f"{MODULE}Models.bundle", copy_function=_link, dirs_exist_ok=True)
        (folder / "scratch").mkdir()
        return App(jsc.Program(installed / "app"), self.script, folder / "scratch")


def build(built: packages.Built, folder: Path, project: str = jsc.NEWEST, main: str = "main.js") -> Code:
    """Compiles the C++ of a package, and packs its JavaScript and that of the cases into one file."""
    app = built.app(folder / "project", project)
    specs = codegen.for_ios(app, folder / "codegen", project=project)
    program = jsc.program(built.package, specs, MODULE, project=project)
    script = folder / "script.js"
    bundle(app, script, main)
    return Code(program, script, built.package / "models")


def bundle(app: Path, script: Path, main: str = "main.js", options: Sequence[str] = ()) -> None:
    """Packs the JavaScript of cases and of the packages in `app` into the file `script`; `options` are esbuild's."""
    project = node.project("react_native")
    done = node.run(
        [
            node.tool(project, "esbuild"),
            SCRIPTS / main,
            "--bundle",
            "--platform=neutral",  # not the browser's half of the package
            "--main-fields=main",
            '--define:process.env.NODE_ENV="production"',
            "--format=iife",
            "--target=es2022",
            "--log-level=warning",
            *(options or [f"--alias:react-native={SCRIPTS / 'react-native.js'}"]),
            f"--outfile={script}",
        ],
        cwd=app,
        environment={"NODE_PATH": str(app / "node_modules")},
    )
    assert done.returncode == 0, done.output
    assert not done.output, done.output


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # on another disk
        shutil.copy(source, target)


def code(factory: pytest.TempPathFactory) -> Code:
    """Of the package with several models."""
    return build(packages.several(factory), factory.mktemp("native"))
