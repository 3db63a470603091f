"""Views of a contract for C++: the methods that apps call, their parameters and their results."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packager.core.contract import (
    LOWEST,
    SEVERAL,
    AudioInput,
    Contract,
    ImageInput,
    TensorInput,
    TextInput,
    TypedOutput,
)
from packager.core.described import Plain
from packager.core.errors import ModelError
from packager.core.names import plural, snake_case
from packager.core.values import ElementType, Model, TensorSpec
from packager.render.templates import cpp_string
from packager.targets.cpp import naming
from packager.targets.cpp.storage import TYPES
from packager.targets.cpp.view import (
    GenerationView,
    LabelsView,
    ListsView,
    MethodView,
    ParameterView,
    ResultView,
    StateView,
)

Parameter = ImageInput | AudioInput | TextInput | TensorInput

PLAIN = {Plain.NUMBER: "float", Plain.NUMBERS: "std::vector<float>", Plain.TEXTS: "std::string"}
LIST = "const std::vector<std::string>&"


@dataclass(frozen=True, kw_only=True)
class Shown:
    """An output as apps get it."""

    type: str
    value: str
    """expression over `outputs`"""


@dataclass(frozen=True)
class Places:
    """Where tensors stand among the inputs and outputs of a model."""

    inputs: Mapping[str, int]
    outputs: Mapping[str, int]


def places_of(model: Model) -> Places:
    inputs, outputs = model.signature.inputs, model.signature.outputs
    return Places(
        inputs={each.name: place for place, each in enumerate(inputs)},
        outputs={each.name: place for place, each in enumerate(outputs)},
    )


def method_view(model: Model, contract: Contract, class_name: str) -> MethodView:
    """The method of a model with `contract`. Raises ModelError for an input of the graph that no part of the contract
    feeds."""
    _refuse(model, contract)
    places = places_of(model)
    made = _named(contract)
    texts = {each.code_points.name: name for name, each in made.items() if isinstance(each, TextInput)}
    top = "" if contract.top is None else str(contract.top)
    shown = [_shown(each, texts, places, top="top" if top else "") for each in contract.outputs]
    is_single = contract.verb != SEVERAL
    verb = snake_case(contract.verb)
    generated = contract.generated
    return MethodView(
        verb=verb,
        about=contract.outputs[0].DESCRIBED.sentence if is_single else "Gives all that the model says.",
        parameters=tuple(_parameter(name, each, contract, places) for name, each in made.items()),
        top=top,
        result=shown[0].type if is_single else f"{class_name}Prediction",
        value=shown[0].value if is_single and not generated else "",
        results=() if is_single else tuple(_results(contract, shown)),
        states=tuple(
            StateView(
                input=places.inputs[each.input.name],
                output=places.outputs[each.output.name],
                shape=", ".join(map(str, each.first_shape)),
            )
            for each in contract.states
        ),
        labels=tuple(
            LabelsView(name=_constant(each, field), texts=getattr(each, field))
            for each in contract.outputs
            for field in each.DESCRIBED.lines
        ),
        generation=GenerationView(
            points=places.outputs[generated.code_points.name],
            finished=places.outputs[generated.is_finished.name],
            seed=f"inputs.seed({places.inputs[generated.seed.name]}, seed)" if generated.seed else "",
            chat=generated.chat,
        )
        if generated
        else None,
        lists=_lists(verb, made, places) if contract.is_batch else None,
        ranks=contract.ranks,
        streamed=contract.streamed,
        place=next((places.inputs[each.name] for each in _streamed(contract)), 0),
    )


def _streamed(contract: Contract) -> Iterator[TensorSpec]:
    """The input of a model with streams that has the place of a part."""
    for each in contract.parameters if contract.streamed else ():
        if isinstance(each, AudioInput) and each.place:
            yield each.place


def _refuse(model: Model, contract: Contract) -> None:
    """Raises ModelError for an input that the contract does not feed."""
    fed = {each.input.name for each in contract.states}
    for parameter in contract.parameters:
        fed.update(each.name for each in vars(parameter).values() if isinstance(each, TensorSpec))
    if contract.generated and contract.generated.seed:
        fed.add(contract.generated.seed.name)
    for spec in model.signature.inputs:
        if spec.name not in fed:
            raise ModelError(
                f"model '{model.name}': its contract does not describe the input '{spec.name}'",
                hint=f"add [model.{model.name}.inputs.{spec.name}] to mobpack.toml, or leave out the contract",
            )


def _named(contract: Contract) -> dict[str, Parameter]:
    """Values that apps pass, by the names of the parameters."""
    names = naming.members((each.identifier for each in contract.parameters), naming.LOCAL)
    return {names[each.identifier]: each for each in contract.parameters}


def _shown(output: TypedOutput, texts: Mapping[str, str], places: Places, *, top: str) -> Shown:
    described = output.DESCRIBED
    specs = [getattr(output, each) for each in described.tensors]
    tensors = [f"outputs[{places.outputs[each.name]}]" for each in specs]
    if described.type is Plain.TENSOR:
        kind = TYPES[specs[0].element].type
        return Shown(type=f"Tensor<{kind}>", value=f"tensor_of<{kind}>({tensors[0]})")
    made = PLAIN[described.type] if isinstance(described.type, Plain) else described.type
    if not described.function:
        return Shown(type=made, value=f"numbers_of({tensors[0]})")
    text = [texts[getattr(output, described.text).name]] if described.text else []
    lines = [_constant(output, each) for each in described.lines]
    numbers = [str(getattr(output, each)) for each in described.numbers]
    most, least = [getattr(output, each) for each in described.limits] or (0, 0.0)
    limits = [top or str(most), _number(least)] if described.limits else []
    return Shown(
        type=f"std::vector<{made}>" if described.is_list else made,
        value=f"{snake_case(described.function)}({', '.join([*tensors, *text, *lines, *numbers, *limits])})",
    )


def _constant(output: TypedOutput, field: str) -> str:
    return f"{snake_case(output.identifier)}_{field}_"


def _number(value: float) -> str:
    return "no_threshold" if value <= LOWEST or not math.isfinite(value) else f"{float(value)!r}F"


def _results(contract: Contract, shown: list[Shown]) -> Iterator[ResultView]:
    names = naming.members(each.identifier for each in contract.outputs)
    for output, each in zip(contract.outputs, shown, strict=True):
        yield ResultView(
            name=names[output.identifier], about=output.DESCRIBED.sentence, type=each.type, value=each.value
        )


def _parameter(name: str, parameter: Parameter, contract: Contract, places: Places) -> ParameterView:
    """A parameter. In a text that many runs make, runs after the first one get nothing of what only that one reads."""
    generated = contract.generated
    whole = ", is_first" if generated and generated.has_encoder else ""
    match parameter:
        case ImageInput():
            specs = (
                parameter.pixels,
                parameter.channels,
                parameter.orientation,
                parameter.chroma,
                parameter.conversion,
            )
            found = ", ".join(str(places.inputs[each.name]) for each in specs)
            kind, feed = "const Picture&", f"picture({cpp_string(name)}, {name}, {{{found}}}{whole})"
        case AudioInput():
            found = f"{places.inputs[parameter.samples.name]}, {places.inputs[parameter.rate.name]}"
            if parameter.place:
                found += f", {places.inputs[parameter.place.name]}"
            function = "pcm" if parameter.samples.element is ElementType.INT16 else "sound"
            kind, feed = "const SoundView&", f"{function}({cpp_string(name)}, {name}, {{{found}}}{whole})"
        case TextInput():
            given = f"is_first ? {name} : std::string_view()" if generated else name
            kind, feed = "std::string_view", f"text({places.inputs[parameter.code_points.name]}, {given})"
        case TensorInput():
            kind = f"const TensorView<{TYPES[parameter.spec.element].type}>&"
            feed = f"tensor({places.inputs[parameter.spec.name]}, {name})"
    return ParameterView(name=name, type=kind, feed=f"inputs.{feed}", is_text=isinstance(parameter, TextInput))


def _lists(verb: str, made: Mapping[str, Parameter], places: Places) -> ListsView:
    several = naming.members(map(plural, made), (*naming.LOCAL, *made))
    return ListsView(
        verb=f"{verb}_all",
        parameters=tuple(
            ParameterView(
                name=several[plural(one)],
                type=LIST,
                feed=f"inputs.texts({places.inputs[each.code_points.name]}, {several[plural(one)]})",
                is_text=True,
            )
            for one, each in made.items()
            if isinstance(each, TextInput)
        ),
    )
