"""README.md of a jar, and its examples."""

from collections.abc import Iterator
from dataclasses import dataclass

from packager.render.templates import render
from packager.targets.kotlin.view import KotlinView, ModelView


@dataclass(frozen=True, kw_only=True)
class Listed:
    class_name: str
    version: str


@dataclass(frozen=True, kw_only=True)
class JvmReadmeView:
    """README.md"""

    artifact: str
    summary: str
    notation: str
    group: str
    version: str
    kotlin_package: str
    dependencies: tuple[str, ...]
    models: tuple[Listed, ...]
    lines: tuple[str, ...]
    """code in Kotlin that runs `model`, the first one"""
    has_self_test: bool


def readme(view: KotlinView, artifact: str, summary: str) -> str:
    package = view.package
    shown = JvmReadmeView(
        artifact=artifact,
        summary=summary,
        notation=f"{view.group}:{artifact}:{package.version}",
        group=view.group,
        version=package.version,
        kotlin_package=view.namespace,
        dependencies=(view.onnxruntime, *view.libraries),
        models=tuple(Listed(class_name=each.class_name, version=each.version) for each in view.models),
        lines=tuple(_lines(view.models[0])),
        has_self_test=any(each.golden for each in view.models),
    )
    return render("jvm/README.md.j2", shown)


def _lines(model: ModelView) -> Iterator[str]:
    if model.typed and model.typed.generation:
        yield f"model.{model.typed.example.removesuffix('.toList()')}.collect {{ print(it) }}"
    elif model.typed:
        example = model.typed.example.replace("Picture.of(image)", 'Picture.of(File("photo.jpg"))')
        yield f"println(model.{example})"
    else:
        sizes = ", ".join(f"{each.identifier} = {each.example}" for each in model.dimensions)
        yield f"val input = {model.class_name}.Input({sizes})"
        yield from (f"// Fill input.{each.identifier} here." for each in model.inputs)
        yield f"println(model.run(input).{model.output_example})"
