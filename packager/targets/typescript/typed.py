"""Views of a contract for TypeScript: the method that apps call, its parameters and its parts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import get_args

from packager.core import names
from packager.core.contract import (
    FUNCTIONS,
    SEVERAL,
    AudioInput,
    Contract,
    EmbeddingOutput,
    GeneratedOutput,
    ImageInput,
    StateInput,
    TensorInput,
    TextInput,
    TypedOutput,
)
from packager.core.values import ElementType, Plan
from packager.render.templates import ts_string
from packager.targets.typescript.storage import STORAGE
from packager.targets.typescript.typed_outputs import labels, shown
from packager.targets.typescript.typed_view import (
    ExportView,
    FedView,
    GenerationView,
    ImportView,
    ListsView,
    MadeView,
    PassedView,
    PredictedView,
    StateView,
    TypedView,
)

Parameter = ImageInput | AudioInput | TextInput | TensorInput

KINDS = [kind.DESCRIBED for kind in get_args(TypedOutput)]
TYPES = {
    **{each.module: (each.type,) for each in KINDS if isinstance(each.type, str)},
    "boxes": ("Box", "Detection"),
    "instances": ("Instance", "InstanceMask"),
    "characters": (),
    "chat": ("Message", "Role"),
    "decoding": ("PictureOptions",),
    "drawing": (),
    "lists": ("Texts",),
    "generation": ("GeneratedText", "SeedOptions"),
    "options": ("CallOptions", "ClassifyOptions", "ClassifySyncOptions"),
    "picture": ("Picture", "PictureOrientation", "PixelFormat", "YuvConversion"),
    "planes": ("Region",),
    "ranking": ("Ranked",),
    "similarity": (),
    "stages": (),
    "state": (),
    "stream": ("Heard", "SoundStream", "StreamOptions", "StreamResults"),
}
"""files of `runtime/typed/`, and the types of each that apps use"""
VALUES = {"similarity": ("Similarity",), "sound": ("toWav",)}
"""files of `runtime/typed/` with other things that apps use"""
CARRIED = "Carried"
PREDICTION = "Prediction"
"""suffix of a class's name: the type of several results"""


@dataclass(frozen=True, kw_only=True)
class Made:
    """An input of apps, of which the package makes tensors."""

    noun: str
    module: str
    """file in `runtime/typed/`"""
    type: str
    is_own: bool
    """whether the type is the module's"""
    example: str
    """an argument"""


MADE: Mapping[type, Made] = {
    ImageInput: Made(noun="picture", module="picture", type="Picture", is_own=True, example="{ data, width, height }"),
    AudioInput: Made(noun="sound", module="sound", type="Sound", is_own=True, example="{ samples, rate }"),
    TextInput: Made(noun="text", module="characters", type="string", is_own=False, example="'some text'"),
}


@dataclass(frozen=True)
class Asked:
    """Imports of a model's file from a file of `runtime/typed/`."""

    values: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)


def exports(plans: Sequence[Plan], *, has_pipelines: bool) -> tuple[ExportView, ...]:
    """Files of `runtime/typed/` that a package needs."""
    contracts = [plan.model.contract for plan in plans if plan.model.contract]
    found = {each.module for contract in contracts for each in typed_view(contract, "").imports}
    if any(isinstance(each, EmbeddingOutput) for contract in contracts for each in contract.outputs):
        found |= {"ranking", "similarity"}
    found |= {"options"} if found else set()
    found |= {"decoding", "drawing", "planes"} if "picture" in found else set()
    found |= {"boxes"} if "instances" in found else set()
    found |= {"characters", "ranking"} if "lists" in found else set()
    found |= {"stages"} if has_pipelines else set()
    return tuple(
        ExportView(module=module, types=TYPES[module], values=VALUES.get(module, ())) for module in sorted(found)
    )


