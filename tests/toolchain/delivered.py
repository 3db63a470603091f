"""The tiny package of `delivered_android` for React Native, with releases of its model."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from packager import vectors
from packager.compile.compile import compile_variant
from packager.core.findings import Report
from packager.core.values import Choice, Plan, baseline
from packager.distribution.channel.document import ModelFile
from packager.engines.environments.runtime import Runtime
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.react_native import ReactNative
from packager.targets.react_native.view import ReactNativeView
from packager.targets.target import Built, Target
from tests.cases.onnx_text import loaded
from tests.cases.trust_vectors import signed
from tests.delivery_drivers.react_native import Made
from tests.toolchain import delivered_android, jsc, node
from tests.toolchain.delivered_android import MODEL, PACKAGE, graph, write_golden
from tests.toolchain.react_native import codegen, native
from tests.toolchain.react_native.verifier import add_verifier

NAME = "react-native-models"
TARGETS: tuple[Target, ...] = (Android(providers=()), Ios(providers=()))


def plan_of(number: int, folder: Path, target: str) -> Plan:
    variant = baseline(loaded(folder, graph(number), MODEL), "fp32")
    choice = Choice(provider="cpu", compiled=compile_variant(variant, Store(cache_folder() / "store")), reason="")
    return Plan(model=variant.model, target=target, environment=Runtime.NAME, choices=(choice,))


def view(folder: Path) -> ReactNativeView:
    """The package with version 0 of the model, which has samples."""
    built: dict[str, Built] = {}
    golden: dict[tuple[str, str], vectors.Vectors] = {}
    for target in TARGETS:
        plans = (plan_of(0, folder, target.NAME),)
        tested = vectors.Vectors(
            golden=vectors.read(write_golden(folder, 0)),
            allowed={"y": vectors.Allowed(rtol=1e-4, atol=1e-5, scale=10.0)},
        )
        golden |= {(MODEL, each.compiled.sha256): tested for each in plans[0].choices}
        built[target.NAME] = target.built(target.view(PACKAGE, plans, Report(parities=()), golden=golden), plans)
    return ReactNative().view(PACKAGE, built, Report(parities=()), golden)


class Shelf(delivered_android.Shelf):
    """The same releases for both platforms: their files are the same."""

    def model_files(self, number: int, delta_to: Sequence[int]) -> Iterator[ModelFile]:
        file = self.file(f"{MODEL}.ort", self.model(number), [self.model(old) for old in delta_to])
        for target in TARGETS:
            yield delivered_android.model_file(target, "cpu", file)

    def model(self, number: int) -> Path:
        """The compiled model of a version."""
        plan = self.plans.setdefault(number, plan_of(number, self.scratch, "android"))
        return plan.choices[0].compiled.path


def program(folder: Path) -> Made:
    """Makes a package `models` with a model `scorer`, and compiles what runs it."""
    made = view(_made(folder / "models"))
    app = folder / "app"
    package = node.link(node.project(jsc.NEWEST), app) / NAME
    write_sources(ReactNative().render(made), package)
    text = json.dumps({"name": "app", "private": True, "dependencies": {NAME: PACKAGE.version}})
    (app / "package.json").write_text(text, encoding="utf-8", newline="\n")
    specs = codegen.for_ios(app, folder / "codegen", project=jsc.NEWEST)
    copy = folder / "native" / NAME
    shutil.copytree(package, copy)
    add_verifier(copy)
    native.bundle(app, folder / "script.js", "delivery.js")
    code = native.Code(jsc.program(copy, specs, native.MODULE), folder / "script.js", copy / "models")
    files = {each.content.path: each.content.sha256 for each in made.files}
    return Made(package=package, specs=specs, code=code, signatures=signed(files, PACKAGE))


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
