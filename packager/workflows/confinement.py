"""Files shipped as they are must lie below the project or the model, and must not be hidden.

Otherwise, an untrusted project could ship any file of the build machine.
"""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from packager.config import Config
from packager.core import characters, user_files
from packager.core.errors import ConfigError
from packager.core.values import data_folder

MAX_LICENSE_BYTES = 4 << 20


def refuse_outside(config: Config, project: Path, *, is_outside_allowed: bool = False) -> None:
    """Raises ConfigError for a licence, labels file or alphabet that is not a regular file, is too large, is hidden,
    or, with links resolved, lies neither below the folder `project` nor below that of the model."""
    for name, table in config.model.items():
        for key, path in _shipped(config, name):
            try:
                user_files.opened(path, limit_bytes=MAX_LICENSE_BYTES if key == "license" else None).close()
            except FileNotFoundError:
                continue  # `absent` names it, with all else that is missing
            except OSError as error:
                raise ConfigError(
                    f"model.{name}.{key}: {path}: {error.strerror or error}",
                    hint="paths are relative to mobpack.toml",
                ) from error
            if key == "license":
                _refuse_unseen(f"model.{name}.license", path)
            folders = [user_files.resolved(folder) for folder in (project, table.path.parent, data_folder(table.path))]
            if not is_outside_allowed and not any(_is_below(user_files.resolved(path), folder) for folder in folders):
                raise ConfigError(
                    f"model.{name}.{key}: {path} is hidden or outside the project and the model's folder",
                    hint="copy it beside mobpack.toml, or pass --allow-outside to ship it",
                )


def absent(config: Config) -> Iterator[ConfigError]:
    """An error for each licence, labels file or alphabet that does not exist."""
    for name in config.model:
        for key, path in _shipped(config, name):
            if not path.exists():
                what = f"model.{name}.{key}: {path}: {os.strerror(errno.ENOENT)}"
                yield ConfigError(what, hint="paths are relative to mobpack.toml")


def _refuse_unseen(key: str, path: Path) -> None:
    """Raises ConfigError for a licence with invisible or misleading characters; page breaks, common in old licences,
    are allowed."""
    text = user_files.read(path, limit_bytes=MAX_LICENSE_BYTES).decode("utf-8-sig", "replace").replace("\f", "")
    for number, line in enumerate(text.split("\n"), 1):
        if character := characters.unseen(line):
            raise ConfigError(
                f"{key}: {path}:{number}: {characters.in_words(character)} is not allowed in a licence",
                hint="remove it: packages contain no invisible or text-reversing characters",
            )


def _shipped(config: Config, name: str) -> Iterator[tuple[str, Path]]:
    """Keys of the table [model.NAME] that name such files, and the files."""
    table = config.model[name]
    if table.license:
        yield "license", table.license
    for family, kinds in (("inputs", table.inputs), ("outputs", table.outputs)):
        for tensor, kind in kinds.items():
            found = ((key, value) for key, value in vars(kind).items() if isinstance(value, Path))
            yield from ((f"{family}.{tensor}.{key}", value) for key, value in found)


def _is_below(path: Path, folder: Path) -> bool:
    """Whether `path` lies in `folder` with no hidden folder in between."""
    return path.is_relative_to(folder) and not any(part.startswith(".") for part in path.relative_to(folder).parts)
