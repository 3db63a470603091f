"""Files of pipelines in Swift."""

from collections.abc import Sequence

from packager.core.pipeline import Pipeline
from packager.targets.ios.view import ModelView, PipelineFileView
from packager.targets.pipelines import ModelMethod, pipeline_views


def files(pipelines: Sequence[Pipeline], models: Sequence[ModelView]) -> tuple[PipelineFileView, ...]:
    """`models` are those of the package."""
    methods = {each.name: _method(each) for each in models if each.typed}
    return tuple(PipelineFileView(pipeline=each) for each in pipeline_views(pipelines, methods))


def _method(model: ModelView) -> ModelMethod:
    assert model.typed
    has_several = model.typed.is_prediction
    return ModelMethod(
        class_name=model.class_name,
        verb=model.typed.verb,
        result=f"{model.class_name}.{model.typed.result}" if has_several else model.typed.result,
        about="The prediction of the model." if has_several else model.typed.summary,
        has_self_test=bool(model.golden),
    )
