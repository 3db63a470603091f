"""Files of pipelines in Dart."""

from collections.abc import Iterator, Sequence

from packager.core.pipeline import Pipeline
from packager.targets.flutter import naming
from packager.targets.flutter.model import TYPED_DATA
from packager.targets.flutter.view import ModelView, PipelineFileView
from packager.targets.pipelines import ModelMethod, pipeline_views


def files(pipelines: Sequence[Pipeline], pub_name: str, models: Sequence[ModelView]) -> Iterator[PipelineFileView]:
    """`models` are those of the package `pub_name`."""
    names = naming.file_names(each.name for each in pipelines)
    for view in pipeline_views(pipelines, _methods(models)):
        yield PipelineFileView(
            package=pub_name,
            file=names[view.name],
            pipeline=view,
            has_numbers=any(TYPED_DATA.search(each.method.result) for each in view.readers),
        )


def _methods(models: Sequence[ModelView]) -> dict[str, ModelMethod]:
    """By the names of the models."""
    return {
        each.name: ModelMethod(
            class_name=each.class_name,
            verb=each.typed.verb,
            result=each.typed.result,
            about="The prediction of the model." if each.typed.results else each.typed.about,
            has_self_test=bool(each.golden),
        )
        for each in models
        if each.typed
    }
