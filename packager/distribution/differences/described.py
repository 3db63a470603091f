"""Models of a package alone, by the description inside, in the form in which a manifest has them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from packager.core.signature import TensorSpec
from packager.description import MethodResult, ModelApi, PackageApi
from packager.distribution.differences.manifests import Model, Tensor


def models(api: PackageApi) -> dict[str, Model]:
    """By name; without hashes and settings, which descriptions do not have."""
    return {each.name: _model(each) for each in api.models}


def _model(model: ModelApi) -> Model:
    return Model(
        name=model.name,
        sha256="",
        parameters=0,
        inputs=_tensors(model.inputs),
        outputs=_tensors(model.outputs),
        contract=_contract(model) if model.method else None,
        settings={},
    )


def _tensors(found: Sequence[TensorSpec]) -> tuple[Tensor, ...]:
    return tuple(
        Tensor(name=each.name, identifier=each.identifier, element=str(each.element), shape=each.shape)
        for each in found
    )


def _contract(model: ModelApi) -> dict[str, Any]:
    passed = [(each.name, each.kind) for each in model.parameters]
    carried = [(name, "state") for name in model.states]
    return {
        "method": model.method,
        "inputs": [{"identifier": name, "kind": kind} for name, kind in (*passed, *carried)],
        "outputs": [dict(_output(each)) for each in model.results],
    }


def _output(result: MethodResult) -> Iterator[tuple[str, object]]:
    yield from (("identifier", result.name), ("kind", result.kind))
    words: Mapping[str, tuple[str, ...]] = {"labels": result.labels, "alphabet": result.alphabet}
    yield from ((key, list(found)) for key, found in words.items() if found)
    limits = {"top-k": result.top_k, "threshold": result.threshold}
    yield from ((key, limit) for key, limit in limits.items() if limit is not None)
    if result.labels and len(result.tensors) == 1:
        yield "scores", result.tensors[0]  # with a number for each label
