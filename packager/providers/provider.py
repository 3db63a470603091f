"""What a provider is: one of the things that can run a model on a device, and how it is set up."""

from collections.abc import Mapping
from typing import ClassVar, Protocol

from packager.core.values import GraphRequirements, Traits


class Provider(Protocol):
    NAME: ClassVar[str]
    EXECUTION_PROVIDER: ClassVar[str]
    """its name in ONNX Runtime"""

    def options(self) -> Mapping[str, str]:
        """Its settings, under the names that ONNX Runtime gives them."""
        ...

    def requirements(self, traits: Traits) -> GraphRequirements:
        """The graph it should get of a variant with `traits`."""
        ...
