"""The pipelines of a project: do their models fit each other, and can the code of a target run them?"""

from collections.abc import Iterator, Mapping, Sequence

from packager.config import Config, PipelineTable
from packager.core.contract import BoxesOutput, Contract, ImageInput, kind_of
from packager.core.errors import ConfigError
from packager.core.names import camel_case
from packager.core.pipeline import Pipeline, Stage
from packager.core.values import Model
from packager.targets import KNOWN_TARGETS

CONTRACT = "docs/contract.md says how a model gets one"


def refuse_unpipelined(config: Config, targets: Sequence[str]) -> None:
    """Raises ConfigError for pipelines with a target whose code cannot run them yet."""
    unable = [name for name in targets if not KNOWN_TARGETS[name].LANGUAGE.has_pipelines] if config.pipeline else []
    if unable:
        able = [name for name, target in KNOWN_TARGETS.items() if target.LANGUAGE.has_pipelines]
        raise ConfigError(
            f"pipeline.{next(iter(config.pipeline))}: the code for {', '.join(unable)} cannot run pipelines yet",
            hint=f"build it from a mobpack.toml without [pipeline]; these can: {', '.join(able) or 'none'}",
        )


def pipelines_of(config: Config, models: Sequence[Model]) -> tuple[Pipeline, ...]:
    """The pipelines of a project, by name, with the contracts of its `models`. Raises ConfigError for a stage whose
    model takes or gives something else than its neighbour."""
    contracts = {each.name: each.contract for each in models}
    return tuple(pipeline_of(name, config.pipeline[name], contracts) for name in sorted(config.pipeline))


def pipeline_of(name: str, table: PipelineTable, contracts: Mapping[str, Contract | None]) -> Pipeline:
    """Raises ConfigError as `pipelines_of` does; `contracts` are those of the project's models."""
    finder = table.finder()
    for stage, each in table.stages.items():
        where = f"pipeline.{name}.stages.{stage}"
        if taken := _not_a_picture(contracts[each.model]):
            given = f"each box of '{finder}' gives a picture" if each.each else "the stage gets a picture"
            fits = [model for model, known in contracts.items() if not _not_a_picture(known)]
            raise _unfit(f"{where}: {given} (kind = \"image\"), and model '{each.model}' takes {taken}", fits)
        if stage == finder:
            if given := _not_boxes(contracts[each.model]):
                readers = " and ".join(repr(other) for other in table.stages if other != finder)
                fits = [model for model, known in contracts.items() if not (_not_a_picture(known) or _not_boxes(known))]
                gets = f'boxes (kind = "boxes") are what {readers} gets'
                raise _unfit(f"{where}: model '{each.model}' gives {given}, and {gets}", fits)
        elif placed := _places(contracts[each.model]):
            raise ConfigError(
                f"{where}: model '{each.model}' gives {placed}: places in the part of the picture, not in the picture",
                hint="use a model without places in each box, for example of classes, an embedding or a text",
            )
    stages = {
        stage: Stage(name=stage, identifier=camel_case(stage), model=each.model, min_score=each.min_score)
        for stage, each in table.stages.items()
    }
    return Pipeline(
        name=name,
        finder=stages[finder],
        readers=tuple(each for stage, each in stages.items() if stage != finder),
        max_items=table.max,
    )


def _unfit(message: str, fits: Sequence[str]) -> ConfigError:
    found = f"these models fit: {', '.join(fits)}" if fits else f"no model of the project fits; {CONTRACT}"
    return ConfigError(message, hint=found)


def _not_a_picture(contract: Contract | None) -> str:
    """Parameters of a model in words, unless it takes one picture and nothing else; empty if it does."""
    if contract is None:
        return "tensors: it has no contract"
    if contract.states:
        return "a state from run to run"
    if contract.generated:
        return "several runs for a text"
    if [type(each) for each in contract.parameters] == [ImageInput]:
        return ""
    return _listed(kind_of(each) for each in contract.parameters)


def _not_boxes(contract: Contract | None) -> str:
    """Results of a model in words, unless they are boxes alone; empty if they are."""
    outputs = contract.outputs if contract else ()
    return "" if [type(each) for each in outputs] == [BoxesOutput] else _listed(kind_of(each) for each in outputs)


def _places(contract: Contract | None) -> str:
    """Results that say where something is, in words; empty without any."""
    return _listed(kind_of(each) for each in (contract.outputs if contract else ()) if each.DESCRIBED.has_places)


def _listed(kinds: Iterator[str]) -> str:
    return " and ".join(f'{kind} (kind = "{kind}")' for kind in kinds)
