"""What a provider is: one of the things that can run a model on a device, and how it is set up."""

from collections.abc import Mapping
from typing import ClassVar, Protocol


class Provider(Protocol):
    NAME: ClassVar[str]

    def options(self) -> Mapping[str, str]:
        """Its settings, under the names that ONNX Runtime gives them."""
        ...
