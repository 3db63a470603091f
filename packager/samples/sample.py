"""Samples: one value for every input of a model, from the source to a run."""

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from packager.core.errors import ConfigError
from packager.vectors import ValuesRecipe

if TYPE_CHECKING:
    import numpy

Arrays = Mapping[str, "numpy.ndarray"]
"""input name -> value"""

MAX_BYTES = 1 << 30
"""size limit of one value: larger ones are broken or malicious"""


@dataclass(frozen=True, kw_only=True)
class SampleSet:
    """Samples on disk, .npz keyed by input name, and their origin."""

    paths: tuple[Path, ...]
    description: str
    recipes: tuple[Mapping[str, ValuesRecipe], ...] = field(default=(), hash=False)
    """recipes by input, for each random sample"""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """An error or a warning about samples."""

    severity: Literal["error", "warning"]
    text: str
    """the problem and its place"""
    hint: str = ""
    """remedy"""
    kind: str = ""
    """name of the kind, for summaries"""


@dataclass(frozen=True, kw_only=True)
class Unread:
    """A sample that was found but not read; read it before asking the source for the next one."""

    label: str
    """file, and position in it"""
    read: Callable[[], Arrays]
    """raises ConfigError"""
    problems: tuple[Problem, ...] = ()
    """problems known without reading; if there are any, `read` is not called"""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A sample that was read; it fits the model exactly, unless it has an error."""

    where: str
    """number and label"""
    arrays: Arrays
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "error")


def broken(label: str, error: ConfigError) -> Unread:
    """An unreadable file."""
    return unfit(label, unreadable(error))


def unreadable(error: ConfigError) -> Problem:
    return Problem(severity="error", text=error.message, hint=error.hint, kind="samples that cannot be read")


def unfit(label: str, *problems: Problem) -> Unread:
    """A sample that is known to be invalid without reading it."""
    return Unread(label=label, read=dict, problems=problems)


def in_words(shape: tuple[int | str | None, ...]) -> str:
    """`1x3x224x224`, with names for dynamic sizes."""
    return "x".join("?" if size is None else str(size) for size in shape) or "a scalar"


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Description of samples for another process."""

    reader: str
    """`module:function`, which turns `description` into an iterator of dicts, input name to numpy array"""
    description: Mapping[str, object]
    """JSON-compatible value"""
    count: int
    fingerprint: str = ""
    """hex sha256 of the samples; empty if results are not cached"""


def arrays_of(path: Path) -> Arrays:
    """The arrays of a file that was checked before, or that `write_arrays` wrote."""
    import numpy

    with numpy.load(path, allow_pickle=False) as found:
        return dict(found)


def write_arrays(path: Path, arrays: Arrays) -> None:
    """Like numpy.savez, but reproducible, and also for names that clash with its parameters (`file`)."""
    import numpy

    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                numpy.lib.format.write_array(member, numpy.asanyarray(array), allow_pickle=False)
