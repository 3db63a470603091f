"""Runs models of a project on pictures, recordings and texts, before anything is built."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packager import samples
from packager.config import Config
from packager.contract.results import Answer, answer
from packager.core.console import Console
from packager.core.contract import SpansOutput
from packager.core.errors import ConfigError, ModelError, nearest
from packager.core.signature import TensorSpec
from packager.core.values import Model, baseline
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.samples.sample import SampleSet, arrays_of
from packager.samples.texts import sample_of, taken_texts
from packager.verification import parity
from packager.verification.parity.outcomes import array_of
from packager.workflows.generation import Prompt, generated
from packager.workflows.planning import load_model

HINT = "pass texts, pictures or .wav files, according to the contract, or .npz files of the graph's inputs"


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Answers of a model for one file, or for one text or pair of texts."""

    file: Path | None
    """None for texts"""
    texts: tuple[str, ...] = ()
    answers: Mapping[str, Answer]
    """by the name of the typed output"""
    parts: Iterator[str] | None = None
    """a generated text, as it is made"""


def predict(
    config: Config, name: str, given: Sequence[str], console: Console, *, top: int | None = None, seed: int = 0
) -> Iterator[Prediction]:
    """Runs the model `name` of `config` (its only model if empty) on each of `given`: pictures, .wav or .npz files;
    texts for a model that takes a text, pairs of them for one that takes two. `seed` is that of random choices.

    The graph is the one that ships, with the model's own numbers. Raises ConfigError for a file that does not fit the
    model or a model without a contract, ModelError when the model does not run.
    """
    table = config.model[_chosen(config, name)]
    store = Store(cache_folder() / "store")
    model = load_model(_chosen(config, name), table, store, console)
    if model.contract is None:
        raise ConfigError(
            f"model.{model.name} has no contract that defines its inputs and outputs",
            hint=f"describe them in [model.{model.name}.inputs.INPUT] and [model.{model.name}.outputs.OUTPUT]",
        )
    wanted = len(taken_texts(model))
    if model.contract.generated:
        if not wanted:
            yield from (_recognized(model, Path(each), seed, store) for each in given)
            return
        if len(given) != wanted:
            raise ConfigError(
                f"{len(given)} texts for a model that takes {wanted}", hint='pass a prompt: mobpack predict "some text"'
            )
        parts = _generated(model, Prompt(texts=tuple(given), seed=seed), store)
        yield Prediction(file=None, texts=tuple(given), answers={}, parts=parts)
        return
    if wanted and not any(each.endswith(".npz") for each in given):
        if len(given) % wanted:
            raise ConfigError(f"{len(given)} texts for a model that takes {wanted}", hint="pass texts in pairs")
        for first in range(0, len(given), wanted):
            texts = tuple(given[first : first + wanted])
            with console.step(f"run {model.name}"), store.scratch() as scratch:
                answers = _answers(model, sample_of(model, texts, scratch), scratch, top, "this text")
            yield Prediction(file=None, texts=texts, answers=answers)
        return
    for file in map(Path, given):
        if not file.is_file():
            raise ConfigError(f"{file}: no such file", hint=HINT)
        with console.step(f"run {model.name} on {file.name}"), store.scratch() as scratch:
            answers = _answers(model, samples.given(model, file, scratch), scratch, top, str(file))
        yield Prediction(file=file, answers=answers)


def _recognized(model: Model, file: Path, seed: int, store: Store) -> Prediction:
    """The text that a model makes of a recording or of tensors in `file`."""
    assert model.contract is not None
    if not file.is_file():
        raise ConfigError(f"{file}: no such file", hint=HINT)
    names = {
        tensor.name
        for each in model.contract.parameters
        for tensor in vars(each).values()
        if isinstance(tensor, TensorSpec)
    }
    with store.scratch() as scratch:
        read = arrays_of(samples.given(model, file, scratch).paths[0])
        arrays = {name: array for name, array in read.items() if name in names}
    return Prediction(file=file, answers={}, parts=_generated(model, Prompt(texts=(), seed=seed, arrays=arrays), store))


def _generated(model: Model, prompt: Prompt, store: Store) -> Iterator[str]:
    with store.scratch() as scratch:
        yield from generated(model, prompt, scratch)


def _chosen(config: Config, name: str) -> str:
    if name in config.model:
        return name
    if name:
        raise ConfigError(f"mobpack.toml has no model '{name}'", hint=nearest(name, list(config.model)))
    if len(config.model) > 1:
        raise ConfigError(
            f"mobpack.toml has {len(config.model)} models", hint=f"choose one: --model {' or '.join(config.model)}"
        )
    return next(iter(config.model))


def _answers(model: Model, given: SampleSet, scratch: Path, top: int | None, where: str) -> dict[str, Answer]:
    assert model.contract is not None
    (outcome,) = parity.run_original(baseline(model), given, scratch / "outputs")
    if outcome.error:
        raise ModelError(f"{where}: model '{model.name}' does not run on it: {outcome.error}", hint=HINT)
    specs = model.signature.outputs
    outputs = {spec.name: array_of(outcome, index) for index, spec in enumerate(specs)}
    has_parts = any(isinstance(each, SpansOutput) for each in model.contract.outputs)
    inputs = arrays_of(given.paths[0]) if has_parts else {}
    return {each.identifier: answer(each, outputs, top, inputs=inputs) for each in model.contract.outputs}
