"""Runs a model on a sound piece by piece, as the streams of packages do."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packager.contract import pieces
from packager.contract.results import Answer, answer
from packager.core.contract import AudioInput
from packager.core.errors import ModelError
from packager.core.values import Model
from packager.engines.runners.runner import Session
from packager.samples.sample import write_arrays
from packager.vectors.generated import numpy_type
from packager.verification.parity.outcomes import array_of

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, kw_only=True)
class Heard:
    """Answers for the frames of a sound from `start` up to `end`."""

    start: int
    end: int
    answers: Mapping[str, Answer]
    """by the name of the typed output"""


def heard(
    model: Model, session: Session, samples: "numpy.ndarray", rate: int, scratch: Path, *, top: int | None = None
) -> Iterator[Heard]:
    """The results of a stream of `samples`, [frames, channels], that `session` makes; files go below `scratch`.

    Raises ModelError when the model does not run.
    """
    import numpy

    contract = model.contract
    assert contract is not None
    assert contract.streamed is not None
    (sound,) = contract.parameters
    assert isinstance(sound, AudioInput)
    assert sound.place is not None
    states = {
        each.input.name: numpy.zeros(each.first_shape, numpy_type(each.input.element)) for each in contract.states
    }
    for piece in pieces(samples, rate, contract.streamed):
        given = {
            sound.samples.name: piece.samples,
            sound.rate.name: numpy.array(rate, numpy.int64),
            sound.place.name: numpy.array(piece.place, numpy.int64),
        }
        write_arrays(scratch / "piece.npz", given | states)
        outcome = session.run(scratch / "piece.npz", scratch)
        if outcome.error:
            raise ModelError(f"model '{model.name}' does not run: {outcome.error}", hint="check the contract's keys")
        outputs = {spec.name: array_of(outcome, index) for index, spec in enumerate(model.signature.outputs)}
        states = {each.input.name: outputs[each.output.name] for each in contract.states}
        answers = {each.identifier: answer(each, outputs, top) for each in contract.outputs}
        yield Heard(start=piece.start, end=piece.end, answers=answers)
