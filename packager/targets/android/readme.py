"""README.md of an Android library, for the developers of apps."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packager.render.templates import render
from packager.targets.android.view import AndroidView
from packager.targets.kotlin.view import ModelView
from packager.targets.partials import with_partial

PROVIDER = "android/_providers/{}.readme.md.j2"
"""a provider's part of the README"""
FROM_ANDROID = {"Bitmap": "android.graphics.Bitmap"}
"""Types of parameters that are not in the package."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    identifier: str
    kotlin_type: str


@dataclass(frozen=True, kw_only=True)
class Usage:
    """A model, and an example of its use."""

    name: str
    class_name: str
    verb: str
    """method that runs it"""
    imports: tuple[str, ...]
    """classes of the system that the parameters have"""
    has_types: bool
    """whether the example names other classes of the package than the model's"""
    parameters: tuple[Parameter, ...]
    """parameters of a function that runs it, after the context"""
    lines: tuple[str, ...]
    """code that runs `model`; its last line is the result"""
    result: str
    """type of the result of a model that takes one picture; empty for others"""


@dataclass(frozen=True, kw_only=True)
class ReadmeView:
    """README.md"""

    artifact: str
    version: str
    description: str
    notation: str
    """group:artifact:version"""
    dependencies: tuple[str, ...]
    """of the library, in that notation"""
    kotlin_package: str
    min_sdk: int
    runtime_version: str
    models: tuple[Usage, ...]
    providers: tuple[str, ...]
    """providers that need something of the app"""
    has_telemetry: bool
    has_self_test: bool
    channel: str
    """where newer models come from; empty for a package whose models come with the app alone"""


def readme(
    view: AndroidView,
    *,
    min_sdk: int,
    runtime_version: str,
    dependencies: Sequence[str],
    providers: Sequence[str],
    has_telemetry: bool,
) -> str:
    """README.md of the package; `dependencies` and `has_telemetry` are those of its metadata and manifest."""
    package = view.package
    shown = ReadmeView(
        artifact=package.name,
        version=package.version,
        description=package.description,
        notation=f"{view.group}:{package.name}:{package.version}",
        dependencies=tuple(dependencies),
        kotlin_package=view.namespace,
        min_sdk=min_sdk,
        runtime_version=runtime_version,
        models=tuple(_usage(model) for model in view.models),
        providers=with_partial(providers, PROVIDER),
        has_telemetry=has_telemetry,
        has_self_test=any(model.golden for model in view.models),
        channel=view.runtime.delivery.channel if view.runtime.delivery else "",
    )
    return render("android/README.md.j2", shown)


def _usage(model: ModelView) -> Usage:
    parameters = tuple(_parameters(model))
    types = {parameter.kotlin_type for parameter in parameters}
    return Usage(
        name=model.name,
        class_name=model.class_name,
        verb=model.typed.verb if model.typed else "run",
        imports=tuple(FROM_ANDROID[name] for name in sorted(types & set(FROM_ANDROID))),
        has_types=bool(types - set(FROM_ANDROID)),
        parameters=parameters,
        lines=tuple(_lines(model, parameters)),
        result=_result(model),
    )


def _parameters(model: ModelView) -> Iterator[Parameter]:
    if not model.typed:
        return
    if model.typed.takes_bitmap:
        yield Parameter(identifier="bitmap", kotlin_type="Bitmap")
        return
    for each in model.typed.parameters:
        if not each.default:
            yield Parameter(identifier=each.identifier, kotlin_type=each.kotlin_type)


def _lines(model: ModelView, parameters: Sequence[Parameter]) -> Iterator[str]:
    if model.typed and model.typed.generation:
        yield f"model.{model.typed.example.removesuffix('.toList()')}.collect {{ print(it) }}"
        return
    if model.typed:
        yield f"model.{model.typed.verb}({', '.join(each.identifier for each in parameters)})"
        return
    sizes = ", ".join(f"{each.identifier} = {each.example}" for each in model.dimensions)
    yield f"val input = {model.class_name}.Input({sizes})"
    for each in model.inputs:
        yield f"// Fill input.{each.identifier}, {_article(each.kotlin_type)}, here."
    yield "val output = model.run(input)"
    yield f"output.{model.output_example}"


def _article(noun: str) -> str:
    """`FloatBuffer` -> `a FloatBuffer`"""
    return f"{'an' if noun[0] in 'AEIO' else 'a'} {noun}"


def _result(model: ModelView) -> str:
    if not model.typed or not model.typed.takes_bitmap:
        return ""
    return f"{model.class_name}.{model.typed.kotlin_type}" if model.typed.is_several else model.typed.kotlin_type
