"""Compares the models of two manifests: names, tensors, contracts, labels and what happens before and after a run."""

from collections.abc import Iterator, Mapping, Sequence

from packager.distribution.differences.manifests import LIMITS, WORDS, Method, Model, Part, Tensor
from packager.distribution.differences.values import Change, Level

LENGTH = 3
"""number of words that a sentence shows"""
MEANING = ("activation", "kind", "task", "scheme", "pooling", "format")
"""settings of outputs that decide what a number means"""
QUIET = ("labels", "alphabet", "tokenizer", "labels-sha256", "alphabet-sha256")
"""settings that are compared by what is in the files"""


def changes(old: Mapping[str, Model], new: Mapping[str, Model]) -> Iterator[Change]:
    gone = [name for name in old if name not in new]
    come = [name for name in new if name not in old]
    for name in gone:
        renamed = next((each for each in come if _is_same(old[name], new[each])), "")
        if renamed:
            come.remove(renamed)
            yield Change(
                level=Level.MAJOR,
                where=name,
                change=f"renamed to {renamed}",
                reason="classes, files and entries of the packages have another name",
            )
        else:
            yield Change(level=Level.MAJOR, where=name, change="model removed", reason="apps that load it have none")
    for name in come:
        yield Change(level=Level.MINOR, where=name, change="new model", reason="the others are as they were")
    for name in old:
        if name in new:
            yield from _model(old[name], new[name])


def _is_same(old: Model, new: Model) -> bool:
    return old.sha256 == new.sha256 and old.sha256 != ""


def unknown(old: Mapping[str, Model], new: Mapping[str, Model]) -> tuple[str, ...]:
    """Models with a contract of which one of the manifests says too little."""
    return tuple(
        name
        for name in old
        if name in new
        and (bool(old[name].settings) or bool(new[name].settings))
        and (
            bool(old[name].settings) != bool(old[name].contract) or bool(new[name].settings) != bool(new[name].contract)
        )
    )


def _model(old: Model, new: Model) -> Iterator[Change]:
    grown = _grown(old, new)
    yield from _tensors(old.name, "input", old.inputs, new.inputs, frozenset())
    yield from _tensors(old.name, "output", old.outputs, new.outputs, grown)
    if old.contract and new.contract:
        yield from _contracts(old.name, old.contract, new.contract)
    elif bool(old.settings) != bool(new.settings):
        change = "has a contract" if new.settings else "has no contract any more"
        yield Change(
            level=Level.MAJOR, where=old.name, change=change, reason="apps pass and get other values than before"
        )
    yield from _settings(old, new)
    if old.sha256 != new.sha256:
        yield _weights(old, new)


def _weights(old: Model, new: Model) -> Change:
    if any(each.kind == "embedding" for each in _outputs(new)):
        return Change(
            level=Level.MINOR,
            where=new.name,
            change="other weights of a model that embeds",
            reason="vectors that apps have stored are not comparable with new ones: they must be computed again",
        )
    count = "" if old.parameters == new.parameters else f", {old.parameters:,} -> {new.parameters:,} parameters"
    return Change(
        level=Level.PATCH,
        where=new.name,
        change=f"other graph or weights{count}",
        reason="results differ; no figure of the manifest says whether they are better for your data",
    )


def _grown(old: Model, new: Model) -> frozenset[str]:
    """Outputs with scores of classes to which others were added at the end: their size follows."""
    before = {each.identifier: each.words.get("labels", ()) for each in _outputs(old)}
    return frozenset(
        each.scores
        for each in _outputs(new)
        if each.scores
        and (known := before.get(each.identifier))
        and len(known) < len(labels := each.words.get("labels", ()))
        and labels[: len(known)] == known
    )


def _outputs(model: Model) -> tuple[Part, ...]:
    return model.contract.outputs if model.contract else ()


def _tensors(
    model: str, kind: str, old: Sequence[Tensor], new: Sequence[Tensor], grown: frozenset[str]
) -> Iterator[Change]:
    after = {each.name: each for each in new}
    before = {each.name for each in old}
    where = f"{model}: {kind}s"
    for index, each in enumerate(old):
        if each.name in after:
            yield from _tensor(each, after[each.name], model, kind, grown)
            continue
        other = new[index] if index < len(new) and new[index].name not in before else None
        if other and (other.element, other.shape) == (each.element, each.shape):
            change = f"{kind} {each.name} renamed to {other.name}"
        else:
            change = f"{kind} {each.name} removed"
        yield Change(level=Level.MAJOR, where=where, change=change, reason="generated code has it under its name")
    renamed = sum(1 for each in old if each.name not in after)
    for each in [each for each in new if each.name not in before][renamed:]:
        level = Level.MAJOR if kind == "input" else Level.MINOR
        reason = "apps must pass it" if kind == "input" else "apps may leave it unread"
        yield Change(level=level, where=where, change=f"new {kind} {each.name}", reason=reason)
    kept = [each.name for each in old if each.name in after]
    if [each.name for each in new if each.name in before] != kept:
        yield Change(
            level=Level.MAJOR,
            where=where,
            change=f"other order: {', '.join(each.name for each in new)}",
            reason="parameters of generated code are in that order",
        )


