"""Runs pipelines, and proves that what ships computes the same as the originals from the picture to the last stage."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from packager.config import Config
from packager.core.console import Console
from packager.core.contract import BoxesOutput, Contract, ImageInput
from packager.core.crops import StoredArrays, stored_arrays
from packager.core.errors import ModelError, ToolError
from packager.core.findings import PipelineProof
from packager.core.pipeline import Pipeline, Stage
from packager.core.values import Model, Plan, Variant
from packager.engines.runners import ANY, Outcome, Runner
from packager.files.store import Store
from packager.providers import CPU
from packager.samples.sample import Arrays, SampleSet, arrays_of, write_arrays
from packager.verification import parity
from packager.verification.numbers import chosen, settings_for
from packager.verification.parity import NO_RANGE, ParitySettings, Subject
from packager.verification.parity.metrics import Comparison
from packager.verification.parity.outcomes import array_of

if TYPE_CHECKING:
    import numpy

Outputs = Mapping[str, "numpy.ndarray"]
"""by the names of a model's outputs"""
Compute = Callable[[str, Sequence[Arrays]], Sequence[Outputs]]
"""runs the model of that name on each of the inputs"""


@dataclass(frozen=True, kw_only=True)
class Ran:
    """The results of a pipeline for one picture."""

    found: Outputs
    """of the stage that finds the boxes"""
    count: int
    """number of the boxes"""
    cuts: tuple[StoredArrays, ...]
    """the part of the picture in each box"""
    read: Mapping[str, Mapping[int, Outputs]]
    """of each other stage, by its name and the number of the box"""


def run(pipeline: Pipeline, contracts: Mapping[str, Contract], picture: StoredArrays, compute: Compute) -> Ran:
    """Runs `pipeline` on a picture. Raises ModelError for more boxes than it takes."""
    contract = contracts[pipeline.finder.model]
    boxes = boxes_of(contract)
    (found,) = compute(pipeline.finder.model, [picture.named(taken(contract))])
    corners, scores = found[boxes.boxes.name].tolist(), found[boxes.scores.name]
    if len(corners) > pipeline.max_items:
        raise ModelError(
            f"pipeline '{pipeline.name}': stage '{pipeline.finder.name}' found {len(corners)} boxes, and the pipeline "
            f"takes {pipeline.max_items}",
            hint=f"raise max in [pipeline.{pipeline.name}], or score-threshold of model '{pipeline.finder.model}'",
        )
    cuts = tuple(picture.within(each) for each in corners)
    return Ran(
        found=found,
        count=len(corners),
        cuts=cuts,
        read={each.name: _read(each, contracts[each.model], cuts, scores, compute) for each in pipeline.readers},
    )


def _read(
    stage: Stage, contract: Contract, cuts: Sequence[StoredArrays], scores: "numpy.ndarray", compute: Compute
) -> dict[int, Outputs]:
    least = stage.min_score
    numbers = [number for number, score in enumerate(scores) if least is None or score >= least]  # as 32-bit floats
    return dict(
        zip(numbers, compute(stage.model, [cuts[each].named(taken(contract)) for each in numbers]), strict=True)
    )


def contracts_of(models: Iterable[Model]) -> dict[str, Contract]:
    """Contracts by the names of models."""
    return {each.name: each.contract for each in models if each.contract}


def taken(contract: Contract) -> ImageInput:
    """The picture that a model of a pipeline takes."""
    (typed,) = contract.parameters
    assert isinstance(typed, ImageInput)
    return typed


def boxes_of(contract: Contract) -> BoxesOutput:
    """The result of the model that finds the boxes of a pipeline."""
    (typed,) = contract.outputs
    assert isinstance(typed, BoxesOutput)
    return typed


