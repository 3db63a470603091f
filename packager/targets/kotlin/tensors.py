"""Views of a model for Kotlin: class name, types, and parameters for the sizes that the app chooses."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import prod

from packager.core import names
from packager.core.errors import ModelError
from packager.core.values import ElementType, Model, Package, TensorSpec
from packager.targets import dimensions
from packager.targets.dimensions import Sizes
from packager.targets.kotlin.view import (
    FileView,
    GoldenView,
    InputView,
    ModelView,
    OutputView,
    SignatureView,
    TensorTypeView,
)

MAX_PARAMETERS = 240
"""the JVM allows 255 parameters per method, and default arguments use some of them"""
MAX_BUFFER_BYTES = 2**31 - 1


@dataclass(frozen=True)
class Storage:
    """Representation of an element type in Kotlin and ONNX Runtime's Java API."""

    number: str
    """Kotlin type with the size of an element"""
    java_type: str
    """OnnxJavaType for input tensors and pinned outputs; empty if the Java API cannot make such a tensor"""
    note: str = ""

    @property
    def as_buffer(self) -> str:
        """Expression that converts a ByteBuffer to a buffer of this type."""
        return "" if self.number == "Byte" else f".as{self.number}Buffer()"


STORAGE = {
    ElementType.FLOAT: Storage("Float", "FLOAT"),
    ElementType.DOUBLE: Storage("Double", "DOUBLE"),
    ElementType.FLOAT16: Storage("Short", "FLOAT16", "Raw bits of 16-bit floats, see android.util.Half."),
    ElementType.BFLOAT16: Storage("Short", "BFLOAT16", "Raw bits: the upper half of a float's."),
    ElementType.INT8: Storage("Byte", "INT8"),
    ElementType.INT16: Storage("Short", "INT16"),
    ElementType.INT32: Storage("Int", "INT32"),
    ElementType.INT64: Storage("Long", "INT64"),
    ElementType.UINT8: Storage("Byte", "UINT8", "Unsigned: read with `toInt() and 0xFF`, write with `toByte()`."),
    ElementType.UINT16: Storage("Short", "", "Unsigned: read with `toInt() and 0xFFFF`."),
    ElementType.UINT32: Storage("Int", "", "Unsigned: read with `toUInt()`."),
    ElementType.UINT64: Storage("Long", "", "Unsigned: read with `toULong()`."),
    ElementType.BOOL: Storage("Byte", "BOOL", "A byte each: 0 is false, 1 is true."),
}
STRING_TYPE = "Array<String>"
IMPORTS = ("android.content.Context", "androidx.annotation.WorkerThread")
"""imports of every model's file"""
IMPORTED_LAST = {"java": 1, "javax": 2, "kotlin": 3}


def model_view(
    model: Model,
    package: Package,
    *,
    files: tuple[FileView, ...],
    golden: tuple[GoldenView, ...] = (),
    kotlin_package: str,
    class_name: str,
    runtime_version: str,
    onnxruntime: str,
    reshaped: Collection[str],
) -> ModelView:
    """View of one model's Kotlin file. `reshaped` names outputs whose actual shape contradicts the declared one;
    `onnxruntime` is the Java package of ONNX Runtime's classes.

    Raises ModelError for a model that ONNX Runtime's Java API does not support.
    """
    refuse_unsupported(model.signature.inputs, model.signature.outputs, model=model.name)
    input_specs = model.signature.inputs
    sizes = dimensions.sizes(input_specs)
    if len(input_specs) + len(sizes.views) > MAX_PARAMETERS:
        raise ModelError(
            f"model '{model.name}' has {len(input_specs)} inputs and {len(sizes.views)} dynamic dimensions: "
            f"the limit of a Kotlin class is {MAX_PARAMETERS}",
            hint="fix dimensions with [model.NAME.shapes], or merge inputs in the graph",
        )
    output_specs = model.signature.outputs
    inputs = tuple(_input(spec, sizes) for spec in input_specs)
    outputs = [_output(spec, sizes, output_specs) for spec in output_specs]
    pinned = [spec.identifier for spec in output_specs if _is_pinned(spec, reshaped)]
    return ModelView(
        kotlin_package=kotlin_package,
        class_name=class_name,
        name=model.name,
        source=model.path.name,
        source_sha256=model.sha256,
        runtime_version=runtime_version,
        version=package.version,
        files=files,
        signature=SignatureView(
            inputs=tuple(_type(spec) for spec in input_specs),
            outputs=tuple(_type(spec, has_shape=spec.identifier in pinned) for spec in output_specs),
        ),
        imports=_imports(inputs, outputs, onnxruntime, has_pinned=bool(pinned)),
        input_example=_example(inputs),
        output_example=f"{outputs[0].identifier}[0]",
        dimensions=sizes.views,
        inputs=inputs,
        pinned_outputs=tuple(output for output in outputs if output.identifier in pinned),
        copied_outputs=tuple(output for output in outputs if output.identifier not in pinned),
        golden=golden,
        contract=package.delivery.contracts[model.name] if package.delivery else "",
    )


