"""Models of a package alone, by the description inside."""

from collections.abc import Sequence

from packager.core.signature import TensorSpec
from packager.description import MethodResult, ModelApi, PackageApi
from packager.distribution.differences.manifests import Method, Model, Part, Tensor


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


def _contract(model: ModelApi) -> Method:
    passed = [(each.name, each.kind) for each in model.parameters]
    carried = [(name, "state") for name in model.states]
    return Method(
        name=model.method,
        inputs=tuple(Part(identifier=name, kind=kind) for name, kind in (*passed, *carried)),
        outputs=tuple(_output(each) for each in model.results),
    )


def _output(result: MethodResult) -> Part:
    words = {"labels": result.labels, "alphabet": result.alphabet}
    limits = {"top-k": result.top_k, "threshold": result.threshold}
    is_one_each = bool(result.labels) and len(result.tensors) == 1
    return Part(
        identifier=result.name,
        kind=result.kind,
        words={key: found for key, found in words.items() if found},
        limits={key: limit for key, limit in limits.items() if limit is not None},
        scores=result.tensors[0] if is_one_each else "",
    )
