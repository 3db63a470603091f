"""Files of pipelines in TypeScript."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from packager.core.pipeline import Pipeline
from packager.targets.pipelines import ModelMethod, PipelineView, pipeline_views
from packager.targets.typescript.typed import TYPES
from packager.targets.typescript.typed_view import ImportView
from packager.targets.typescript.view import ModelView, PipelineFileView

TYPE = re.compile(r"\b[A-Z]\w*")
TAKEN = ("CallOptions", "Detection", "Picture")
"""types of what every pipeline takes and gives"""


def files(pipelines: Sequence[Pipeline], npm_name: str, models: Sequence[ModelView]) -> Iterator[PipelineFileView]:
    """`models` are those of the package `npm_name`."""
    methods = {each.name: _method(each) for each in models if each.typed}
    by_class = {each.class_name: each for each in models}
    for view in pipeline_views(pipelines, methods):
        used = {name for stage in view.readers for name in TYPE.findall(stage.method.result)} | {*TAKEN}
        yield PipelineFileView(
            npm_name=npm_name,
            file=view.name.lower(),
            pipeline=view,
            models=tuple(_models(view, by_class, used)),
            typed=tuple(_typed(used)),
            has_limits=any(each.min_score for each in view.readers),
        )


def _method(model: ModelView) -> ModelMethod:
    assert model.typed
    return ModelMethod(
        class_name=model.class_name,
        verb=model.typed.verb,
        result=model.typed.result,
        about="The prediction of the model." if model.typed.predicted else model.typed.about,
        has_self_test=bool(model.golden),
    )


def _models(view: PipelineView, models: Mapping[str, ModelView], used: Iterable[str]) -> Iterator[ImportView]:
    """Imports of the models' classes, with the types of results that lie beside them."""
    for name in sorted({each.method.class_name for each in view.stages}):
        beside = {f"{name}Outputs", f"{name}Prediction"}
        yield ImportView(module=models[name].file, values=(name,), types=tuple(sorted(beside.intersection(used))))


def _typed(used: Iterable[str]) -> Iterator[ImportView]:
    """Imports of types from `runtime/typed/`."""
    for module, types in sorted(TYPES.items()):
        if found := sorted({*types}.intersection(used)):
            yield ImportView(module=module, values=(), types=tuple(found))
