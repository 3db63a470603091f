"""`mobpack runtime`: reduced builds of ONNX Runtime for the models of a project, and checks of them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import MODEL, json_option, print_json
from packager.cli.runtime_lint import lint
from packager.cli.runtime_xcframework import xcframework

if TYPE_CHECKING:
    from packager.targets.target import Target


@click.group(short_help="Make an ONNX Runtime of your own.")
def runtime() -> None:
    """Make an ONNX Runtime that contains only what your models need."""


runtime.add_command(lint)
runtime.add_command(xcframework)


@runtime.command(short_help="Write the recipe of a reduced ONNX Runtime.")
@click.option("--target", "-t", required=True, metavar="NAME", help="android, ios or web.")
@click.option(
    "--operators",
    "operator_configs",
    multiple=True,
    type=MODEL,
    metavar="FILE",
    help="Operator configuration that `mobpack build` or `convert` wrote. Repeatable; default: the last build's.",
)
@click.option(
    "--provider",
    "providers",
    multiple=True,
    metavar="NAME",
    help="Provider to include. Repeatable; default: those that packages for TARGET use.",
)
@click.option(
    "--abi", "abis", multiple=True, metavar="NAME", help="Android ABI to build: arm64-v8a ... Repeatable; default: all."
)
@click.option("--saved-optimizations", is_flag=True, help="Support models with saved runtime optimizations.")
@click.option(
    "--config", "-c", "config_path", type=MODEL, default=Path("mobpack.toml"), show_default=True, help="Project file."
)
@click.option("--out", "-o", type=MODEL, help="Folder to write to; default: runtime-TARGET in the current folder.")
@json_option
def recipe(
    target: str,
    operator_configs: tuple[Path, ...],
    providers: tuple[str, ...],
    abis: tuple[str, ...],
    saved_optimizations: bool,
    config_path: Path,
    out: Path | None,
    as_json: bool,
) -> None:
    """Write the recipe of a reduced ONNX Runtime: files that build it with Docker (Android), on a Mac (iOS), or with
    Emscripten (web)."""
    from packager.core.console import Console
    from packager.core.errors import ConfigError, ToolError
    from packager.render.templates import write_sources
    from packager.runtimes import operators
    from packager.runtimes import recipe as recipes

    table = _table(target, config_path)
    found = operator_configs or tuple(sorted(Path("dist", target).glob(f"*.{recipes.CONFIG}")))
    if not found and target in recipes.TARGETS:
        raise ConfigError(
            f"no operator configuration in dist/{target}",
            hint=f"run mobpack build --target {target} first, or pass a file with --operators",
        )
    made = recipes.recipe(
        target,
        [operators.read_config(path).required() for path in found],
        providers=providers or (table.providers if table else ()),
        abis=abis,
        min_sdk=getattr(table, "min_sdk", 0),  # an Android setting
        has_saved_optimizations=saved_optimizations,
    )
    out = out or Path(f"runtime-{target}")
    try:
        write_sources(made.sources, out)
    except OSError as error:
        raise ToolError(f"cannot write {out}: {error.strerror}", hint="choose another folder with --out") from error
    if as_json:
        files = [str(out / path) for path in made.sources.texts]
        print_json({"path": str(out), "version": made.version, "key": made.key, "files": files})
    else:
        Console().table("", ["recipe", "version", "key"], [[str(out), made.version, made.key[:16]]])
        if made.installs:
            Console().say(
                f"skipped: the build, which installs {made.installs} and takes most of an hour: sh {out}/build.sh"
            )


def _table(target: str, config_path: Path) -> "Target | None":
    """The target's table of the project file, or its defaults without a file; None for an unknown target."""
    from packager import config as configuration
    from packager.targets import TARGETS

    if target not in TARGETS:
        return None
    if not config_path.is_file():
        return TARGETS[target]()
    return configuration.load(config_path, targets=(target,)).targets()[target]
