"""Views of pipelines, which every language's template prints with its own types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packager.core.pipeline import Pipeline, Stage


@dataclass(frozen=True, kw_only=True)
class ModelMethod:
    """The method of a model, as its class has it in one language."""

    class_name: str
    verb: str
    """name of the method that takes a picture"""
    result: str
    """type that it returns, with the name of the class where that is needed"""
    about: str
    """a sentence about the result"""
    has_self_test: bool


@dataclass(frozen=True, kw_only=True)
class StageView:
    """One stage: a property of the pipeline's class, and a field of its items."""

    identifier: str
    method: ModelMethod
    min_score: str
    """smallest score of a box, as every language writes a number; empty for a stage that runs on all"""


@dataclass(frozen=True, kw_only=True)
class PipelineView:
    """The class of a pipeline."""

    name: str
    class_name: str
    item: str
    """type of the items"""
    finder: StageView
    """gets the picture; its method returns a list of boxes with scores"""
    readers: tuple[StageView, ...]
    """get the part of the picture in each box, in this order"""
    max_items: int

    @property
    def stages(self) -> tuple[StageView, ...]:
        """In the order in which they run."""
        return (self.finder, *self.readers)

    @property
    def tested(self) -> tuple[StageView, ...]:
        """Stages whose models have a self-test."""
        return tuple(each for each in self.stages if each.method.has_self_test)


def pipeline_views(pipelines: Sequence[Pipeline], methods: Mapping[str, ModelMethod]) -> tuple[PipelineView, ...]:
    """The pipelines whose models are in the package: `methods` has the method of each, by name."""
    return tuple(
        PipelineView(
            name=each.name,
            class_name=each.class_name,
            item=each.item_class_name,
            finder=_stage(each.finder, methods),
            readers=tuple(_stage(reader, methods) for reader in each.readers),
            max_items=each.max_items,
        )
        for each in pipelines
        if methods.keys() >= {stage.model for stage in each.stages}
    )


def _stage(stage: Stage, methods: Mapping[str, ModelMethod]) -> StageView:
    return StageView(
        identifier=stage.identifier,
        method=methods[stage.model],
        min_score="" if stage.min_score is None else repr(stage.min_score),
    )
