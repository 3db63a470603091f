"""Views of a model's contract for Swift: the method that takes pictures and sounds and returns labels and boxes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packager.core import names
from packager.core.contract import (
    SEVERAL,
    AudioInput,
    Contract,
    GeneratedOutput,
    ImageInput,
    StateInput,
    TensorInput,
    TextInput,
    TypedInput,
)
from packager.core.values import ElementType
from packager.render.templates import swift_doc, swift_integer, swift_string
from packager.targets.dimensions import DimensionView
from packager.targets.ios.answers import Outcome, declared_labels, results
from packager.targets.ios.lines import called, filled
from packager.targets.ios.typed_view import (
    GenerationView,
    HeadsView,
    ListsView,
    LocalsView,
    ParameterView,
    ResultView,
    StateView,
    StreamedView,
    TypedView,
)
from packager.targets.ios.view import InputView, OutputView

LOCALS = ("output", "tensors", "cancellation", "carried", "answer", "parts", "first", "results", "kept")
CONVERTED = "some PictureConvertible"
"""parameter that is made a Picture"""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter that apps pass."""

    identifier: str
    type: str
    default: str
    """suffix of the type: ` = 1` or nothing"""
    words: str


@dataclass(frozen=True, kw_only=True)
class Fed:
    """A tensor that a call passes to ONNX Runtime."""

    type: str
    """struct that passes it"""
    tensor: str
    arguments: tuple[str, ...]
    """Swift expressions"""


@dataclass(frozen=True, kw_only=True)
class Tensors:
    """Inputs and outputs of a model in its class, by name in the graph."""

    inputs: Mapping[str, InputView]
    dimensions: tuple[DimensionView, ...]
    outputs: Mapping[str, OutputView]
    pinned: frozenset[str]


def typed_view(contract: Contract | None, tensors: Tensors) -> TypedView | None:
    """The typed method; None for a model with tensors only."""
    if contract is None:
        return None
    return _view(contract, tensors)


def _view(contract: Contract, tensors: Tensors) -> TypedView:
    sizes = _sizes(contract, tensors)
    given = [*(_given(each, tensors) for each in contract.parameters), *sizes.values()]
    seed = _seed(contract, [each.identifier for each in given])
    used = [each.identifier for each in (*given, *([seed] if seed else []))]
    top, *inside = names.identifiers(("top", *LOCALS), prefix="", taken=used)
    local = LocalsView(**dict(zip(LOCALS, inside, strict=True)))
    more = [each for each in [_top(contract, top), seed] if each]
    texts = {each.code_points.name: each.identifier for each in contract.parameters if isinstance(each, TextInput)}
    row, count = names.identifiers(("row", "count"), prefix="", taken=[*used, top, *inside])
    outcome = Outcome(
        tensors=tensors.outputs,
        pinned=tensors.pinned,
        texts=texts,
        variable=local.output,
        row=f".row({row}, of: {count})" if contract.is_batch else "",
    )
    made = results(contract.outputs, outcome, top=top if _top(contract, top) else "")
    parameters = [*given, *more]
    declared = tuple(_declared(each, is_labelled=len(given) > 1 or each in more) for each in parameters)
    pictures = tuple(each.identifier for each in given if each.type == "Picture")
    is_prediction = contract.verb == SEVERAL
    result = "Prediction" if is_prediction else made[0].type
    is_streamed = contract.streamed is not None and bool(contract.states)
    received = (
        *(f"_ {each.identifier}: {each.type}" for each in parameters),
        *([f"in {local.kept}: Shared<Carried>? = nil"] if is_streamed else []),
        f"until {local.cancellation}: Cancellation?",
    )
    return TypedView(
        verb=contract.verb,
        summary="Gives all that the model says." if is_prediction else contract.outputs[0].DESCRIBED.sentence,
        documented=tuple(ParameterView(identifier=each.identifier, words=each.words) for each in parameters),
        heads=_heads(contract.verb, declared, received, local.carried, result),
        pictures=pictures,
        takes_picture_alone=len(given) == len(pictures) == 1,
        passed="".join(f"{each.identifier}, " for each in parameters),
        given="".join(f"{each.identifier}{'.picture' * (each.identifier in pictures)}, " for each in parameters),
        result=result,
        answer=_answer(contract, made),
        locals=local,
        fed=filled(
            (
                f"{each.type}({', '.join((swift_string(each.tensor), *each.arguments))})"
                for each in _fed(contract, tensors, local.carried, sizes, seed)
            ),
            indent=16 if contract.states else 12,
        ),
        states=tuple(_state(each, tensors) for each in contract.states),
        results=made,
        predicting=called("public init", _predicted(made), " {", indent=8) if is_prediction else (),
        is_prediction=is_prediction,
        labels=declared_labels(contract.outputs),
        ranks=contract.ranks,
        more_declared="".join(f", {_declared(each, is_labelled=True)}" for each in more),
        more_passed="".join(f", {each.identifier}: {each.identifier}" for each in more),
        lists=_lists(given, more, local, row, count, result) if contract.is_batch else None,
        generation=_generation(contract, tensors, parameters, local.first),
        streamed=_streamed(contract),
    )


