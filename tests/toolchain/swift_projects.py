"""Programs of tests in Swift in packages that `mobpack build` makes."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.toolchain.swift import swift
from tests.toolchain.swift_app import App, build_in
from tests.toolchain.swift_packages import unpack


def build(project: Path, module: str, sources: Mapping[str, Path], change: Callable[[Path], None]) -> App:
    """Builds the project with an app: `sources` are its files, and C files for the C module.

    `change` may change the package before it is compiled.
    """
    swift()
    command = [sys.executable, "-m", "packager.cli", "build", "--target", "ios"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return build_in(unpack(project / "dist/swift", project / "package"), module, sources, change)
