"""The samples that `[parity] samples` names: .npz files with one sample each, keyed by input name."""

import zipfile
from pathlib import Path

from packager.errors import ConfigError
from packager.samples.sample import SampleSet
from packager.values import Model


def given(model: Model, source: Path) -> SampleSet:
    """The .npz files of `source`, `[parity] samples`, that are for `model`; ConfigError when they do not fit it."""
    own = source / model.name
    paths = files(own if own.is_dir() else source)
    if not paths:
        raise ConfigError(
            f"[parity] samples: no .npz files in {source}", hint="save them with numpy.savez(file, input_name=array)"
        )
    for path in paths:
        _check_sample(path, model)
    return SampleSet(paths=paths, description=f"{len(paths)} given")


def files(source: Path | None) -> tuple[Path, ...]:
    """The .npz files that `[parity] samples` names, subfolders included, in order; ConfigError when it is not there."""
    if source is None:
        return ()
    if not source.exists():
        raise ConfigError(f"[parity] samples: not found: {source}", hint="give an .npz file or a folder of them")
    return tuple(sorted(source.glob("**/*.npz"))) if source.is_dir() else (source,)


def _check_sample(path: Path, model: Model) -> None:
    import numpy

    try:
        with zipfile.ZipFile(path), numpy.load(path) as arrays:
            names = {name for name in arrays.files if arrays[name].ndim >= 0}  # reads each: objects are refused
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise ConfigError(
            f"{path}: not an .npz file ({error})", hint="save it with numpy.savez(file, input_name=array)"
        ) from error
    wanted = {spec.name for spec in model.signature.inputs}
    if names != wanted:
        raise ConfigError(
            f"{path}: holds {', '.join(sorted(names)) or 'nothing'}; the model takes {', '.join(sorted(wanted))}",
            hint="key the arrays by the model's input names",
        )