def _heads(verb: str, declared: Sequence[str], received: Sequence[str], carried: str, result: str) -> HeadsView:
    public = f"public func {verb}"
    return HeadsView(
        method=called(public, declared, f" throws -> {result} {{", indent=4),
        waited=called(public, declared, f" async throws -> {result} {{", indent=4),
        streaming=called(public, declared, f" -> {result} {{", indent=4),
        answering=called("private func answer", received, f" throws -> {result} {{", indent=4),
        stepping=called(
            "private func step",
            (*received[:-1], f"_ {carried}: Carried", received[-1]),
            " throws -> (part: String, state: Carried?) {",
            indent=4,
        ),
    )


def _streamed(contract: Contract) -> StreamedView | None:
    if contract.streamed is None:
        return None
    more = [] if contract.top is None else [str(contract.top)]
    kept = ["in: carried"] if contract.states else []
    return StreamedView(form=contract.streamed, passed=", ".join(["sound", *more, *kept]))


def _lists(
    given: Sequence[Parameter], more: Sequence[Parameter], local: LocalsView, row: str, count: str, result: str
) -> ListsView:
    texts = [each.identifier for each in given]
    taken = [*texts, *(each.identifier for each in more), row, count, *vars(local).values()]
    lists = names.identifiers(map(names.plural, texts), prefix="text", taken=taken)
    others = "".join(f"{each.identifier}, " for each in more)
    return ListsView(
        declared=(
            *(f"{'' if len(lists) > 1 else '_ '}{each}: [String]" for each in lists),
            *(_declared(each, is_labelled=True) for each in more),
        ),
        received=(
            *(f"_ {each}: [String]" for each in texts),
            *(f"_ {each.identifier}: {each.type}" for each in more),
            f"until {local.cancellation}: Cancellation?",
        ),
        passed="".join(f"{each}, " for each in lists) + others,
        alone="".join(f"[{each}], " for each in texts) + others,
        names=tuple(lists),
        inside=tuple(texts),
        count=count,
        row=row,
        item=f"[{result}]",
    )


def _seed(contract: Contract, taken: Sequence[str]) -> Parameter | None:
    """The parameter for the seed of random choices, if there are any."""
    if contract.generated is None or contract.generated.seed is None:
        return None
    words = "decides what is chosen at random: the same one gives the same text."
    (name,) = names.identifiers(["seed"], prefix="seed", taken=taken)
    return Parameter(identifier=name, type="Int64", default=" = 0", words=words)


def _generation(
    contract: Contract, tensors: Tensors, parameters: Sequence[Parameter], first: str
) -> GenerationView | None:
    if contract.generated is None:
        return None
    values = (_in_each_run(each, contract.generated, first) for each in parameters)
    return GenerationView(
        finished=tensors.outputs[contract.generated.is_finished.name].identifier,
        passed="".join(f"{each}, " for each in values),
        returned={
            tensors.outputs[each.output.name].identifier: each.identifier
            for each in contract.states
            if not each.input.is_static
        },
        chat=contract.generated.chat,
    )


def _in_each_run(parameter: Parameter, generated: GeneratedOutput, first: str) -> str:
    """The argument of each run: further ones get nothing of what only the first one reads."""
    name = parameter.identifier
    if parameter.type == "String":
        return f'{first} ? {name} : ""'
    return f"{first} ? {name} : {name}.firstFrame" if generated.has_encoder and parameter.type == "Sound" else name


