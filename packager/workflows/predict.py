"""Runs models of a project on pictures and recordings, before anything is built."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packager.config import Config
from packager.contract.results import Answer, answer
from packager.core.console import Console
from packager.core.errors import ConfigError, ModelError, nearest
from packager.core.values import Model, baseline
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.samples import given
from packager.verification import parity
from packager.verification.parity.outcomes import array_of
from packager.workflows.planning import load_model

HINT = "pass pictures or .wav files, according to the contract, or .npz files of the graph's inputs"


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Answers of a model for one file."""

    file: Path
    answers: Mapping[str, Answer]
    """by the name of the typed output"""


def predict(
    config: Config, name: str, files: Sequence[Path], console: Console, *, top: int | None = None
) -> Iterator[Prediction]:
    """Runs the model `name` of `config` (its only model if empty) on each of `files`: pictures, .wav or .npz.

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
    for file in files:
        with console.step(f"run {model.name} on {file.name}"):
            yield Prediction(file=file, answers=_answers(model, file, store, top))


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


def _answers(model: Model, file: Path, store: Store, top: int | None) -> dict[str, Answer]:
    assert model.contract is not None
    if not file.is_file():
        raise ConfigError(f"{file}: no such file", hint=HINT)
    with store.scratch() as scratch:
        samples = given(model, file, scratch)
        (outcome,) = parity.run_original(baseline(model), samples, scratch / "outputs")
        if outcome.error:
            raise ModelError(f"{file}: model '{model.name}' does not run on this file: {outcome.error}", hint=HINT)
        specs = model.signature.outputs
        outputs = {spec.name: array_of(outcome, index) for index, spec in enumerate(specs)}
        return {each.identifier: answer(each, outputs, top) for each in model.contract.outputs}
