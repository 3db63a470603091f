"""Chooses the files of a repository that make the model."""

from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import PurePosixPath

from packager.core.errors import ConfigError, nearest
from packager.workflows.importing.hub.naming import HubModel, is_inside

CONFIG = "config.json"
WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
"""of transformers, the first kind that is there"""
WITH_THEM = (
    "*.safetensors.index.json",
    "pytorch_model*.bin.index.json",
    "*config.json",
    "tokenizer*",
    "vocab*",
    "merges.txt",
)
MODELS = (".onnx", ".keras", ".h5", ".tflite", ".skops", ".cbm", ".ubj")
"""suffixes of files that are a model by themselves"""
BESIDE = ("{}_data", "{}.data", "{}_data_*")
"""names of files with the weights of an .onnx file"""
SHOWN = 8


def chosen(model: HubModel, names: Sequence[str]) -> tuple[str, ...]:
    """The files to fetch, of all `names`; the first is the model, if it is a single file.

    A folder of transformers comes before models that others have made of it. Raises ConfigError if the repository has
    no model, or several of which none is named.
    """
    safe = [name for name in names if is_inside(name)]
    if model.file:
        if model.file not in safe:
            raise ConfigError(
                f"{model.text}: {model.repository} has no file {model.file}", hint=nearest(model.file, models_of(safe))
            )
        return (model.file, *beside(model.file, safe))
    if folder := transformer_of(safe):
        return folder
    found = models_of(safe)
    if len(found) == 1:
        return (found[0], *beside(found[0], safe))
    if not found:
        raise ConfigError(
            f"{model.text}: {model.repository} has no file that mobpack imports",
            hint=f"it looks for {', '.join(MODELS)}, and for {CONFIG} with weights",
        )
    shown = ", ".join(found[:SHOWN]) + (f" and {len(found) - SHOWN} more" if len(found) > SHOWN else "")
    raise ConfigError(
        f"{model.text}: {model.repository} has {len(found)} models: {shown}",
        hint=f"name one: {model.text}/{found[0]}",
    )


def transformer_of(names: Sequence[str]) -> tuple[str, ...]:
    """The files of a folder of transformers; empty if the repository is none."""
    root = [name for name in names if "/" not in name]
    weights = next((found for kind in WEIGHTS if (found := [name for name in root if fnmatch(name, kind)])), [])
    if CONFIG not in root or not weights:
        return ()
    more = [name for name in root if any(fnmatch(name, kind) for kind in WITH_THEM)]
    return tuple(sorted({*weights, *more}))


def models_of(names: Sequence[str]) -> list[str]:
    return sorted(name for name in names if PurePosixPath(name).suffix.lower() in MODELS)


def beside(file: str, names: Sequence[str]) -> list[str]:
    """Files with weights of `file`."""
    return sorted(name for name in names if any(fnmatch(name, each.format(file)) for each in BESIDE))