def on_originals(originals: Mapping[str, Variant], folder: Path) -> Compute:
    """Runs graphs node by node, without optimizations. `originals` are by the name of their model; files go below
    `folder`, which exists."""

    def compute(name: str, given: Sequence[Arrays]) -> Sequence[Outputs]:
        own = Path(tempfile.mkdtemp(dir=folder))
        outcomes = parity.run_original(originals[name], _written(given, own), own / "outputs") if given else ()
        return [_outputs(originals[name].model, each) for each in outcomes]

    return compute


def on_runner(runner: Runner, subjects: Mapping[str, Subject], folder: Path) -> Compute:
    """Runs files that ship; `subjects` are by the name of their model."""

    def compute(name: str, given: Sequence[Arrays]) -> Sequence[Outputs]:
        if not given:
            return ()
        own = Path(tempfile.mkdtemp(dir=folder))
        found = []
        with runner.open(subjects[name].runnable(own), own) as session:
            for number, path in enumerate(_written(given, own).paths):
                outputs = own / f"outputs-{number}"
                outputs.mkdir()
                found.append(_outputs(subjects[name].variant.model, session.run(path, outputs)))
        return found

    return compute


def _written(given: Sequence[Arrays], folder: Path) -> SampleSet:
    paths = tuple(folder / f"{number:05}.npz" for number in range(len(given)))
    for path, arrays in zip(paths, given, strict=True):
        write_arrays(path, arrays)
    return SampleSet(paths=paths, description="")


def _outputs(model: Model, outcome: Outcome) -> Outputs:
    if outcome.error:
        raise ModelError(
            f"model '{model.name}' does not run on a part of the picture: {outcome.error}",
            hint="try a part as small as that with mobpack predict",
        )
    return {spec.name: array_of(outcome, index) for index, spec in enumerate(model.signature.outputs)}


def prove_all(
    pipelines: Sequence[Pipeline],
    plans: Sequence[Plan],
    config: Config,
    references: parity.OriginalOutputs,
    store: Store,
    console: Console,
) -> tuple[PipelineProof, ...]:
    """Runs every pipeline on the samples of its first stage, by the originals and by the files that ship for the CPU of
    every target, and compares each stage."""
    proofs = []
    for pipeline in pipelines:
        for subjects, places in _files(pipeline, plans):
            for runner in _runners(config):
                title = f"compare pipeline {pipeline.name} for {' and '.join(places)} on {runner.label()}"
                with console.step(title, kind="compare pipelines"), store.scratch() as scratch:
                    case = Case(pipeline=pipeline, subjects={each.variant.model.name: each for each in subjects})
                    proofs.append(replace(case.proof(runner, config, references, scratch), places=places))
    for each in proofs:
        if not each.skipped and not each.count:
            console.warn(
                f"pipeline '{each.pipeline}': the first stage found no box in the samples ({each.samples}), so no "
                "other stage was compared: give pictures with [parity] samples",
                is_measured=True,
            )
    return tuple(proofs)


def _files(pipeline: Pipeline, plans: Sequence[Plan]) -> list[tuple[tuple[Subject, ...], tuple[str, ...]]]:
    """The CPU's files of all stages, once for targets with the same ones, and those targets."""
    names = [each.model for each in pipeline.stages]
    found: dict[tuple[str, ...], tuple[tuple[Subject, ...], tuple[str, ...]]] = {}
    for place in dict.fromkeys(each.place for each in plans):
        own = {each.model.name: each for each in plans if each.place == place}
        if not own.keys() >= {*names}:
            continue
        files = [own[name].cpu for name in dict.fromkeys(names)]
        subjects = tuple(Subject(variant=each.variant, compiled=each) for each in files)
        key = tuple(each.sha256 for each in files)
        found[key] = (subjects, (*found.get(key, ((), ()))[1], place))
    return list(found.values())


def _runners(config: Config) -> Iterator[Runner]:
    """The configured runners that open the CPU's files."""
    names = dict.fromkeys((*config.parity.runners, *config.parity.require))
    return (each for each in chosen(config, names) if each.OPENS in (ANY, CPU.NAME))


