"""Compares the models of two packages alone by the cards in their bills of materials, CycloneDX 1.6: other weights and
other licences. A bill may come from anybody.
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
        embeds=any(str(each.get("format", "")).endswith(f": {EMBEDDING}") for each in _entries(card, "outputs")),
    )


def _entry(document: object, key: str) -> Entry:
    found = document.get(key) if isinstance(document, dict) else None
    return found if isinstance(found, dict) else {}


def _entries(document: object, key: str) -> list[Entry]:
    found = document.get(key) if isinstance(document, Mapping) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def changes(old: Mapping[str, ModelCard], new: Mapping[str, ModelCard]) -> Iterator[Change]:
    """Compares models that both packages have; those that are gone or new are in the API."""
    for name, before in old.items():
        if name in new:
            yield from _model(name, before, new[name])


def _model(name: str, old: ModelCard, new: ModelCard) -> Iterator[Change]:
    if old.license != new.license:
        yield license_change(old.license, new.license, name)
    if old.sha256 != new.sha256:
        yield _weights(name, new)


def _weights(name: str, new: ModelCard) -> Change:
    if new.embeds:
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
