"""The interface of execution providers: they run a model on a device, with options."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from packager.core.cost import Cost
from packager.core.values import GraphRequirements, Traits


@dataclass(frozen=True, kw_only=True)
class Start:
    """How apps start a provider, beside passing its options: the runtimes of packages follow it."""

    threads_option: str = ""
    """option with the number of threads, of a provider that has threads of its own"""
    cache_option: str = ""
    """option with a folder for what it compiles of a model"""
    has_flags: bool = False
    """whether ONNX Runtime knows of its options only that they are set: they are `1` or `0`"""
    oldest_android: int = 0
    """first API level of Android that has it; on older ones ONNX Runtime starts it and leaves every node to the CPU"""
    libraries_variable: str = ""
    """environment variable with the folder of the app's native libraries on Android"""
    java_method: str = ""
    """method that adds it in ONNX Runtime's Java interface, to which `android/_providers` has nothing to add"""
    browser_interface: str = ""
    """property of `navigator` in browsers that have it"""
    is_rounding: bool = False
    """whether it rounds values between nodes to 16 bits, so that outputs differ from the CPU's"""
    exact_option: str = ""
    """option that keeps it from rounding where it is `exact_value`; empty if none does"""
    exact_value: str = ""
    """empty where the option is not set"""
    faulty_runtime: str = ""
    """start of the versions of ONNX Runtime that compute wrong 16-bit floats where `faulty_option` is `1`"""
    faulty_option: str = ""


class Described(Protocol):
    """The part of a provider that the code of packages prints."""

    NAME: ClassVar[str]
    EXECUTION_PROVIDER: ClassVar[str]
    """its name in ONNX Runtime"""
    REGISTERED_NAME: ClassVar[str]
    """the name that adds it to a session in ONNX Runtime's C interface"""
    SUMMARY: ClassVar[str]
    """what it computes on, in a sentence for the documentation of generated code"""
    IS_ON_CORES: ClassVar[bool]
    """whether the threads of a session do its work"""
    START: ClassVar[Start]
    HIDES_NODES: ClassVar[bool]
    """whether ONNX Runtime's record of assigned nodes omits those that it lays out anew: those of providers that change
    the layout of nodes and run each with a kernel, instead of compiling several"""

    def placement_options(self) -> Mapping[str, str]:
        """Options that change which nodes it takes, by ONNX Runtime's names."""
        ...


class Provider(Described, Protocol):
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
    COST: ClassVar[Cost | None]
    """what a run costs, which decides whether a provider of the defaults stands before the CPU; None if unknown"""
    TUNES: ClassVar[Mapping[str, tuple[str, ...]]]
    """options and values that may be faster on some devices, by ONNX Runtime's names; each is tried alone"""

    def options(self) -> Mapping[str, str]:
        """Its options, by ONNX Runtime's names."""
        ...

    def requirements(self, traits: Traits) -> GraphRequirements:
        """The form in which it needs the graph of a variant with `traits`."""
        ...
