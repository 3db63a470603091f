"""Measures how far a model itself moves when its inputs change in the last bits: if that exceeds the tolerance, the
sample is useless for comparison."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.engines.runners import Outcome, Runnable, Runner, Session
from packager.graph.constants import fed_inputs
from packager.samples import write_arrays
from packager.verification.parity.frontier import DOUBLE, FLOAT, FLOAT16, ULPS, first_floats, shaken

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import ModelProto

TIMES = 6
"""Number of perturbations of a sample: a model with near-ties often does not move."""
MOST_ULPS = 8
"""Maximum perturbation of a number, in units in the last place: 1e-6 of a float32, like sums in another order."""


ENLARGED = 10
"""Amplification of a relative change from which a model counts as ill-conditioned, however small the tolerance."""


@dataclass(frozen=True, kw_only=True)
class Movement:
    """A model's outputs for almost the same inputs."""

    outcomes: tuple[Outcome, ...] = ()
    least: float = math.inf
    """share of the scale of an output up to which it is only passed on"""


@dataclass(frozen=True, kw_only=True)
class Perturbed:
    """A model in its perturbed form: its float inputs, the first floats that it computes from other inputs, and the
    values that it quantizes."""

    model: Runnable
    runner: Runner
    is_shaken: bool
    """whether the perturbation of inner values has an input of its own"""
    least: float
    """as in `Movement`"""

    def movements(self, samples: Sequence[Path], folder: Path) -> Iterator[Movement]:
        """Its outputs for each of `samples`, perturbed, as far as it runs on them; files go to `folder`, which is
        created."""
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
    """`runnable`, which is `proto`, in a form that can be perturbed; None if it has no floats. `folder` is created."""
    kinds = {value.type.tensor_type.elem_type for value in fed_inputs(proto.graph)}
    takes_floats = bool(kinds & {FLOAT, FLOAT16, DOUBLE})
    other = shaken(proto)
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
    """`array` with other last bits; a number stays if it is not finite, or would not be any more."""
    import numpy

    if array.dtype.kind != "f":
        return array
    is_half = array.dtype.itemsize == 2
    steps = _few_steps(array.shape, number, index) if is_half else _steps(array.shape, number, index)
    with numpy.errstate(over="ignore", invalid="ignore"):
        moved = numpy.asarray(array * (1 + steps * numpy.finfo(array.dtype).eps), array.dtype)
    return numpy.where(numpy.isfinite(moved), moved, array)


def _steps(shape: tuple[int, ...], number: int, index: int) -> "NDArray[Any]":
    """Perturbations of a tensor's numbers in units in the last place: uniform in the first two."""
    import numpy

    if number < 2:
        return numpy.full(shape, MOST_ULPS if number == 0 else -MOST_ULPS, numpy.float64)
    generator = numpy.random.default_rng([number, index])
    steps = generator.integers(1, MOST_ULPS, shape, endpoint=True) * generator.choice([-1, 1], shape)
    return numpy.asarray(steps, numpy.float64)


def _few_steps(shape: tuple[int, ...], number: int, index: int) -> "NDArray[Any]":
    """Like `_steps` for 16 bits, whose last place is a thousandth: one number in 16 is moved by one."""
    import numpy

    generator = numpy.random.default_rng([number, index])
    steps = generator.choice([-1, 1], shape) * (generator.random(shape) < 1 / 16)
    return numpy.asarray(steps, numpy.float64)
