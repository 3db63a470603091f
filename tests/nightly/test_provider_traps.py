"""Traps of ONNX Runtime with providers, processors and users' folders: how to read this is in test_traps.py.

15  XNNPACK cannot open a file of the style Runtime
16  the runtime that ships refuses the records in a quantized file of the style Runtime
17  the key that makes x86 compute int8 exactly makes int8 models of ONNX unloadable
18  a 16-bit file with pooling does not load, on the very processor that wrote it
19  ONNX Runtime leaves a database of events in the user's cache folder
20  XNNPACK takes few convolutions of a file of the style Fixed
21  WebGPU computes some convolutions wrong in the layout that is its default
"""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy
import onnx
import pytest

from packager.compile import plan, session
from packager.compile.compile import FP16, FP16_CPU, compile_unfused, compile_variant
from packager.compile.converter import REPLAY_ENTRY, SESSION_ENTRIES
from packager.core.errors import ModelError
from packager.core.values import Format, Style
from packager.engines.environments import CHILD, ENVIRONMENTS, SIGNED
from packager.engines.environments.android import Android, ProbeJob
from packager.engines.environments.arm64 import Arm64
from packager.engines.environments.x86_64 import OlderX86
from packager.engines.runners import RUNNERS, Runnable, cpu
from packager.files.hashes import sha256_of
from packager.files.processes import channel, children, commands
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.providers.webgpu import Webgpu
from packager.targets.android import Android as AndroidTarget
from tests.cases.onnx_text import linear, onnx_model, saved, weight
from tests.engines.test_runners_isolated import run
from tests.toolchain import models as real
from tests.toolchain.environments import have
from tests.toolchain.ort_tool import (
    MODELS,
    ON_X86,
    PHONE,
    Ours,
    Tool,
    converted,
    job,
    opened,
    operators,
    refusal,
    refusals,
    run_tool,
    source,
)
from tests.toolchain.require import fetched

