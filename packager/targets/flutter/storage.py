"""Lists of Dart for the element types of tensors."""

from dataclasses import dataclass

from packager.core.values import ElementType


@dataclass(frozen=True)
class Storage:
    """Representation of an element type in Dart."""

    type: str
    data: str

    def zeros(self, count: int) -> str:
        """An expression for a list of numbers."""
        return f"List<int>.filled({count}, 0)" if self.data == WHOLE else f"{self.data}({count})"


WHOLE = "List<int>"
"""of 64 bits: JavaScript has no Int64List"""


STORAGE = {
    ElementType.FLOAT: Storage("float32", "Float32List"),
    ElementType.DOUBLE: Storage("float64", "Float64List"),
    ElementType.FLOAT16: Storage("float16", "Uint16List"),
    ElementType.BFLOAT16: Storage("bfloat16", "Uint16List"),
    ElementType.INT8: Storage("int8", "Int8List"),
    ElementType.INT16: Storage("int16", "Int16List"),
    ElementType.INT32: Storage("int32", "Int32List"),
    ElementType.INT64: Storage("int64", WHOLE),
    ElementType.UINT8: Storage("uint8", "Uint8List"),
    ElementType.UINT16: Storage("uint16", "Uint16List"),
    ElementType.UINT32: Storage("uint32", "Uint32List"),
    ElementType.UINT64: Storage("uint64", WHOLE),
    ElementType.BOOL: Storage("bool", "Uint8List"),
    ElementType.STRING: Storage("string", "List<String>"),
}
