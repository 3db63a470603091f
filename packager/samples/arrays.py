"""Samples in .npz files, keyed by input name, and in .npy files: one sample each, or stacks.

One sample of a stack is in memory at a time, even if the file is compressed.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ConfigError
from packager.core.user_files import opened
from packager.core.values import TensorSpec
from packager.files.zips import ARRAYS, opened_zip
from packager.samples import npy
from packager.samples.fit import only_input, wrong_names
from packager.samples.folder import SampleFiles, size_of
from packager.samples.npy import Npy
from packager.samples.sample import Arrays, Problem, Unread, broken, unfit
from packager.samples.stacks import misfit, stack_length

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, kw_only=True)
class OpenArrays:
    """An open file."""

    names: tuple[str, ...]
    arrays: Mapping[str, Npy]
    """arrays for inputs"""


def unread(files: SampleFiles, inputs: tuple[TensorSpec, ...]) -> Iterator[Unread]:
    """The samples of all files, in order. Raises ConfigError for .npy files if the model has several inputs."""
    if any(path.suffix.lower() == ".npy" for path in files.paths):
        only_input(inputs, ".npy files")
    for path in files.paths:
        label = files.label(path)
        with ExitStack() as open_files:
            try:
                found = _opened(path, inputs, open_files)
                samples = _samples(found, inputs, label)
            except ConfigError as error:
                samples = iter([broken(label, error)])
            yield from samples


def _opened(path: Path, inputs: tuple[TensorSpec, ...], open_files: ExitStack) -> OpenArrays:
    size_bytes = size_of(path)
    with npy.damage_reported(str(path)):
        file = open_files.enter_context(opened(path))
        if path.suffix.lower() == ".npy":
            array = npy.opened(file, str(path), size_bytes)
            return OpenArrays(names=(inputs[0].name,), arrays={inputs[0].name: array})
        archive = open_files.enter_context(opened_zip(file, ARRAYS))
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        return OpenArrays(
            names=tuple(members),
            arrays={
                spec.name: npy.opened(
                    open_files.enter_context(archive.open(members[spec.name])),
                    f"{path}: '{spec.name}'",
                    members[spec.name].file_size,
                )
                for spec in inputs
                if spec.name in members
            },
        )


def _samples(found: OpenArrays, inputs: tuple[TensorSpec, ...], label: str) -> Iterator[Unread]:
    problems: tuple[Problem, ...] = wrong_names(found.names, inputs, label)
    shapes = {name: array.shape for name, array in found.arrays.items()}
    if not problems and (problem := misfit(shapes, inputs, label)):
        problems = (problem,)
    if problems:
        return iter([unfit(label, *problems)])
    count = stack_length(shapes, inputs)
    if count is None:
        return iter([Unread(label=label, read=partial(_read_whole, found))])
    if count and not any(array.size_bytes for array in found.arrays.values()):
        raise ConfigError(f"{label}: {count} samples without values", hint="save non-empty samples")
    pieces = {name: array.pieces() for name, array in found.arrays.items()}
    return (Unread(label=f"{label}[{row}]", read=partial(_read_row, pieces, row)) for row in range(count))


def _read_whole(found: OpenArrays) -> Arrays:
    return {name: array.whole() for name, array in found.arrays.items()}


def _read_row(pieces: "Mapping[str, Callable[[int], numpy.ndarray]]", row: int) -> Arrays:
    return {name: piece(row) for name, piece in pieces.items()}
