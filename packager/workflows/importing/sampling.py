"""Inputs of a model in its framework, the user's own or random ones, and the framework's outputs for them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError, ModelError, nearest
from packager.core.values import ElementType
from packager.importers.importer import Arrays, Drawing, Input, Loaded, OfOperators
from packager.samples.domains import Interval, domains_in
from packager.samples.fit import DTYPES
from packager.samples.sample import write_arrays
from packager.workflows.importing.request import ImportJob

if TYPE_CHECKING:
    import numpy

BATCHES = (2, 1, 3, 5)
"""sizes of a dimension named `batch`, sample by sample"""
ROWS = (64, 1, 100, 200)
"""the same for models that draw their inputs: rows of tables are cheap"""
LENGTHS = (32, 40, 33, 48)
"""sizes of other dynamic dimensions; each further one is larger by one, so that no two agree by chance"""
PLACE = re.compile(
    r'File ".*\n|.*\n(in user code:$|File "|Graph execution error:$|Traceback|Detected at|<stack|[\^~*\s]+$)'
)
"""a line of an error message, with the one before, that only says where"""
FACTORS = (1, 16, 512)
"""of the sizes of dynamic dimensions: sound takes thousands of numbers"""
HINT_SIZES = "give sizes that it accepts with --size NAME=SIZE, or inputs with --samples"


@dataclass(frozen=True, kw_only=True)
class RecordedSamples:
    """Samples and outputs that were written to `samples` and `recorded`."""

    outputs: tuple[str, ...]
    sizes: list[dict[str, int]]
    """sizes of the dynamic dimensions, for each sample"""
    shapes: list[list[list[int]]]
    """shapes of the outputs, for each sample"""


def record(loaded: Loaded, job: ImportJob, say: Callable[[Mapping[str, object]], None]) -> RecordedSamples:
    """Runs the framework on every sample. Raises ModelError if it rejects all of them, ConfigError if it rejects one of
    the user's."""
    refuse_unknown_sizes(loaded.inputs, job.sizes)
    larger = larger_factor(loaded.inputs, job)
    say({"loaded": True, "larger": larger})  # some frameworks crash on inputs that are too small
    sizes, shapes, refused = list[dict[str, int]](), list[list[list[int]]](), list[str]()
    outputs: tuple[str, ...] = ()
    for arrays in given(loaded.inputs, Path(job.samples)) if job.samples else random(loaded, job):
        known = sizes_of(loaded.inputs, arrays)
        try:
            found = {name: plain(value) for name, value in loaded.run(arrays).items()}
        except Exception as error:  # frameworks raise errors of any kind
            failure = f"{words(known)}: {type(error).__name__}: {reason(error)}"
            if job.samples:
                raise ConfigError(f"--samples: the model rejects a sample with {failure}", hint="correct it") from error
            refused.append(failure)
            continue
        write(Path(job.folder), len(sizes), arrays, found)
        outputs = tuple(found)
        sizes.append(known)
        shapes.append([list(value.shape) for value in found.values()])
    if not sizes and larger:
        return record(loaded, replace(job, factor=larger), say)
    if not sizes:
        raise ModelError(f"the model rejects random inputs with {refused[0]}", hint=HINT_SIZES)
    for failure in refused:
        say({"warn": f"not compared with {failure}"})
    return RecordedSamples(outputs=outputs, sizes=sizes, shapes=shapes)


def larger_factor(inputs: Sequence[Input], job: ImportJob) -> int:
    """The next factor of the sizes of random inputs; 0 if no dimension is open, or none may be larger."""
    names = {size for each in inputs for size in each.shape if isinstance(size, str)} - {"batch", *job.sizes}
    larger = (each for each in FACTORS if each > job.factor)
    return next(larger, 0) if names and not job.samples else 0


