"""Compares the APIs of two packages of one target: does code that compiled with the old one still?

The facts of the language decide (`packager/description/language.py`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from packager.core.signature import TensorSpec
from packager.description import Language, MethodParameter, MethodResult, ModelApi, PackageApi, PipelineApi
from packager.distribution.differences.values import Change, Level
from packager.targets import KNOWN_TARGETS
from packager.targets.dimensions import sizes

NEW = "code that compiles today does so tomorrow"
COMPILED_AGAIN = "apps compile as they are; libraries that were compiled with the old one must be compiled again"


def changes(old: PackageApi, new: PackageApi) -> Iterator[Change]:
    where, language = f"{new.target}: {new.language}", _language_of(new)
    yield from _revision(old.revision, new.revision, where)
    yield from _features(old, new, where, language)
    if language.names_own_providers:
        yield from _come_and_gone("provider", old.providers, new.providers, where)
    before, after = ({each.name: each for each in api.models} for api in (old, new))
    classes, others = ([each.class_name for each in api.models] for api in (old, new))
    yield from _come_and_gone("class", classes, others, where)
    for name in before:
        if name in after and before[name].class_name == after[name].class_name:
            yield from _model(before[name], after[name], where, language)
    yield from _pipelines(old, new, where)


def _language_of(api: PackageApi) -> Language:
    """Facts of the package's language; none of a language that no target of this mobpack has."""
    known = {target.LANGUAGE.name: target.LANGUAGE for target in KNOWN_TARGETS.values()}
    return known.get(api.language, Language(name=api.language))


def _revision(old: tuple[int, int], new: tuple[int, int], where: str) -> Iterator[Change]:
    """Compares what all packages of the language have, whatever their models."""
    if old == new:
        return
    shown = [".".join(map(str, each)) for each in (new, old)]
    change = f"revision {shown[0]} of the API that all packages share, was {shown[1]}"
    if old[0] == new[0] and old < new:
        yield Change(level=Level.MINOR, where=where, change=change, reason="it has more; the rest is as it was")
    else:
        reason = "options, sources, errors or events have changed: mobpack's changelog says which"
        yield Change(level=Level.MAJOR, where=where, change=change, reason=reason)


def _features(old: PackageApi, new: PackageApi, where: str, language: Language) -> Iterator[Change]:
    for name in sorted({*old.features} ^ {*new.features}):
        if name in language.adds_nothing_for:
            continue
        if name in old.features:
            reason = "what it adds to the API is gone"
            yield Change(level=Level.MAJOR, where=where, change=f"no {name} any more", reason=reason)
        elif name in language.observes:
            reason = "apps that make a ModelObserver of their own must give one more method"
            yield Change(level=Level.MAJOR, where=where, change=f"{name} is new", reason=reason)
        else:
            yield Change(level=Level.MINOR, where=where, change=f"{name} is new", reason=NEW)


def _come_and_gone(kind: str, old: Sequence[str], new: Sequence[str], where: str) -> Iterator[Change]:
    for name in old:
        if name not in new:
            reason = f"apps that name {name} no longer compile"
            yield Change(level=Level.MAJOR, where=where, change=f"{kind} {name} is gone", reason=reason)
    for name in new:
        if name not in old:
            yield Change(level=Level.MINOR, where=where, change=f"new {kind} {name}", reason=NEW)


def _model(old: ModelApi, new: ModelApi, where: str, language: Language) -> Iterator[Change]:
    for level, change in (
        *_method(old, new),
        *_parameters("input", _given(old, language), _given(new, language), language),
        *_outputs(old.outputs, new.outputs, language),
        *_self_test(old, new, language),
    ):
        compatible = COMPILED_AGAIN if language.may_omit_labels else NEW
        reason = f"apps that use {new.class_name} must change" if level is Level.MAJOR else compatible
        yield Change(level=level, where=where, change=f"class {new.class_name}: {change}", reason=reason)


@dataclass(frozen=True)
class GivenValue:
    """A parameter, as far as a language has it in the API."""

    name: str
    type: str
    is_optional: bool = False


Found = Iterator[tuple[Level, str]]


def _pipelines(old: PackageApi, new: PackageApi, where: str) -> Iterator[Change]:
    before, after = ({each.class_name: each for each in api.pipelines} for api in (old, new))
    yield from _come_and_gone("class", [*before], [*after], where)
    for name in before:
        for level, change in _stages(before[name], after[name]) if name in after else ():
            reason = f"apps that use {name} must change" if level is Level.MAJOR else NEW
            yield Change(level=level, where=where, change=f"class {name}: {change}", reason=reason)


def _stages(old: PipelineApi, new: PipelineApi) -> Found:
    before, after = ({each.name: each for each in api.stages} for api in (old, new))
    for name, stage in before.items():
        if name not in after:
            yield Level.MAJOR, f"stage {name} is gone"
        elif after[name].model != stage.model:
            yield Level.MAJOR, f"stage {name} runs {after[name].model}, was {stage.model}"
        elif (stage.min_score is None) != (after[name].min_score is None):
            yield Level.MAJOR, f"stage {name} {'always' if stage.min_score else 'not always'} has a result"
    if old.stages[0].name != new.stages[0].name and new.stages[0].name in before:
        yield Level.MAJOR, f"stage {new.stages[0].name} finds the boxes"
    yield from ((Level.MINOR, f"new stage {name}") for name in after if name not in before)
    if old.max_items != new.max_items:
        level = Level.MAJOR if new.max_items < old.max_items else Level.MINOR
        yield level, f"takes {new.max_items} boxes, was {old.max_items}"


