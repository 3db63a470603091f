"""Views of models for Dart: types, shapes, names, files."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from packager.core.errors import ModelError
from packager.core.tuned import Tuned
from packager.core.values import ElementType, Model, Package, Plan, TensorSpec
from packager.providers import PROVIDERS
from packager.targets import dimensions
from packager.targets.dimensions import Sizes
from packager.targets.flutter import naming, typed
from packager.targets.flutter.storage import STORAGE
from packager.targets.flutter.view import (
    AssetView,
    FileView,
    GoldenView,
    ModelView,
    PageView,
    ProviderView,
    SettingView,
    SetupView,
    TensorView,
    TunedView,
    TypedView,
    UsageView,
    WeightsView,
)
from packager.targets.golden import samples_in_words
from packager.targets.typescript.view import FileView as LaidOut
from packager.targets.typescript.view import GoldenView as LaidOutGolden

PLAIN_LISTS = {STORAGE[each].data for each in (ElementType.STRING, ElementType.INT64, ElementType.UINT64)}
"""lists of dart:core"""
MODULES = ("descriptor", "model", "options", "tensor", "typed_model")
"""files of the runtime that every model imports"""
OPEN = "null"
WIDTH = 120
"""of lines, as analysis_options.yaml says"""
ARGUMENTS = {"Picture": "Picture(pixels, width: width, height: height)", "Sound": "Sound(samples, rate: 16000)"}
"""arguments in example code"""
TAKEN = {"Picture": "Uint8List pixels, int width, int height", "Sound": "Float32List samples"}
"""parameters of example code for them"""
TYPED_DATA = re.compile(r"(Int|Uint|Float)\d+List")
"""types of dart:typed_data"""


def refuse(plan: Plan) -> None:
    """Raises ConfigError for what packages for Flutter do not run yet, ModelError for a tensor that no list holds."""
    for kind, specs in (("input", plan.model.signature.inputs), ("output", plan.model.signature.outputs)):
        for spec in specs:
            if spec.element not in STORAGE:
                raise ModelError(
                    f"model '{plan.model.name}': {kind} '{spec.name}' has a type that Dart cannot pass: "
                    "complex numbers, 8-bit floats and integers of less than 8 bits have no list",
                    hint=f"insert a Cast at the {kind} in the graph",
                )


def model_view(
    model: Model,
    package: Package,
    *,
    pub_name: str,
    class_name: str,
    file: str,
    library: str,
    setups: tuple[SetupView, ...],
    golden: tuple[LaidOutGolden, ...],
    reshaped: Collection[str],
    page: PageView | None = None,
) -> ModelView:
    """View of one model. `reshaped` names outputs whose actual shape contradicts the declared one."""
    sizes = dimensions.sizes(model.signature.inputs)
    inputs = naming.members(spec.identifier for spec in model.signature.inputs)
    outputs = naming.members(spec.identifier for spec in model.signature.outputs)
    method = typed.typed_view(model, model.contract, class_name, outputs) if model.contract else None
    input_views = tuple(_tensor(spec, inputs, sizes) for spec in model.signature.inputs)
    output_views = tuple(_tensor(spec, outputs, sizes, reshaped) for spec in model.signature.outputs)
    tuned = any(setup.tuned for setup in setups)
    variants = tuple(dict.fromkeys(file.asset.name for setup in setups for file in setup.files if file.variant))
    return ModelView(
        class_name=class_name,
        name=model.name,
        file=file,
        source=model.path.name,
        source_sha256=model.sha256,
        package=pub_name,
        version=package.version,
        library=library,
        inputs=input_views,
        outputs=output_views,
        setups=setups,
        same_files=setups[0].files if setups[1:] and all(each.files == setups[0].files for each in setups) else (),
        golden=tuple(
            GoldenView(
                asset=AssetView(name=each.file.path, sha256=each.file.sha256, size_bytes=each.file.size_bytes),
                files=each.files,
                samples=each.samples,
            )
            for each in golden
        ),
        samples=samples_in_words([each.samples for each in golden]),
        page=page,
        typed=method,
        is_signed=package.trust is not None,
        is_encrypted=bool(package.encryption),
        is_tuned=tuned,
        variants=variants,
        contract=package.delivery.contracts[model.name] if package.delivery else "",
        has_numbers=any(each.data not in PLAIN_LISTS for each in (*input_views, *output_views)),
        modules=tuple(sorted(_modules(model, package, tuned, variants))),
        example=tuple(_example(class_name, method, input_views, output_views)),
        usage=_usage(method, input_views),
    )


def _modules(model: Model, package: Package, is_tuned: bool, variants: tuple[str, ...]) -> set[str]:
    """Files of the runtime that the file of a model imports."""
    parts = {
        "decryption": package.encryption,
        "tuning": is_tuned,
        "updating/packaged": package.delivery,
        "variants": variants,
    }
    return {*MODULES, *filter(parts.get, parts), *(typed.modules(model.contract) if model.contract else ())}


def setup_view(
    name: str, oldest_runtime: str, providers: Sequence[str], files: Sequence[LaidOut], tuned: Mapping[str, Tuned]
) -> SetupView:
    """View of a model on the platform `name`; `tuned` is by chip."""
    return SetupView(
        name=name,
        oldest_runtime=oldest_runtime,
        providers=tuple(map(_provider, providers)),
        files=tuple(map(_file, files)),
        tuned=tuple(_tuned(chip, settings) for chip, settings in sorted(tuned.items())),
    )


def _tuned(chip: str, settings: Tuned) -> TunedView:
    return TunedView(
        chip=chip,
        providers=settings.providers,
        threads=settings.threads,
        options=tuple(
            ProviderView(name=name, options=_settings(entries))
            for name, entries in sorted(settings.provider_options.items())
        ),
    )


def _provider(name: str) -> ProviderView:
    return ProviderView(name=name, options=_settings(PROVIDERS[name]().options()))


def _settings(settings: Mapping[str, str]) -> tuple[SettingView, ...]:
    return tuple(SettingView(key=key, value=value) for key, value in sorted(settings.items()))


def _file(file: LaidOut) -> FileView:
    return FileView(
        asset=AssetView(name=file.path, sha256=file.sha256, size_bytes=file.size_bytes),
        providers=file.providers,
        nodes=file.nodes,
        chips=file.chips,
        variant=file.variant,
        settings=tuple(SettingView(key=each.key, value=each.value) for each in file.settings),
        weights=tuple(
            WeightsView(
                reference=each.name,
                asset=AssetView(name=each.path, sha256=each.sha256, size_bytes=each.size_bytes),
            )
            for each in file.weights
        ),
        is_float16=file.is_float16,
    )


def _tensor(spec: TensorSpec, names: dict[str, str], sizes: Sizes, reshaped: Collection[str] = ()) -> TensorView:
    storage = STORAGE[spec.element]
    is_known = spec.name not in reshaped
    fixed = [size if isinstance(size, int) and is_known else None for size in spec.shape]
    return TensorView(
        identifier=names[spec.identifier],
        tensor=spec.name,
        element=spec.element.value,
        type=storage.type,
        data=storage.data,
        shape=sizes.shape(spec),
        sizes=tuple(OPEN if size is None else str(size) for size in fixed),
        is_inferable=fixed.count(None) == 0 or (fixed.count(None) == 1 and 0 not in fixed),
    )


def _example(
    class_name: str, method: TypedView | None, inputs: Sequence[TensorView], outputs: Sequence[TensorView]
) -> Iterator[str]:
    yield f"final model = await {class_name}.load();"
    if method:
        call = f"model.{method.verb}({', '.join(ARGUMENTS.get(each.type, each.name) for each in method.parameters)})"
        yield from [f"await {call}.forEach(print);"] if method.generation else _call("print", f"await {call}")
    else:
        fed = [f"{each.identifier}: TensorInput({each.identifier})" for each in inputs]
        made = f"{class_name}Inputs" if fed else f"const {class_name}Inputs"
        yield from _call("final outputs = await model.run", f"{made}({', '.join(fed)})", (f"{made}(", fed))
        yield f"print(outputs.{outputs[0].identifier}.data);"
    yield "await model.dispose();"


def _call(function: str, argument: str, parts: tuple[str, Sequence[str]] = ("", ())) -> list[str]:
    """A call, as `dart format` breaks it in the body of a function; `parts` are those of an argument that is one."""
    if len(line := f"{function}({argument});") <= WIDTH - 2:
        return [line]
    opening, items = parts
    if len(argument) + len(",") <= WIDTH - 4 or not items:
        return [f"{function}(", f"  {argument},", ");"]
    return [f"{function}(", f"  {opening}", *(f"    {each}," for each in items), "  ),", ");"]


def _usage(method: TypedView | None, inputs: Sequence[TensorView]) -> UsageView:
    if method:
        taken = [TAKEN.get(each.type, f"{each.type} {each.name}") for each in method.parameters]
    else:
        taken = [f"{each.data} {each.identifier}" for each in inputs]
    name = f"Future<void> {method.verb if method else 'run'}Once"
    opening = [f"{name}({', '.join(taken)}) async {{"]
    if len(opening[0]) > WIDTH:
        opening = [f"{name}(", *(f"  {each}," for each in taken), ") async {"]
    return UsageView(
        imports=("dart:typed_data",) if any(TYPED_DATA.search(each) for each in taken) else (), opening=tuple(opening)
    )
