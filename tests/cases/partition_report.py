"""A small net, its plan, and a provider that nobody knows."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from packager.compile.compile import compile_plain
from packager.core.values import Choice, Compiled, Plan, baseline
from packager.engines.environments.runtime import Runtime
from packager.files.store import Store
from tests.cases.onnx_text import loaded, onnx_model, saved, weight

NET = """(float[1,3,8,8] x) => (float[1,16,8,8] y, float[1,16,8,8] z) {
    [first] c = Conv <pads = [1,1,1,1]> (x, w)
    [odd] e = Einsum <equation = "bchw->bchw"> (c)
    [odder] f = Einsum <equation = "bchw->bchw"> (e)
    [random] g = RandomNormalLike (f)
    [second] y = Conv <pads = [1,1,1,1]> (g, v)
    z = Relu (y)
}"""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """The net as an ONNX file, without conversion."""
    return written(tmp_path_factory.mktemp("net"), NET, w=weight(16, 3, 3, 3), v=weight(16, 16, 3, 3))


def written(folder: Path, graph: str, **weights: Any) -> Compiled:
    model = loaded(folder, onnx_model(graph, weights=weights), "net")
    variant = baseline(model)
    return compile_plain(variant, Store(folder / "store"))


def plan_of(compiled: Compiled, *providers: str, target: str = "android") -> Plan:
    """A plan in which every provider, and the CPU behind them, opens `compiled`."""
    choices = [Choice(provider=name, compiled=compiled, reason="") for name in (*providers, "cpu")]
    return Plan(model=compiled.variant.model, target=target, environment=Runtime.NAME, choices=tuple(choices))


def unknown(plain: Compiled, folder: Path) -> Compiled:
    """A file with an operator that no runtime has."""
    path = saved(folder / "unknown.onnx", onnx_model("(float[2] x) => (float[2] y) { y = Frobnicate (x) }"))
    return replace(plain, path=path, data_files=())