def typed_view(contract: Contract, class_name: str) -> TypedView:
    """The method of a model with `contract`."""
    parameters = dict(zip(_free(each.identifier for each in contract.parameters), contract.parameters, strict=True))
    local = dict(zip(parameters, _free((f"{name}Tensors" for name in parameters), parameters), strict=True))
    made = {name: each for name, each in parameters.items() if not isinstance(each, TensorInput)}
    types = {name: _type_of(each, class_name) for name, each in parameters.items()}
    is_single = contract.verb != SEVERAL
    first = contract.outputs[0]
    top = "" if contract.top is None else str(contract.top)
    texts = {each.code_points.name: name for name, each in parameters.items() if isinstance(each, TextInput)}
    placed = {getattr(each, field).name for each in contract.outputs if (field := each.DESCRIBED.text)}
    results = [shown(each, class_name, texts, top="top" if top else "") for each in contract.outputs]
    result = results[0].type if is_single else f"{class_name}{PREDICTION}"
    sync_options = "ClassifySyncOptions" if top else ""
    takes = ", ".join(f"{name}: {wanted}" for name, wanted in types.items())
    seed = contract.generated.seed.identifier if contract.generated and contract.generated.seed else ""
    state_keys = " | ".join(ts_string(each.input.identifier) for each in contract.states)
    kept = " | ".join(filter(None, (state_keys, ts_string(seed) if seed else "")))
    return TypedView(
        verb=contract.verb,
        about=first.DESCRIBED.sentence if is_single else "Gives all that the model says.",
        example=_example(contract, parameters),
        takes=takes,
        parameters="".join(f"{name}: {wanted}, " for name, wanted in types.items()),
        arguments=", ".join(parameters),
        passed=tuple(
            PassedView(name=name, type="Texts" if contract.is_batch else wanted) for name, wanted in types.items()
        ),
        frame=next(iter(types.values())) if len(types) == 1 else f"readonly [{takes}]",
        frame_arguments="frame" if len(types) == 1 else "...frame",
        refused=" or ".join(dict.fromkeys(f"a {MADE[type(each)].noun}" for each in made.values())),
        options="ClassifyOptions" if top else "SeedOptions" if seed else "CallOptions",
        sync_options=sync_options,
        top=top,
        kept=tuple(name for tensor, name in texts.items() if tensor in placed),
        ranks=contract.ranks,
        result=result,
        given=f"Omit<{class_name}Inputs, {kept}>" if kept else f"{class_name}Inputs",
        made=tuple(MadeView(name=local[name], function=_function(each), argument=name) for name, each in made.items()),
        fed=tuple(fed for name, each in parameters.items() for fed in _fed(each, name, local[name])),
        value=results[0].value if is_single else "",
        predicted=()
        if is_single
        else tuple(
            PredictedView(
                identifier=output.identifier, about=output.DESCRIBED.sentence, type=each.type, value=each.value
            )
            for output, each in zip(contract.outputs, results, strict=True)
        ),
        states=tuple(map(_state, contract.states)),
        state_keys=state_keys,
        labels=tuple(found for each in contract.outputs for found in labels(each)),
        imports=tuple(_imports(made.values(), contract, has_top=bool(top))),
        lists=_lists(parameters, result=result, sync_options=sync_options) if contract.is_batch else None,
        generation=_generation(contract, parameters, seed),
        streamed=contract.streamed,
    )


def _lists(parameters: Iterable[str], *, result: str, sync_options: str) -> ListsView:
    taken = list(parameters)
    lists = _free(map(names.plural, taken), taken)
    one, several = (
        [f"{name}: {wanted}" for name in known] for known, wanted in ((taken, "string"), (lists, "readonly string[]"))
    )
    declared = [f"options?: {sync_options}"] if sync_options else []
    item = f"({result})" if " " in result else result
    return ListsView(
        parameters="".join(f"{each}, " for each in several),
        is_pair=len(taken) == 2,
        item=item,
        results=f"{result} | readonly {item}[]",
        sync_one=", ".join([*one, *declared]),
        sync_several=", ".join([*several, *declared]),
    )


def _generation(contract: Contract, parameters: Mapping[str, Parameter], seed: str) -> GenerationView | None:
    if contract.generated is None:
        return None
    return GenerationView(
        given=tuple(_in_each_run(name, each, contract.generated) for name, each in parameters.items()),
        finished=contract.generated.is_finished.identifier,
        seed=seed,
        chat=contract.generated.chat,
    )


def _in_each_run(name: str, parameter: Parameter, generated: GeneratedOutput) -> str:
    """An argument over `isFirst`: further runs get nothing of what only the first one reads."""
    if isinstance(parameter, TextInput):
        return f"isFirst ? {name} : ''"
    if generated.has_encoder and isinstance(parameter, AudioInput):
        return f"isFirst ? {name} : firstFrame({name})"
    return name


