"""Programs of tests in Swift in packages that `mobpack build` makes."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.toolchain import command
from tests.toolchain.swift import swift
from tests.toolchain.swift_app import App, build_in
from tests.toolchain.swift_packages import unpack


def build(project: Path, module: str, sources: Mapping[str, Path], change: Callable[[Path], None]) -> App:
    """Builds the project with an app: `sources` are its files, and C files for the C module.

    `change` may change the package before it is compiled.
    """
    swift()
    done = command.run("build", "--target", "ios", folder=project)
    assert done.returncode == 0, done.stderr
    return build_in(unpack(project / "dist/swift", project / "package"), module, sources, change)
