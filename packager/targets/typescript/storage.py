"""Arrays of JavaScript for the element types of tensors."""

from dataclasses import dataclass

from packager.core.values import ElementType


@dataclass(frozen=True)
class Storage:
    """Representation of an element type in JavaScript."""

    type: str
    array: str


STORAGE = {
    ElementType.FLOAT: Storage("float32", "Float32Array"),
    ElementType.DOUBLE: Storage("float64", "Float64Array"),
    ElementType.FLOAT16: Storage("float16", "Uint16Array"),
    ElementType.BFLOAT16: Storage("bfloat16", "Uint16Array"),
    ElementType.INT8: Storage("int8", "Int8Array"),
    ElementType.INT16: Storage("int16", "Int16Array"),
    ElementType.INT32: Storage("int32", "Int32Array"),
    ElementType.INT64: Storage("int64", "BigInt64Array"),
    ElementType.UINT8: Storage("uint8", "Uint8Array"),
    ElementType.UINT16: Storage("uint16", "Uint16Array"),
    ElementType.UINT32: Storage("uint32", "Uint32Array"),
    ElementType.UINT64: Storage("uint64", "BigUint64Array"),
    ElementType.BOOL: Storage("bool", "Uint8Array"),
    ElementType.STRING: Storage("string", "string[]"),
}
