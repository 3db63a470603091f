"""What a quantizer is: something that turns a graph into a graph that computes nearly the same with less."""

from typing import ClassVar, Protocol


class Quantizer(Protocol):
    NAME: ClassVar[str]

    def quantize(self, graph: bytes) -> bytes:
        """Serialized ModelProto in, serialized ModelProto out; external references stay valid."""
        ...
