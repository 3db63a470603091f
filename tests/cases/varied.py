"""Packages of two small models that some chips open in another variant."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from packager.config.checks import ParityTable
from packager.core.console import Console
from packager.core.findings import Report
from packager.core.values import Choice, Package, Plan
from packager.engines.environments.runtime import Runtime
from packager.files.store import Store
from packager.providers import CPU
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.verification.golden import golden_vectors
from packager.verification.parity import ParitySettings, Subject
from tests.cases.onnx_text import compiled, onnx_model
from tests.golden.cases import Case

VARIANT = "int8"
NET = "(float[8] x) => (float[8] y) { y = Relu (x) }"
OTHERS = {
    "chain": "(float[8] x) => (float[8] y) { h = Relu (x) y = Add (h, x) }",
    "plain": "(float[8] x) => (float[8] y) { h = Relu (x) y = Sub (h, x) }",
}
"""the models in the variant of some chips: they compute something else, so that it shows"""


def cases(targets: Sequence[Android | Ios], folder: Path) -> list[Case]:
    """The package `models` for each target: with the variant, for the CPU alone, on the chips that its settings name.
    The samples of the variant of `plain` are those of another model."""
    own = {name: compiled(folder, onnx_model(NET), name) for name in OTHERS}
    others = {name: compiled(folder / VARIANT, onnx_model(text), name) for name, text in OTHERS.items()}
    wrong = "plain", others["plain"].sha256
    made = []
    for target in targets:
        plans = tuple(
            Plan(
                model=own[name].variant.model,
                target=target.NAME,
                environment=Runtime.NAME,
                choices=(
                    *(Choice(provider=each, compiled=own[name], reason="") for each in (*target.providers, CPU.NAME)),
                    *(
                        Choice(provider="cpu", compiled=other, reason="", soc_models=(chip,), variant=VARIANT)
                        for chip, models in target.tuned.items()
                        if name in models and models[name].variant
                    ),
                ),
            )
            for name, other in others.items()
        )
        golden = dict(golden_vectors(plans, ParityTable(), _exact, Store(folder / "store"), Console()))
        if wrong in golden:
            golden[wrong] = golden["chain", others["chain"].sha256]
        package = Package(name="models", version="1.0.0", license="")
        made.append(Case(package=package, target=target, plans=plans, report=Report(parities=()), golden=golden))
    return made


def _exact(_: Subject) -> ParitySettings:
    return ParitySettings(tolerance=1e-5)


def without(case: Case) -> Case:
    """The same with files for all chips alone."""
    return replace(case, plans=tuple(map(_without, case.plans)))


def _without(plan: Plan) -> Plan:
    return replace(plan, choices=tuple(each for each in plan.choices if not each.variant))
