"""A provider that can lie: its plug-in for ONNX Runtime, a model that it runs faster than the CPU, and what is said of
each of its lies by packages that prove their providers."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy
import onnx
import pytest

from packager.core.cost import Cost
from packager.core.values import GraphRequirements, Style, Traits
from packager.engines.environments import zig
from packager.files.installed import templates_folder
from packager.providers import PROVIDERS
from packager.providers.provider import Start
from tests.cases.onnx_text import onnx_model
from tests.toolchain import c_library
from tests.toolchain.kept import kept

SOURCE = Path(__file__).parents[1] / "toolchain" / "liar.c"
HEADERS = templates_folder() / "ios" / "onnxruntime" / "include"

NAME = "LiarExecutionProvider"
"""its name in ONNX Runtime, under which the library is registered"""
WITHOUT_DEVICE = "liar-without-device"
"""the library finds no device when it is registered under this name"""
NODES = 2
"""nodes of the model that the honest provider takes, as a build would have seen"""


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """A way to lie, and what becomes of it."""

    name: str
    """value of the provider's option `behaviour`"""
    is_proved: bool = False
    reason: str = ""
    """a regular expression that all of the reason fits, over lines; ONNX Runtime words the starts that failed"""
    is_alone: bool = False
    """whether it needs a process of its own: it ends it, or a thread of it never ends"""


BEHAVIOURS = (
    Behaviour(name="honest", is_proved=True),
    Behaviour(name="no device", reason=".*no (device|graphics processor).*"),
    Behaviour(name="refuse at load", reason=".*the liar does not want to start.*"),
    Behaviour(name="few nodes", reason="took 1 nodes; the build saw it take 2"),
    Behaviour(name="wrong by 1 %", reason="computed other numbers: y, sample 0: FAILED, error .*"),
    Behaviour(name="ten times slower", reason=r"slower than the CPU: [0-9]+\.[0-9] ms instead of [0-9]+\.[0-9] ms"),
    Behaviour(name="crash in the third run", reason="ended the process when it was tried", is_alone=True),
    Behaviour(name="hang", reason=r"did not answer within 3\.0 s", is_alone=True),
)
"""The table that the tests of all languages follow: after each of them, but for the first, the CPU runs the model."""


@cache
def library() -> Path:
    """The plug-in for this machine."""

    def make(folder: Path) -> None:
        c_library.build(SOURCE, folder / "libliar.so", "-O2", "-Wall", "-Wextra", "-Werror", "-isystem", str(HEADERS))

    return kept("liar", make, SOURCE, HEADERS, zig.version()) / "libliar.so"


def model() -> onnx.ModelProto:
    """Two products: 67 million multiplications on the CPU, nearly all by 0, which the provider skips."""
    first = numpy.zeros((512, 512), numpy.float32)
    first[numpy.arange(64) * 7, numpy.arange(64)] = numpy.linspace(0.5, 1.5, 64)
    second = numpy.zeros((512, 2), numpy.float32)
    second[:4] = numpy.array([[1, -1], [0.5, 2], [-1, 1], [2, 0.5]], numpy.float32)
    return onnx_model(
        "(float[256, 512] x) => (float[256, 2] y) { h = MatMul (x, first) y = MatMul (h, second) }",
        weights={"first": first, "second": second},
    )


@dataclass(frozen=True, kw_only=True)
class Liar:
    """The provider for packages: one file."""

    NAME: ClassVar[str] = "liar"
    EXECUTION_PROVIDER: ClassVar[str] = "LiarExecutionProvider"
    REGISTERED_NAME: ClassVar[str] = "LIAR"
    SUMMARY: ClassVar[str] = "A provider that can lie."
    IS_ON_CORES: ClassVar[bool] = False
    START: ClassVar[Start] = Start(java_method="addLiar")
    BUILD_FLAGS: ClassVar[Mapping[str, str]] = {"android": "", "ios": ""}
    IS_COMPILED_FOR_CHIPS: ClassVar[bool] = False
    CHIP_MAKERS: ClassVar[tuple[str, ...]] = ()
    ANDROID_RUNTIME: ClassVar[str] = "onnxruntime"
    ANDROID_CHECK: ClassVar[str] = ""
    HIDES_NODES: ClassVar[bool] = False
    COST: ClassVar[Cost | None] = None
    TUNES: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def options(self) -> Mapping[str, str]:
        return {"behaviour": "honest"}

    def placement_options(self) -> Mapping[str, str]:
        return {}

    def requirements(self, traits: Traits) -> GraphRequirements:
        return GraphRequirements(style=Style.UNFUSED, reason="it takes MatMul")


@pytest.fixture
def liar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its registration: one line."""
    monkeypatch.setitem(PROVIDERS, Liar.NAME, Liar)
