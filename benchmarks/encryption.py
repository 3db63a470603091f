"""Time and memory that encryption costs a load: `python -m benchmarks.encryption`.

A model of 67 MB in one Android package, mapped and encrypted, on a desktop's Java with ONNX Runtime's libraries for
Android.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from packager.compile.compile import compile_variant
from packager.core.findings import Report
from packager.core.values import Choice, Plan, baseline
from packager.engines.environments.runtime import Runtime
from packager.files.store import Store
from packager.signing.encryption import ModelKey
from packager.targets.android import Android
from packager.workflows.encrypting import encrypted
from packager.workflows.packages import Contents
from packager.workflows.requested import BuildRequest
from tests.cases.encryption_cases import KEY, PACKAGE
from tests.cases.onnx_text import linear, loaded
from tests.toolchain import jvm
from tests.toolchain.device import library, write_apk

OPTIMIZED = {"_JAVA_OPTIONS": "-XX:TieredStopAtLevel=4"}
"""Java's second compiler knows the processor's instructions for AES, as the library on Android does."""
COLUMNS = 1 << 18
"""of 64 weights in float32"""


def plan(folder: Path, store: Store, name: str) -> Plan:
    variant = baseline(loaded(folder, linear(columns=COLUMNS), name), "fp32")
    # As `prepacking = "auto"` does: otherwise ONNX Runtime copies the weights, mapped or not.
    compiled = replace(compile_variant(variant, store), settings={"session.disable_prepacking": "1"})
    choice = Choice(provider="cpu", compiled=compiled, reason="")
    return Plan(model=variant.model, target="android", environment=Runtime.NAME, choices=(choice,))


def measured(folder: Path) -> Mapping[str, Mapping[str, str]]:
    store, target = Store(folder / "store"), Android(providers=())
    plain = Contents(
        package=PACKAGE, plans=(plan(folder, store, "scorer"),), report=Report(parities=()), golden={}, runtimes={}
    )
    request = BuildRequest(targets=("android",), out=folder, model_key=ModelKey(value=KEY))
    made = encrypted(plain, request, folder / "encrypted")
    made = replace(made, plans=(*made.plans, plan(folder, store, "plain")))
    view = target.view(made.package, made.plans, made.report)
    aar = target.assemble(view, target.render(view), store)[0].path
    app = library(aar, folder, apps="encryption_cost/*", has_task=False)
    (folder / "key").write_bytes(KEY)
    given = {"apk": write_apk(aar, folder / "base.apk", is_stored=True), "key": folder / "key"}
    return {
        name: jvm.run(
            "apps.EncryptionCostKt",
            {**given, "data": folder / name, "model": name},
            classpath=[app.apps, app.classes],
            variables=OPTIMIZED,
        ).facts
        for name in ("mapped", "encrypted")
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, facts in measured(Path(folder)).items():
            milliseconds, megabytes = float(facts["milliseconds"]), float(facts["megabytes"])
            print(f"{name:<10}{milliseconds:8.1f} ms{megabytes:8.1f} MB")


if __name__ == "__main__":
    main()