def _free(wanted: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    return names.identifiers(wanted, prefix="value", taken={*names.AROUND_PARAMETERS, *FUNCTIONS, *taken})


def _example(contract: Contract, parameters: dict[str, Parameter]) -> tuple[str, ...]:
    """Lines that call the method and show its result."""
    arguments = ", ".join(MADE[type(each)].example if type(each) in MADE else name for name, each in parameters.items())
    result = contract.outputs[0].DESCRIBED.noun if contract.verb != SEVERAL else "found"
    if contract.generated:
        return (f"for await (const part of model.{contract.verb}({arguments})) console.log(part);",)
    return (
        f"const {result} = await model.{contract.verb}({arguments});",
        f"console.log(model.provider, {result});",
    )


def _type_of(parameter: Parameter, class_name: str) -> str:
    if isinstance(parameter, TensorInput):
        return f"{class_name}Inputs[{ts_string(parameter.spec.identifier)}]"
    return MADE[type(parameter)].type


def _function(parameter: Parameter) -> str:
    if isinstance(parameter, AudioInput):
        return "pcmTensors" if parameter.samples.element is ElementType.INT16 else "soundTensors"
    if isinstance(parameter, TextInput):
        return "textsTensor" if parameter.is_batch else "textTensor"
    return "pictureTensors"


def _fed(parameter: Parameter, name: str, local: str) -> Iterator[FedView]:
    match parameter:
        case ImageInput():
            yield FedView(key=parameter.pixels.identifier, value=f"{local}.pixels")
            yield FedView(key=parameter.channels.identifier, value=f"{local}.channels")
            yield FedView(key=parameter.orientation.identifier, value=f"{local}.orientation")
            yield FedView(key=parameter.chroma.identifier, value=f"{local}.chroma")
            yield FedView(key=parameter.conversion.identifier, value=f"{local}.conversion")
        case AudioInput():
            yield FedView(key=parameter.samples.identifier, value=f"{local}.samples")
            yield FedView(key=parameter.rate.identifier, value=f"{local}.rate")
            if parameter.place:
                yield FedView(key=parameter.place.identifier, value=f"{local}.place")
        case TextInput():
            yield FedView(key=parameter.code_points.identifier, value=local)
        case TensorInput():
            yield FedView(key=parameter.spec.identifier, value=name)


def _state(state: StateInput) -> StateView:
    after = state.output.identifier
    sizes = (
        str(size) if isinstance(size, int) else f"outputs.{after}.shape[{axis}]"
        for axis, size in enumerate(state.input.shape)
    )
    return StateView(
        key=state.input.identifier,
        array=STORAGE[state.input.element].array,
        count=prod(state.first_shape),
        output=after,
        shape=state.first_shape,
        next_shape=() if state.input.is_static else tuple(sizes),
    )


def _imports(made: Iterable[Parameter], contract: Contract, *, has_top: bool) -> Iterator[ImportView]:
    asked: dict[str, Asked] = {}
    for parameter in made:
        known = MADE[type(parameter)]
        is_list = isinstance(parameter, TextInput) and parameter.is_batch
        module = asked.setdefault("lists" if is_list else known.module, Asked())
        module.values.add(_function(parameter))
        if known.is_own:
            module.types.add(known.type)
        if isinstance(parameter, AudioInput) and contract.generated and contract.generated.has_encoder:
            module.values.add("firstFrame")
    for described in (each.DESCRIBED for each in contract.outputs):
        if described.module:
            module = asked.setdefault(described.module, Asked())
            module.values.add(described.function)
            module.types.update([described.type] if isinstance(described.type, str) else [])
    if contract.is_batch:
        asked["lists"].values.update({"resultsOf", "rowCount", *(["rankedInLists"] if contract.ranks else [])})
        asked["lists"].types.add("Texts")
    if contract.ranks:
        asked["ranking"].values.update([] if contract.is_batch else ["rankedBy"])
        asked["ranking"].types.add("Ranked")
    if contract.generated:
        asked["generation"].values.add("generated")
        asked["generation"].types.add("GeneratedText")
        if contract.generated.chat:
            asked["chat"] = Asked(values={"promptOf"}, types={"Message"})
    elif contract.states:
        asked["state"] = Asked(values={CARRIED})
    if contract.streamed:
        asked["stream"] = Asked(values={"streamOf"}, types={"SoundStream", "StreamOptions"})
    options = {"ClassifyOptions", "ClassifySyncOptions"} if has_top else {"CallOptions"}
    if contract.generated and contract.generated.seed:
        asked["generation"].values.add("seedTensor")
        asked["generation"].types.add("SeedOptions")
    else:
        asked["options"] = Asked(values={"topOf"} if has_top else set(), types=options)
    for name, module in sorted(asked.items()):
        yield ImportView(module=name, values=tuple(sorted(module.values)), types=tuple(sorted(module.types)))
