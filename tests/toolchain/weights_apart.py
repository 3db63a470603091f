"""An Android library with a model of two files: the CPU's, and a graph for XNNPACK with its weights beside it."""

import shutil
from pathlib import Path

from packager import models as onnx_models
from packager.compile.compile import compile_plain, compile_variant
from packager.core.findings import Report
from packager.core.values import Choice, Package, Plan, baseline
from packager.engines.environments.runtime import Runtime
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets.android import Android
from tests.toolchain import made, models
from tests.toolchain.require import fetched

PROVIDERS = ("nnapi", "webgpu", "xnnpack")
"""Those of other tests, too: the Kotlin that all models share is the same then, and compiled once."""


def _make(folder: Path) -> None:
    fetched("model-orientation")
    store = Store(cache_folder() / "store")
    model = onnx_models.hashed(onnx_models.load(models.orientation(), "orientation"))
    variant = baseline(model, "fp32")
    plan = Plan(
        model=model,
        target="android",
        environment=Runtime.NAME,
        choices=(
            Choice(provider="xnnpack", compiled=compile_plain(variant, store), reason=""),
            Choice(provider="cpu", compiled=compile_variant(variant, store), reason=""),
        ),
    )
    target = Android(providers=PROVIDERS)
    view = target.view(Package(name="models", version="1.0.0", license=""), (plan,), Report(parities=()))
    shutil.copy(target.assemble(view, target.render(view), store)[0].path, folder)


LIBRARY = made.Package(name="weights-apart", make=_make)
