"""A tiny model in packages that open signed files only, for the checks of `tests/cases/trust_vectors.py`."""

from pathlib import Path

import onnx

from packager.compile.compile import compile_plain, compile_variant
from packager.core.values import Choice, Package, Plan, baseline
from packager.engines.environments.runtime import Runtime
from packager.files.store import Store
from tests.cases.onnx_text import linear, loaded
from tests.cases.trust_vectors import TRUST

MODEL = "scorer"
PACKAGE = Package(name="models", version="1.2.3", license="", trust=TRUST)


def plan(
    folder: Path,
    store: Store,
    target: str,
    provider: str = "",
    environment: str = Runtime.NAME,
    graph: onnx.ModelProto | None = None,
) -> Plan:
    """The model, or another `graph`, with a file for the CPU, and for `provider` a graph whose weights are in another
    file."""
    variant = baseline(loaded(folder, graph or linear(), MODEL), "fp32")
    choices = [Choice(provider="cpu", compiled=compile_variant(variant, store), reason="")]
    if provider:
        choices.insert(0, Choice(provider=provider, compiled=compile_plain(variant, store), reason=""))
    return Plan(model=variant.model, target=target, environment=environment, choices=tuple(choices))