def typed_example(class_name: str, contract: Contract, tensors: Tensors) -> tuple[str, ...]:
    """Lines of Swift for the documentation; sizes without a default are 128."""
    sizes = [f"{each.identifier}: 128" for each in _sizes(contract, tensors).values() if not each.default]
    names_given = [each.identifier for each in contract.parameters]
    is_alone = len(_sizes(contract, tensors)) + len(names_given) == 1
    given = names_given if is_alone else [f"{name}: {name}" for name in names_given]
    return (
        f"let model = try await {class_name}.load()",
        *(line for line in map(_made_in_example, contract.parameters) if line),
        _shown_in_example(contract, f"model.{contract.verb}({', '.join([*given, *sizes])})"),
    )


def _shown_in_example(contract: Contract, call: str) -> str:
    if contract.generated:
        return f'for try await part in {call} {{ print(part, terminator: "") }}'
    return f"print(try await {call})"


def _made_in_example(given: ImageInput | AudioInput | TextInput | TensorInput) -> str:
    match given:
        case ImageInput():
            return f"let {given.identifier} = try Picture(pixelBuffer, orientation: .right)"
        case AudioInput():
            return f"let {given.identifier} = try Sound(samples, rate: 44100)"
        case TextInput():
            return f'let {given.identifier} = "some text"'
        case TensorInput():
            return ""


def _sizes(contract: Contract, tensors: Tensors) -> dict[str, Parameter]:
    """Sizes that the contract's own tensors leave open, by name in the tensor API."""
    plain = [tensors.inputs[each.spec.name] for each in contract.parameters if isinstance(each, TensorInput)]
    open_sizes = {size for view in plain for size in view.sizes}
    needed = [each for each in tensors.dimensions if each.identifier in open_sizes]
    taken = [each.identifier for each in contract.parameters]
    free = names.identifiers([each.identifier for each in needed], prefix="dim", taken=taken)
    return {
        size.identifier: Parameter(
            identifier=identifier,
            type="Int",
            default=size.default,
            words=f"the size of `{swift_doc(size.name)}`." if size.name else f"a size of `{swift_doc(size.tensor)}`.",
        )
        for size, identifier in zip(needed, free, strict=True)
    }


def _given(given: ImageInput | AudioInput | TextInput | TensorInput, tensors: Tensors) -> Parameter:
    match given:
        case ImageInput():
            words = "a picture of any size."
            return Parameter(identifier=given.identifier, type="Picture", default="", words=words)
        case AudioInput():
            words = "a recording of any length and rate."
            return Parameter(identifier=given.identifier, type="Sound", default="", words=words)
        case TextInput():
            return Parameter(identifier=given.identifier, type="String", default="", words="a text of any length.")
        case TensorInput():
            view = tensors.inputs[given.spec.name]
            words = f"`{swift_doc(view.tensor)}`, {view.element} `{swift_doc(view.shape)}` in row-major order."
            return Parameter(identifier=given.identifier, type=f"[{view.swift_type}]", default="", words=words)


def _top(contract: Contract, identifier: str) -> Parameter | None:
    """The parameter for the number of classes; a Prediction always uses the contract's number."""
    if contract.top is None:
        return None
    default = f" = {contract.top}"
    return Parameter(identifier=identifier, type="Int", default=default, words="how many classes at most.")


def _declared(parameter: Parameter, *, is_labelled: bool) -> str:
    passed = CONVERTED if parameter.type == "Picture" else parameter.type
    return f"{'' if is_labelled else '_ '}{parameter.identifier}: {passed}{parameter.default}"


def _predicted(made: Iterable[ResultView]) -> Iterator[str]:
    """Parameters of Prediction's initializer."""
    for each in made:
        yield f"{each.identifier}: {each.type}"
        if each.shape:
            yield f"{each.shape_identifier}: [Int]"


def _answer(contract: Contract, made: Sequence[ResultView]) -> tuple[str, ...]:
    """Lines of the expression that a call returns; choosing classes may throw."""
    effect = "try " if any(each.DESCRIBED.limits for each in contract.outputs) else ""
    if contract.verb != SEVERAL:
        return _call(effect + made[0].value, "")
    arguments = list(_arguments(made))
    lines = [f"    {line}" for each in arguments for line in _call(each, "" if each is arguments[-1] else ",")]
    return (f"{effect}Prediction(", *lines[:-1], f"{lines[-1]})")


