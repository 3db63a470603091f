"""Views of models for TypeScript: types, shapes, names."""

from collections.abc import Collection, Mapping, Sequence

from packager.core.class_names import class_name
from packager.core.errors import ModelError
from packager.core.findings import Report
from packager.core.tuned import Chips
from packager.core.values import ElementType, Model, Package, TensorSpec
from packager.targets import dimensions
from packager.targets.dimensions import Sizes
from packager.targets.golden import samples_in_words
from packager.targets.typescript import tuning, typed
from packager.targets.typescript.files import Layout, Platform, lay_out
from packager.targets.typescript.golden import golden_views
from packager.targets.typescript.storage import STORAGE
from packager.targets.typescript.typed_view import TypedView
from packager.targets.typescript.view import (
    FileListView,
    GoldenView,
    ModelView,
    PlatformView,
    TensorView,
    TunedPlatformView,
)
from packager.vectors import Golden

ANY_SHAPE = "readonly number[]"
OPEN = "null"
NOT_TUNED: Mapping[str, Chips] = {}


def model_views(
    package: Package,
    platforms: Sequence[Platform],
    report: Report,
    golden: Golden,
    layout: Layout,
    *,
    npm_name: str,
    is_for_pages: bool,
    tuned: Mapping[str, Chips] = NOT_TUNED,
) -> tuple[ModelView, ...]:
    """Views of the modules of all models, whose files are added to `layout`: for web pages, or for apps. `tuned` has
    the settings by chip of each platform.

    Raises ModelError for a model with a tensor that no typed array can hold.
    """
    laid_out = lay_out(platforms, layout)
    found = [plan.model for plan in platforms[0].plans]
    views = []
    for model in found:
        opened = {each.name: laid_out[each.name][model.name] for each in platforms}
        views.append(
            model_view(
                model,
                package,
                npm_name=npm_name,
                is_for_pages=is_for_pages,
                platforms=tuple(PlatformView(name=name, files=each) for name, each in opened.items()),
                golden=golden_views(model.name, opened, golden, layout),
                class_name=class_name(model.name),
                typed_view=typed.typed_view(model.contract, class_name(model.name)) if model.contract else None,
                tuned=tuning.platforms(model.name, tuned),
                reshaped={name for each in platforms for name in reshaped_outputs(report, each, model.name)},
            )
        )
    return tuple(views)


def reshaped_outputs(report: Report, platform: Platform, model: str) -> set[str]:
    """Outputs of a model whose actual shape contradicts the declared one in a variant that the platform ships."""
    [own] = (plan for plan in platform.plans if plan.model.name == model)
    return report.reshaped_outputs(model, platform.variant, *own.variants)


def model_view(
    model: Model,
    package: Package,
    *,
    npm_name: str,
    is_for_pages: bool,
    platforms: tuple[PlatformView, ...],
    golden: tuple[GoldenView, ...] = (),
    class_name: str,
    reshaped: Collection[str],
    typed_view: TypedView | None = None,
    tuned: tuple[TunedPlatformView, ...] = (),
) -> ModelView:
    """View of one model's module. `reshaped` names outputs whose actual shape contradicts the declared one.

    Raises ModelError for a model with a tensor that no typed array can hold.
    """
    refuse_unsupported(model)
    sizes = dimensions.sizes(model.signature.inputs)
    inputs = tuple(_tensor(spec, sizes) for spec in model.signature.inputs)
    outputs = tuple(_tensor(spec, sizes, reshaped) for spec in model.signature.outputs)
    return ModelView(
        class_name=class_name,
        name=model.name,
        file=model.name.lower(),
        hook=f"use{class_name}",
        has_hook=not is_for_pages,
        has_urls=is_for_pages,
        source=model.path.name,
        source_sha256=model.sha256,
        version=package.version,
        inputs=inputs,
        outputs=outputs,
        platforms=platforms,
        file_lists=_file_lists(platforms),
        golden=golden,
        samples=samples_in_words([each.samples for each in golden]),
        typed=typed_view,
        is_signed=package.trust is not None,
        is_updated=package.delivery is not None,
        tuned=tuned,
        variants=tuple(dict.fromkeys(file.path for each in platforms for file in each.files if file.variant)),
        example=(*_loaded(npm_name, class_name), *(typed_view.example if typed_view else _run(inputs, outputs[0]))),
    )


def _file_lists(platforms: Sequence[PlatformView]) -> tuple[FileListView, ...]:
    first = platforms[0].files if platforms else ()
    if all(each.files == first for each in platforms):
        return (FileListView(name="files", files=first),)
    return tuple(FileListView(name=f"{each.name}Files", files=each.files) for each in platforms)


def refuse_unsupported(model: Model) -> None:
    """Raises ModelError for the first tensor that JavaScript has no array type for."""
    for kind, specs in (("input", model.signature.inputs), ("output", model.signature.outputs)):
        for spec in specs:
            if spec.element not in STORAGE:
                raise ModelError(
                    f"model '{model.name}': {kind} '{spec.name}' has a type that JavaScript cannot pass: "
                    "complex numbers, 8-bit floats and integers of less than 8 bits have no typed array",
                    hint=f"insert a Cast at the {kind} in the graph, for example "
                    + ("from float" if kind == "input" else "to float"),
                )


def _tensor(spec: TensorSpec, sizes: Sizes, reshaped: Collection[str] = ()) -> TensorView:
    storage = STORAGE[spec.element]
    is_known = spec.name not in reshaped
    fixed = [size if isinstance(size, int) and is_known else None for size in spec.shape]
    return TensorView(
        identifier=spec.identifier,
        tensor=spec.name,
        element=spec.element.value,
        type=storage.type,
        array=storage.array,
        shape=sizes.shape(spec),
        sizes=tuple(OPEN if size is None else str(size) for size in fixed),
        shape_type=_shape_type(fixed) if is_known else ANY_SHAPE,
        is_inferable=fixed.count(None) == 0 or (fixed.count(None) == 1 and 0 not in fixed),
        is_pinned=spec.is_static and is_known and spec.element is not ElementType.STRING,
    )


def _shape_type(sizes: Sequence[int | None]) -> str:
    return f"readonly [{', '.join('number' if size is None else str(size) for size in sizes)}]"


def _loaded(npm_name: str, class_name: str) -> tuple[str, ...]:
    return (
        f"import {{ {class_name} }} from '{npm_name}';",
        f"const model = await {class_name}.load();",
    )


def _run(inputs: Sequence[TensorView], output: TensorView) -> tuple[str, ...]:
    fed = ", ".join(each.identifier for each in inputs)
    return (
        f"const {{ {output.identifier} }} = await model.run({f'{{ {fed} }}' if fed else '{}'});",
        f"console.log(model.provider, {output.identifier}.shape, {output.identifier}.data);",
    )
