"""The files that a build reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packager import models
from packager.config import Config
from packager.core.errors import ConfigError
from packager.core.user_functions import is_function
from packager.workflows.trust import refuse_code


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Everything that a build reads of the user's."""

    files: tuple[Path, ...]
    """sorted; those of `folders` among them"""
    folders: tuple[Path, ...]
    """whose files are read, whichever there are"""
    unlisted: str = ""
    """what else the build depends on, in words; empty where this is all"""


def inputs_of(config: Config, targets: Sequence[str], project: Path | None) -> Inputs:
    """What a build of `config` for `targets` reads; `project` is the file that says so, where there is one.

    Raises ModelError for a model that cannot be read.
    """
    beside = project.parent if project else Path.cwd()
    named = [*([project] if project else []), *model_files(config)]
    named += [*sample_files(config, targets, beside), *runtime_files(config)]
    return Inputs(
        files=tuple(sorted({file for each in named for file in files_in(each)})),
        folders=tuple(sorted({each for each in named if each.is_dir()})),
        unlisted=unlisted(config, targets),
    )


def unlisted(config: Config, targets: Sequence[str]) -> str:
    """What a build depends on and nobody can list."""
    try:
        refuse_code(config)
    except ConfigError:
        return "code of the project"
    if config.runtime.android or config.runtime.ios:
        return "an ONNX Runtime of the project's own"
    known = config.targets()
    return next((known[name].outside() for name in targets if name in known and known[name].outside()), "")


def model_files(config: Config) -> Iterator[Path]:
    """Models with the files that their weights lie in, licences, and the labels that contracts name."""
    for name, table in config.model.items():
        yield table.path
        yield from models.load(table.path, name).data_files
        if table.license:
            yield table.license
        for kind in (*table.inputs.values(), *table.outputs.values()):
            yield from (value for value in vars(kind).values() if isinstance(value, Path))


def sample_files(config: Config, targets: Sequence[str], folder: Path) -> Iterator[Path]:
    """What models are compared, calibrated and judged on: files, folders, and modules with functions for that."""
    yield from (path for path in (config.parity.samples, config.parity.recorded) if path)
    known = config.targets()
    for variant in dict.fromkeys(known[name].variant for name in targets if name in known):
        quantizer = config.quantizer_of(variant)
        calibration = getattr(quantizer, "calibration", None)
        named = [getattr(quantizer, "metric", ""), calibration.samples if calibration else ""]
        yield from (module_file(text, folder) for text in named if is_function(text))
        if calibration and not calibration.is_function:
            yield Path(calibration.samples)


def module_file(function: str, folder: Path) -> Path:
    """Where the module of `package.module:function` lies, if it is one of the project's."""
    return folder.joinpath(*function.partition(":")[0].split(".")).with_suffix(".py")


def runtime_files(config: Config) -> Iterator[Path]:
    """An ONNX Runtime of the user's own, where it is on this disk, and the operator configuration beside it."""
    runtime = config.runtime
    if runtime.ios:  # an address is no file and adds none
        path = Path(runtime.ios)
        yield path
        yield from [runtime.config] if runtime.config else sorted(path.parent.glob("*.config"))


def files_in(path: Path) -> Iterator[Path]:
    """`path` where it is a file, and every file below it where it is a folder; nothing where it is missing."""
    if path.is_dir():
        yield from (each for each in path.rglob("*") if each.is_file())
    elif path.is_file():
        yield path
