"""NumPy's types for the element types of tensors."""

from packager.core.errors import ModelError
from packager.core.values import ElementType, Model

NAMES = {ElementType.FLOAT: "float32", ElementType.DOUBLE: "float64", ElementType.STRING: "str"}
"""NumPy's names where they differ from those of ONNX"""
PLAIN = frozenset(
    {
        ElementType.FLOAT16,
        ElementType.INT8,
        ElementType.INT16,
        ElementType.INT32,
        ElementType.INT64,
        ElementType.UINT8,
        ElementType.UINT16,
        ElementType.UINT32,
        ElementType.UINT64,
        ElementType.BOOL,
    }
)


def dtype_of(element: ElementType) -> str:
    """NumPy's name: `float32`."""
    return NAMES.get(element, str(element))


def array_of(element: ElementType) -> str:
    """The type in annotations."""
    if element is ElementType.STRING:
        return "NDArray[numpy.object_]"
    return f"NDArray[numpy.{'bool_' if element is ElementType.BOOL else dtype_of(element)}]"


def refuse(model: Model) -> None:
    """Raises ModelError for the first tensor that NumPy has no type for."""
    for kind, specs in (("input", model.signature.inputs), ("output", model.signature.outputs)):
        for spec in specs:
            if spec.element not in NAMES and spec.element not in PLAIN:
                raise ModelError(
                    f"model '{model.name}': {kind} '{spec.name}' has the type {spec.element}, which NumPy lacks",
                    hint=f"insert a Cast at the {kind} in the graph, for example "
                    + ("from float" if kind == "input" else "to float"),
                )
