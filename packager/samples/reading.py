"""Reads samples of any source one at a time."""

from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from packager.core.errors import ConfigError
from packager.core.parsing import Json
from packager.core.sample_settings import Settings
from packager.core.values import Model
from packager.samples import arrays, audio, folder, function, images, raw
from packager.samples.fit import fitted, refuse_unfeedable
from packager.samples.sample import Sample, Unread, unreadable
from packager.samples.source import SampleSource, from_json, source_of, to_json

READER = f"{__name__}:open_described"
"""reader of samples in other processes"""


def describe(
    source: str, model: Model, settings: Settings, *, folder: Path | None = None, skip: int = 0
) -> dict[str, object]:
    """JSON-compatible description of the samples of `source` for `model`, for `open_described`.

    Relative paths and modules start at `folder`, by default the current one. The first `skip` samples are skipped; they
    count towards the limit of the settings.
    """
    return to_json(source_of(source, model, settings, folder=folder, skip=skip))


def open_described(description: Json) -> "Iterator[dict[str, Any]]":
    """The samples, each a dict of input name to array with exactly the model's declared shape and type.

    Raises ConfigError for the first sample that does not fit.
    """
    for sample in read(from_json(description)):
        if sample.errors:
            first = sample.errors[0]
            raise ConfigError(first.text, hint=first.hint)
        yield dict(sample.arrays)


def read(source: SampleSource) -> Iterator[Sample]:
    """The samples with their problems. Raises ConfigError if the source itself is invalid."""
    refuse_unfeedable(source.inputs)
    with closing(_unread(source)) as found:
        for number, each in enumerate(islice(found, source.skip, source.settings.limit), source.skip):
            if source.has(number):
                yield _sample(each, number, source)


def _unread(source: SampleSource) -> Generator[Unread, None, None]:
    path, settings = source.path(), source.settings
    if path is None:
        yield from function.unread(source.text, source.folder, is_limited=settings.limit is not None)
        return
    files = folder.find(path)
    if files.kind == "arrays":
        yield from arrays.unread(files, source.inputs)
    elif source.raw:
        yield from raw.unread(files, source.raw, source.inputs)
    elif files.kind == "texts":
        raise ConfigError(
            f"{files.root} holds texts, and nothing says how they become the inputs of model '{source.model}'",
            hint=f'describe the input: [model.{source.model}.inputs.INPUT] with kind = "text" and its tokenizer, in '
            "mobpack.toml beside the model; or save the model's inputs with numpy.savez",
        )
    elif files.kind == "images":
        yield from images.unread(files, source.inputs, settings.image)
    else:
        yield from audio.unread(files, source.inputs, settings.audio)


def _sample(each: Unread, number: int, source: SampleSource) -> Sample:
    where = f"sample {number} ({each.label})"
    if each.problems:
        return Sample(where=where, arrays={}, problems=each.problems)
    try:
        return fitted(each.read(), source.inputs, where)
    except ConfigError as error:
        return Sample(where=where, arrays={}, problems=(unreadable(error),))