def _tensor(old: Tensor, new: Tensor, model: str, kind: str, grown: frozenset[str]) -> Iterator[Change]:
    where = f"{model}: {kind} {new.name}"
    if old.element != new.element:
        yield Change(
            level=Level.MAJOR,
            where=where,
            change=f"{old.element} is now {new.element}",
            reason="apps hold its values in another type of array",
        )
    if old.shape == new.shape:
        return
    change = f"shape {_shape(old.shape)} is now {_shape(new.shape)}"
    if new.name in grown:
        reason = "classes were added at the end; the others have their numbers"
        yield Change(level=Level.MINOR, where=where, change=change, reason=reason)
    elif len(old.shape) == len(new.shape) and _fits(old.shape, new.shape, kind):
        reason = "every shape that fitted still does"
        yield Change(level=Level.MINOR, where=where, change=change, reason=reason)
    else:
        reason = "values that apps pass no longer fit" if kind == "input" else "apps read another number of values"
        yield Change(level=Level.MAJOR, where=where, change=change, reason=reason)


def _fits(old: Sequence[int | str | None], new: Sequence[int | str | None], kind: str) -> bool:
    """Whether an input takes every shape that it took, or an output has one that it could have."""
    pairs = zip(old, new, strict=True)
    if kind == "input":
        return all(not isinstance(after, int) or after == before for before, after in pairs)
    return all(not isinstance(before, int) or after == before for before, after in pairs)


def _shape(shape: Sequence[int | str | None]) -> str:
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def _contracts(model: str, old: Method, new: Method) -> Iterator[Change]:
    if old.name != new.name:
        yield Change(
            level=Level.MAJOR,
            where=model,
            change=f"method {old.name} is now {new.name}",
            reason="apps call it by its name",
        )
    for kind, parts, others in (("input", old.inputs, new.inputs), ("output", old.outputs, new.outputs)):
        before = {each.identifier: each for each in parts}
        after = {each.identifier: each for each in others}
        for name in dict.fromkeys([*before, *after]):
            where = f"{model}: {kind} {name}"
            if name in before and name in after:
                yield from _part(where, before[name], after[name])
            else:
                part = before.get(name) or after[name]
                yield _come_or_gone(where, kind, part.kind, is_new=name in after)


def _come_or_gone(where: str, side: str, kind: str, *, is_new: bool) -> Change:
    change = f"{kind} is {'new' if is_new else 'gone'}"
    if kind == "state":
        reason = "runs depend on those before, or no longer: apps begin anew at other places"
    elif side == "input":
        reason = "apps must pass it, or can no longer"
    else:
        reason = "the method gives other values"
    return Change(level=Level.MAJOR, where=where, change=change, reason=reason)


def _part(where: str, old: Part, new: Part) -> Iterator[Change]:
    if old.kind != new.kind:
        change = f"{old.kind} is now {new.kind}"
        yield Change(level=Level.MAJOR, where=where, change=change, reason="apps pass or get another kind of value")
        return
    for key in WORDS:
        if old.words.get(key, ()) != new.words.get(key, ()):
            yield _words(where, key, list(old.words.get(key, ())), list(new.words.get(key, ())))
    for key in LIMITS:
        if old.limits.get(key) != new.limits.get(key):
            yield Change(
                level=Level.MINOR,
                where=where,
                change=f"{key} {_value(old.limits.get(key))} is now {_value(new.limits.get(key))}",
                reason="the same call gives more or fewer results",
            )


def _words(where: str, key: str, old: list[str], new: list[str]) -> Change:
    if not old or not new:
        change = f"{key} are new" if new else f"{key} are gone"
        level = Level.MINOR if new else Level.MAJOR
        return Change(level=level, where=where, change=change, reason="apps get names with the numbers, or no longer")
    if new[: len(old)] == old:
        more = new[len(old) :]
        return Change(
            level=Level.MINOR,
            where=where,
            change=f"{key} added at the end: {_some(more)}",
            reason="the others keep their numbers; apps see results that they did not know",
        )
    if sorted(old) == sorted(new):
        moved = [f"{word} {index} -> {new.index(word)}" for index, word in enumerate(old) if new[index] != word]
        return Change(
            level=Level.MAJOR,
            where=where,
            change=f"{key} in another order: {_some(moved)}",
            reason="the same number means something else, and no compiler notices",
        )
    odd = [f"{before} -> {after}" for before, after in zip(old, new, strict=False) if before != after]
    gone = odd or [f"{word} gone" for word in old[len(new) :]]
    return Change(
        level=Level.MAJOR,
        where=where,
        change=f"other {key}: {_some(gone)}",
        reason="apps compare these words, or store their numbers",
    )


def _some(words: Sequence[str]) -> str:
    more = f" and {len(words) - LENGTH} more" if len(words) > LENGTH else ""
    return ", ".join(words[:LENGTH]) + more


def _settings(old: Model, new: Model) -> Iterator[Change]:
    for kind in ("inputs", "outputs"):
        before, after = old.settings.get(kind, {}), new.settings.get(kind, {})
        for name in before:
            if name in after and before[name].get("kind") == after[name].get("kind"):
                yield from _setting(f"{new.name}: {kind[:-1]} {name}", kind, before[name], after[name])


def _setting(where: str, kind: str, old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[Change]:
    for key in sorted({*old, *new}):
        if old.get(key) == new.get(key) or key in (*QUIET, *LIMITS):
            continue
        if key.endswith("-sha256") and (key not in old or key not in new):
            continue  # of manifests that did not say it
        change = f"{key} {_value(old.get(key))} is now {_value(new.get(key))}"
        if key.endswith("-sha256"):
            change = f"other {key.removesuffix('-sha256')}: {_value(new.get(key.removesuffix('-sha256')))}"
        if kind == "outputs" and key in MEANING:
            reason = "the same number means something else: limits in apps no longer fit"
            yield Change(level=Level.MAJOR, where=where, change=change, reason=reason)
        else:
            reason = "apps pass and get the same; the model sees, or the graph makes, other numbers of it"
            yield Change(level=Level.MINOR, where=where, change=change, reason=reason)


def _value(found: object) -> str:
    return "unset" if found is None else str(found)
