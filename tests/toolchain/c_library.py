"""Shared libraries in C for programs of this machine, as tests need them."""

from collections.abc import Sequence
from pathlib import Path

from packager.core.errors import ToolError
from packager.engines.environments import bionic, zig
from packager.files.processes import commands
from tests.toolchain.require import require

ON_ITS_OWN = ("-fno-sanitize=undefined", "-rtlib=none")
"""Options without which zig compiles two libraries of its own before it links anything: 17 s."""


def build(source: Path, library: Path, *options: str) -> Path:
    """Compiles and links `library`. Skips the test without a compiler on a laptop; raises ToolError for wrong C."""
    try:
        compiler = zig.compiler()
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
        raise
    command: Sequence[str | Path] = [compiler, "cc", "-target", bionic.ZIG_TARGET, "-shared", "-fPIC", *ON_ITS_OWN]
    commands.run([*command, *options, source, "-o", library], what=f"compiling {library.name}")
    return library
