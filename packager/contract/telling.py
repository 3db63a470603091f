"""A contract as a JSON value, for other processes."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, get_args

from packager.core.contract import Contract, TypedInput, TypedOutput
from packager.core.parsing import Json
from packager.core.signature import ElementType, Signature, TensorSpec

KINDS: Mapping[str, type[Any]] = {each.__name__: each for each in (*get_args(TypedInput), *get_args(TypedOutput))}


def to_json(contract: Contract) -> dict[str, object]:
    """JSON-compatible value without what random inputs are drawn from, and without chat templates; `from_json`
    makes a contract of it."""
    own = contract.own
    return {
        "inputs": [{"kind": type(each).__name__, **asdict(each)} for each in contract.inputs],
        "outputs": [{"kind": type(each).__name__, **asdict(each)} for each in contract.outputs],
        "own": {"inputs": _specs(own.inputs), "outputs": _specs(own.outputs)} if own else None,
    }


def from_json(document: Json) -> Contract:
    own = document["own"]
    return Contract(
        inputs=tuple(map(_typed, document["inputs"])),
        outputs=tuple(map(_typed, document["outputs"])),
        own=Signature(inputs=tuple(map(_spec, own["inputs"])), outputs=tuple(map(_spec, own["outputs"])))
        if own
        else None,
    )


def _specs(specs: tuple[TensorSpec, ...]) -> list[dict[str, object]]:
    return [asdict(each) for each in specs]


def _typed(document: Json) -> Any:
    values = {key: _value(value) for key, value in document.items() if key not in ("kind", "chat")}
    return KINDS[document["kind"]](**values)


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _spec(value)
    return tuple(value) if isinstance(value, list) else value


def _spec(document: Json) -> TensorSpec:
    return TensorSpec(**{**document, "element": ElementType(document["element"]), "shape": tuple(document["shape"])})
