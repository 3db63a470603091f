"""C++ types for the element types of tensors."""

from dataclasses import dataclass

from packager.core.errors import ModelError
from packager.core.values import ElementType, Model


@dataclass(frozen=True)
class Stored:
    type: str
    """of C++"""
    element: str
    """member of ElementType in packages"""


TYPES = {
    ElementType.FLOAT: Stored("float", "float32"),
    ElementType.DOUBLE: Stored("double", "float64"),
    ElementType.FLOAT16: Stored("Float16", "float16"),
    ElementType.STRING: Stored("std::string", "text"),
    ElementType.BOOL: Stored("Bool", "boolean"),
    **{
        each: Stored(f"std::{each.value}_t", each.value)
        for each in (
            ElementType.INT8,
            ElementType.INT16,
            ElementType.INT32,
            ElementType.INT64,
            ElementType.UINT8,
            ElementType.UINT16,
            ElementType.UINT32,
            ElementType.UINT64,
        )
    },
}


def refuse(model: Model) -> None:
    """Raises ModelError for the first tensor that C++ packages have no type for."""
    for kind, specs in (("input", model.signature.inputs), ("output", model.signature.outputs)):
        for spec in specs:
            if spec.element not in TYPES:
                raise ModelError(
                    f"model '{model.name}': {kind} '{spec.name}' has the type {spec.element}, which C++ lacks",
                    hint=f"insert a Cast at the {kind} in the graph, for example "
                    + ("from float" if kind == "input" else "to float"),
                )