def _call(text: str, end: str) -> tuple[str, ...]:
    """A call in a line, or in several where that has no room for it."""
    head, opening, arguments = text.partition("(")
    if not opening:
        return (f"{text}{end}",)
    *others, last = called(head, arguments.removesuffix(")").split(", "), "", indent=30)
    return (*others, f"{last}{end}")


def _arguments(made: Iterable[ResultView]) -> Iterator[str]:
    for each in made:
        yield f"{each.identifier}: {each.value}"
        if each.shape:
            yield f"{each.shape_identifier}: {each.shape}"


def _state(state: StateInput, tensors: Tensors) -> StateView:
    view, after = tensors.inputs[state.input.name], tensors.outputs[state.output.name]
    return StateView(
        identifier=state.identifier,
        type=view.swift_type,
        sizes=tuple(map(swift_integer, state.first_shape)),
        zero=view.zero,
        output=after.identifier,
        is_open=not state.input.is_static,
        shape=_shape_of(state),
        output_shape=after.shape_identifier,
    )


def _shape_of(state: StateInput) -> str:
    return f"{state.identifier}Shape"


def _fed(
    contract: Contract, tensors: Tensors, carried: str, sizes: Mapping[str, Parameter], seed: Parameter | None
) -> Iterator[Fed]:
    """Every input, in the model's order."""
    is_generated = contract.generated is not None
    found = {
        each.tensor: each
        for given in contract.inputs
        for each in _fed_by(given, tensors.inputs, carried, sizes, is_generated=is_generated)
    }
    if seed and contract.generated and contract.generated.seed:
        name = contract.generated.seed.name
        found[name] = Fed(type="Fed", tensor=name, arguments=(f"[{seed.identifier}]", "[1]"))
    yield from (found[tensor] for tensor in tensors.inputs)


def _fed_by(
    given: TypedInput,
    inputs: Mapping[str, InputView],
    carried: str,
    sizes: Mapping[str, Parameter],
    *,
    is_generated: bool,
) -> Iterator[Fed]:
    name = given.identifier
    match given:
        case ImageInput():
            yield Fed(type="FedPixels", tensor=given.pixels.name, arguments=(f"{name}.pixels",))
            yield Fed(type="Fed", tensor=given.channels.name, arguments=(f"{name}.format.channels", "[3]"))
            yield Fed(type="Fed", tensor=given.orientation.name, arguments=(f"[{name}.orientation.number]", "[]"))
            yield Fed(type="FedPixels", tensor=given.chroma.name, arguments=(f"{name}.chroma",))
            yield Fed(type="Fed", tensor=given.conversion.name, arguments=(f"{name}.conversion", "[3]"))
        case AudioInput():
            samples = "integers" if given.samples.element is ElementType.INT16 else "floats"
            shape = f"[{name}.frames, {name}.channels]"
            yield Fed(type="Fed", tensor=given.samples.name, arguments=(f"try {name}.{samples}", shape))
            yield Fed(type="Fed", tensor=given.rate.name, arguments=(f"[Int64({name}.rate)]", "[]"))
            if given.place:
                yield Fed(type="Fed", tensor=given.place.name, arguments=(f"{name}.place", "[3]"))
        case TextInput():
            label = "texts" if given.is_batch else "text"
            yield Fed(type="Fed", tensor=given.code_points.name, arguments=(f"{label}: {name}",))
        case StateInput() if not given.input.is_static:
            values = f"{carried}.{name}"
            if is_generated:
                yield Fed(type="FedState", tensor=given.input.name, arguments=(values,))
            else:
                arguments = (values, f"{carried}.{_shape_of(given)}")
                yield Fed(type="Fed", tensor=given.input.name, arguments=arguments)
        case StateInput():
            yield _plain(inputs[given.input.name], f"{carried}.{name}", sizes)
        case TensorInput():
            yield _plain(inputs[given.spec.name], name, sizes)


def _plain(view: InputView, values: str, sizes: Mapping[str, Parameter]) -> Fed:
    shape = ", ".join(sizes[size].identifier if size in sizes else size for size in view.sizes)
    return Fed(
        type="FedStrings" if view.swift_type == "String" else "Fed",
        tensor=view.tensor,
        arguments=(values, f"[{shape}]"),
    )
