"""The tables of pipelines, and mistakes in them that need no model to be seen."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from packager.config.strict import Strict
from packager.core import names
from packager.core.errors import ConfigError, nearest

MEMBERS = frozenset(
    "bitmap box cancellation close closed context count description dispose found init item items load loadedAfter max "
    "maxItems models name opened options orientation part picture pipeline run runBlocking selfTest signal stages "
    "test use".split()
)
"""names in the class of a pipeline in one of the languages"""


class StageTable(Strict):
    model: str
    """model of the project that the stage runs; it takes one picture"""
    each: str = ""
    """stage that finds the boxes: this one runs on the part of the picture in each of them, one after the other. Empty
    for the stage that finds them, which gets the whole picture"""
    min_score: Annotated[float, Field(ge=0, le=1)] | None = None
    """with `each`: smallest score of a box that the stage runs on; the items of other boxes have no result of it"""


class PipelineTable(Strict):
    stages: dict[str, StageTable]
    """stages by the names of their results: one finds boxes, the others run on each of them. See docs/pipelines.md"""
    max: Annotated[int, Field(ge=1)] = 1000
    """largest number of boxes in a picture: more are an error"""

    def finder(self) -> str:
        """The stage that finds the boxes."""
        return next(name for name, stage in self.stages.items() if not stage.each)


def check_stages(pipelines: Mapping[str, PipelineTable], models: Sequence[str]) -> None:
    """Raises ConfigError for names that do not exist or cannot be, and for stages that are no tree."""
    for name, table in pipelines.items():
        where = f"pipeline.{name}.stages"
        _check_stage_names(where, table.stages)
        for stage, each in table.stages.items():
            if each.model not in models:
                raise ConfigError(
                    f"{where}.{stage}.model: the project has no model '{each.model}'", hint=nearest(each.model, models)
                )
        _check_tree(where, table.stages)


def _check_stage_names(where: str, stages: Mapping[str, StageTable]) -> None:
    known: dict[str, str] = {}
    for stage in stages:
        if not names.MODEL_NAME.fullmatch(stage):
            raise ConfigError(
                f"{where}.{stage}: invalid stage name",
                hint="use letters, digits, hyphens and underscores, starting with a letter",
            )
        identifier = names.camel_case(stage)
        if identifier in names.RESERVED | names.AROUND_PARAMETERS | MEMBERS:
            raise ConfigError(
                f"{where}.{stage}: generated code uses the name '{identifier}' itself",
                hint="name the stage after what it finds, for example line or text",
            )
        if identifier in known:
            raise ConfigError(
                f"{where}: '{known[identifier]}' and '{stage}' have the same name in generated code, {identifier}",
                hint="rename one of them",
            )
        known[identifier] = stage


def _check_tree(where: str, stages: Mapping[str, StageTable]) -> None:
    """One stage finds boxes, and all others name it."""
    for stage, table in stages.items():
        if table.each and table.each not in stages:
            raise ConfigError(f"{where}.{stage}.each: no stage '{table.each}'", hint=nearest(table.each, stages))
        _refuse_cycle(where, stage, stages)
    first = [stage for stage, table in stages.items() if not table.each]
    if len(first) > 1:
        raise ConfigError(
            f"{where}: {' and '.join(first)} get the whole picture, and one stage alone can",
            hint=f'let the others run on its boxes: each = "{first[0]}"',
        )
    if len(stages) < 2:
        raise ConfigError(
            f"{where}: a pipeline of {len(stages)} stages", hint="add a stage that runs on each box of the first one"
        )
    (finder,) = first
    for stage, table in stages.items():
        if table.each not in ("", finder):
            raise ConfigError(
                f"{where}.{stage}.each: '{table.each}' runs on each box itself, and lists within lists are not "
                "supported",
                hint=f'each = "{finder}"',
            )
        if not table.each and table.min_score is not None:
            raise ConfigError(
                f"{where}.{stage}: 'min-score' has no effect without 'each'",
                hint="remove it, or set score-threshold of the model's output",
            )


def _refuse_cycle(where: str, stage: str, stages: Mapping[str, StageTable]) -> None:
    path = [stage]
    while (following := stages[path[-1]].each) in stages:
        path.append(following)
        if following in path[:-1]:
            raise ConfigError(
                f"{where}: the stages form a cycle: {' -> '.join(path)}",
                hint="remove 'each' of the stage that gets the whole picture",
            )