POOLING = """(float16[1,4,8,8] x) => (float16[1,4,8,8] y) {
    c = Conv <pads = [1,1,1,1]> (x, w)
    y = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (c)
}"""


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Tool:
    asked = {name: MODELS[name] for name in ("convolutions", "matmul")}
    return converted(asked, tmp_path_factory.mktemp("tool"), "arm")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Ours:
    return Ours(MODELS, tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def android() -> Android:
    have("android")
    return Android()


def test_15_xnnpack_opens_onnx_over_the_weights_of_the_cpus_file(
    android: Android, tool: Tool, ours: Ours, tmp_path: Path
) -> None:
    """The style Runtime, which the tool advises for providers, is one that XNNPACK cannot open, ours in ORT format
    included: so the plan gives it ONNX."""
    for path in (tool.runtime("convolutions"), ours("convolutions", style=Style.UNFUSED).path):
        with pytest.raises(ModelError, match=r"Schema was not found for fused node\. Domain:com\.ms\.internal\.nhwc"):
            android.probe(path, ProbeJob(provider="xnnpack"))
    variant = source(tmp_path, MODELS["convolutions"])
    target = AndroidTarget(providers=("xnnpack",))
    xnnpack, cpu_choice = plan.make(variant, target, Store(tmp_path / "store"), lambda what: None).choices
    assert xnnpack.compiled.format is Format.ONNX
    assert [sha256_of(file) for file in xnnpack.compiled.data_files] == [cpu_choice.compiled.sha256]
    assert convolutions_of_xnnpack(android, xnnpack.compiled.path) == 3


def convolutions_of_xnnpack(android: Android, path: Path) -> int:
    """How many convolutions of a file XNNPACK takes."""
    subgraphs = android.probe(path, ProbeJob(provider="xnnpack"))["subgraphs"]
    taken = [each for each in subgraphs if each["provider"] == "XnnpackExecutionProvider"]
    return sum(node["op"] == "Conv" for each in taken for node in each["nodes"])


def test_16_records_that_cannot_be_replayed_are_left_out(tool: Tool, ours: Ours, tmp_path: Path) -> None:
    """The tool records what ONNX Runtime refuses to replay, where the app asks it to."""
    said = refusal(tool.runtime("matmul"), {REPLAY_ENTRY: "1"})
    assert "Not enough produced nodes in the runtime optimization record" in said
    compiled = ours("matmul", style=Style.UNFUSED)
    assert compiled.disabled_optimizers == ("QDQSelectorActionTransformer",)
    assert opened(compiled.path, compiled.settings, tmp_path)["MatMul"] == 1


def test_16_the_runtime_that_ships_replays_them_whether_asked_to_or_not(tool: Tool, ours: Ours) -> None:
    """Apps cannot use the tool's file."""
    have("runtime")
    compiled = ours("matmul", style=Style.UNFUSED)
    files = [(tool.runtime("matmul"), {}), (compiled.path, {}), (compiled.path, compiled.settings)]
    theirs, *mine = refusals(ENVIRONMENTS["runtime"](), files)
    assert "Not enough produced nodes" in theirs
    assert mine == ["", ""]


@pytest.fixture(scope="module")
def old_x86() -> tuple[str, ...]:
    """Starts a program of this Python on an x86 core without 8-bit dot products: Intel's Haswell, of 2013."""
    have("x86_64")
    return (*OlderX86(cpu="Haswell-v4").emulator(), sys.executable, "-P")


@ON_X86
def test_17_an_int8_model_runs_on_old_x86(
    old_x86: tuple[str, ...], ours: Ours, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With both keys for numbers as on ARM, ONNX Runtime rewrites an int8 ONNX model into what it has no kernel for.

    The tool sets no such key, nor checks any numbers. Our runner does without: `packager.engines.session.exact`.
    """
    model = saved(tmp_path / "m.onnx", MODELS["signed"])
    asked = job(model, "cpu", {**SIGNED, "session.x64quantprecision": "1"})
    answer = commands.run_job([CHILD], asked, tmp_path, crash="", hint="", command=old_x86)
    assert "Failed to find kernel for com.microsoft.QLinearConv" in answer["error"]

    fused = ours("signed").path
    sample = tmp_path / "sample.npz"
    numpy.savez(sample, x=numpy.random.default_rng(1).integers(-128, 127, (1, 3, 16, 16)).astype("int8"))
    monkeypatch.setattr(channel, "python", lambda: old_x86)
    results = []
    for path in (model, fused):
        outputs = tmp_path / path.stem
        outputs.mkdir()
        with cpu.Cpu().open(Runnable(path=path), tmp_path) as session_of_it:
            outcome = session_of_it.run(sample, outputs)
        assert outcome.outputs is not None, outcome.error
        results.append(numpy.load(outputs / "0.npy"))
    assert numpy.array_equal(*results)


def test_18_a_16_bit_file_with_pooling_loads(tmp_path: Path) -> None:
    """On an ARM core ONNX Runtime, asked as the tool asks it, gives pooling a layout that it then cannot read."""
    have("arm64")
    variant = source(tmp_path, onnx_model(POOLING, weights={"w": weight(4, 4, 3, 3).astype(numpy.float16)}))
    raw = tmp_path / "raw.ort"
    asked = {
        "graph": str(variant.model.path),
        "data_folder": "",
        "output": str(raw),
        "entries": SESSION_ENTRIES,
        "level": "all",
        "disabled_optimizers": ["NchwcTransformer"],
        "provider": "CPUExecutionProvider",
    }
    core = Arm64(cpu=FP16_CPU)
    program, variables = [Path(session.__file__)], core.variables()
    answer = commands.run_job(
        program, asked, tmp_path, crash="", hint="", environment=variables, command=core.command()
    )
    assert answer == {"ok": {}}
    compiled = compile_variant(variant, Store(tmp_path / "store"), processor=FP16)
    assert operators(compiled.path) == Counter(Conv=1, MaxPool=1)
    files = [(raw, {}), (compiled.path, {}), (compiled.path, compiled.settings)]
    theirs, without, mine = refusals(PHONE, files)
    assert "No opset import for domain 'com.ms.internal.nhwc'" in theirs
    assert "com.ms.internal.nhwc" in without, "the optimizer runs again when the file is loaded"
    assert mine == ""


CONVERTED = """
import sys
from pathlib import Path
from packager import models
from packager.compile.compile import compile_variant
from packager.compile.reader import read_graph
from packager.files.store import Store
from packager.core.values import baseline
model = models.hashed(models.load(Path(sys.argv[1]), "m"))
variant = baseline(model)
read_graph(compile_variant(variant, Store(Path(sys.argv[2]))).path)
"""


def home(folder: Path) -> dict[str, str]:
    """The environment of a user whose home, cache and temporary folder are new, and who never heard of telemetry. It
    is off by itself where CI is set."""
    places = {name: folder / name for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR")}
    for place in places.values():
        place.mkdir(parents=True)
    kept = {name: value for name, value in os.environ.items() if name not in {*children.QUIET, "CI"}}
    return {**kept, **{name: str(place) for name, place in places.items()}}


def left_behind(folder: Path) -> list[str]:
    """Files in the folders of `home` that are not mobpack's."""
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return sorted(path.as_posix() for path in files if "mobpack" not in path.parts)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it has other ways")
def test_19_no_events_are_kept(tmp_path: Path) -> None:
    """The tool, as everything that imports onnxruntime, starts a database of events."""
    model = saved(tmp_path / "source" / "m.onnx", linear())
    module = ["-m", "onnxruntime.tools.convert_onnx_models_to_ort", str(model)]
    subprocess.run([sys.executable, *module], check=True, capture_output=True, env=home(tmp_path / "tool"))
    assert [name for name in left_behind(tmp_path / "tool") if name.endswith("onnxruntime.db")]
    program = ["-c", CONVERTED, str(model), str(tmp_path / "store")]
    subprocess.run([sys.executable, *program], check=True, capture_output=True, env=home(tmp_path / "ours"))
    assert list((tmp_path / "store").rglob("*.ort"))
    assert left_behind(tmp_path / "ours") == []


def test_20_xnnpack_takes_every_convolution(android: Android, tool: Tool, tmp_path: Path) -> None:
    """The tool's fused nodes are not XNNPACK's: two of three convolutions stay on the CPU."""
    assert convolutions_of_xnnpack(android, tool.fixed("convolutions")) == 1
    variant = source(tmp_path, MODELS["convolutions"])
    store = Store(tmp_path / "store")
    unfused = compile_unfused(variant, store, compile_variant(variant, store))
    assert convolutions_of_xnnpack(android, unfused.path) == 3


def test_20_xnnpack_takes_every_convolution_of_a_real_model(android: Android, tmp_path: Path) -> None:
    """In the tool's file it leaves 4 of the page orientation model's 32."""
    fetched("model-orientation")
    model = onnx.load(real.orientation())
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 1
    variant = source(tmp_path, model)
    run_tool(variant.model.path, "--optimization_style", "Fixed", "--target_platform", "arm")
    fixed = variant.model.path.with_suffix(".ort")
    store = Store(cache_folder() / "store")
    unfused = compile_unfused(variant, store, compile_variant(variant, store))
    assert convolutions_of_xnnpack(android, fixed) == 28
    assert convolutions_of_xnnpack(android, unfused.path) == 32


@pytest.mark.parametrize("layout", ["NHWC", ""])
def test_21_webgpu_computes_a_convolution_of_129_channels(
    layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its default, the first layout, it does not; `""` is ours."""
    have("webgpu")
    graph = "(float[1,129,4] x) => (float[1,128,4] y) { y = Conv <pads = [1,1]> (x, w) }"
    path = saved(tmp_path / "m.onnx", onnx_model(graph, weights={"w": weight(128, 129, 3)}))
    feed = {"x": weight(1, 129, 4, seed=1)}
    if layout:
        monkeypatch.setattr(Webgpu, "options", lambda self: {"preferredLayout": layout})
    (found,) = run(RUNNERS["webgpu"]("")[0], path, tmp_path, feed).outputs
    (wanted,) = run(cpu.Cpu(), path, tmp_path, feed).outputs
    error = numpy.abs(found - wanted).max() / numpy.abs(wanted).max()
    assert (error > 0.1) if layout else (error < 1e-5)
