"""`mobpack verify --rebuild`: reads the project, and prints what was built again."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ConfigError

if TYPE_CHECKING:
    from packager.config import Config
    from packager.distribution.provenance import BuildParameters
    from packager.workflows.rebuild import Rebuilt


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a release is built again."""

    is_fresh: bool
    has_code: bool
    """whether functions and programs that the project names may run"""
    model_key: str | None
    """where the key is that its models are encrypted with"""


def rebuild(release: Path, config_path: Path, how: Options, *, as_json: bool) -> "Rebuilt":
    """Builds `release` again. Raises ConfigError for code that may not run, GateError if a file differs; with
    `as_json`, its document has all differences."""
    from packager.cli.build import read_key
    from packager.cli.project_options import ProjectOptions
    from packager.core.console import Console
    from packager.core.to_json import plain
    from packager.workflows import rebuild as workflow

    project = config_path / "mobpack.toml" if config_path.is_dir() else config_path
    if not project.is_file():
        raise ConfigError(
            f"--rebuild needs the project that {release} was built from, and {project} is missing",
            hint="check out its sources, and name their folder with --config",
        )

    def configure(parameters: "BuildParameters") -> "Config":
        options = ProjectOptions(
            config_path=project,
            targets=parameters.targets,
            settings=parameters.settings,
            shapes=parameters.shapes,
            no_code=not how.has_code,
        )
        return options.config()

    key = read_key(how.model_key, project.parent) if how.model_key else None
    console = Console(quiet=as_json)
    found = workflow.rebuild(release, project, configure, console, is_fresh=how.is_fresh, model_key=key)
    if found.differences:
        if not as_json:
            show(release, found)
        error = workflow.refusal(release, found)
        error.document = {"release": str(release), "rebuilt": plain(found)}
        raise error
    return found


def show(release: Path, found: "Rebuilt") -> None:
    """Prints which files are the same, which are not, and how much of the build truly ran."""
    from packager.core.console import Console

    console = Console()
    for each in found.differences:
        console.result(f"differs: {each.sentence}")
    for change in found.changes:
        console.result(f"built of something else: {change.history}")
    count = len(found.differences)
    if not count:
        console.result(f"{release}: built again, and all {found.files} files are the same bytes")
    else:
        console.result(
            f"{release}: built again; {found.files} files are the same, {count} {'differs' if count == 1 else 'differ'}"
        )
    console.result(_extent(found))
    for beyond in found.not_locked:
        console.result(f"not locked: {beyond}")


def _extent(found: "Rebuilt") -> str:
    if not found.is_fresh:
        return "results of earlier builds were used (--cached): this compares files, and proves nothing about the steps"
    installed = f"; used as installed: {', '.join(found.installed)}" if found.installed else ""
    return f"{sum(found.steps.values())} results of {len(found.steps)} steps were computed in an empty store{installed}"
