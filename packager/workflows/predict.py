"""Runs models of a project on pictures, recordings and texts, before anything is built."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from packager import samples
from packager.config import Config
from packager.contract.drawing import drawn
from packager.contract.results import (
    Answer,
    DrawnInstances,
    InstancesFile,
    PictureFile,
    PictureResult,
    SoundFile,
    SoundResult,
    answer,
    boxes,
    counted,
    instances,
    row,
)
from packager.core.console import Console
from packager.core.contract import AudioInput, Contract, ImageInput, InstancesOutput, SpansOutput
from packager.core.crops import stored_arrays
from packager.core.errors import ConfigError, ModelError, nearest
from packager.core.pipeline import Pipeline
from packager.core.signature import TensorSpec
from packager.core.values import Model, baseline
from packager.files.atomic import atomic_file
from packager.files.store import Store
from packager.samples import images, raw, wav
from packager.samples.folder import CONVERSATION
from packager.samples.sample import Arrays, SampleSet, arrays_of
from packager.samples.texts import batch_of, chat_of, prompt_in, sample_of, taken_texts
from packager.verification import parity, pipelines
from packager.verification.parity.outcomes import array_of
from packager.workflows.generation import Prompt, generated, opened
from packager.workflows.listening import heard
from packager.workflows.pipelines import pipeline_of
from packager.workflows.planning import load_model
from packager.workflows.shared_store import store_of

if TYPE_CHECKING:
    import numpy

HINT = "pass texts, pictures or .wav files, according to the contract, or .npz files of the graph's inputs"


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """Answers of a model for one file, or for one text or pair of texts."""

    file: Path | None
    """None for texts"""
    texts: tuple[str, ...] = ()
    answers: Mapping[str, Answer]
    """by the name of the typed output"""
    parts: Iterator[str] | None = None
    """a generated text, as it is made"""
    frames: tuple[int, int] | None = None
    """first frame of a recording that a run of a stream answers for, and the frame after the last"""
    items: tuple["Item", ...] | None = None
    """results of a pipeline; None for a model"""


@dataclass(frozen=True, kw_only=True)
class Item:
    """The results of a pipeline for one box, by the names of its stages: None for a stage that left it out."""

    answers: Mapping[str, Mapping[str, Answer] | None]
    """by the name of the typed output"""


def predict(
    config: Config, name: str, given: Sequence[str], console: Console, *, top: int | None = None, seed: int = 0
) -> Iterator[Predicted]:
    """Runs the model `name` of `config` (its only model if empty) on each of `given`: pictures, .wav or .npz files;
    texts for a model that takes a text, pairs of them for one that takes two. `seed` is that of random choices. Texts
    that are generated have to be read before the next prediction is asked for: one session makes them all.

    The graph is the one that ships, with the model's own numbers. Pictures and sounds that the model makes, and
    pictures with masks of what it finds, are written into the current folder. Raises ConfigError for a file that does
    not fit the model or a model without a contract, ModelError when the model does not run.
    """
    table = config.model[_chosen(config, name)]
    with store_of(config, console) as store:
        model = load_model(_chosen(config, name), table, store, console)
    if model.contract is None:
        raise ConfigError(
            f"model.{model.name} has no contract that defines its inputs and outputs",
            hint=f"describe them in [model.{model.name}.inputs.INPUT] and [model.{model.name}.outputs.OUTPUT]",
        )
    wanted = len(taken_texts(model))
    if model.contract.generated:
        yield from _generated(model, _prompts(model, given, wanted, seed, store), store)
        return
    if model.contract.is_batch and not any(each.endswith(".npz") for each in given):
        yield from _batch(model, tuple(_grouped(given, wanted)), store, console, top)
        return
    if wanted and not any(each.endswith(".npz") for each in given):
        for number, texts in enumerate(_grouped(given, wanted), 1):
            with console.step(f"run {model.name}"), store.scratch() as scratch:
                answers = _answers(model, sample_of(model, texts, scratch), scratch, top, "this text")
            yield Predicted(file=None, texts=texts, answers=_kept(answers, f"text-{number}"))
        return
    for stem, file in _by_stem(_existing(given)).items():
        if model.contract.streamed and file.suffix.lower() == ".wav":
            yield from _heard(model, file, stem, store, console, top)
            continue
        with console.step(f"run {model.name} on {file.name}"), store.scratch() as scratch:
            answers = _answers(model, samples.given(model, file, scratch), scratch, top, str(file))
        yield Predicted(file=file, answers=_kept(answers, stem))


def predict_pipeline(config: Config, name: str, given: Sequence[str], console: Console) -> Iterator[Predicted]:
    """Runs the pipeline `name` of `config` on each of `given`, pictures or .npz files, as `predict` does a model."""
    if name not in config.pipeline:
        raise ConfigError(f"mobpack.toml has no pipeline '{name}'", hint=nearest(name, list(config.pipeline)))
    with store_of(config, console) as store:
        models = [load_model(each, table, store, console) for each, table in config.model.items()]
        pipeline = pipeline_of(name, config.pipeline[name], {each.name: each.contract for each in models})
        by_name, contracts = {each.name: each for each in models}, pipelines.contracts_of(models)
        first = by_name[pipeline.finder.model]
        for stem, file in _by_stem(_existing(given)).items():
            with console.step(f"run pipeline {name} on {file.name}"), store.scratch() as scratch:
                (sample,) = samples.given(first, file, scratch).paths
                picture = stored_arrays(pipelines.taken(contracts[first.name]), arrays_of(sample))
                compute = pipelines.on_originals({each.name: baseline(each) for each in models}, scratch)
                ran = pipelines.run(pipeline, contracts, picture, compute)
                yield Predicted(file=file, answers={}, items=tuple(_items(pipeline, contracts, ran, stem)))


def _items(pipeline: Pipeline, contracts: Mapping[str, Contract], ran: pipelines.Ran, stem: str) -> Iterator[Item]:
    typed = pipelines.boxes_of(contracts[pipeline.finder.model])
    for number, box in enumerate(boxes(typed, ran.found)):
        answers: dict[str, Mapping[str, Answer] | None] = {pipeline.finder.name: {typed.identifier: box}}
        for stage in pipeline.readers:
            answers[stage.name] = None
            if number in ran.read[stage.name]:
                outputs = ran.read[stage.name][number]
                made = {each.identifier: answer(each, outputs) for each in contracts[stage.model].outputs}
                answers[stage.name] = _kept(made, f"{stem}.{number + 1}.{stage.name}")
        yield Item(answers=answers)


def _heard(model: Model, file: Path, stem: str, store: Store, console: Console, top: int | None) -> Iterator[Predicted]:
    """Answers for every hop of a recording."""
    assert model.contract is not None
    (sound,) = model.contract.parameters
    assert isinstance(sound, AudioInput)
    samples, rate = raw.sound(file, sound.samples.element)
    with (
        console.step(f"run {model.name} on {file.name}"),
        store.scratch() as scratch,
        opened(model, scratch) as session,
    ):
        for each in heard(model, session, samples, int(rate), scratch, top=top):
            answers = _kept(each.answers, f"{stem}.{each.start}")
            yield Predicted(file=file, answers=answers, frames=(each.start, each.end))


def _kept(answers: Mapping[str, Answer], stem: str) -> dict[str, Answer]:
    """`answers`; pictures and sounds as files in the current folder, whose names begin with `stem`."""
    return {name: _file(found, f"{stem}.{name}") for name, found in answers.items()}


def _file(found: Answer, name: str) -> Answer:
    """A picture or a sound as a file that has `name` without its ending; anything else as it is."""
    match found:
        case PictureResult():
            return _png(found, name)
        case DrawnInstances():
            return InstancesFile(instances=tuple(map(counted, found.found)), picture=_png(found.picture, name))
        case SoundResult(samples=samples, rate=rate, channels=channels):
            file = Path(f"{name}.wav")
            with atomic_file(file) as written:
                written.write(wav.content_of(samples, rate, channels))
            seconds = len(samples) / channels / rate
            return SoundFile(seconds=seconds, rate=rate, channels=channels, file=str(file))
    return found


def _png(found: PictureResult, name: str) -> PictureFile:
    file = Path(f"{name}.png")
    content = images.png_of(found.width, found.height, found.pixels)
    with atomic_file(file) as written:
        written.write(content)
    return PictureFile(width=found.width, height=found.height, file=str(file))


def _batch(
    model: Model, rows: Sequence[tuple[str, ...]], store: Store, console: Console, top: int | None
) -> Iterator[Predicted]:
    """Answers for all `rows`, texts or pairs of texts, in one run."""
    assert model.contract is not None
    with console.step(f"run {model.name} on {len(rows)} texts"), store.scratch() as scratch:
        outputs = _outputs(model, batch_of(model, rows, scratch), scratch, "these texts")
    for number, texts in enumerate(rows):
        answers = {each.identifier: answer(each, row(each, outputs, number), top) for each in model.contract.outputs}
        yield Predicted(file=None, texts=texts, answers=answers)


def _generated(model: Model, prompts: Iterator[tuple[Path | None, Prompt]], store: Store) -> Iterator[Predicted]:
    """A text for each of `prompts`, all by one session, which is open until the last one was asked for."""
    with store.scratch() as scratch, opened(model, scratch) as session:
        for file, prompt in prompts:
            parts = generated(model, session, prompt, scratch)
            yield Predicted(file=file, texts=prompt.texts, answers={}, parts=parts)


def _prompts(
    model: Model, given: Sequence[str], wanted: int, seed: int, store: Store
) -> Iterator[tuple[Path | None, Prompt]]:
    """Sources of the texts: `wanted` texts or a conversation each, or a file with a recording or with tensors."""
    if wanted:
        for texts in _grouped(given, wanted):
            file = Path(texts[0]) if texts[0].lower().endswith(CONVERSATION) else None
            yield file, Prompt(texts=(prompt_in(file, chat_of(model)),) if file else texts, seed=seed)
        return
    for file in _existing(given):
        yield file, Prompt(texts=(), seed=seed, arrays=_arrays(model, file, store))


def _grouped(texts: Sequence[str], wanted: int) -> Iterator[tuple[str, ...]]:
    if len(texts) % wanted:
        raise ConfigError(f"{len(texts)} texts for a model that takes {wanted}", hint="pass texts in pairs")
    return (tuple(texts[first : first + wanted]) for first in range(0, len(texts), wanted))


def _existing(files: Sequence[str]) -> list[Path]:
    for file in map(Path, files):
        if not file.is_file():
            raise ConfigError(f"{file}: {'a folder' if file.is_dir() else 'no such file'}", hint=HINT)
    return [*map(Path, files)]


def _by_stem(files: Sequence[Path]) -> dict[str, Path]:
    """The files by the start of names of what is made of them: `x`, and `x-2` where an earlier file has that name,
    whatever its case."""
    found: dict[str, Path] = {}
    taken: set[str] = set()
    for file in files:
        names = (file.stem if number == 1 else f"{file.stem}-{number}" for number in count(1))
        stem = next(name for name in names if name.casefold() not in taken)
        taken.add(stem.casefold())
        found[stem] = file
    return found


def _arrays(model: Model, file: Path, store: Store) -> Arrays:
    """Arrays in `file` for the inputs that apps fill, by name."""
    assert model.contract is not None
    names = {
        tensor.name
        for each in model.contract.parameters
        for tensor in vars(each).values()
        if isinstance(tensor, TensorSpec)
    }
    with store.scratch() as scratch:
        read = arrays_of(samples.given(model, file, scratch).paths[0])
    return {name: array for name, array in read.items() if name in names}


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
    outputs = _outputs(model, given, scratch, where)
    has_parts = any(isinstance(each, SpansOutput | InstancesOutput) for each in model.contract.outputs)
    inputs = arrays_of(given.paths[0]) if has_parts else {}
    answers = {each.identifier: answer(each, outputs, top, inputs=inputs) for each in model.contract.outputs}
    pictures = {each.identifier: each for each in model.contract.inputs if isinstance(each, ImageInput)}
    for each in model.contract.outputs:
        if isinstance(each, InstancesOutput):
            found = instances(each, outputs)
            answers[each.identifier] = DrawnInstances(found=found, picture=drawn(found, pictures[each.image], inputs))
    return answers


def _outputs(model: Model, given: SampleSet, scratch: Path, where: str) -> "dict[str, numpy.ndarray]":
    (outcome,) = parity.run_original(baseline(model), given, scratch / "outputs")
    if outcome.error:
        raise ModelError(f"{where}: model '{model.name}' does not run on it: {outcome.error}", hint=HINT)
    return {spec.name: array_of(outcome, index) for index, spec in enumerate(model.signature.outputs)}
