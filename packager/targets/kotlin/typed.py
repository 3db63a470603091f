"""Views of a model's contract for Kotlin: the method that takes pictures and returns labels, and the files that it
needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from packager.core import names
from packager.core.contract import (
    SEVERAL,
    AudioInput,
    BoxesOutput,
    Contract,
    EmbeddingOutput,
    GeneratedOutput,
    ImageInput,
    InstancesOutput,
    PairsOutput,
    StateInput,
    TensorInput,
    TextInput,
)
from packager.core.values import ElementType
from packager.render.templates import kdoc_code, kotlin_string
from packager.targets.dimensions import DimensionView
from packager.targets.kotlin import results
from packager.targets.kotlin.tensors import in_ktlints_order
from packager.targets.kotlin.view import (
    ArgumentView,
    GenerationView,
    InputView,
    ModelView,
    ParameterView,
    StateView,
    TypedView,
)
from packager.targets.pipelines import ModelMethod

CALLED = ("answer", "carried", "carry", "inputOf", "output", "part", "run", "runBlocking", "session", "tensors", "turn")
"""names used in the bodies of typed methods, which parameters must not hide"""

FILES: Mapping[type, tuple[str, ...]] = {
    ImageInput: ("Orientation", "Picture", "PixelFormat", "Plane"),
    AudioInput: ("Sound",),
    TextInput: ("CodePoints",),
    BoxesOutput: ("Box",),
    InstancesOutput: ("Box", "InstanceMask"),
    EmbeddingOutput: ("Ranked", "Similarity"),
    PairsOutput: ("Ranked",),
    GeneratedOutput: ("GeneratedText",),
}
"""beside the file of each result that is of a type of its own"""
SHARED_FILE = "Values"
"""file of every package with a contract"""
LISTS_FILE = "TextLists"
"""file of packages with a model that takes several texts in a run"""
CHAT_FILE = "Message"
"""file of packages with a model that takes conversations"""
STREAM_FILE = "SoundStream"
"""file of packages with a model that takes a sound piece by piece"""
IN_ROWS = ("count", "row")
"""names used in the bodies of methods that take several texts"""

Given = ImageInput | AudioInput | TextInput | TensorInput
TYPES: Mapping[type, str] = {ImageInput: "Picture", AudioInput: "Sound", TextInput: "String"}


def files(contracts: Iterable[Contract | None]) -> tuple[str, ...]:
    """The Kotlin files that a package needs for its contracts, sorted."""
    known = [contract for contract in contracts if contract]
    lists = {LISTS_FILE} if any(contract.is_batch for contract in known) else set()
    streams = {STREAM_FILE} if any(contract.streamed for contract in known) else set()
    parts = [type(part) for contract in known for part in (*contract.parameters, *contract.outputs)]
    needed = {name for part in parts for name in FILES.get(part, ())}
    chats = {CHAT_FILE} if any(each.generated and each.generated.chat for each in known) else set()
    results = {made for each in known for part in each.outputs if isinstance(made := part.DESCRIBED.type, str)}
    return tuple(sorted(needed | results | lists | chats | streams | {SHARED_FILE})) if known else ()


def methods(views: Iterable[ModelView]) -> dict[str, ModelMethod]:
    """The method of each model with a contract, by its name, for pipelines."""
    return {
        each.name: ModelMethod(
            class_name=each.class_name,
            verb=each.typed.verb,
            result=f"{each.class_name}.{each.typed.kotlin_type}" if each.typed.is_several else each.typed.kotlin_type,
            about="The prediction of the model." if each.typed.is_several else each.typed.results[0].about,
            has_self_test=bool(each.golden),
        )
        for each in views
        if each.typed
    }


RANKS = ("kotlinx.coroutines.currentCoroutineContext", "kotlinx.coroutines.ensureActive")
"""imports of methods that rank documents"""


def with_contract(view: ModelView, contract: Contract | None) -> ModelView:
    """Adds the contract to `view`. Raises ModelError for labels that are not lines of text."""
    if contract is None:
        return view
    bitmap = "android.graphics.Bitmap" if view.is_android else "java.awt.image.BufferedImage"
    picture = (bitmap,) if _takes_bitmap(contract) else ()
    flow = ("kotlinx.coroutines.flow.Flow", "kotlinx.coroutines.flow.flow") if contract.generated else ()
    ranks = RANKS if contract.ranks else ()
    imports = in_ktlints_order({*view.imports, *picture, *flow, *ranks})
    return replace(view, typed=_typed(contract, view), imports=imports)


def _typed(contract: Contract, view: ModelView) -> TypedView:
    kept = {getattr(each, field).name for each in contract.outputs if (field := each.DESCRIBED.text)}
    verbs = (contract.verb, f"{contract.verb}Blocking")
    taken = (*CALLED, *verbs, *(["output"] if kept else []), *(IN_ROWS if contract.is_batch else ()))
    passed = _passed(contract, taken)
    texts = {each.code_points.name: name for name, each in passed.items() if isinstance(each, TextInput)}
    parameters = _parameters(contract, view, passed, taken)
    is_several = contract.verb == SEVERAL
    known = [each.identifier for each in parameters]
    top = "" if contract.top is None else names.identifiers(["top"], prefix="top", taken=known)[0]
    found = results.results(contract, view, texts, "top" if top else "")
    about = "What the model gives." if is_several else found[0].about
    example = f"{contract.verb}({', '.join(_example(each, view) for each in parameters if not each.default)})"
    return TypedView(
        verb=contract.verb,
        kotlin_type="Prediction" if is_several else found[0].kotlin_type,
        about=f"{about} [{top}] limits their number." if top else about,
        noun="prediction" if is_several else contract.outputs[0].DESCRIBED.noun,
        example=f"{example}.toList()" if contract.generated else example,
        parameters=parameters,
        kept=tuple(name for tensor, name in texts.items() if tensor in kept),
        ranks=contract.ranks,
        top=top,
        default_top=contract.top or 0,
        takes_bitmap=_takes_bitmap(contract),
        arguments=_arguments(contract, view, passed, taken),
        results=found,
        is_several=is_several,
        states=tuple(_state(each, view) for each in contract.states),
        labels=results.labels(contract, view),
        lists=_lists(passed, taken, top) if contract.is_batch else (),
        generation=_generation(contract, view, passed, parameters),
        streamed=contract.streamed,
    )


def _lists(passed: Mapping[str, Given], taken: Sequence[str], top: str) -> tuple[str, ...]:
    """Names of the lists of texts that apps pass."""
    return tuple(names.identifiers(map(names.plural, passed), prefix="input", taken=[*taken, *passed, top]))


def _takes_bitmap(contract: Contract) -> bool:
    return len(contract.parameters) == 1 and isinstance(contract.parameters[0], ImageInput)


def _passed(contract: Contract, taken: Sequence[str]) -> dict[str, Given]:
    """Values that apps pass, by parameter name."""
    wanted = [each.identifier for each in contract.parameters]
    return dict(zip(names.identifiers(wanted, prefix="input", taken=taken), contract.parameters, strict=True))


def _generation(
    contract: Contract, view: ModelView, passed: Mapping[str, Given], parameters: Sequence[ParameterView]
) -> GenerationView | None:
    if contract.generated is None:
        return None
    return GenerationView(
        finished=results.output(contract.generated.is_finished.name, view).identifier,
        chat=contract.generated.chat,
        later=tuple(
            _in_further_runs(each.identifier, passed.get(each.identifier), contract.generated) for each in parameters
        ),
    )


def _in_further_runs(name: str, given: Given | None, generated: GeneratedOutput) -> str:
    """The argument of a parameter in every run but the first: nothing of what only the first one reads."""
    if isinstance(given, TextInput):
        return '""'
    return f"{name}.firstFrame()" if generated.has_encoder and isinstance(given, AudioInput) else name


def _seed(contract: Contract, passed: Mapping[str, Given]) -> str:
    """Parameter for the seed of random choices; empty if there are none."""
    if contract.generated is None or contract.generated.seed is None:
        return ""
    return names.identifiers(["seed"], prefix="seed", taken=[*CALLED, *passed])[0]


def _parameters(
    contract: Contract, view: ModelView, passed: Mapping[str, Given], taken: Sequence[str]
) -> tuple[ParameterView, ...]:
    sizes = _free_sizes(contract, view, passed, taken)
    seed = _seed(contract, passed)
    about = f"[{seed}] decides what is chosen at random: the same one gives the same text."
    known = {each.identifier: each for each in view.dimensions}
    return (
        *(_parameter(name, given, view) for name, given in passed.items()),
        *(_size_parameter(name, known[size]) for size, name in sizes.items()),
        *([ParameterView(identifier=seed, kotlin_type="Long", default=" = 0", about=about)] if seed else ()),
    )


def _parameter(name: str, given: Given, view: ModelView) -> ParameterView:
    if not isinstance(given, TensorInput):
        return ParameterView(identifier=name, kotlin_type=TYPES[type(given)], default="", about="")
    shown = _input(given.spec.name, view)
    kind = "" if shown.is_string else ", a direct buffer of native byte order"
    about = f"[{name}] is the tensor `{kdoc_code(shown.tensor)}`, {shown.element} `{kdoc_code(shown.shape)}`{kind}."
    return ParameterView(
        identifier=name, kotlin_type=shown.kotlin_type, default="", about=f"{about} {shown.note}".rstrip()
    )


def _size_parameter(name: str, size: DimensionView) -> ParameterView:
    what = f"`{kdoc_code(size.name)}`" if size.name else f"axis {size.axis} of `{kdoc_code(size.tensor)}`"
    return ParameterView(
        identifier=name, kotlin_type="Int", default=size.default, about=f"[{name}] is the size of {what}."
    )


def _free_sizes(
    contract: Contract, view: ModelView, passed: Mapping[str, Given], taken: Sequence[str]
) -> dict[str, str]:
    """Sizes that nothing else determines: parameter of Input -> parameter of the method."""
    known = _sizes(passed) | _state_sizes(contract, view)
    free = [each.identifier for each in view.dimensions if (each.tensor, each.axis) not in known]
    return dict(zip(free, names.identifiers(free, prefix="dim", taken=[*taken, *passed]), strict=True))


def _arguments(
    contract: Contract, view: ModelView, passed: Mapping[str, Given], taken: Sequence[str]
) -> tuple[ArgumentView, ...]:
    """Every tensor of the model's Input, then every size."""
    values = {tensor: value for name, given in passed.items() for tensor, value in _values(given, name).items()}
    values |= {each.input.name: f"carried.{_input(each.input.name, view).identifier}" for each in contract.states}
    if contract.generated and contract.generated.seed:
        values[contract.generated.seed.name] = f"{_seed(contract, passed)}.seedTensor()"
    sizes, free = _sizes(passed) | _state_sizes(contract, view), _free_sizes(contract, view, passed, taken)
    return (
        *(ArgumentView(identifier=each.identifier, value=values[each.tensor]) for each in view.inputs),
        *(
            ArgumentView(identifier=each.identifier, value=sizes.get((each.tensor, each.axis)) or free[each.identifier])
            for each in view.dimensions
        ),
    )


