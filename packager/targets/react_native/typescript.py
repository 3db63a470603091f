"""Views of a model for TypeScript: types, shapes, names."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from packager.core.errors import ModelError
from packager.core.values import ElementType, Model, Package, TensorSpec
from packager.targets import dimensions
from packager.targets.dimensions import Sizes
from packager.targets.golden import samples_in_words
from packager.targets.react_native.typed_view import TypedView
from packager.targets.react_native.view import GoldenView, ModelView, PlatformView, TensorView


@dataclass(frozen=True)
class Storage:
    """Representation of an element type in JavaScript."""

    type: str
    array: str


STORAGE = {
    ElementType.FLOAT: Storage("float32", "Float32Array"),
    ElementType.DOUBLE: Storage("float64", "Float64Array"),
    ElementType.FLOAT16: Storage("float16", "Uint16Array"),
    ElementType.BFLOAT16: Storage("bfloat16", "Uint16Array"),
    ElementType.INT8: Storage("int8", "Int8Array"),
    ElementType.INT16: Storage("int16", "Int16Array"),
    ElementType.INT32: Storage("int32", "Int32Array"),
    ElementType.INT64: Storage("int64", "BigInt64Array"),
    ElementType.UINT8: Storage("uint8", "Uint8Array"),
    ElementType.UINT16: Storage("uint16", "Uint16Array"),
    ElementType.UINT32: Storage("uint32", "Uint32Array"),
    ElementType.UINT64: Storage("uint64", "BigUint64Array"),
    ElementType.BOOL: Storage("bool", "Uint8Array"),
    ElementType.STRING: Storage("string", "string[]"),
}
ANY_SHAPE = "readonly number[]"
OPEN = "null"


def model_view(
    model: Model,
    package: Package,
    *,
    npm_name: str,
    platforms: tuple[PlatformView, ...],
    golden: tuple[GoldenView, ...] = (),
    class_name: str,
    reshaped: Collection[str],
    typed: TypedView | None = None,
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
        source=model.path.name,
        source_sha256=model.sha256,
        version=package.version,
        inputs=inputs,
        outputs=outputs,
        platforms=platforms,
        golden=golden,
        samples=samples_in_words([each.samples for each in golden]),
        typed=typed,
        example=(*_loaded(npm_name, class_name), *(typed.example if typed else _run(inputs, outputs[0]))),
    )


def refuse_unsupported(model: Model) -> None:
    """Raises ModelError for the first tensor that JavaScript has no array type for."""
    for kind, specs in (("input", model.signature.inputs), ("output", model.signature.outputs)):
        for spec in specs:
            if spec.element not in STORAGE:
                raise ModelError(
                    f"model '{model.name}': {kind} '{spec.name}' has a type that a React Native app cannot pass: "
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
