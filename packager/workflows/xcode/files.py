"""Files that mobpack writes beside an Xcode project: the script, and the lists of its inputs and outputs."""

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from packager.core import user_files
from packager.core.errors import ConfigError
from packager.files.atomic import atomic_file
from packager.render.templates import render
from packager.workflows.xcode.package import SwiftPackage

SCRIPT = "mobpack-build.sh"
INPUTS = "mobpack-inputs.xcfilelist"
OUTPUTS = "mobpack-outputs.xcfilelist"
UNUSABLE = re.compile(r"[\x00-\x1f\x7f$]")
"""Characters that Xcode cannot read in paths: it expands `$` as a build setting."""


@dataclass(frozen=True, kw_only=True)
class XcodeFolders:
    """Folders on this machine; written files refer to each other by relative paths only."""

    config: Path
    """mobpack.toml"""
    dist: Path
    """of the release"""
    out: Path
    """of the script and the lists"""
    source_root: Path
    """the folder that Xcode calls SRCROOT: that of the .xcodeproj"""


@dataclass(frozen=True, kw_only=True)
class XcodeScriptView:
    """mobpack-build.sh; paths are shell words, relative to the script's folder."""

    folder: str
    """of the project file"""
    config: str
    """its name"""
    dist: str
    source_root: str


def integration(layout: XcodeFolders, package: SwiftPackage, inputs: Iterable[Path]) -> Mapping[str, str]:
    """File names in `layout.out` -> texts. Raises ConfigError for a path that Xcode cannot read."""
    view = XcodeScriptView(
        folder=shlex.quote(relative(layout.config.parent, layout.out)),
        config=shlex.quote(layout.config.name),
        dist=shlex.quote(relative(layout.dist, layout.out)),
        source_root=shlex.quote(relative(layout.source_root, layout.out)),
    )
    return {
        SCRIPT: render(f"xcode/{SCRIPT}.j2", view),
        INPUTS: file_list(inputs, layout.source_root),
        OUTPUTS: file_list(package.files, layout.source_root),
    }


def write(texts: Mapping[str, str], out: Path) -> tuple[Path, ...]:
    """Writes those of `texts` that changed, and returns their paths: Xcode compares modification times.

    Raises ToolError when the folder cannot be written to.
    """
    written = []
    for name in sorted(texts):
        path = out / name
        content = texts[name].encode()
        if path.is_file() and path.read_bytes() == content:
            continue
        with atomic_file(path) as file:
            file.write(content)
            if path.suffix == ".sh":
                Path(file.name).chmod(0o755)
        written.append(path)
    return tuple(written)


def file_list(paths: Iterable[Path], source_root: Path) -> str:
    """The text of an .xcfilelist."""
    return "".join(f"{line}\n" for line in sorted({in_xcode(path, source_root) for path in paths}))


def in_xcode(path: Path, source_root: Path) -> str:
    """`path` as written in Xcode's file lists and phases."""
    found = relative(path, source_root)
    if UNUSABLE.search(found):
        raise ConfigError(
            f"Xcode cannot read the path {path}",
            hint="rename it: Xcode's file lists allow no dollar signs or control characters",
        )
    return f"$(SRCROOT)/{found}"


def relative(path: Path, folder: Path) -> str:
    """Relative path from `folder` to `path`, links resolved."""
    return Path(os.path.relpath(user_files.resolved(path), user_files.resolved(folder))).as_posix()