def _values(given: Given, name: str) -> dict[str, str]:
    """Expressions for the tensors that a parameter provides, by their names in the model."""
    if isinstance(given, ImageInput):
        return {
            given.pixels.name: f"{name}.pixels",
            given.channels.name: f"{name}.format.positions",
            given.orientation.name: f"{name}.orientation.tensor",
            given.chroma.name: f"{name}.chromaPixels",
            given.conversion.name: f"{name}.conversionTensor",
        }
    if isinstance(given, AudioInput):
        kind = "floats" if given.samples.element is ElementType.FLOAT else "shorts"
        place = {given.place.name: f"{name}.placeTensor"} if given.place else {}
        return {given.samples.name: f"{name}.{kind}()", given.rate.name: f"{name}.rateTensor", **place}
    if isinstance(given, TextInput):
        return {given.code_points.name: f"{name}.codePointTensor()"}
    return {given.spec.name: name}


def _sizes(passed: Mapping[str, Given]) -> dict[tuple[str, int], str]:
    """Expressions for the sizes that pictures and sounds determine, by tensor and axis."""
    found: dict[tuple[str, int], str] = {}
    for name, given in passed.items():
        if isinstance(given, ImageInput):
            sizes = ("region.height", "region.width", "format.bytesPerPixel")
            found |= {(given.pixels.name, axis): f"{name}.{size}" for axis, size in enumerate(sizes)}
            sizes = ("chromaRegion.height", "chromaRegion.width", "chromaBytes")
            found |= {(given.chroma.name, axis): f"{name}.{size}" for axis, size in enumerate(sizes)}
        elif isinstance(given, AudioInput):
            found |= {(given.samples.name, axis): f"{name}.{size}" for axis, size in enumerate(("frames", "channels"))}
        elif isinstance(given, TextInput):
            found |= {(given.code_points.name, 0): f"{name}.codePointTensorSize()"}
    return found


