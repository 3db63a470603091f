"""Reads and writes project.pbxproj with the library pbxproj; projects that it does not understand are never written."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core import user_files
from packager.core.errors import ConfigError, ToolError, nearest
from packager.files.atomic import atomic_file

if TYPE_CHECKING:
    from pbxproj import XcodeProject

START = "// !$*UTF8*$!"
FILE = "project.pbxproj"
MAX_BYTES = 256 << 20
KNOWN_ESCAPES = "\"'\\nt0"
APPLICATION = "com.apple.product-type.application"


def read_project(path: Path) -> "XcodeProject":
    """The project in the folder `path`.

    Raises ToolError without the library, ConfigError if `path` is not a project, is damaged, or holds data that
    rewriting would lose.
    """
    library()
    from pbxproj import XcodeProject

    file = path / FILE
    try:
        text = user_files.read_text(file, limit_bytes=MAX_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}", hint="pass the folder App.xcodeproj of the app") from error
    tree = parsed(text, file)
    project = XcodeProject(tree, str(file))
    if not text.startswith(START) or has_unknown_escapes(text) or parsed(repr(project), file) != tree:
        raise ConfigError(f"{file} is not in Xcode's format", hint="open the project in Xcode and save it")
    return project


def library() -> None:
    try:
        import pbxproj  # noqa: F401
    except ImportError as error:
        raise ToolError(
            "the library pbxproj, which edits Xcode projects, is not installed",
            hint="run: pip install 'mobpack[xcode]'",
        ) from error


def parsed(text: str, file: Path) -> Mapping[str, Any]:
    """The property list as dictionaries, lists and texts. Raises ConfigError if it is damaged."""
    from openstep_parser import OpenStepDecoder

    try:
        tree = OpenStepDecoder.ParseFromString(text)
        is_project = tree["rootObject"] in tree["objects"]
    except Exception as error:  # the parser raises plain Exception, or IndexError where the text ends
        raise ConfigError(f"{file} is damaged: {error}", hint="restore it, then run mobpack xcode again") from error
    if not is_project:
        raise ConfigError(
            f"{file} is damaged: its root object is missing", hint="restore it, then run mobpack xcode again"
        )
    return tree  # type: ignore[no-any-return]


def has_unknown_escapes(text: str) -> bool:
    """Whether the text has escapes that the library would read as backslashes and write back doubled."""
    return any(letter not in KNOWN_ESCAPES for letter in re.findall(r"\\(.)", text, re.DOTALL))


def write_project(project: "XcodeProject", path: Path) -> bool:
    """Writes the project into the folder `path` if it changed; returns whether it did."""
    file = path / FILE
    content = f"{project!r}\n".encode()
    if content == file.read_bytes():
        return False
    with atomic_file(file) as written:
        written.write(content)
    return True


def app_target(project: "XcodeProject", name: str) -> Any:
    """The target `name`; without a name, the only application. Raises ConfigError if there is no such target."""
    targets = {target.name: target for target in project.objects.get_objects_in_section("PBXNativeTarget")}
    applications = [target for target in targets.values() if target["productType"] == APPLICATION]
    if not name and len(applications) == 1:
        return applications[0]
    if not name:
        raise ConfigError(
            f"the project has {len(applications)} applications",
            hint=f"name one with --app-target: {', '.join(targets)}",
        )
    if name not in targets:
        raise ConfigError(f"the project has no target '{name}'", hint=nearest(name, targets))
    return targets[name]
