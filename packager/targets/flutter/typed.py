"""Views of a contract for Dart: the methods that apps call, their parameters and their results."""

from collections.abc import Iterator, Mapping
from math import prod
from typing import get_args

from packager.core import names as core_names
from packager.core.contract import (
    SEVERAL,
    AudioInput,
    Contract,
    GeneratedOutput,
    ImageInput,
    StateInput,
    TensorInput,
    TextInput,
    TypedOutput,
)
from packager.core.errors import ModelError
from packager.core.values import ElementType, Model
from packager.render.templates import dart_string
from packager.targets.flutter import naming
from packager.targets.flutter.storage import STORAGE
from packager.targets.flutter.typed_outputs import Shown, labels, shown
from packager.targets.flutter.view import (
    GenerationView,
    ListsView,
    ParameterView,
    RankView,
    ResultView,
    StateView,
    TypedView,
)

Parameter = ImageInput | AudioInput | TextInput | TensorInput

MODULES: Mapping[type, str] = {ImageInput: "picture", AudioInput: "sound", TextInput: "characters"}
"""files of the runtime that make tensors of what apps pass"""


RESULTS: Mapping[str, str] = {
    **{
        each.module: f"show {each.type}"
        for kind in get_args(TypedOutput)
        if isinstance((each := kind.DESCRIBED).type, str)
    },
    "boxes": "show Box, Detection",
    "instances": "show Instance, InstanceMask",
}
"""files of the runtime with results, and what each shows to apps"""


def modules(contract: Contract) -> Iterator[str]:
    """Files of the runtime that a model with `contract` imports."""
    yield "cancellation"
    if contract.generated:
        yield "generation"
        if contract.generated.chat:
            yield "chat"
    else:
        yield "frames"
        if contract.states:
            yield "state"
        if contract.streamed:
            yield "stream"
    for parameter in contract.parameters:
        if type(parameter) in MODULES:
            yield MODULES[type(parameter)]
    yield from filter(None, (each.DESCRIBED.module for each in contract.outputs))
    if contract.is_batch:
        yield "lists"
    if contract.ranks:
        yield "ranking"


def typed_view(model: Model, contract: Contract, class_name: str, outputs: Mapping[str, str]) -> TypedView:
    """The methods of a model with `contract`; `outputs` has the members of its outputs, by identifier.

    Raises ModelError for an input of the graph that no part of the contract feeds.
    """
    made = _named(contract)
    parameters = tuple(_parameter(name, each, contract.generated) for name, each in made.items())
    is_single = contract.verb != SEVERAL
    first = contract.outputs[0]
    top = "" if contract.top is None else str(contract.top)
    texts = _texts(made)
    results = [shown(each, outputs, texts, top="top" if top else "") for each in contract.outputs]
    placed = [texts[getattr(each, field).name] for each in contract.outputs if (field := each.DESCRIBED.text)]
    kept = () if is_single else tuple(dict.fromkeys(placed))
    answer = f"{class_name}Prediction"
    return TypedView(
        verb=contract.verb,
        about=first.DESCRIBED.sentence if is_single else "Gives all that the model says.",
        parameters=parameters,
        frame=parameters[0].type if len(parameters) == 1 else f"({', '.join(each.type for each in parameters)})",
        arguments=("frame",)
        if len(parameters) == 1
        else tuple(f"frame.${number}" for number in range(1, len(parameters) + 1)),
        fed=_all_fed(model, contract, made),
        top=top,
        result=results[0].type if is_single else answer,
        value=results[0].value if is_single else f"{answer}._({', '.join(('outputs', *kept))})",
        results=() if is_single else tuple(_results(contract, results)),
        texts=kept,
        states=tuple(_state(each, outputs) for each in contract.states),
        labels=tuple(found for each in contract.outputs for found in labels(each)),
        generation=_generation(contract.generated, results[0], outputs) if contract.generated else None,
        streamed=contract.streamed,
        lists=_lists(contract.verb, made) if contract.is_batch else None,
        rank=_rank(made) if contract.ranks else None,
    )


def _named(contract: Contract) -> dict[str, Parameter]:
    """Values that apps pass, by the names of the parameters."""
    names = naming.members((each.identifier for each in contract.parameters), naming.LOCAL)
    return {names[each.identifier]: each for each in contract.parameters}


