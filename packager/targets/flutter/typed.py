"""Views of a contract for Dart: the method that apps call, its parameters and its result."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from packager.core.contract import (
    LOWEST,
    SEVERAL,
    AudioInput,
    BoxesOutput,
    ClassesOutput,
    Contract,
    EmbeddingOutput,
    GeneratedOutput,
    ImageInput,
    MaskOutput,
    PairsOutput,
    SpansOutput,
    StateInput,
    TensorInput,
    TensorOutput,
    TextInput,
    TextOutput,
    TypedInput,
    TypedOutput,
)
from packager.core.errors import ConfigError, ModelError
from packager.core.values import ElementType, Model
from packager.render import dart_string
from packager.targets.flutter import naming
from packager.targets.flutter.storage import STORAGE
from packager.targets.flutter.view import LabelsView, ParameterView, ResultView, StateView, TypedView

MISSING = {GeneratedOutput: "generated", SpansOutput: "spans", PairsOutput: "pairs"}
"""kinds of outputs that packages for Flutter do not have yet"""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """An output as apps get it."""

    type: str
    value: str
    """expression over `outputs`"""
    about: str


def refuse(model: Model) -> None:
    """Raises ConfigError for a contract with a kind that packages for Flutter do not have yet."""
    contract = model.contract
    if contract is None:
        return
    for output in contract.outputs:
        if type(output) in MISSING:
            _not_yet(model, f'outputs of kind "{MISSING[type(output)]}"')
    if contract.is_batch:
        _not_yet(model, "texts in lists (batch = true)")


def _not_yet(model: Model, what: str) -> None:
    raise ConfigError(
        f"target.flutter: model '{model.name}' has {what}, which packages for Flutter do not have yet",
        hint="build it for android, ios, react_native or web, or leave its contract out of the Flutter build",
    )


def modules(contract: Contract) -> Iterator[str]:
    """Files of the runtime that a model with `contract` imports."""
    yield "frames"
    if contract.states:
        yield "state"
    for parameter in contract.parameters:
        match parameter:
            case ImageInput():
                yield "picture"
            case AudioInput():
                yield "sound"
            case TextInput():
                yield "results"
    if any(not isinstance(each, EmbeddingOutput | TensorOutput) for each in contract.outputs):
        yield "results"


def typed_view(model: Model, contract: Contract, class_name: str, outputs: Mapping[str, str]) -> TypedView:
    """The method of a model with `contract`; `outputs` has the members of its outputs, by identifier.

    Raises ModelError for an input of the graph that no part of the contract feeds.
    """
    names = naming.members((each.identifier for each in contract.parameters), naming.LOCAL)
    made = {names[each.identifier]: each for each in contract.parameters}
    parameters = tuple(_parameter(name, each) for name, each in made.items())
    fed = {tensor: value for name, each in made.items() for tensor, value in _fed(name, each)}
    fed |= {each.input.name: f"state[{index}]" for index, each in enumerate(contract.states)}
    shown = [_shown(each, outputs) for each in contract.outputs]
    is_single = contract.verb != SEVERAL
    first = contract.outputs[0]
    unfed = [spec.name for spec in model.signature.inputs if spec.name not in fed]
    if unfed:
        raise ModelError(
            f"model '{model.name}': nothing of its contract is for the input '{unfed[0]}'",
            hint=f"add [model.{model.name}.inputs.{unfed[0]}] to mobpack.toml, or leave out the contract",
        )
    return TypedView(
        verb=contract.verb,
        about=shown[0].about if is_single else "Gives all that the model says.",
        parameters=parameters,
        frame=parameters[0].type if len(parameters) == 1 else f"({', '.join(each.type for each in parameters)})",
        arguments=("frame",)
        if len(parameters) == 1
        else tuple(f"frame.${number}" for number in range(1, len(parameters) + 1)),
        fed=tuple(fed[spec.name] for spec in model.signature.inputs),
        top=str(first.top_k) if is_single and isinstance(first, ClassesOutput) else "",
        result=shown[0].type if is_single else f"{class_name}Prediction",
        value=shown[0].value if is_single else "",
        results=() if is_single else tuple(_results(contract, shown)),
        states=tuple(_state(each, outputs) for each in contract.states),
        labels=tuple(found for each in contract.outputs if (found := _labels(each))),
    )


def _results(contract: Contract, shown: list[Shown]) -> Iterator[ResultView]:
    names = naming.members(each.identifier for each in contract.outputs)
    for output, each in zip(contract.outputs, shown, strict=True):
        value = each.value.replace("top, ", f"{output.top_k}, ") if isinstance(output, ClassesOutput) else each.value
        yield ResultView(name=names[output.identifier], about=each.about, type=each.type, value=value)


def _parameter(name: str, parameter: TypedInput) -> ParameterView:
    tensors = f"{name}Tensors"
    match parameter:
        case ImageInput():
            maker = f"PictureTensors({dart_string(name)}, {name})"
            return ParameterView(name=name, type="Picture", made=tensors, maker=maker)
        case AudioInput():
            function = "pcmTensors" if parameter.samples.element is ElementType.INT16 else "soundTensors"
            maker = f"{function}({dart_string(name)}, {name})"
            return ParameterView(name=name, type="Sound", made=tensors, maker=maker)
        case TextInput():
            return ParameterView(name=name, type="String", made=tensors, maker=f"textTensor({name})")
        case TensorInput() | StateInput():
            spec = parameter.spec if isinstance(parameter, TensorInput) else parameter.input
            return ParameterView(name=name, type=f"TensorInput<{STORAGE[spec.element].data}>", made="", maker="")


def _fed(name: str, parameter: TypedInput) -> Iterator[tuple[str, str]]:
    """Names of the model's inputs with the expressions that feed them."""
    tensors = f"{name}Tensors"
    match parameter:
        case ImageInput():
            yield parameter.pixels.name, f"{tensors}.pixels"
            yield parameter.channels.name, f"{tensors}.channels"
            yield parameter.orientation.name, f"{tensors}.orientation"
            yield parameter.chroma.name, f"{tensors}.chroma"
            yield parameter.conversion.name, f"{tensors}.conversion"
        case AudioInput():
            yield parameter.samples.name, f"{tensors}.samples"
            yield parameter.rate.name, f"{tensors}.rate"
        case TextInput():
            yield parameter.code_points.name, tensors
        case TensorInput():
            yield parameter.spec.name, name


