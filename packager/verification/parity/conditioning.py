"""How far a model itself moves when what it is given changes in the last bits: where that is more than is allowed, a
sample can tell nothing of what else computes the model."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.runners import Outcome, Runnable, Runner, Session
from packager.samples import write_arrays
from packager.verification.parity.frontier import DOUBLE, FLOAT, FLOAT16, ULPS, first_floats, shaken

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import ModelProto

TIMES = 6
"""Perturbations of a sample: a model with near-ties often stays where it is."""
MOST_ULPS = 8
"""How far a number is moved, in units of its last place: 1e-6 of a float32, as sums in another order differ."""


ENLARGED = 10
"""Times that a relative change must grow before a model counts as ill-conditioned, however little is allowed."""


@dataclass(frozen=True, kw_only=True)
class Movement:
    """What a model gives for almost the same."""

    outcomes: tuple[Outcome, ...] = ()
    least: float = math.inf
    """share of the scale of an output up to which it is only passed on"""


@dataclass(frozen=True, kw_only=True)
class Perturbed:
    """A model as it is perturbed: its float inputs, or the first floats that it computes where it takes none, and what
    it quantizes."""

    model: Runnable
    runner: Runner
    is_shaken: bool
    """whether what is perturbed within it has an input of its own"""
    least: float
    """as `Movement` has it"""

    def movements(self, samples: Sequence[Path], folder: Path) -> Iterator[Movement]:
        """What it makes of each of `samples`, perturbed, as far as it runs on that; files go to `folder`, which is
        made."""
        folder.mkdir(parents=True)
        with self.runner.open(self.model, folder) as session:
            for index, sample in enumerate(samples):
                own = folder / str(index)
                own.mkdir()
                outcomes = [self._outcome(session, sample, number, own) for number in range(TIMES)]
                yield Movement(outcomes=tuple(each for each in outcomes if not each.error), least=self.least)

    def _outcome(self, session: Session, sample: Path, number: int, folder: Path) -> Outcome:
        import numpy

        with numpy.load(sample) as arrays:
            inputs = {name: arrays[name] for name in arrays.files}
        path, outputs = folder / f"{number}.npz", folder / f"outputs-{number}"
        write_arrays(path, self._moved(inputs, number))
        outputs.mkdir()
        return session.run(path, outputs)

    def _moved(self, inputs: "Mapping[str, NDArray[Any]]", number: int) -> "dict[str, NDArray[Any]]":
        import numpy

        moved = {name: _shifted(array, number, index) for index, (name, array) in enumerate(inputs.items())}
        own = {ULPS: numpy.asarray(_steps((), number, 0), numpy.float32)} if self.is_shaken else {}
        return {**moved, **own}


def perturbed(proto: "ModelProto", runnable: Runnable, runner: Runner, folder: Path) -> Perturbed | None:
    """`runnable`, which is `proto`, as it can be perturbed; None where it has no floats. `folder` is made."""
    constants = {tensor.name for tensor in proto.graph.initializer}
    given = [value for value in proto.graph.input if value.name not in constants]
    kinds = {value.type.tensor_type.elem_type for value in given}
    takes_floats = bool(kinds & {FLOAT, FLOAT16, DOUBLE})
    other = shaken(proto, is_first=not takes_floats)
    if other is None:
        if not takes_floats:
            return None
        return Perturbed(model=runnable, runner=runner, is_shaken=False, least=_least(FLOAT16 in kinds))
    folder.mkdir(parents=True)
    path = folder / "shaken.onnx"
    path.write_bytes(other.SerializeToString(deterministic=True))
    data_folder = runnable.data_folder or runnable.path.parent
    model = Runnable(path=path, data_folder=data_folder, is_optimized=runnable.is_optimized, settings=runnable.settings)
    is_half = FLOAT16 in (kinds if takes_floats else first_floats(proto).values())
    return Perturbed(model=model, runner=runner, is_shaken=True, least=_least(is_half))


def _least(is_half: bool) -> float:
    return ENLARGED * (2.0**-10 if is_half else MOST_ULPS * 2.0**-23)


def _shifted(array: "NDArray[Any]", number: int, index: int) -> "NDArray[Any]":
    """`array` with other last bits; what is not finite, or would not be any more, stays as it is."""
    import numpy

    if array.dtype.kind != "f":
        return array
    is_half = array.dtype.itemsize == 2
    steps = _few_steps(array.shape, number, index) if is_half else _steps(array.shape, number, index)
    with numpy.errstate(over="ignore", invalid="ignore"):
        moved = numpy.asarray(array * (1 + steps * numpy.finfo(array.dtype).eps), array.dtype)
    return numpy.where(numpy.isfinite(moved), moved, array)


def _steps(shape: tuple[int, ...], number: int, index: int) -> "NDArray[Any]":
    """By how many units in the last place numbers of a tensor are moved: all alike in the first two perturbations."""
    import numpy

    if number < 2:
        return numpy.full(shape, MOST_ULPS if number == 0 else -MOST_ULPS, numpy.float64)
    generator = numpy.random.default_rng([number, index])
    steps = generator.integers(1, MOST_ULPS, shape, endpoint=True) * generator.choice([-1, 1], shape)
    return numpy.asarray(steps, numpy.float64)


def _few_steps(shape: tuple[int, ...], number: int, index: int) -> "NDArray[Any]":
    """As `_steps` in 16 bits, whose last place is a thousandth: one number in 16 is moved by one."""
    import numpy

    generator = numpy.random.default_rng([number, index])
    steps = generator.choice([-1, 1], shape) * (generator.random(shape) < 1 / 16)
    return numpy.asarray(steps, numpy.float64)
