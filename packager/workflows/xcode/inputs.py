"""Input files of a build, so that Xcode knows when to build again."""

from collections.abc import Iterator
from pathlib import Path

from packager import models
from packager.config import Config
from packager.core.user_functions import is_function

TARGET = "ios"


def input_files(config: Config, path: Path) -> tuple[Path, ...]:
    """Every file that an iOS build of `config` reads, including the project file `path`, sorted.

    Raises ModelError for a model that cannot be read.
    """
    found = [path, *model_files(config), *sample_files(config, path.parent), *runtime_files(config)]
    return tuple(sorted({file for each in found for file in files_in(each)}))


def model_files(config: Config) -> Iterator[Path]:
    """Models, their external weights, licences, and the files that contracts name."""
    for name, table in config.model.items():
        yield table.path
        yield from models.load(table.path, name).data_files
        if table.license:
            yield table.license
        for kind in (*table.inputs.values(), *table.outputs.values()):
            yield from (value for value in vars(kind).values() if isinstance(value, Path))


def sample_files(config: Config, folder: Path) -> Iterator[Path]:
    """Samples for comparison, calibration and metrics: files, folders, and modules with functions."""
    yield from (path for path in (config.parity.samples, config.parity.recorded) if path)
    quantizer = config.quantizer_of(config.targets()[TARGET].variant)
    calibration = getattr(quantizer, "calibration", None)
    named = [getattr(quantizer, "metric", ""), calibration.samples if calibration else ""]
    yield from (module_file(text, folder) for text in named if is_function(text))
    if calibration and not calibration.is_function:
        yield Path(calibration.samples)


def module_file(function: str, folder: Path) -> Path:
    """Path of the module of `package.module:function`, assuming that it belongs to the project."""
    return folder.joinpath(*function.partition(":")[0].split(".")).with_suffix(".py")


def runtime_files(config: Config) -> Iterator[Path]:
    """The local ONNX Runtime of `[runtime]`, and the operator configuration beside it."""
    runtime = config.runtime
    if runtime.ios:  # an https address yields nothing: files_in skips paths that do not exist
        path = Path(runtime.ios)
        yield path
        yield from [runtime.config] if runtime.config else sorted(path.parent.glob("*.config"))


def files_in(path: Path) -> Iterator[Path]:
    """`path` if it is a file, every file below it if it is a folder; nothing if it is missing."""
    if path.is_dir():
        yield from (each for each in path.rglob("*") if each.is_file())
    elif path.is_file():
        yield path
