"""Imported trees in an Android library, on ONNX Runtime's Android libraries: each model's self-test passes."""

import zipfile
from pathlib import Path

import onnx

from packager.config.checks import ParityTable
from packager.core.console import Console
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.verification.golden import golden_vectors
from packager.workflows.importing import starting, steps
from tests.android.test_android_selftest import described, packaged, planned, settings_of
from tests.toolchain import jvm
from tests.toolchain.device import Library, device
from tests.toolchain.importing import answers_of

MODELS = {"boosted": "classes.ubj", "sets": "sets.txt", "grown": "grown.cbm"}
APP = Path(__file__).parents[1] / "toolchain" / "import_apps" / "Trees.kt"


def test_boosters_of_three_frameworks_test_themselves_in_kotlin(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path: Path
) -> None:
    (tmp_path / "made").mkdir()
    answers = answers_of("tests.toolchain.tabular_models", "tabular", tmp_path / "made")
    store, console = Store(cache_folder() / "store"), Console(quiet=True)
    plans = []
    for name, source in MODELS.items():
        proto = steps.read(tmp_path / "made" / "imported" / source, starting.answer_of(answers[source]))
        onnx.save_model(proto, tmp_path / f"{name}.onnx")
        plans.append(planned(described(tmp_path / f"{name}.onnx", name), store))
    aar = packaged(plans, golden_vectors(plans, ParityTable(), settings_of, store, console), store)
    with zipfile.ZipFile(aar) as archive:
        classes = Path(archive.extract("classes.jar", tmp_path))
    known = [classes, jvm.fakes(), jvm.android_runtime().classes]
    apps = jvm.compile_kotlin([jvm.APPS / "Task.kt", APP], classpath=known)
    phone = device(Library(aar=aar, classes=classes, apps=apps), tmp_path)
    exchange = phone.folder / "files"
    exchange.mkdir(parents=True, exist_ok=True)
    paths = {"apk": phone.apk, "data": phone.folder / "data", "files": exchange}
    facts = jvm.run("apps.TreesKt", paths, classpath=[apps, classes]).facts
    passed = {name: facts[name].split() for name in MODELS}
    assert {name: found[0] for name, found in passed.items()} == dict.fromkeys(MODELS, "true")
    assert all(int(found[1]) > 0 for found in passed.values())
