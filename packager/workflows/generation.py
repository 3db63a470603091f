"""Runs a model that generates a text, step by step, as apps do."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packager.contract.results import part
from packager.core.contract import AudioInput, Contract, GeneratedOutput, ImageInput, TextInput
from packager.core.errors import ModelError
from packager.core.values import Model, baseline
from packager.engines.runners import RUNNERS
from packager.engines.runners.runner import Session
from packager.samples.sample import write_arrays
from packager.vectors.generated import numpy_type
from packager.verification.parity.outcomes import array_of
from packager.verification.parity.reference import graph_of

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, kw_only=True)
class Prompt:
    texts: tuple[str, ...]
    """one for each text that the model takes"""
    seed: int
    """of random choices; has no effect on a model without"""
    arrays: "Mapping[str, numpy.ndarray]" = field(default_factory=dict)
    """values of the model's other inputs, by name"""


@contextmanager
def opened(model: Model, scratch: Path) -> Iterator[Session]:
    """A session for texts of `model`, with its own numbers; files go below `scratch`."""
    (cpu,) = RUNNERS["cpu"]("")
    with cpu.open(graph_of(baseline(model), scratch), scratch) as session:
        yield session


def generated(model: Model, session: Session, prompt: Prompt, scratch: Path) -> Iterator[str]:
    """The parts of the text, none of them empty, as `session` makes them; files go below `scratch`.

    Raises ModelError when the model does not run.
    """
    contract = model.contract
    assert contract is not None
    assert contract.generated is not None
    given, is_last = _first(contract, contract.generated, prompt), False
    while not is_last:
        write_arrays(scratch / "step.npz", given)
        outcome = session.run(scratch / "step.npz", scratch)
        if outcome.error:
            raise ModelError(f"model '{model.name}' does not run: {outcome.error}", hint="check the contract's keys")
        outputs = {spec.name: array_of(outcome, index) for index, spec in enumerate(model.signature.outputs)}
        found = part(contract.generated, outputs)
        if found.text:
            yield found.text
        is_last = found.is_last
        states = {each.input.name: outputs[each.output.name] for each in contract.states}
        given = given | states | _texts(contract, [""] * len(prompt.texts)) | _further(contract, prompt)


def _first(contract: Contract, output: GeneratedOutput, prompt: Prompt) -> "dict[str, numpy.ndarray]":
    """Inputs of the first step."""
    import numpy

    zeros = {each.input.name: numpy.zeros(each.first_shape, numpy_type(each.input.element)) for each in contract.states}
    seed = {output.seed.name: numpy.array([prompt.seed], numpy.int64)} if output.seed else {}
    return zeros | seed | _texts(contract, prompt.texts) | dict(prompt.arrays)


def _further(contract: Contract, prompt: Prompt) -> "dict[str, numpy.ndarray]":
    """Recordings and pictures of further steps that do not count: one frame, and one pixel."""
    if contract.generated is None or not contract.generated.has_encoder:
        return {}
    sounds = [each.samples.name for each in contract.parameters if isinstance(each, AudioInput)]
    pictures = [each.pixels.name for each in contract.parameters if isinstance(each, ImageInput)]
    return {
        **{name: prompt.arrays[name][:1] for name in sounds},
        **{name: prompt.arrays[name][:1, :1] for name in pictures},
    }


def _texts(contract: Contract, texts: "tuple[str, ...] | list[str]") -> "dict[str, numpy.ndarray]":
    import numpy

    inputs = [each for each in contract.parameters if isinstance(each, TextInput)]
    return {
        each.code_points.name: numpy.array([ord(point) for point in text] or [-1], numpy.int32)
        for each, text in zip(inputs, texts, strict=True)
    }
