"""The files that a build reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packager import models
from packager.config import Config, ModelTable
from packager.core.errors import ConfigError
from packager.core.user_functions import is_function
from packager.quantization.scales import file_for
from packager.targets.target import variants_of
from packager.workflows.importing.project import is_imported
from packager.workflows.requested import targets_of
from packager.workflows.trust import refuse_code


@dataclass(frozen=True, kw_only=True)
class BuildInputs:
    """Everything that a build reads of the user's."""

    files: tuple[Path, ...]
    """sorted; those of `folders` among them"""
    folders: tuple[Path, ...]
    """whose files are read, whichever there are"""
    unlisted: str = ""
    """what else the build depends on, in words; empty if nothing"""


def inputs_of(config: Config, targets: Sequence[str], project: Path | None) -> BuildInputs:
    """Inputs of a build of `config` for `targets`; `project` is the project file, if there is one.

    Raises ModelError for a model that cannot be read.
    """
    beside = project.parent if project else Path.cwd()
    named = [*([project] if project else []), *config.package.files, *model_files(config)]
    named += [*sample_files(config, targets, beside), *runtime_files(config), *scale_files(config, targets)]
    return BuildInputs(
        files=tuple(sorted({file for each in named for file in files_in(each)})),
        folders=tuple(sorted({each for each in named if each.is_dir()})),
        unlisted=unlisted(config, targets),
    )


def unlisted(config: Config, targets: Sequence[str]) -> str:
    """The first thing that a build depends on beyond files that can be listed, in words; empty if there is none."""
    try:
        refuse_code(config)
    except ConfigError:
        return "code of the project"
    if config.runtime.named:
        return "an ONNX Runtime of the project's own"
    known = config.targets()
    return next((known[name].outside() for name in targets if name in known and known[name].outside()), "")


def model_files(config: Config) -> Iterator[Path]:
    """Models, their external weights, licences, and the files that contracts name."""
    for table in config.model.values():
        yield from sources_of(table)
        if table.license:
            yield table.license
        for kind in (*table.inputs.values(), *table.outputs.values()):
            yield from (value for value in vars(kind).values() if isinstance(value, Path))


def sources_of(table: ModelTable) -> Iterator[Path]:
    """The files of one model, with their external weights."""
    if table.importer.samples:
        yield table.importer.samples
    for path in filter(None, (table.path, table.encoder, table.with_past)):
        yield path
        if not is_imported(path, table.importer):
            yield from models.data_files_of(path)


def sample_files(config: Config, targets: Sequence[str], folder: Path) -> Iterator[Path]:
    """Samples for comparison, calibration and metrics: files, folders, and modules with functions."""
    yield from (path for path in (config.parity.samples, config.parity.recorded) if path)
    for variant in _variants(config, targets):
        quantizer = config.quantizer_of(variant)
        calibration = getattr(quantizer, "calibration", None)
        named = [getattr(quantizer, "metric", ""), calibration.samples if calibration else ""]
        yield from (module_file(text, folder) for text in named if is_function(text))
        if calibration and not calibration.is_function:
            yield Path(calibration.samples)


def scale_files(config: Config, targets: Sequence[str]) -> Iterator[Path]:
    """Files with the scales of the version before, for each model and variant that names some."""
    for variant in _variants(config, targets):
        source: Path | None = getattr(config.quantizer_of(variant), "scales_from", None)
        found = [file_for(source, model, variant) for model in config.model] if source else []
        yield from filter(None, found)


def _variants(config: Config, targets: Sequence[str]) -> tuple[str, ...]:
    """The variants in the packages of `targets`."""
    return tuple(dict.fromkeys(each for target in targets_of(config, targets).values() for each in variants_of(target)))


def module_file(function: str, folder: Path) -> Path:
    """Path of the module of `package.module:function`, assuming that it belongs to the project."""
    return folder.joinpath(*function.partition(":")[0].split(".")).with_suffix(".py")


def runtime_files(config: Config) -> Iterator[Path]:
    """The local ONNX Runtimes of `[runtime]`, and the operator configurations beside them."""
    for path in config.runtime.local.values():
        yield path
        yield from [config.runtime.config] if config.runtime.config else sorted(path.parent.glob("*.config"))


def files_in(path: Path) -> Iterator[Path]:
    """`path` if it is a file, every file below it if it is a folder; nothing if it is missing."""
    if path.is_dir():
        yield from (each for each in path.rglob("*") if each.is_file())
    elif path.is_file():
        yield path
