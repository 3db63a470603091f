"""Converts pictures, recordings and texts to the inputs of a model as the contract of its project says."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from packager import config
from packager.config import Config, ModelTable
from packager.contract import CarriedInput
from packager.contract.kind import Expanding
from packager.contract.preparation import preparation, prepared_names
from packager.core import user_files
from packager.core.console import Console
from packager.core.errors import ConfigError, ModelError
from packager.core.values import Model, baseline
from packager.files.store import Store
from packager.quantizers import Calibration
from packager.samples import SampleSet, Settings, folder, source_of
from packager.samples.fit import DTYPES
from packager.samples.reading import read
from packager.samples.sample import write_arrays
from packager.verification import parity
from packager.verification.parity.outcomes import array_of

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, kw_only=True)
class SampleProject:
    """A project file, and its table of one model."""

    path: Path
    name: str
    """of the model"""
    table: ModelTable


def project_of(model: Path) -> SampleProject | None:
    """The project whose file lies beside `model`, or in the current folder, and describes an input of it.

    Raises ConfigError for a project file with mistakes.
    """
    for parent in dict.fromkeys((model.absolute().parent, Path.cwd())):
        path = parent / config.FILE_NAME
        if path.is_file() and (found := _named(config.load(path), path, model)):
            return found
    return None


def _named(project: Config, path: Path, model: Path) -> SampleProject | None:
    own = user_files.resolved(model)
    return next(
        (
            SampleProject(path=path, name=name, table=table)
            for name, table in project.model.items()
            if table.inputs and user_files.resolved(table.path) == own
        ),
        None,
    )


def by_contract(model: Model, calibration: Calibration, scratch: Path, store: Store, console: Console) -> Calibration:
    """`calibration` with files for apps' inputs converted to those of `model`, in `scratch`, by the contract of its
    project. Unchanged without such a project, for arrays and functions, and where the settings state a conversion."""
    path = Path(calibration.samples)
    if calibration.is_function or not path.exists() or calibration.image.is_stated or calibration.audio.is_stated:
        return calibration
    if folder.find(path).kind == "arrays":
        return calibration
    project = project_of(model.path)
    if project is None:
        return calibration
    filled = _filled(model, project.table)
    made = _preparation(model, project, filled)
    console.say(f"  samples are converted by [model.{project.name}.inputs] of {project.path}")
    target = scratch / path.name
    target.mkdir()
    with console.step(f"convert samples of {path.name}"), store.scratch() as folder_of_runs:
        _convert(model, made, filled, calibration, target, folder_of_runs)
    return replace(calibration, samples=str(target), limit=None)


def _filled(model: Model, table: ModelTable) -> Mapping[str, int | None]:
    """Inputs of a model of texts that apps do not pass, as `Expanding.left_out` has them."""
    found = [kind for kind in table.outputs.values() if isinstance(kind, Expanding)]
    return found[0].left_out(model.signature) if found and not table.encoder else {}


def _preparation(model: Model, project: SampleProject, filled: Mapping[str, int | None]) -> Model:
    """Raises ConfigError for tables that do not fit the model."""
    given = {after: before for before, after in project.table.rename.items()}
    inputs = {given.get(name, name): kind for name, kind in project.table.inputs.items()}
    inputs |= {name: CarriedInput(output=name) for name in filled}
    try:
        return preparation(replace(model, name=project.name), inputs)
    except ConfigError as error:
        raise ConfigError(f"{project.path}: {error.message}", hint=error.hint) from error


def _convert(
    model: Model,
    made: Model,
    filled: Mapping[str, int | None],
    calibration: Calibration,
    target: Path,
    scratch: Path,
) -> None:
    import numpy

    source = source_of(calibration.samples, made, Settings(limit=calibration.limit))
    names = prepared_names(made)
    states = [spec for spec in model.signature.inputs if spec.name not in names]
    shapes = {spec.name: [size if isinstance(size, int) else 0 for size in spec.shape] for spec in states}
    zeros = {spec.name: numpy.zeros(shapes[spec.name], DTYPES[spec.element]) for spec in states}
    given = []
    for number, sample in enumerate(read(source)):
        for problem in sample.errors:
            raise ConfigError(problem.text, hint=problem.hint)
        given.append(scratch / f"{number:06}.npz")
        write_arrays(given[-1], sample.arrays)
    paths = SampleSet(paths=tuple(given), description="")
    for path, outcome in zip(given, parity.run_original(baseline(made), paths, scratch / "runs"), strict=True):
        if outcome.error:
            raise ModelError(
                f"{calibration.samples}: sample {path.stem} cannot be converted: {outcome.error}",
                hint="remove it, or correct the table of the input in mobpack.toml",
            )
        arrays = {name: array_of(outcome, index) for index, name in enumerate(names)}
        write_arrays(target / path.name, {**arrays, **zeros, **dict(_of_tokens(model, filled, arrays))})


def _of_tokens(
    model: Model, filled: Mapping[str, int | None], arrays: "Mapping[str, numpy.ndarray]"
) -> "Iterator[tuple[str, numpy.ndarray]]":
    """The mask and the positions of the tokens in `arrays`."""
    import numpy

    elements = {spec.name: DTYPES[spec.element] for spec in model.signature.inputs}
    for name, step in filled.items():
        if step is not None:
            (ids,) = arrays.values()
            numbers = numpy.arange(ids.shape[-1]) if step else numpy.ones(ids.shape[-1])
            yield name, numpy.broadcast_to(numbers, ids.shape).astype(elements[name])
