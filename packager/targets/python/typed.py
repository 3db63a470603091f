"""Views of a contract for Python: the methods that apps call, their parameters and their results."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packager.core import names as core_names
from packager.core.contract import (
    LOWEST,
    SEVERAL,
    AudioInput,
    Contract,
    GeneratedOutput,
    ImageInput,
    TensorInput,
    TextInput,
    TypedOutput,
)
from packager.core.described import Plain
from packager.core.errors import ModelError
from packager.core.values import ElementType, Model
from packager.render.templates import python_string
from packager.targets.python import naming
from packager.targets.python.storage import array_of, dtype_of
from packager.targets.python.view import (
    FedView,
    GenerationView,
    LabelsView,
    ListsView,
    MethodView,
    ParameterView,
    ResultView,
    StateView,
)

Parameter = ImageInput | AudioInput | TextInput | TensorInput

PLAIN = {Plain.NUMBER: "float", Plain.NUMBERS: "NDArray[numpy.float32]", Plain.TEXTS: "str"}


@dataclass(frozen=True, kw_only=True)
class Shown:
    """An output as apps get it."""

    type: str
    value: str
    """expression over `outputs`"""


def method_view(model: Model, contract: Contract, class_name: str) -> MethodView:
    """The method of a model with `contract`. Raises ModelError for an input of the graph that no part of the contract
    feeds."""
    made = _named(contract)
    texts = {each.code_points.name: name for name, each in made.items() if isinstance(each, TextInput)}
    top = "" if contract.top is None else str(contract.top)
    shown = [_shown(each, texts, top="top" if top else "") for each in contract.outputs]
    is_single = contract.verb != SEVERAL
    verb = core_names.snake_case(contract.verb)
    placed = [texts[getattr(each, field).name] for each in contract.outputs if (field := each.DESCRIBED.text)]
    return MethodView(
        verb=verb,
        about=contract.outputs[0].DESCRIBED.sentence if is_single else "Gives all that the model says.",
        parameters=tuple(_parameter(name, each, contract.generated) for name, each in made.items()),
        fed=tuple(_all_fed(model, contract, made)),
        top=top,
        result=shown[0].type if is_single else f"{class_name}Prediction",
        value=shown[0].value if is_single and not contract.generated else "",
        results=() if is_single else tuple(_results(contract, shown)),
        texts=tuple(dict.fromkeys(placed)),
        states=tuple(
            StateView(
                input=each.input.name,
                output=each.output.name,
                first=f"numpy.zeros({each.first_shape}, numpy.{dtype_of(each.input.element)})",
            )
            for each in contract.states
        ),
        labels=tuple(
            LabelsView(name=_constant(each, field), texts=getattr(each, field))
            for each in contract.outputs
            for field in each.DESCRIBED.lines
        ),
        generation=GenerationView(
            points=contract.generated.code_points.name,
            finished=contract.generated.is_finished.name,
            has_seed=contract.generated.seed is not None,
            chat=contract.generated.chat,
        )
        if contract.generated
        else None,
        lists=_lists(verb, made) if contract.is_batch else None,
        ranks=contract.ranks,
        streamed=contract.streamed,
    )


def _named(contract: Contract) -> dict[str, Parameter]:
    """Values that apps pass, by the names of the parameters."""
    names = naming.members((each.identifier for each in contract.parameters), naming.LOCAL)
    return {names[each.identifier]: each for each in contract.parameters}


def _shown(output: TypedOutput, texts: Mapping[str, str], *, top: str) -> Shown:
    described = output.DESCRIBED
    specs = [getattr(output, each) for each in described.tensors]
    tensors = [f"outputs[{python_string(each.name)}]" for each in specs]
    if described.type is Plain.TENSOR:
        return Shown(type=array_of(specs[0].element), value=tensors[0])
    made = PLAIN[described.type] if isinstance(described.type, Plain) else described.type
    if not described.function:
        return Shown(type=made, value=tensors[0])
    text = [texts[getattr(output, described.text).name]] if described.text else []
    lines = [_constant(output, each) for each in described.lines]
    numbers = [str(getattr(output, each)) for each in described.numbers]
    most, least = [getattr(output, each) for each in described.limits] or (0, 0.0)
    limits = [top or str(most), _number(least)] if described.limits else []
    return Shown(
        type=f"list[{made}]" if described.is_list else made,
        value=f"{core_names.snake_case(described.function)}({', '.join([*tensors, *text, *lines, *numbers, *limits])})",
    )


def _constant(output: TypedOutput, field: str) -> str:
    return f"_{core_names.snake_case(output.identifier)}_{field}".upper()


def _number(value: float) -> str:
    return "-numpy.inf" if value <= LOWEST or not math.isfinite(value) else repr(float(value))


def _results(contract: Contract, shown: list[Shown]) -> Iterator[ResultView]:
    names = naming.members(each.identifier for each in contract.outputs)
    for output, each in zip(contract.outputs, shown, strict=True):
        yield ResultView(
            name=names[output.identifier], about=output.DESCRIBED.sentence, type=each.type, value=each.value
        )


def _parameter(name: str, parameter: Parameter, generated: GeneratedOutput | None) -> ParameterView:
    made = f"{name}_tensors"
    match parameter:
        case ImageInput():
            kind, maker = "PictureLike", f'picture_tensors("{name}", {name})'
        case AudioInput():
            function = "pcm_tensors" if parameter.samples.element is ElementType.INT16 else "sound_tensors"
            kind, maker = "Sound", f'{function}("{name}", {name})'
        case TextInput():
            kind, maker = "str", f"text_tensor({name})"
        case TensorInput():
            kind = array_of(parameter.spec.element)
            maker = f"tensor({_spec(parameter.spec.name)}, {name})"
    return ParameterView(name=name, type=kind, made=made, maker=maker, is_text=isinstance(parameter, TextInput))


def _spec(name: str) -> str:
    return f"_INPUTS[{python_string(name)}]"


def _all_fed(model: Model, contract: Contract, made: Mapping[str, Parameter]) -> Iterator[FedView]:
    """Inputs of the model, in its order, but for states."""
    is_encoded = contract.generated is not None and contract.generated.has_encoder
    fed = {tensor: value for name, each in made.items() for tensor, value in _fed(name, each, contract, is_encoded)}
    if contract.generated and contract.generated.seed:
        fed[contract.generated.seed.name] = "seed_tensor(seed)"
    states = {each.input.name for each in contract.states}
    for spec in model.signature.inputs:
        if spec.name in states:
            continue
        if spec.name not in fed:
            raise ModelError(
                f"model '{model.name}': its contract does not describe the input '{spec.name}'",
                hint=f"add [model.{model.name}.inputs.{spec.name}] to mobpack.toml, or leave out the contract",
            )
        yield FedView(name=spec.name, value=fed[spec.name])


def _fed(name: str, parameter: Parameter, contract: Contract, is_encoded: bool) -> Iterator[tuple[str, str]]:
    """Names of the model's inputs with the expressions that feed them. In a text that many runs make, runs after the
    first one get nothing of what only that one reads."""
    made = f"{name}_tensors"
    match parameter:
        case ImageInput():
            pixels = f"{made}.pixels if is_first else {made}.pixels[:1, :1]" if is_encoded else f"{made}.pixels"
            yield parameter.pixels.name, pixels
            yield parameter.channels.name, f"{made}.channels"
            yield parameter.orientation.name, f"{made}.orientation"
            yield parameter.chroma.name, f"{made}.chroma"
            yield parameter.conversion.name, f"{made}.conversion"
        case AudioInput():
            samples = f"{made}.samples if is_first else {made}.samples[:1]" if is_encoded else f"{made}.samples"
            yield parameter.samples.name, samples
            yield parameter.rate.name, f"{made}.rate"
            if parameter.place:
                yield parameter.place.name, f"{made}.place"
        case TextInput():
            yield parameter.code_points.name, f'{made} if is_first else text_tensor("")' if contract.generated else made
        case TensorInput():
            yield parameter.spec.name, made


def _lists(verb: str, made: Mapping[str, Parameter]) -> ListsView:
    several = naming.members(map(core_names.plural, made), (*naming.LOCAL, *made))
    return ListsView(
        verb=f"{verb}_all",
        parameters=tuple(
            ParameterView(
                name=several[core_names.plural(one)],
                type="Sequence[str]",
                made=f"{one}_tensors",
                maker=f"texts_tensor({several[core_names.plural(one)]})",
                is_text=True,
            )
            for one in made
        ),
    )
