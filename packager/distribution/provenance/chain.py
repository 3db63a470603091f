"""How each model file of a release came to be: model, variant, file, and the packages that contain it."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packager.core.values import Compiled, Model, Plan, Variant, distinct_files
from packager.distribution.provenance.resources import KIND
from packager.distribution.release.contents import inside
from packager.files.hashes import known_sha256
from packager.targets import MODELS_IN, Shipped

Sources = Mapping[str, Sequence[Path]]
"""Name of a model -> the files that it is read from."""


def links(plans: Sequence[Plan], shipped: Sequence[Shipped], sources: Sources, release: Path) -> list[dict[str, Any]]:
    """Descriptors of models, variants and shipped files; each says which one it was made of, by sha256, and a file says
    in which artifacts it is. The artifacts are opened and their files hashed: nothing is taken from the manifest."""
    places = _places(shipped, release)
    files = distinct_files(plans)
    variants = list({_variant_key(each.variant): each.variant for each in files}.values())
    models = {each.model.name: each.model for each in variants}
    return [
        *(_model(models[name], sources[name]) for name in sorted(models)),
        *sorted((_variant(each) for each in variants), key=lambda each: str(each["name"])),
        *sorted((_file(each, places) for each in files), key=lambda each: (each["name"], each["digest"]["sha256"])),
    ]


def _variant_key(variant: Variant) -> tuple[str, str]:
    return variant.model.name, variant.name


def _model(model: Model, sources: Sequence[Path]) -> dict[str, Any]:
    """The model as it is planned: inputs renamed, contract added."""
    return {
        "name": f"model {model.name}",
        "digest": {"sha256": model.sha256},
        "annotations": {KIND: "model", "made-from": {path.name: known_sha256(path) for path in sources}},
    }


def _variant(variant: Variant) -> dict[str, Any]:
    weights = {"weights-sha256": known_sha256(variant.weights)} if variant.weights else {}
    return {
        "name": f"variant {variant.model.name}/{variant.name}",
        "digest": {"sha256": hashlib.sha256(variant.graph).hexdigest()},
        "annotations": {
            KIND: "variant",
            "quantizer": variant.quantizer,
            **weights,
            "made-from": {f"model {variant.model.name}": variant.model.sha256},
        },
    }


def _file(compiled: Compiled, places: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    variant = compiled.variant
    name = f"variant {variant.model.name}/{variant.name}"
    beside = {each.name: known_sha256(each) for each in compiled.data_files}
    plain = {"plain-sha256": compiled.plain_sha256} if compiled.plain_sha256 else {}
    return {
        "name": f"file {variant.model.name}/{variant.name}/{compiled.style}.{compiled.format}",
        "digest": {"sha256": compiled.sha256},
        "annotations": {
            KIND: "file",
            "made-from": {name: hashlib.sha256(variant.graph).hexdigest()},
            **plain,
            **({"weights": beside} if beside else {}),
            "in": list(places.get(compiled.sha256, ())),
        },
    }


def _places(shipped: Sequence[Shipped], release: Path) -> Mapping[str, list[str]]:
    """sha256 of a file -> the places in packages that have it: `swift/pages-1.0.0.zip: pages/.../model.ort`."""
    found: dict[str, list[str]] = {}
    for sha256, place in sorted(_inside(shipped, release)):
        found.setdefault(sha256, []).append(place)
    return found


def _inside(shipped: Sequence[Shipped], release: Path) -> Iterator[tuple[str, str]]:
    for each in shipped:
        folder = MODELS_IN.get(each.artifact.kind)
        if folder:
            for name, file in inside(release / each.path).items():
                if folder in f"/{name}":
                    yield file.sha256, f"{each.path}: {name}"