def refuse_unsupported(inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec], *, model: str) -> None:
    """Raises ModelError for the first tensor that ONNX Runtime's Java API cannot make or read."""
    for kind, specs in (("input", inputs), ("output", outputs)):
        for spec in specs:
            storage = STORAGE.get(spec.element)
            is_unsigned = storage is not None and not storage.java_type
            if spec.element is not ElementType.STRING and (storage is None or (kind == "input" and is_unsigned)):
                word = "a type outside ONNX Runtime's Java API" if storage is None else spec.element.value
                raise ModelError(
                    f"model '{model}': {kind} '{spec.name}' has {word}, which an Android app cannot pass",
                    hint=f"insert a Cast at the {kind} in the graph, for example "
                    + ("from int32" if kind == "input" else "to float"),
                )
            if spec.is_static and storage and prod(_numbers(spec)) * _bytes(storage) > MAX_BUFFER_BYTES:
                raise ModelError(
                    f"model '{model}': {kind} '{spec.name}' exceeds 2 GiB, the limit of a Java buffer",
                    hint="split the tensor in the graph",
                )


def _is_pinned(spec: TensorSpec, reshaped: Collection[str]) -> bool:
    """Whether ONNX Runtime can write the output into memory of the app: its size is known, and Java can make such a
    tensor."""
    storage = STORAGE.get(spec.element)
    return spec.is_static and spec.name not in reshaped and storage is not None and bool(storage.java_type)


def _type(spec: TensorSpec, *, has_shape: bool = True) -> TensorTypeView:
    sizes = ", ".join(str(size if isinstance(size, int) else -1) for size in spec.shape)
    return TensorTypeView(name=spec.name, element=spec.element.value, shape=f"[{sizes}]" if has_shape else "null")


def _input(spec: TensorSpec, sizes: Sizes) -> InputView:
    storage = STORAGE.get(spec.element)
    return InputView(
        identifier=spec.identifier,
        tensor=spec.name,
        element=spec.element.value,
        shape=sizes.shape(spec),
        note=storage.note if storage else "",
        kotlin_type=f"{storage.number}Buffer" if storage else STRING_TYPE,
        is_string=storage is None,
        java_type=storage.java_type if storage else "",
        element_bytes=f"{storage.number}.SIZE_BYTES" if storage else "",
        as_buffer=storage.as_buffer if storage else "",
        sizes=sizes.labels(spec),
    )


def _output(spec: TensorSpec, sizes: Sizes, outputs: Sequence[TensorSpec]) -> OutputView:
    taken = [output.identifier for output in outputs]
    storage = STORAGE.get(spec.element)
    return OutputView(
        identifier=spec.identifier,
        tensor=spec.name,
        element=spec.element.value,
        shape=sizes.shape(spec),
        note=storage.note if storage else "",
        kotlin_type=f"{storage.number}Buffer" if storage else STRING_TYPE,
        java_type=storage.java_type if storage else "",
        sizes=tuple(str(size) for size in spec.shape),
        empty=f"{storage.number}Buffer.allocate(0)" if storage else "emptyArray<String>()",
        shape_identifier=names.identifiers([f"{spec.identifier}-shape"], prefix="output", taken=taken)[0],
    )


def _imports(
    inputs: Sequence[InputView], outputs: Sequence[OutputView], onnxruntime: str, *, has_pinned: bool
) -> tuple[str, ...]:
    """Imports of the model's file."""
    types = {each.kotlin_type for each in inputs} | {each.kotlin_type for each in outputs}
    buffers = {f"java.nio.{name}" for name in types - {STRING_TYPE}}
    makes_tensors = has_pinned or any(not each.is_string for each in inputs)
    java_type = {f"{onnxruntime}.OnnxJavaType"} if makes_tensors else set()
    return in_ktlints_order({*IMPORTS, *buffers, *java_type})


def in_ktlints_order(imports: Iterable[str]) -> tuple[str, ...]:
    """Imports by name; those of Java and Kotlin come after all others."""
    return tuple(sorted(imports, key=lambda name: (IMPORTED_LAST.get(name.partition(".")[0], 0), name)))


def _example(inputs: Sequence[InputView]) -> str:
    if not inputs:
        return ""
    first = inputs[0]
    return f'{first.identifier}[0] = "text"' if first.is_string else f"{first.identifier}.put(values)"


def _numbers(spec: TensorSpec) -> list[int]:
    return [size for size in spec.shape if isinstance(size, int)]


def _bytes(storage: Storage) -> int:
    return {"Byte": 1, "Short": 2, "Int": 4, "Float": 4, "Long": 8, "Double": 8}[storage.number]
