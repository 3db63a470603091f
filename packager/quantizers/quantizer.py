"""What a quantizer is: something that turns a graph into a graph that computes nearly the same with other numbers."""

from pathlib import Path
from typing import ClassVar, Protocol


class Quantizer(Protocol):
    NAME: ClassVar[str]

    def quantize(self, graph: bytes, data_folder: Path) -> bytes:
        """Serialized ModelProto in, serialized ModelProto out; external references, relative to `data_folder`, stay
        valid."""
        ...
