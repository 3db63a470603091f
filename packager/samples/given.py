"""Samples of `[parity] samples`: .npz files with one sample each, keyed by input name, or raw files for models with a
contract."""

from collections.abc import Iterator
from pathlib import Path

from packager.core.errors import ConfigError
from packager.core.sample_settings import Settings
from packager.core.user_files import opened
from packager.core.values import Model
from packager.files.zips import DAMAGE, ONE_SAMPLE, opened_zip
from packager.samples.folder import CONVERSATION, KINDS, TEXTS, size_of
from packager.samples.raw import raw_input
from packager.samples.reading import read
from packager.samples.sample import SampleSet, write_arrays
from packager.samples.source import SampleSource, source_of


def given(model: Model, source: Path, folder: Path) -> SampleSet:
    """The samples for `model` in `source`, `[parity] samples`; pictures and recordings are converted to .npz files in
    `folder`. Raises ConfigError if they do not fit the model."""
    own = source / model.name
    chosen = own if own.is_dir() else source
    paths = files(chosen)
    if not paths or any(path.suffix.lower() != ".npz" for path in paths):
        if raw_input(model) is None or not paths:
            raise _no_files(chosen)
        return SampleSet(paths=tuple(_prepared(model, chosen, folder)), description=f"{len(paths)} given")
    for path in paths:
        _check_sample(path, model)
    return SampleSet(paths=paths, description=f"{len(paths)} given")


def typical(source: SampleSource, folder: Path) -> SampleSet:
    """Samples of a quantizer's calibration, as .npz files in `folder`. Raises ConfigError for unreadable ones."""
    paths = tuple(_written(source, folder))
    samples = "calibration sample" if len(paths) == 1 else "calibration samples"
    return SampleSet(paths=paths, description=f"{len(paths)} {samples}")


def _prepared(model: Model, source: Path, folder: Path) -> Iterator[Path]:
    """Inputs of the model for each picture or recording of `source`, written below `folder`."""
    return _written(source_of(str(source), model, Settings()), folder)


def _written(source: SampleSource, folder: Path) -> Iterator[Path]:
    for number, sample in enumerate(read(source)):
        for problem in sample.errors:
            raise ConfigError(problem.text, hint=problem.hint)
        path = folder / f"given-{number:05}.npz"
        write_arrays(path, sample.arrays)
        yield path


def files(source: Path | None) -> tuple[Path, ...]:
    """The files of `[parity] samples`, including subfolders, in order: .npz, or if there are none, pictures and
    recordings, or texts and conversations. Raises ConfigError for missing or irregular files."""
    if source is None:
        return ()
    if not source.exists():
        raise ConfigError(f"[parity] samples: not found: {source}", hint="name an .npz file or a folder of them")
    found = sorted(source.glob("**/*.npz")) if source.is_dir() else [source]
    found = found or sorted(path for path in source.glob("**/*") if path.suffix.lower() in KINDS)
    found = found or sorted(path for path in source.glob("**/*") if path.suffix.lower() in (TEXTS, CONVERSATION))
    for path in found:
        size_of(path)
    return tuple(found)


def refuse_no_samples(source: Path) -> None:
    """Raises ConfigError if `[parity] samples` do not exist, or hold nothing that can be a sample."""
    if not files(source):
        raise _no_files(source)


def _no_files(source: Path) -> ConfigError:
    return ConfigError(
        f"[parity] samples: no samples in {source}",
        hint="save .npz files with numpy.savez(file, input_name=array), or, for a model with a contract, pictures, "
        ".wav files or texts; several models have a folder each, with the model's name",
    )


def _check_sample(path: Path, model: Model) -> None:
    import numpy

    try:
        with opened(path) as file, opened_zip(file, ONE_SAMPLE), numpy.load(file) as arrays:
            names = {
                name for name in arrays.files if arrays[name].ndim >= 0
            }  # reading each array rejects those of objects
    except (*DAMAGE, MemoryError) as error:
        raise ConfigError(
            f"{path}: not an .npz file ({error})", hint="save it with numpy.savez(file, input_name=array)"
        ) from error
    wanted = {spec.name for spec in model.signature.inputs}
    if names != wanted:
        raise ConfigError(
            f"{path}: holds {', '.join(sorted(names)) or 'nothing'}; the model needs {', '.join(sorted(wanted))}",
            hint="key the arrays by the model's input names",
        )
