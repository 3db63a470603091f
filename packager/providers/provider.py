"""The interface of execution providers: they run a model on a device, with options."""

from collections.abc import Mapping
from typing import ClassVar, Protocol

from packager.core.values import GraphRequirements, Traits


class Provider(Protocol):
    NAME: ClassVar[str]
    EXECUTION_PROVIDER: ClassVar[str]
    """its name in ONNX Runtime"""

    def options(self) -> Mapping[str, str]:
        """Its options, by ONNX Runtime's names."""
        ...

    def requirements(self, traits: Traits) -> GraphRequirements:
        """The form in which it needs the graph of a variant with `traits`."""
        ...