def reason(error: Exception) -> str:
    """The first lines of an error that say something: frameworks begin with places in their code."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line, before in zip(lines, ["", *lines], strict=False) if not PLACE.match(f"{before}\n{line}")]
    return " ".join(telling[: 2 if telling and telling[0].startswith("Exception encountered") else 1])[:500]


def plain(value: Any) -> "numpy.ndarray[Any, Any]":
    """The value as an array with a type that files can hold: texts with a fixed width."""
    import numpy

    array = numpy.asarray(value)
    return array.astype(str) if array.dtype == object else array


def random(loaded: Loaded, job: ImportJob) -> Iterator[Arrays]:
    """Reproducible inputs, with other sizes for dynamic dimensions in every sample; only one if nothing varies."""
    import numpy

    if isinstance(loaded, Drawing):
        for number in range(job.sample_count):
            yield loaded.draw(number, job.sizes.get("batch", ROWS[number % len(ROWS)]))
        return
    inputs, domains = loaded.inputs, _domains(loaded)
    for number in range(job.sample_count):
        numbers = numpy.random.default_rng(number)
        sizes = {name: job.sizes.get(name, size) for name, size in sizes_for(inputs, number, job.factor).items()}
        yield {each.name: values(each, sizes, numbers, domains.get(each.name)) for each in inputs}


def _domains(loaded: Loaded) -> Mapping[str, Interval]:
    """Input -> where to draw its numbers from, if the operators that it reaches are undefined for others."""
    if not isinstance(loaded, OfOperators):
        return {}
    elements = {name: element for element, name in DTYPES.items()}
    return domains_in(
        loaded.proto.graph, {each.name: elements.get(each.dtype, ElementType.OTHER) for each in loaded.inputs}
    )


def sizes_for(inputs: Sequence[Input], number: int, factor: int = 1) -> dict[str, int]:
    names = dict.fromkeys(size for each in inputs for size in each.shape if isinstance(size, str))
    step, later = number % len(BATCHES), number // len(BATCHES)
    others = [name for name in names if name != "batch"]
    return {
        name: BATCHES[step] + 5 * later
        if name == "batch"
        else factor * (LENGTHS[step] + 16 * later) + others.index(name)
        for name in names
    }


def values(
    given: Input, sizes: Mapping[str, int], numbers: "numpy.random.Generator", domain: Interval | None = None
) -> "numpy.ndarray[Any, Any]":
    import numpy

    shape = [size if isinstance(size, int) else sizes[size] for size in given.shape]
    dtype = numpy.dtype(given.dtype)
    if dtype.kind == "f" and domain:
        return numbers.uniform(*domain, shape).astype(dtype)
    if dtype.kind == "f":
        return numbers.standard_normal(shape).astype(dtype)
    if dtype.kind == "b":
        return numbers.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        is_byte = dtype.itemsize == 1
        low = int(numpy.iinfo(dtype).min) if is_byte and not given.limit else 0
        high = given.limit or (int(numpy.iinfo(dtype).max) + 1 if is_byte else 2)
        first = max(low, int(domain[0])) if domain else low
        return numbers.integers(first, max(high, first + 2), shape).astype(dtype)
    raise ModelError(
        f"input '{given.name}' is of type {given.dtype}, for which there are no random values",
        hint="give inputs with --samples",
    )


def given(inputs: Sequence[Input], place: Path) -> Iterator[Arrays]:
    """The user's samples. Raises ConfigError."""
    import numpy

    files = sorted(place.glob("*.npz")) if place.is_dir() else [place]
    if not files:
        raise ConfigError(f"--samples {place}: no .npz files in it", hint="numpy.savez writes them, by input name")
    for file in files:
        try:
            with numpy.load(file, allow_pickle=False) as content:
                found = {name: content[name] for name in content.files}
        except (OSError, ValueError, AttributeError, EOFError) as error:
            raise ConfigError(f"--samples {file}: not an .npz file ({error})", hint="use numpy.savez") from error
        yield {each.name: _fitting(each, found, file) for each in inputs}


def _fitting(each: Input, found: "Mapping[str, numpy.ndarray[Any, Any]]", file: Path) -> "numpy.ndarray[Any, Any]":
    if each.name not in found:
        raise ConfigError(f"{file}: no array '{each.name}'", hint=nearest(each.name, found))
    array = found[each.name]
    is_fitting = len(array.shape) == len(each.shape) and all(
        isinstance(size, str) or size == actual for size, actual in zip(each.shape, array.shape, strict=True)
    )
    if not is_fitting or array.dtype.name != each.dtype:
        raise ConfigError(
            f"{file}: '{each.name}' is {array.dtype.name} {list(array.shape)}; the model takes {each.dtype} "
            f"{list(each.shape)}".replace("'batch'", "batch"),
            hint="convert the array before it is saved",
        )
    return array


def sizes_of(inputs: Sequence[Input], arrays: Arrays) -> dict[str, int]:
    """Sizes of the dynamic dimensions."""
    return {
        size: arrays[each.name].shape[axis]
        for each in inputs
        for axis, size in enumerate(each.shape)
        if isinstance(size, str)
    }


def refuse_unknown_sizes(inputs: Sequence[Input], sizes: Mapping[str, int]) -> None:
    """Raises ConfigError for a size of a dimension that no input has."""
    names = list(dict.fromkeys(size for each in inputs for size in each.shape if isinstance(size, str)))
    for name in sizes:
        if name not in names:
            hint = nearest(name, names) if names else "the model has none: all sizes are fixed"
            raise ConfigError(f"--size {name}: no dynamic dimension has that name", hint=hint)


def words(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items()) or "the fixed sizes"


def write(folder: Path, number: int, inputs: Arrays, outputs: Arrays) -> None:
    """Writes one sample and the outputs for it."""
    for kind, arrays in (("samples", inputs), ("recorded", outputs)):
        path = folder / kind / f"sample-{number}.npz"
        path.parent.mkdir(exist_ok=True)
        write_arrays(path, arrays)