def _method(old: ModelApi, new: ModelApi) -> Found:
    if old.method != new.method:
        yield Level.MAJOR if old.method else Level.MINOR, f"method {new.method or 'none'}, was {old.method or 'none'}"
        return
    if old.parameters != new.parameters:
        takes = ", ".join(
            f"{each.name}: {each.kind}{' or several' if each.is_batch else ''}" for each in new.parameters
        )
        level = Level.MINOR if _takes_more(old.parameters, new.parameters) else Level.MAJOR
        yield level, f"method {new.method} takes {takes}"
    if old.has_chat != new.has_chat:
        yield (Level.MINOR, "new method chat") if new.has_chat else (Level.MAJOR, "method chat is gone")
    yield from _results(old, new)
    yield from ((Level.MAJOR, f"option {name} is gone") for name in old.options if name not in new.options)
    yield from ((Level.MINOR, f"new option {name}") for name in new.options if name not in old.options)
    if new.stream_hop is None and old.stream_hop is not None:
        yield Level.MAJOR, "method stream is gone"
    elif new.stream_hop != old.stream_hop:
        yield Level.MINOR, f"method stream gives a result for each {new.stream_hop} samples"


def _takes_more(old: Sequence[MethodParameter], new: Sequence[MethodParameter]) -> bool:
    """Whether the method takes what it took, and several texts as well."""
    pairs = zip(old, new, strict=False)
    return len(old) == len(new) and all(after in (before, replace(before, is_batch=True)) for before, after in pairs)


def _results(old: ModelApi, new: ModelApi) -> Found:
    """A single result has no name in the API; several are fields."""
    if len(old.results) == len(new.results) == 1:
        if _kind(old.results[0]) != _kind(new.results[0]):
            yield Level.MAJOR, f"method {new.method} returns {_kind(new.results[0])}, was {_kind(old.results[0])}"
        return
    before, after = ({each.name: _kind(each) for each in model.results} for model in (old, new))
    yield from ((Level.MAJOR, f"result {name} is gone") for name in before if name not in after)
    yield from (
        (Level.MAJOR, f"result {name} is another") for name in before if after.get(name, before[name]) != before[name]
    )
    yield from ((Level.MINOR, f"new result {name}") for name in after if name not in before)


def _kind(result: MethodResult) -> str:
    return f"list of {result.type}" if result.is_list else result.type


def _given(model: ModelApi, language: Language) -> list[GivenValue]:
    """The values that a class takes tensors as. Kotlin makes those of fixed size itself where they are left out."""
    tensors = [
        GivenValue(each.identifier, _type(each, language), each.is_static and language.may_omit_labels)
        for each in model.inputs
    ]
    if not language.has_sizes:
        return tensors
    return tensors + [GivenValue(each.identifier, "size", bool(each.default)) for each in sizes(model.inputs).views]


def _type(tensor: TensorSpec, language: Language) -> str:
    if not language.has_shapes_in_types:
        return str(tensor.element)
    return f"{tensor.element}[{', '.join(str(each) if isinstance(each, int) else '?' for each in tensor.shape)}]"


def _parameters(kind: str, old: Sequence[GivenValue], new: Sequence[GivenValue], language: Language) -> Found:
    after = {each.name: each for each in new}
    for each in old:
        other = after.get(each.name)
        if other is None:
            yield Level.MAJOR, f"{kind} {each.name} is gone"
        elif other.type != each.type:
            yield Level.MAJOR, f"{kind} {each.name}: {each.type} is now {other.type}"
        elif each.is_optional and not other.is_optional:
            yield Level.MAJOR, f"{kind} {each.name} must now be given"
    known = {each.name for each in old}
    for each in new:
        if each.name not in known:
            yield Level.MINOR if each.is_optional else Level.MAJOR, f"new {kind} {each.name}: {each.type}"
    kept = [each.name for each in old if each.name in after]
    order = [each.name for each in new if each.name in known or language.may_omit_labels]
    if language.has_sizes and order[: len(kept)] != kept:
        yield Level.MAJOR, f"{kind}s are in another order: {', '.join(order)}"


def _outputs(old: Sequence[TensorSpec], new: Sequence[TensorSpec], language: Language) -> Found:
    before, after = ({each.identifier: _returned(each, language) for each in tensors} for tensors in (old, new))
    for name, kind in before.items():
        if name not in after:
            yield Level.MAJOR, f"output {name} is gone"
        elif after[name] != kind:
            yield Level.MAJOR, f"output {name}: {kind} is now {after[name]}"
    yield from ((Level.MINOR, f"new output {name}: {kind}") for name, kind in after.items() if name not in before)
    reused = [[each.identifier for each in tensors if each.is_static] for tensors in (old, new)]
    kept = [name for name in reused[0] if name in reused[1]]
    if language.may_omit_labels and reused[1][: len(kept)] != kept:
        yield Level.MAJOR, f"outputs of fixed size are in another order: {', '.join(reused[1])}"


def _returned(tensor: TensorSpec, language: Language) -> str:
    """Kotlin and Swift have the shape of an output of open size beside it, and reuse memory for one of fixed size."""
    is_open = language.has_sizes and not tensor.is_static
    return _type(tensor, language) + (" with its shape" if is_open else "")


def _self_test(old: ModelApi, new: ModelApi, language: Language) -> Found:
    if language.has_own_self_tests and old.has_self_test != new.has_self_test:
        yield (Level.MINOR, "new self-test") if new.has_self_test else (Level.MAJOR, "self-test is gone")
