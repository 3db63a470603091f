"""Views of a model for Swift: types, names, and parameters for the sizes that the app chooses."""

from collections.abc import Collection, Sequence

from packager.core import names
from packager.core.errors import ModelError
from packager.core.values import ElementType, Model, Package, Signature, TensorSpec
from packager.render.templates import swift_integer, swift_string
from packager.targets import dimensions
from packager.targets.dimensions import DimensionView, Sizes
from packager.targets.ios.lines import WIDEST, called, listed
from packager.targets.ios.typed import Tensors, typed_example, typed_view
from packager.targets.ios.view import FileView, GoldenView, InputView, ModelView, OutputView

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
"""zeros other than `0`, by type"""
EXAMPLES = {"Bool": "true", "String": '"text"'}
"""example values other than `1`, for the documentation"""


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
    """View of one model's Swift file. `reshaped` names outputs whose actual shape contradicts the declared one.

    Raises ModelError for a model that ONNX Runtime's C API does not support.
    """
    refuse_unsupported(model.signature.inputs, model.signature.outputs, model=model.name)
    sizes = dimensions.sizes(model.signature.inputs)
    inputs = tuple(_input(spec, sizes) for spec in model.signature.inputs)
    outputs = {spec: _output(spec, sizes, model.signature.outputs) for spec in model.signature.outputs}
    pinned = [spec for spec in outputs if _is_pinned(spec, reshaped)]
    tensors = Tensors(
        inputs={view.tensor: view for view in inputs},
        dimensions=sizes.views,
        outputs={view.tensor: view for view in outputs.values()},
        pinned=frozenset(spec.name for spec in pinned),
    )
    return ModelView(
        class_name=class_name,
        name=model.name,
        source=model.path.name,
        source_sha256=model.sha256,
        runtime_version=runtime_version,
        version=package.version,
        files=files,
        example=(
            typed_example(class_name, model.contract, tensors)
            if model.contract
            else _example(class_name, inputs, sizes.views, model.signature.outputs[0].identifier)
        ),
        dimensions=sizes.views,
        has_default_input=all(view.default for view in sizes.views),
        inputs=inputs,
        input_values=_initializer(inputs, sizes.views),
        input_zeros=_zeros(inputs, sizes.views),
        input_sizes=_of_sizes(sizes.views),
        kept_sizes=_kept(sizes.views),
        declared=_declarations(model.signature, pinned),
        pinned_outputs=tuple(outputs[spec] for spec in pinned),
        copied_outputs=tuple(view for spec, view in outputs.items() if spec not in pinned),
        golden=golden,
        typed=typed_view(model.contract, tensors),
        contract_hash=package.delivery.contracts[model.name] if package.delivery else "",
    )


def refuse_unsupported(inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec], *, model: str) -> None:
    """Raises ModelError for the first tensor whose type Swift cannot represent."""
    for kind, specs in (("input", inputs), ("output", outputs)):
        for spec in specs:
            if spec.element not in SWIFT_TYPES:
                raise ModelError(
                    f"model '{model}': {kind} '{spec.name}' has a type that an iOS app cannot pass: complex numbers, "
                    "8-bit floats and integers of less than 8 bits have no Swift type",
                    hint=f"insert a Cast at the {kind} in the graph, for example "
                    + ("from float" if kind == "input" else "to float"),
                )


def _is_pinned(spec: TensorSpec, reshaped: Collection[str]) -> bool:
    """Whether ONNX Runtime can write the output into memory of the app: its size is known, and its values have a fixed
    size."""
    return spec.is_static and spec.name not in reshaped and spec.element is not ElementType.STRING


def _input(spec: TensorSpec, sizes: Sizes) -> InputView:
    swift_type = SWIFT_TYPES[spec.element]
    return InputView(
        identifier=spec.identifier,
        tensor=spec.name,
        element=spec.element.value,
        shape=sizes.shape(spec),
        swift_type=swift_type,
        zero=ZEROS.get(swift_type, "0"),
        sizes=_expressions(spec, sizes),
        run_sizes=_expressions(spec, sizes, of="self."),
    )