def _input(tensor: str, view: ModelView) -> InputView:
    return next(each for each in view.inputs if each.tensor == tensor)


def _state(state: StateInput, view: ModelView) -> StateView:
    known, after = _input(state.input.name, view), results.output(state.output.name, view)
    is_pinned = results.is_pinned(state.output.name, view)
    size = f"output.{after.identifier}.capacity()"
    memory = f"allocateTensor({kotlin_string(known.tensor)}, {known.element_bytes}, {size}){known.as_buffer}"
    return StateView(
        input=known,
        output=after.identifier,
        output_tensor=state.output.name,
        is_pinned=is_pinned,
        is_open=not state.input.is_static,
        first_sizes=tuple(map(str, state.first_shape)),
        shape=_state_shape(known),
        output_shape="" if is_pinned else after.shape_identifier,
        memory=memory,
    )


def _state_shape(known: InputView) -> str:
    return f"{known.identifier}Shape"


def _state_sizes(contract: Contract, view: ModelView) -> dict[tuple[str, int], str]:
    """Expressions for the open sizes of states, by tensor and axis."""
    return {
        (each.input.name, axis): f"carried.{_state_shape(_input(each.input.name, view))}[{axis}].toInt()"
        for each in contract.states
        for axis, size in enumerate(each.input.shape)
        if not isinstance(size, int)
    }


def _example(parameter: ParameterView, view: ModelView) -> str:
    picture = f"Picture.of({'bitmap' if view.is_android else 'image'})"
    made = {"Picture": picture, "Sound": "Sound(samples, rate = 16_000)", "String": '"some text"'}
    return made.get(parameter.kotlin_type, parameter.identifier)
