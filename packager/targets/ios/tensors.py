"""Chooses how Swift shows a model: types, names, parameters for the sizes that the app decides."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from packager import names
from packager.errors import ModelError
from packager.render import swift_integer
from packager.targets.ios.view import DimensionView, FileView, GoldenView, InputView, ModelView, OutputView
from packager.values import Dimension, ElementType, Model, Package, TensorSpec

SWIFT_TYPES = {
    ElementType.FLOAT: "Float",
    ElementType.DOUBLE: "Double",
    ElementType.FLOAT16: "Half",
    ElementType.BFLOAT16: "BFloat16",
    ElementType.INT8: "Int8",
    ElementType.INT16: "Int16",
    ElementType.INT32: "Int32",
    ElementType.INT64: "Int64",
    ElementType.UINT8: "UInt8",
    ElementType.UINT16: "UInt16",
    ElementType.UINT32: "UInt32",
    ElementType.UINT64: "UInt64",
    ElementType.BOOL: "Bool",
    ElementType.STRING: "String",
}
ZEROS = {"Bool": "false", "String": '""'}
"""Of the types whose zero is not written `0`."""
EXAMPLES = {"Bool": "true", "String": '"text"'}
"""What the documentation assigns, where it is not `1`."""


@dataclass(frozen=True)
class Sizes:
    """The dimensions of a model's inputs as Swift parameters."""

    views: tuple[DimensionView, ...]
    by_key: dict[Dimension | tuple[str, int], str]
    """symbolic name, or (input, axis) of a dimension without one -> parameter"""

    def labels(self, spec: TensorSpec) -> tuple[str, ...]:
        return tuple(self.label(spec, axis) for axis in range(len(spec.shape)))

    def expressions(self, spec: TensorSpec, of: str = "") -> tuple[str, ...]:
        """Swift's, with `of` before parameters."""
        return tuple(
            swift_integer(size) if isinstance(size, int) else f"{of}{label}"
            for size, label in zip(spec.shape, self.labels(spec), strict=True)
        )

    def label(self, spec: TensorSpec, axis: int) -> str:
        """The size itself, the parameter that stands for it, or the model's own name for it."""
        size = spec.shape[axis]
        if isinstance(size, int):
            return str(size)
        return self.by_key.get(_key(spec, axis)) or str(size or "?")


def model_view(
    model: Model,
    package: Package,
    *,
    files: tuple[FileView, ...],
    golden: tuple[GoldenView, ...] = (),
    class_name: str,
    runtime_version: str,
    reshaped: Collection[str],
) -> ModelView:
    """The Swift file of one model. `reshaped` names outputs whose declared shape is not the real one.

    Raises ModelError for a model that ONNX Runtime's C API cannot carry.
    """
    refuse_unsupported(model.signature.inputs, model.signature.outputs, model=model.name)
    sizes = _sizes(model.signature.inputs)
    inputs = tuple(_input(spec, sizes) for spec in model.signature.inputs)
    outputs = {spec: _output(spec, sizes, model.signature.outputs) for spec in model.signature.outputs}
    pinned = [spec for spec in outputs if _is_pinned(spec, reshaped)]
    return ModelView(
        class_name=class_name,
        name=model.name,
        source=model.path.name,
        source_sha256=model.sha256,
        runtime_version=runtime_version,
        version=package.version,
        files=files,
        example=_example(class_name, inputs, sizes.views, model.signature.outputs[0].identifier),
        dimensions=sizes.views,
        has_default_input=all(view.default for view in sizes.views),
        inputs=inputs,
        pinned_outputs=tuple(outputs[spec] for spec in pinned),
        copied_outputs=tuple(view for spec, view in outputs.items() if spec not in pinned),
        golden=golden,
        samples=_samples(golden),
    )


def refuse_unsupported(inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec], *, model: str) -> None:
    """Raises ModelError for the first tensor whose type Swift has no numbers for."""
    for kind, specs in (("input", inputs), ("output", outputs)):
        for spec in specs:
            if spec.element not in SWIFT_TYPES:
                raise ModelError(
                    f"model '{model}': {kind} '{spec.name}' has a type that an iOS app cannot pass: complex numbers, "
                    "8-bit floats and integers of less than 8 bits have no Swift type",
                    hint=f"insert a Cast at the {kind} in the graph, for example "
                    + ("from float" if kind == "input" else "to float"),
                )