def _texts(made: Mapping[str, Parameter]) -> dict[str, str]:
    """Parameters with texts, by the name of their tensor."""
    return {each.code_points.name: name for name, each in made.items() if isinstance(each, TextInput)}


def _all_fed(model: Model, contract: Contract, made: Mapping[str, Parameter]) -> tuple[str, ...]:
    """Expressions of the model's inputs, in its order."""
    fed = {tensor: value for name, each in made.items() for tensor, value in _fed(name, each)}
    fed |= {each.input.name: f"state[{index}]" for index, each in enumerate(contract.states)}
    if contract.generated and contract.generated.seed:
        fed[contract.generated.seed.name] = "seedTensor(seed)"
    unfed = [spec.name for spec in model.signature.inputs if spec.name not in fed]
    if unfed:
        raise ModelError(
            f"model '{model.name}': its contract does not describe the input '{unfed[0]}'",
            hint=f"add [model.{model.name}.inputs.{unfed[0]}] to mobpack.toml, or leave out the contract",
        )
    return tuple(fed[spec.name] for spec in model.signature.inputs)


def _results(contract: Contract, results: list[Shown]) -> Iterator[ResultView]:
    names = naming.members(each.identifier for each in contract.outputs)
    for output, each in zip(contract.outputs, results, strict=True):
        yield ResultView(
            name=names[output.identifier], about=output.DESCRIBED.sentence, type=each.type, value=each.value
        )


def _parameter(name: str, parameter: Parameter, generated: GeneratedOutput | None) -> ParameterView:
    """In a text that many runs make, runs after the first one get nothing of what only that one reads."""
    tensors = f"{name}Tensors"
    match parameter:
        case ImageInput():
            maker = f"PictureTensors({dart_string(name)}, {name})"
            return ParameterView(name=name, type="Picture", made=tensors, maker=maker)
        case AudioInput():
            function = "pcmTensors" if parameter.samples.element is ElementType.INT16 else "soundTensors"
            given = f"isFirst ? {name} : firstFrame({name})" if generated and generated.has_encoder else name
            return ParameterView(
                name=name, type="Sound", made=tensors, maker=f"{function}({dart_string(name)}, {given})"
            )
        case TextInput():
            given = f"isFirst ? {name} : ''" if generated else name
            return ParameterView(name=name, type="String", made=tensors, maker=f"textTensor({given})")
        case TensorInput():
            data = STORAGE[parameter.spec.element].data
            return ParameterView(name=name, type=f"TensorInput<{data}>", made="", maker="")


def _fed(name: str, parameter: Parameter) -> Iterator[tuple[str, str]]:
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
            if parameter.place:
                yield parameter.place.name, f"{tensors}.place"
        case TextInput():
            yield parameter.code_points.name, tensors
        case TensorInput():
            yield parameter.spec.name, name


def _state(state: StateInput, outputs: Mapping[str, str]) -> StateView:
    shape = ", ".join(map(str, state.first_shape))
    zeros = STORAGE[state.input.element].zeros(prod(state.first_shape))
    identifier = state.output.identifier
    return StateView(
        first=f"TensorInput({zeros}, shape: const [{shape}])",
        next=outputs[identifier],
        place=list(outputs).index(identifier),
    )


def _generation(generated: GeneratedOutput, text: Shown, outputs: Mapping[str, str]) -> GenerationView:
    return GenerationView(
        text=text.value,
        finished=f"outputs.{outputs[generated.is_finished.identifier]}.data.first != 0",
        has_seed=generated.seed is not None,
        chat=generated.chat,
    )


def _lists(verb: str, made: Mapping[str, Parameter]) -> ListsView:
    several = naming.members(map(core_names.plural, made), (*naming.LOCAL, *made))
    lists = [(one, several[core_names.plural(one)]) for one in made]
    return ListsView(
        verb=f"{verb}All",
        parameters=tuple(
            ParameterView(name=name, type="List<String>", made=f"{one}Tensors", maker=f"textsTensor({name})")
            for one, name in lists
        ),
    )


def _rank(made: Mapping[str, Parameter]) -> RankView:
    query, document = made
    documents = core_names.plural(document)
    named = naming.members([documents], (*naming.LOCAL, *made))
    return RankView(query=query, document=document, documents=named[documents])
