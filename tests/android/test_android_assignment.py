"""The Kotlin library says which provider runs which nodes, and leaves one that runs none, on ONNX Runtime's own
Android libraries."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from packager import models as onnx_models
from packager.compile.compile import compile_plain, compile_variant
from packager.core.findings import Report
from packager.core.values import Choice, Compiled, Package, Plan, Style, baseline
from packager.engines.environments.android import Android as AndroidEnvironment
from packager.engines.environments.environment import ensure
from packager.engines.environments.runtime import Runtime
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets.android import Android
from tests.cases.onnx_text import onnx_model, saved
from tests.toolchain import jvm, weights_apart
from tests.toolchain.device import Device, Library, device, library
from tests.toolchain.warm_apps import warm

__all__ = ["warm"]


CONVOLUTIONS = """(float[1, 3, 8, 8] x) => (float[1, 3, 8, 8] y) {
    a = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, first)
    b = Erf (a)
    c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (b, second)
    d = Erf (c)
    y = Neg (d)
}"""
NO_CONVOLUTIONS = (
    "(float[1, 3, 8, 8] x) => (float[1, 3, 8, 8] y) { a = Erf (x) y = Einsum <equation = 'bchw->bchw'> (a) }"
)
MACS = 3 * 3 * 3 * 3 * 8 * 8
"""of each convolution"""


@pytest.fixture(scope="module")
def built(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Library:
    """An app with four models; each has one file for all providers."""
    folder = tmp_path_factory.mktemp("models")
    store, target = Store(cache_folder() / "store"), Android(providers=weights_apart.PROVIDERS)
    plans = (
        planned("eraser", CONVOLUTIONS, target, store, folder),
        planned("uncounted", CONVOLUTIONS, target, store, folder, has_macs=False),
        planned("unfused", CONVOLUTIONS, target, store, folder, is_ort=True),
        planned("plain", NO_CONVOLUTIONS, target, store, folder),
    )
    view = target.view(Package(name="models", version="1.0.0", license=""), plans, Report(parities=()))
    aar = target.assemble(view, target.render(view), store)[0].path
    return library(aar, folder / "library", apps="assignment/Eraser")


def planned(
    name: str, graph: str, target: Android, store: Store, folder: Path, *, is_ort: bool = False, has_macs: bool = True
) -> Plan:
    weights = {each: np.ones((3, 3, 3, 3), np.float32) for each in ("first", "second") if each in graph}
    described = onnx_model(graph.replace("'", '"'), weights=weights)
    for number, node in enumerate(described.graph.node):
        node.name = f"{node.op_type}-{number}"
    model = onnx_models.hashed(onnx_models.load(saved(folder / f"{name}.onnx", described), name))
    variant = baseline(model, "fp32")
    compiled = compile_variant(variant, store, style=Style.UNFUSED) if is_ort else compile_plain(variant, store)
    file = compiled if is_ort else counted(compiled, folder / f"{name}-counted.onnx", has_macs=has_macs)
    choices = tuple(Choice(provider=each, compiled=file, reason="") for each in (*target.providers, "cpu"))
    return Plan(model=model, target="android", environment=Runtime.NAME, choices=choices)


@pytest.fixture
def phone(built: Library, tmp_path: Path) -> Device:
    return device(built, tmp_path)


def counted(compiled: Compiled, path: Path, *, has_macs: bool) -> Compiled:
    """The same file with MACs, those of Einsum, too; or without what the build has written."""
    model = onnx.load(compiled.path, load_external_data=False)
    [entry] = model.metadata_props
    assert entry.key == "mobpack.macs"
    lines = [f"{MACS} {node.name}" for node in model.graph.node if node.op_type in ("Conv", "Einsum")]
    entry.value = "\n".join(lines)
    if not has_macs:
        model.metadata_props.remove(entry)
    path.write_bytes(model.SerializeToString())
    return replace(compiled, path=path, sha256=sha256_of(path))


def test_xnnpack_and_the_cpu_share_a_model_as_onnx_runtime_says(phone: Device) -> None:
    facts = phone.run_warm("Eraser", model="eraser", providers="XNNPACK").facts
    assert (facts["provider"], facts["fallbacks"]) == ("XNNPACK", "")
    assert facts["assignment"] == f"XNNPACK 2 {2 * MACS},CPU 5 0", "and two transpositions"


def test_a_provider_that_takes_no_node_gives_way_to_the_next(phone: Device) -> None:
    run = phone.run_warm("Eraser", model="plain", providers="XNNPACK")
    assert (run.facts["provider"], run.facts["assignment"]) == ("CPU", f"CPU 2 {MACS}")
    assert run.facts["reasons"] == "XNNPACK: took no node of the model"
    assert "XNNPACK did not start with mobpack/models/plain.onnx.tflite: took no node of the model" in run.log
    assert run.facts["y"] == run.facts["erf"]


def test_of_nodes_that_onnx_runtime_hides_nothing_is_said_without_the_list_of_the_build(phone: Device) -> None:
    facts = phone.run_warm("Eraser", model="uncounted", providers="XNNPACK").facts
    assert (facts["provider"], facts["assignment"]) == ("XNNPACK", "null")


def test_nnapi_without_an_accelerator_takes_no_node(phone: Device) -> None:
    facts = phone.run_warm("Eraser", model="uncounted", providers="NNAPI,XNNPACK").facts
    assert facts["reasons"] == "NNAPI: took no node of the model"
    assert facts["provider"] == "XNNPACK"


def test_nnapi_with_an_accelerator_takes_what_the_accelerator_supports(phone: Device) -> None:
    environment = AndroidEnvironment()
    ensure(environment)
    facts = phone.run("Eraser", model="eraser", providers="NNAPI", variables=environment.variables()).facts
    assert facts["provider"] == "NNAPI"
    assert facts["assignment"] == f"NNAPI 5 {2 * MACS},CPU 2 0", "and two transpositions"


def test_on_the_cpu_all_nodes_are_the_cpus(phone: Device) -> None:
    assert phone.run_warm("Eraser", model="eraser", providers="CPU").facts["assignment"] == f"CPU 5 {2 * MACS}"


def test_onnx_runtime_does_not_tell_of_files_in_ort_format_and_is_believed(phone: Device) -> None:
    facts = phone.run_warm("Eraser", model="unfused", providers="NNAPI").facts
    assert (facts["provider"], facts["assignment"]) == ("NNAPI", "null")


def test_without_its_part_in_c_the_library_believes_what_it_asked_for(phone: Device) -> None:
    run = phone.run_warm("Eraser", model="plain", providers="XNNPACK", properties={"java.library.path": phone.folder})
    assert (run.facts["provider"], run.facts["assignment"]) == ("XNNPACK", "null")
    assert "W/OnnxRuntime: which nodes a provider takes is not known: no mobpack_com_example_models in" in run.log
