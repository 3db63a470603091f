"""The interface of execution providers: they run a model on a device, with options."""

from collections.abc import Mapping
from typing import ClassVar, Protocol

from packager.core.cost import Cost
from packager.core.values import GraphRequirements, Traits


class Provider(Protocol):
    NAME: ClassVar[str]
    EXECUTION_PROVIDER: ClassVar[str]
    """its name in ONNX Runtime"""
    REGISTERED_NAME: ClassVar[str]
    """the name that adds it to a session in ONNX Runtime's C interface"""
    SUMMARY: ClassVar[str]
    """what it computes on, in a sentence for the documentation of generated code"""
    IS_ON_CORES: ClassVar[bool]
    """whether the threads of a session do its work"""
    BUILD_FLAGS: ClassVar[Mapping[str, str]]
    """target whose packages can use it -> flag of ONNX Runtime's build script that includes it; empty if the
    script alone cannot"""
    IS_COMPILED_FOR_CHIPS: ClassVar[bool]
    """whether models can be compiled for named chips ahead of time"""
    CHIP_MAKERS: ClassVar[tuple[str, ...]]
    """makers of these chips, as Android names them (Build.SOC_MANUFACTURER); empty if there are none"""
    ANDROID_RUNTIME: ClassVar[str]
    """published ONNX Runtime that has it, by its key in `[android]` of pins.toml"""
    ANDROID_CHECK: ClassVar[str]
    """how checks on this machine run it in Android's library, in words with `{api_level}`; empty if they cannot"""
    HIDES_NODES: ClassVar[bool]
    """whether ONNX Runtime's record of assigned nodes omits those that it lays out anew: those of providers that change
    the layout of nodes and run each with a kernel, instead of compiling several"""
    COST: ClassVar[Cost | None]
    """what a run costs, which decides whether a provider of the defaults stands before the CPU; None if unknown"""
    TUNES: ClassVar[Mapping[str, tuple[str, ...]]]
    """options and values that may be faster on some devices, by ONNX Runtime's names; each is tried alone"""

    def options(self) -> Mapping[str, str]:
        """Its options, by ONNX Runtime's names."""
        ...

    def placement_options(self) -> Mapping[str, str]:
        """Those of `options` that change which nodes it takes."""
        ...

    def requirements(self, traits: Traits) -> GraphRequirements:
        """The form in which it needs the graph of a variant with `traits`."""
        ...