@dataclass(frozen=True, kw_only=True)
class Case:
    """A pipeline and the files of its models."""

    pipeline: Pipeline
    subjects: Mapping[str, Subject]

    def proof(self, runner: Runner, config: Config, references: parity.OriginalOutputs, scratch: Path) -> PipelineProof:
        """Raises ModelError if the originals do not run."""
        pipeline, first = self.pipeline, self.subjects[self.pipeline.finder.model]
        settings = {name: settings_for(config, each, runner) for name, each in self.subjects.items()}
        samples = references.of(first.original, settings[pipeline.finder.model]).samples
        about = PipelineProof(pipeline=pipeline.name, runner=runner.label(), samples=samples.description)
        if reason := runner.missing():
            return replace(about, skipped=reason)
        contracts = contracts_of([each.variant.model for each in self.subjects.values()])
        originals = on_originals({name: each.original for name, each in self.subjects.items()}, scratch)
        files = on_runner(runner, self.subjects, scratch)
        pairs = []
        for number, path in enumerate(samples.paths):
            if parity.movement(first.original, settings[pipeline.finder.model], number, references):
                continue  # the original finds other boxes in almost the same picture
            picture = stored_arrays(taken(contracts[pipeline.finder.model]), arrays_of(path))
            try:
                pairs.append(Pair(*(run(pipeline, contracts, picture, each) for each in (originals, files))))
            except (ModelError, ToolError) as error:
                return replace(about, failure=error.message)
        return self._compared(about, pairs, settings)

    def _compared(
        self, about: PipelineProof, pairs: Sequence["Pair"], settings: Mapping[str, ParitySettings]
    ) -> PipelineProof:
        about = replace(
            about,
            count=sum(each.expected.count for each in pairs),
            alike_count=sum(len(each.alike) for each in pairs),
        )
        for each in pairs:
            if each.expected.count != each.actual.count:
                return replace(about, failure=f"{each.actual.count} boxes, and {each.expected.count} by the originals")
        errors = [
            (stage, settings[stage.model].tolerance_of(name).judged(found.result()), found.reason)
            for stage in self.pipeline.stages
            for name, found in _comparisons([both for each in pairs for both in each.of(stage, self.pipeline)])
        ]
        failed = (
            f"stage '{stage.name}', output '{error.output}': {reason or error.failure}"
            for stage, error, reason in errors
            if reason or error.failure
        )
        return replace(
            about, failure=next(failed, ""), max_rel_error=max((each.max_rel_error for _, each, _ in errors), default=0)
        )


@dataclass(frozen=True)
class Pair:
    """The results of the originals and those of files for one picture."""

    expected: Ran
    actual: Ran

    @property
    def alike(self) -> tuple[int, ...]:
        """Numbers of the boxes that hold the same pixels in both."""
        both = zip(self.expected.cuts, self.actual.cuts, strict=False)
        return tuple(number for number, (one, other) in enumerate(both) if one.has_same_pixels(other))

    def of(self, stage: Stage, pipeline: Pipeline) -> Iterator[tuple[Outputs, Outputs]]:
        """The outputs of a stage in both: of boxes with the same pixels, where it runs on boxes."""
        if stage is pipeline.finder:
            yield self.expected.found, self.actual.found
            return
        one, other = self.expected.read[stage.name], self.actual.read[stage.name]
        yield from ((one[number], other[number]) for number in self.alike if number in one and number in other)


def _comparisons(pairs: Sequence[tuple[Outputs, Outputs]]) -> Iterator[tuple[str, Comparison]]:
    """Compares each output over all pairs."""
    for name in pairs[0][0] if pairs else ():
        found = Comparison(name, NO_RANGE.over(expected[name] for expected, _ in pairs))
        for expected, actual in pairs:
            found.add(expected[name], actual[name])
        yield name, found