def _output(spec: TensorSpec, sizes: Sizes, outputs: Sequence[TensorSpec]) -> OutputView:
    taken = [output.identifier for output in outputs]
    swift_type = SWIFT_TYPES[spec.element]
    return OutputView(
        identifier=spec.identifier,
        tensor=spec.name,
        element=spec.element.value,
        shape=sizes.shape(spec),
        swift_type=swift_type,
        zero=ZEROS.get(swift_type, "0"),
        sizes=_expressions(spec, sizes),
        shape_identifier=names.identifiers([f"{spec.identifier}-shape"], prefix="output", taken=taken)[0],
    )


def _initializer(inputs: Sequence[InputView], sizes: Sequence[DimensionView]) -> tuple[str, ...]:
    """Values have no defaults: an app that does not know of a new input is not to compile."""
    values = (f"{each.identifier}: [{each.swift_type}]?" for each in inputs)
    return called("public init", (*values, *_chosen(sizes)), " {", indent=8)


def _zeros(inputs: Sequence[InputView], sizes: Sequence[DimensionView]) -> tuple[str, ...]:
    head = called("public init", _chosen(sizes), " {", indent=8)
    nothing = (f"{each.identifier}: nil" for each in inputs)
    given = (f"{each.identifier}: {each.identifier}" for each in sizes)
    body = called("self.init", (*nothing, *given), "", indent=12)
    line = " ".join((*head, *body, "}"))
    if len(head) == len(body) == 1 and len(line) + 8 <= WIDEST:
        return (line,)
    return (*head, *(f"    {each}" for each in body), "}")


def _chosen(sizes: Sequence[DimensionView]) -> tuple[str, ...]:
    return tuple(f"{each.identifier}: Int{each.default}" for each in sizes)


def _of_sizes(sizes: Sequence[DimensionView]) -> tuple[str, ...]:
    found = (f"{each.identifier}: tensors.size({swift_string(each.tensor)}, {each.axis})" for each in sizes)
    return called("self.init", found, "", indent=12)


def _kept(sizes: Sequence[DimensionView]) -> tuple[str, ...]:
    lines: list[list[str]] = []
    for each in (size.identifier for size in sizes):
        if not lines or len(_assigned([*lines[-1], each])) > WIDEST - 12:
            lines.append([])
        lines[-1].append(each)
    return tuple(map(_assigned, lines))


def _assigned(sizes: Sequence[str]) -> str:
    kept = ", ".join(f"self.{each}" for each in sizes)
    return f"({kept}) = ({', '.join(sizes)})" if len(sizes) > 1 else f"{kept} = {sizes[0]}"


def _declarations(signature: Signature, pinned: Sequence[TensorSpec]) -> tuple[str, ...]:
    written = [_declared(spec) for spec in pinned]
    copied = [_declared(spec, has_shape=False) for spec in signature.outputs if spec not in pinned]
    return (
        *listed("inputs: ", map(_declared, signature.inputs), ",", indent=8),
        *listed("outputs: ", (*written, *copied), ",", indent=8),
    )


def _declared(spec: TensorSpec, *, has_shape: bool = True) -> str:
    """The tensor as the model's file has it."""
    shape = ", ".join(swift_integer(size) if isinstance(size, int) else "nil" for size in spec.shape)
    shown = f"[{shape}]" if has_shape else "nil"
    return f"Declared({swift_string(spec.name)}, {SWIFT_TYPES[spec.element]}.type, {shown})"


def _expressions(spec: TensorSpec, sizes: Sizes, of: str = "") -> tuple[str, ...]:
    """Swift expressions for the sizes of a tensor, with `of` before parameters."""
    return tuple(
        swift_integer(size) if isinstance(size, int) else f"{of}{label}"
        for size, label in zip(spec.shape, sizes.labels(spec), strict=True)
    )


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
