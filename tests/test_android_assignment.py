"""The Kotlin library says which provider runs which nodes, and leaves one that runs none, on ONNX Runtime's own
Android libraries."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from packager import models as onnx_models
from packager.compile.compile import compile_plain, compile_variant
from packager.core.findings import Report
from packager.core.values import Choice, Compiled, Package, Plan, Style, baseline
from packager.environments.android import Android as AndroidEnvironment
from packager.environments.environment import ensure
from packager.environments.runtime import Runtime
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.targets.android import Android
from tests.onnx_text import onnx_model, saved
from tests.toolchain import jvm
from tests.toolchain.device import Device, device, library

pytestmark = [pytest.mark.by_content, pytest.mark.kotlin, pytest.mark.android]

Install = Callable[..., Device]

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
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """One for all apps, as their Kotlin differs in little."""
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def install(kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, store: Store, tmp_path: Path) -> Install:
    """Installs an app with one model, whose file is the same for all providers."""

    def install(graph: str, *, is_ort: bool = False, has_macs: bool = True) -> Device:
        weights = {name: np.ones((3, 3, 3, 3), np.float32) for name in ("first", "second") if name in graph}
        described = onnx_model(graph.replace("'", '"'), weights=weights)
        for number, node in enumerate(described.graph.node):
            node.name = f"{node.op_type}-{number}"
        model = onnx_models.hashed(onnx_models.load(saved(tmp_path / "eraser.onnx", described), "eraser"))
        variant = baseline(model, "fp32")
        compiled = compile_variant(variant, store, style=Style.UNFUSED) if is_ort else compile_plain(variant, store)
        file = compiled if is_ort else counted(compiled, tmp_path / "counted.onnx", has_macs=has_macs)
        target = Android(providers=("nnapi", "xnnpack"))
        choices = tuple(Choice(provider=name, compiled=file, reason="") for name in (*target.providers, "cpu"))
        plan = Plan(model=model, target="android", environment=Runtime.NAME, choices=choices)
        view = target.view(Package(name="models", version="1.0.0", license=""), (plan,), Report(parities=()))
        aar = target.assemble(view, target.render(view), store)[0].path
        return device(library(aar, tmp_path / "library", apps="assignment/Eraser"), tmp_path)

    return install


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


def test_xnnpack_and_the_cpu_share_a_model_as_onnx_runtime_says(install: Install) -> None:
    facts = install(CONVOLUTIONS).run("Eraser", providers="XNNPACK").facts
    assert (facts["provider"], facts["fallbacks"]) == ("XNNPACK", "")
    assert facts["assignment"] == f"XNNPACK 2 {2 * MACS},CPU 5 0", "and two transpositions"


def test_a_provider_that_takes_no_node_gives_way_to_the_next(install: Install) -> None:
    run = install(NO_CONVOLUTIONS).run("Eraser", providers="XNNPACK")
    assert (run.facts["provider"], run.facts["assignment"]) == ("CPU", f"CPU 2 {MACS}")
    assert run.facts["reasons"] == "XNNPACK: took no node of the model"
    assert "XNNPACK did not start with mobpack/models/eraser.onnx.tflite: took no node of the model" in run.log
    assert run.facts["y"] == run.facts["erf"]


def test_of_nodes_that_onnx_runtime_hides_nothing_is_said_without_the_list_of_the_build(install: Install) -> None:
    facts = install(CONVOLUTIONS, has_macs=False).run("Eraser", providers="XNNPACK").facts
    assert (facts["provider"], facts["assignment"]) == ("XNNPACK", "null")


def test_nnapi_without_an_accelerator_takes_no_node(install: Install) -> None:
    facts = install(CONVOLUTIONS, has_macs=False).run("Eraser", providers="NNAPI,XNNPACK").facts
    assert facts["reasons"] == "NNAPI: took no node of the model"
    assert facts["provider"] == "XNNPACK"


def test_nnapi_with_an_accelerator_takes_what_the_accelerator_supports(install: Install) -> None:
    environment = AndroidEnvironment()
    ensure(environment)
    phone = install(CONVOLUTIONS)
    facts = phone.run("Eraser", providers="NNAPI", variables=environment.variables(), load_only="1").facts
    assert facts["provider"] == "NNAPI"
    assert facts["assignment"] == f"NNAPI 5 {2 * MACS},CPU 2 0", "and two transpositions"


def test_on_the_cpu_all_nodes_are_the_cpus(install: Install) -> None:
    assert install(CONVOLUTIONS).run("Eraser", providers="CPU").facts["assignment"] == f"CPU 5 {2 * MACS}"


def test_onnx_runtime_does_not_tell_of_files_in_ort_format_and_is_believed(install: Install) -> None:
    facts = install(CONVOLUTIONS, is_ort=True).run("Eraser", providers="NNAPI").facts
    assert (facts["provider"], facts["assignment"]) == ("NNAPI", "null")


def test_without_its_part_in_c_the_library_believes_what_it_asked_for(install: Install) -> None:
    phone = install(NO_CONVOLUTIONS)
    run = phone.run("Eraser", providers="XNNPACK", properties={"java.library.path": phone.folder})
    assert (run.facts["provider"], run.facts["assignment"]) == ("XNNPACK", "null")
    assert "W/OnnxRuntime: which nodes a provider takes is not known: no mobpack_com_example_models in" in run.log
