"""A made-up provider."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pytest

from packager.core.cost import Cost
from packager.core.values import GraphRequirements, Style, Traits
from packager.providers import PROVIDERS
from packager.providers.provider import Start


@dataclass(frozen=True, kw_only=True)
class Abacus:
    """An unknown provider: one file."""

    NAME: ClassVar[str] = "abacus"
    EXECUTION_PROVIDER: ClassVar[str] = "AbacusExecutionProvider"
    REGISTERED_NAME: ClassVar[str] = "ABACUS"
    SUMMARY: ClassVar[str] = "Beads on wires."
    IS_ON_CORES: ClassVar[bool] = False
    START: ClassVar[Start] = Start(java_method="addAbacus", cache_option="wires")
    BUILD_FLAGS: ClassVar[Mapping[str, str]] = {"android": "--use_abacus", "ios": "--use_abacus"}
    IS_COMPILED_FOR_CHIPS: ClassVar[bool] = False
    CHIP_MAKERS: ClassVar[tuple[str, ...]] = ()
    ANDROID_RUNTIME: ClassVar[str] = "onnxruntime-qnn"
    ANDROID_CHECK: ClassVar[str] = ""
    HIDES_NODES: ClassVar[bool] = False
    COST: ClassVar[Cost | None] = None
    TUNES: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def options(self) -> Mapping[str, str]:
        return {"beads": "10"}

    def placement_options(self) -> Mapping[str, str]:
        return {}

    def requirements(self, traits: Traits) -> GraphRequirements:
        return GraphRequirements(style=Style.UNFUSED, reason="it slides beads", note="beads are slow")


@pytest.fixture
def abacus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its registration: one line."""
    monkeypatch.setitem(PROVIDERS, Abacus.NAME, Abacus)