def _sizes(inputs: Sequence[TensorSpec]) -> Sizes:
    """One parameter for each symbolic name, one for each dimension that has none."""
    first: dict[Dimension | tuple[str, int], tuple[TensorSpec, int]] = {}
    for spec in inputs:
        for axis, size in enumerate(spec.shape):
            if not isinstance(size, int):
                first.setdefault(_key(spec, axis), (spec, axis))
    wanted = [key if isinstance(key, str) else f"{spec.identifier}-dim{axis}" for key, (spec, axis) in first.items()]
    identifiers = names.identifiers(wanted, prefix="dim", taken=[spec.identifier for spec in inputs])
    views = tuple(
        _dimension(identifier, spec, axis) for identifier, (spec, axis) in zip(identifiers, first.values(), strict=True)
    )
    return Sizes(views, dict(zip(first, identifiers, strict=True)))


def _key(spec: TensorSpec, axis: int) -> Dimension | tuple[str, int]:
    return spec.shape[axis] or (spec.name, axis)


def _dimension(identifier: str, spec: TensorSpec, axis: int) -> DimensionView:
    is_batch = spec.is_batch(axis)
    return DimensionView(
        identifier=identifier,
        name=str(spec.shape[axis] or ""),
        tensor=spec.name,
        axis=axis,
        default=" = 1" if is_batch else "",
        example="1" if is_batch else "128",
    )


def _is_pinned(spec: TensorSpec, reshaped: Collection[str]) -> bool:
    """ONNX Runtime can write it into memory of the app: the size is known, and its values have one."""
    return spec.is_static and spec.name not in reshaped and spec.element is not ElementType.STRING


def _input(spec: TensorSpec, sizes: Sizes) -> InputView:
    swift_type = SWIFT_TYPES[spec.element]
    return InputView(
        identifier=spec.identifier,
        tensor=spec.name,
        element=spec.element.value,
        shape=_shape(spec, sizes),
        swift_type=swift_type,
        zero=ZEROS.get(swift_type, "0"),
        tensor_type="FedStrings" if spec.element is ElementType.STRING else "Fed",
        sizes=sizes.expressions(spec),
        run_sizes=sizes.expressions(spec, of="input."),
    )


def _output(spec: TensorSpec, sizes: Sizes, outputs: Sequence[TensorSpec]) -> OutputView:
    taken = [output.identifier for output in outputs]
    swift_type = SWIFT_TYPES[spec.element]
    return OutputView(
        identifier=spec.identifier,
        tensor=spec.name,
        element=spec.element.value,
        shape=_shape(spec, sizes),
        swift_type=swift_type,
        zero=ZEROS.get(swift_type, "0"),
        sizes=sizes.expressions(spec),
        lent=f"lent{spec.identifier[:1].upper()}{spec.identifier[1:]}",
        shape_identifier=names.identifiers([f"{spec.identifier}-shape"], prefix="output", taken=taken)[0],
    )


def _shape(spec: TensorSpec, sizes: Sizes) -> str:
    return f"[{', '.join(sizes.labels(spec))}]"


def _example(
    class_name: str, inputs: Sequence[InputView], dimensions: Sequence[DimensionView], output: str
) -> tuple[str, ...]:
    arguments = ", ".join(f"{each.identifier}: {each.example}" for each in dimensions)
    assigned = [f"input.{each.identifier}[0] = {EXAMPLES.get(each.swift_type, '1')}" for each in inputs[:1]]
    return (
        f"let model = try await {class_name}.load()",
        f"{'var' if assigned else 'let'} input = {class_name}.Input({arguments})",
        *assigned,
        "let output = try await model.run(input)",
        f"print(output.{output}[0])",
    )


def _samples(golden: Sequence[GoldenView]) -> str:
    """How many samples there are: files that compute with other numbers may have fewer."""
    most = max((len(each.samples) for each in golden), default=0)
    return "one sample" if most == 1 else f"{most} samples"
