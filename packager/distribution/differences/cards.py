"""Compares the models of two packages alone by the cards in their bills of materials, CycloneDX 1.6: other weights,
other kinds of inputs and outputs, other licences. A bill may come from anybody.
"""

from collections.abc import Iterator, Mapping

from packager.core import parsing
from packager.distribution.differences.shipping import license_change
from packager.distribution.differences.values import Change, Level, ModelCard

BILL = "sbom.cdx.json"
MODEL = "machine-learning-model"
EMBEDDING = "embedding"
Entry = Mapping[str, object]


def read(texts: Mapping[str, str]) -> dict[str, ModelCard]:
    """The cards in a package's bill, by model; empty without a bill that can be read."""
    path = min((name for name in texts if name.rpartition("/")[2] == BILL), key=len, default="")
    try:
        bill = parsing.json_of(texts.get(path, ""))
    except (ValueError, RecursionError):
        return {}
    models = [each for each in _entries(bill, "components") if each.get("type") == MODEL]
    return {str(each.get("name", "")): _card(each) for each in models}


def _card(model: Entry) -> ModelCard:
    card = _entry(_entry(model, "modelCard"), "modelParameters")
    licenses = [_entry(each, "license") or each for each in _entries(model, "licenses")]
    return ModelCard(
        sha256=next((str(each.get("content", "")) for each in _entries(model, "hashes")), ""),
        license=", ".join(str(each.get("id") or each.get("name") or each.get("expression") or "") for each in licenses),
        inputs=_kinds(card, "inputs"),
        outputs=_kinds(card, "outputs"),
    )


def _kinds(card: Entry, direction: str) -> dict[str, str]:
    """Name -> kind, of `image: image`; tensors, which have `x: float32[1, 3]`, are in the API."""
    formats = [str(each.get("format", "")) for each in _entries(card, direction)]
    pairs = [each.partition(": ") for each in formats]
    return {name: kind for name, _, kind in pairs if kind and "[" not in kind}


def _entry(document: object, key: str) -> Entry:
    found = document.get(key) if isinstance(document, dict) else None
    return found if isinstance(found, dict) else {}


def _entries(document: object, key: str) -> list[Entry]:
    found = document.get(key) if isinstance(document, Mapping) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def changes(old: Mapping[str, ModelCard], new: Mapping[str, ModelCard]) -> Iterator[Change]:
    """Of models that both packages have; those that are gone or new are in the API."""
    for name, before in old.items():
        if name in new:
            yield from _model(name, before, new[name])


def _model(name: str, old: ModelCard, new: ModelCard) -> Iterator[Change]:
    for direction, before, after in (("input", old.inputs, new.inputs), ("output", old.outputs, new.outputs)):
        for each in before:
            if each in after and before[each] != after[each]:
                change = f"{direction} {each}: kind {before[each]} is now {after[each]}"
                yield Change(level=Level.MAJOR, where=name, change=change, reason="apps pass or get something else")
    if old.license != new.license:
        yield license_change(old.license, new.license, name)
    if old.sha256 != new.sha256:
        yield _weights(name, new)


def _weights(name: str, new: ModelCard) -> Change:
    if EMBEDDING in new.outputs.values():
        return Change(
            level=Level.MINOR,
            where=name,
            change="other weights of a model that embeds",
            reason="vectors that apps have stored are not comparable with new ones: they must be computed again",
        )
    return Change(
        level=Level.PATCH,
        where=name,
        change="other graph or weights",
        reason="results differ; no figure of the package says whether they are better for your data",
    )