def _state(state: StateInput, outputs: Mapping[str, str]) -> StateView:
    storage = STORAGE[state.input.element]
    shape = ", ".join(map(str, state.first_shape))
    return StateView(
        first=f"TensorInput({storage.zeros(prod(state.first_shape))}, shape: const [{shape}])",
        next=outputs[state.output.identifier],
    )


def _shown(output: TypedOutput, outputs: Mapping[str, str]) -> Shown:
    labels = _labels_name(output)
    match output:
        case ClassesOutput():
            scores = f"outputs.{outputs[output.scores.identifier]}"
            return Shown(
                type="List<Classification>",
                value=f"classified({scores}, {labels}, top, {_number(output.threshold)})",
                about="The best classes, best first; classes below the threshold of the model are left out.",
            )
        case BoxesOutput():
            tensors = _tensors(outputs, output.boxes.identifier, output.scores.identifier, output.classes.identifier)
            return Shown(
                type="List<Detection>",
                value=f"detected({tensors}, {labels})",
                about="The objects in a picture and where they are, best first.",
            )
        case MaskOutput():
            tensors = _tensors(outputs, output.classes.identifier, output.scores.identifier)
            return Shown(type="Mask", value=f"segmented({tensors}, {labels})", about="The class at each place.")
        case EmbeddingOutput():
            return Shown(
                type="Float32List",
                value=f"outputs.{outputs[output.vector.identifier]}.data",
                about="A vector of length 1: those of what is alike are near each other.",
            )
        case TextOutput():
            tensors = _tensors(outputs, output.symbols.identifier, output.scores.identifier)
            return Shown(type="Reading", value=f"spelled({tensors}, {labels})", about="The text that the model reads.")
        case TensorOutput():
            return Shown(
                type=f"Tensor<{STORAGE[output.spec.element].data}>",
                value=f"outputs.{outputs[output.spec.identifier]}",
                about="A tensor, as the model has it.",
            )
    raise AssertionError(f"refused before: {output}")


def _tensors(outputs: Mapping[str, str], *identifiers: str) -> str:
    return ", ".join(f"outputs.{outputs[each]}" for each in identifiers)


def _labels_name(output: TypedOutput) -> str:
    return f"_{output.identifier}Labels"


def _labels(output: TypedOutput) -> LabelsView | None:
    """Labels of classes, or the symbols of an alphabet; None if the output has neither."""
    match output:
        case ClassesOutput() | BoxesOutput() | MaskOutput():
            return LabelsView(name=_labels_name(output), texts=output.labels)
        case TextOutput():
            return LabelsView(name=_labels_name(output), texts=output.alphabet)
    return None


def _number(value: float) -> str:
    """A number in Dart syntax; the least one takes in every score but NaN."""
    if value <= LOWEST or not math.isfinite(value):
        return "double.negativeInfinity"
    return repr(float(value))
