"""What a sample is: one value for every input of a model, on its way from a source to a run."""

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from packager.core.errors import ConfigError
from packager.vectors import Recipe

if TYPE_CHECKING:
    import numpy

Arrays = Mapping[str, "numpy.ndarray"]
"""Input name -> value."""

MAX_BYTES = 1 << 30
"""One value may take no more: only what is broken, or meant to break something, does."""


@dataclass(frozen=True, kw_only=True)
class SampleSet:
    """Samples on disk, .npz keyed by input name, and where they came from."""

    paths: tuple[Path, ...]
    description: str
    recipes: tuple[Mapping[str, Recipe], ...] = field(default=(), hash=False)
    """of random ones: for each what inputs of it are made of"""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is wrong with samples, or doubtful."""

    severity: Literal["error", "warning"]
    text: str
    """what and where"""
    hint: str = ""
    """what to do about it"""
    kind: str = ""
    """what many problems of one kind are called when they are summed up"""


@dataclass(frozen=True, kw_only=True)
class Unread:
    """A sample that a source has found and not read; read it before the source is asked for the next one."""

    label: str
    """its file and its place in there"""
    read: Callable[[], Arrays]
    """raises ConfigError"""
    problems: tuple[Problem, ...] = ()
    """known without reading; with any, `read` is not called"""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A sample that was read: one that fits the model exactly, unless a problem is an error."""

    where: str
    """its number and label, in words"""
    arrays: Arrays
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "error")


def broken(label: str, error: ConfigError) -> Unread:
    """A file that cannot be read at all."""
    return unfit(label, unreadable(error))


def unreadable(error: ConfigError) -> Problem:
    return Problem(severity="error", text=error.message, hint=error.hint, kind="samples that cannot be read")


def unfit(label: str, *problems: Problem) -> Unread:
    """A sample of which it is known without reading that it is none."""
    return Unread(label=label, read=dict, problems=problems)


def in_words(shape: tuple[int | str | None, ...]) -> str:
    """`1x3x224x224`, with names for what may have any size."""
    return "x".join("?" if size is None else str(size) for size in shape) or "a scalar"


@dataclass(frozen=True, kw_only=True)
class Samples:
    """How a process of its own reads samples."""

    reader: str
    """`module:function`, which turns `description` into an iterator of dicts, input name to numpy array"""
    description: Mapping[str, object]
    """anything JSON can say"""
    count: int
    fingerprint: str = ""
    """hex sha256 of what will be read; empty where nobody keeps what comes of it"""


def write_arrays(path: Path, arrays: Arrays) -> None:
    """What numpy.savez does, the same bytes every time, and for names too that are its own arguments (`file`)."""
    import numpy

    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                numpy.lib.format.write_array(member, numpy.asanyarray(array), allow_pickle=False)
