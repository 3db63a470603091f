"""Options that say which models a command reads, and how."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from packager.cli.options import Command, parse_shapes

if TYPE_CHECKING:
    from packager.config import Config

Options = TypeVar("Options")


def into(kind: type[Options]) -> Callable[[Callable[[Options], None]], Command]:
    """Gives a command its options as one `kind`, whose fields have the names of click's parameters."""

    def decorate(command: Callable[[Options], None]) -> Command:
        @functools.wraps(command)
        def run(**options: object) -> None:
            command(kind(**options))

        return run

    return decorate


@dataclass(frozen=True, kw_only=True)
class ProjectOptions:
    """A MODEL or a project file, and what the command line changes of it."""

    model: Path | None = None
    config_path: Path
    targets: tuple[str, ...] = ()
    settings: tuple[str, ...]
    shapes: tuple[str, ...] = ()
    cache_url: str | None = None
    no_code: bool = False

    @property
    def folder(self) -> Path:
        """The project's folder: that of mobpack.toml, or the current folder when a MODEL is given."""
        return self.config_path.parent if self.model is None else Path.cwd()

    def config(self) -> "Config":
        """The Config. Raises ConfigError if it names code of the project and `no_code` is set, or for a mode of the
        remote store that does not exist."""
        from packager import config as configuration
        from packager.workflows import trust
        from packager.workflows.importing.project import refuse_absent

        if self.model is None:
            config = configuration.load(self.config_path, targets=self.targets, settings=self.settings)
        else:
            config = configuration.for_model(self.model, targets=self.targets, settings=self.settings)
            refuse_absent(self.model)
        if self.no_code:
            trust.refuse_code(config)
        return with_shapes(with_cache(config, self.cache_url), self.shapes)


def with_cache(config: "Config", option: str | None) -> "Config":
    """The Config with the remote store of `--cache` or the environment. Raises ConfigError for a mode that does not
    exist."""
    from packager.workflows.shared_store import named

    return config.model_copy(update={"cache": named(config.cache, option)})


def with_shapes(config: "Config", shapes: tuple[str, ...]) -> "Config":
    """The Config with `--shape` applied to every model."""
    if not shapes:
        return config
    fixed = parse_shapes(shapes)
    models = {
        name: table.model_copy(update={"shapes": {**table.shapes, **fixed}}) for name, table in config.model.items()
    }
    return config.model_copy(update={"model": models})
