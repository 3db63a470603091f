"""Traps of ONNX Runtime's own conversion tooling: each test shows that its tool falls in, and that mobpack does not.

The tool is `python -m onnxruntime.tools.convert_onnx_models_to_ort`, in the version that mobpack converts with. A trap
that fails here because the tool's half no longer holds has been mended there: what mobpack does about it can go.

 1  the same model gives other bytes every time
 2  operator configurations hold the paths of one machine, temporary ones among them
 3  the style Runtime makes a folder beside the user's model, wherever the output goes
 4  a file of the style Runtime is not fused when it is loaded, unless the app sets a key
 5  without --target_platform arm, signed 8-bit operators stay in float
 6  16-bit floats turn into 32-bit ones, because the processor at hand computes no others
 7  4-bit weights are written into files that no runtime loads
 8  over 2 GiB it fails, once it has read everything, and leaves an empty file
 9  a node without a kernel ends a conversion, and the exit code is 0 where failures are allowed
10  what the onnx package writes by default is newer than ONNX Runtime reads
11  (no trap: functions, branches, loops, strings and metadata survive)
12  nothing says whether an older runtime, the one that ships, loads the file
13  a provider that is not there is replaced by the CPU with no more than a warning
14  --target_platform amd64 bakes in a layout that phones have no kernels for
15  XNNPACK cannot open a file of the style Runtime
16  the runtime that ships refuses the records in a quantized file of the style Runtime
17  the key that makes x86 compute int8 exactly makes int8 models of ONNX unloadable
18  a 16-bit file with pooling does not load, on the very processor that wrote it
19  ONNX Runtime leaves a database of events in the user's cache folder
20  XNNPACK takes few convolutions of a file of the style Fixed

ONNX Runtime's usability checker, which is wrong about CoreML, has its tests in test_coreml_rules.py.
"""

import json
import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest

from packager import models, plan, tools
from packager.environments import ENVIRONMENTS, Environment
from packager.environments.android import Android, ProbeJob
from packager.environments.arm64 import Arm64
from packager.errors import ModelError
from packager.models import opsets
from packager.ortformat import session
from packager.ortformat.compile import FP16, FP16_CPU, compile_unfused, compile_variant
from packager.ortformat.converter import REPLAY_ENTRY, SESSION_ENTRIES, is_onnxruntime_error, session_options
from packager.ortformat.operators import operator_config
from packager.ortformat.reader import read_graph
from packager.partition import kernels
from packager.partition.measured import CHILD
from packager.runners import Runnable, cpu
from packager.store import Store
from packager.targets.android import Android as AndroidTarget
from packager.values import Compiled, Format, Style, Variant
from tests.caches import empty_cache
from tests.conftest import fetched
from tests.onnx_text import linear, loaded, onnx_model, saved, weight
from tests.test_canonical import FILTERS, MIXED
from tests.test_environments import have
from tests.toolchain import models as real

ON_X86 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the trap is one of x86 processors")

CONVOLUTIONS = """(float[1,8,16,16] x) => (float[1,8,16,16] y) {
    c = Conv <pads = [1,1,1,1]> (x, w)
    r = Relu (c)
    d = Conv <pads = [1,1,1,1]> (r, w)
    s = Sigmoid (d)
    e = Conv <pads = [1,1,1,1]> (s, w)
    y = Add (e, x)
}"""
SIGNED = """(int8[1,3,16,16] x) => (int8[1,4,16,16] y) {
    d = DequantizeLinear (x, s, z)
    f = DequantizeLinear (w, s, z)
    c = Conv <pads = [1,1,1,1]> (d, f)
    y = QuantizeLinear (c, s, z)
}"""
QUANTIZED_MATMUL = """(float[4,32] x) => (float[4,16] y) {
    q = QuantizeLinear (x, s, z)
    d = DequantizeLinear (q, s, z)
    f = DequantizeLinear (w, s, z)
    m = MatMul (d, f)
    r = QuantizeLinear (m, s, z)
    y = DequantizeLinear (r, s, z)
}"""
INT4 = """(float[1,64] x) => (float[1,64] y) {
    f = DequantizeLinear <axis = 0, block_size = 32> (w, s)
    y = MatMul (x, f)
}"""
HALF = "(float16[1,64] x) => (float16[1,64] y) { a = MatMul (x, w) y = Relu (a) }"
POOLING = """(float16[1,4,8,8] x) => (float16[1,4,8,8] y) {
    c = Conv <pads = [1,1,1,1]> (x, w)
    y = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (c)
}"""
BFLOAT = "(float[2] x) => (float[2] y) { a = Cast <to = 16> (x) [middle] b = Relu (a) y = Cast <to = 1> (b) }"
NEW_OPERATOR = "(float[4] x) => (float[4] y) { y = com.microsoft.ScaledSiLU <alpha = 1.5> (x) }"
"""ONNX Runtime has it since 1.31."""
DOUBLED_IN_BRANCHES = """(bool c, float[2] x, string[2] words) => (float[2] y, string[2] same, int64[3] sums) {
    t = own.twice (x)
    y = If (c) <
        then_branch = a () => (float[2] p) { p = Neg (t) },
        else_branch = b () => (float[2] q) { q = Identity (t) }
    >
    same = Identity (words)
    n = Constant <value = int64 {3}> ()
    yes = Constant <value = bool {1}> ()
    zero = Constant <value = int64[1] {0}> ()
    last, rows = Loop (n, yes, zero) <
        body = l (int64 i, bool go, int64[1] sum) => (bool more, int64[1] next, int64[1] each) {
            more = Identity (go)
            next = Add (sum, i)
            each = Identity (next)
        }
    >
    flat = Constant <value = int64[1] {3}> ()
    sums = Reshape (rows, flat)
}"""
TWICE = '<domain: "own", opset_import: ["" : 17]> twice (v) => (w) { w = Add (v, v) }'


def integers(*shape: int) -> Mapping[str, Any]:
    """Signed 8-bit weights with their scale and zero point."""
    numbers = numpy.random.default_rng(0).integers(-127, 127, shape)
    return {"w": numbers.astype("int8"), "s": numpy.array(0.05, numpy.float32), "z": numpy.array(0, "int8")}


def int4() -> onnx.ModelProto:
    scales = {"s": numpy.full((2, 64), 0.01, numpy.float32)}
    model = onnx_model(INT4, opsets={"": 21}, ir_version=10, weights=scales)
    model.graph.initializer.add(name="w", data_type=onnx.TensorProto.INT4, dims=[64, 64], raw_data=bytes(2048))
    return model


def branches() -> onnx.ModelProto:
    model = onnx_model(DOUBLED_IN_BRANCHES, opsets={"": 17, "own": 1}, functions=TWICE)
    model.metadata_props.add(key="author", value="ä")
    return model


def declared(*, ir_version: int, opset: int) -> onnx.ModelProto:
    model = linear()
    model.ir_version = ir_version
    model.opset_import[0].version = opset
    return model


MODELS: Mapping[str, onnx.ModelProto] = {
    "mixed": onnx_model(MIXED, weights={"filters": FILTERS}),
    "convolutions": onnx_model(CONVOLUTIONS, weights={"w": weight(8, 8, 3, 3)}),
    "signed": onnx_model(SIGNED, weights=integers(4, 3, 3, 3)),
    "matmul": onnx_model(QUANTIZED_MATMUL, weights=integers(32, 16)),
    "int4": int4(),
    "half": onnx_model(HALF, weights={"w": weight(64, 64).astype(numpy.float16)}),
    "branches": branches(),
    "new": onnx_model(NEW_OPERATOR, opsets={"": 17, "com.microsoft": 1}),
}
PHONE = Arm64(runtime="shipped", cpu=FP16_CPU)
"""The runtime that ships, on a core with 16-bit arithmetic."""
COPIES = 4
"""of the model `mixed`, under other names"""


def run_tool(*arguments: str | Path, **variables: str) -> str:
    """What ONNX Runtime's own converter prints; it must succeed."""
    command = [sys.executable, "-m", "onnxruntime.tools.convert_onnx_models_to_ort", *map(str, arguments)]
    environment = {**os.environ, **tools.QUIET, **variables}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


@dataclass(frozen=True)
class Tool:
    """What the tool has made of MODELS, in a folder each: `arm` and `amd64` as target platform, `default` for none."""

    folder: Path

    def fixed(self, name: str, target: str = "arm") -> Path:
        return self.folder / target / f"{name}.ort"

    def runtime(self, name: str, target: str = "arm") -> Path:
        return self.folder / target / f"{name}.with_runtime_opt.ort"


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Tool:
    folder = tmp_path_factory.mktemp("tool")
    for name, model in MODELS.items():
        saved(folder / "source" / f"{name}.onnx", model)
    for number in range(COPIES):
        saved(folder / "source" / f"copy-{number}.onnx", MODELS["mixed"])
    for target, arguments in (
        ("arm", ["--target_platform", "arm"]),
        ("amd64", ["--target_platform", "amd64", "--optimization_style", "Fixed"]),
        ("default", ["--optimization_style", "Fixed"]),
    ):
        run_tool(folder / "source", "--output_dir", folder / target, *arguments)
    return Tool(folder)


Ours = Callable[..., Compiled]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Ours:
    """What mobpack makes of one of MODELS."""
    folder = tmp_path_factory.mktemp("ours")

    def ours(name: str, *, style: Style = Style.FIXED, processor: str = "") -> Compiled:
        variant = source(folder / name, MODELS[name])
        return compile_variant(variant, Store(folder / "store"), style=style, processor=processor)

    return ours


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """The model `mixed`, once more, elsewhere."""
    folder = tmp_path_factory.mktemp("again")
    return compile_variant(source(folder, MODELS["mixed"]), Store(folder / "store"))


def source(folder: Path, model: onnx.ModelProto) -> Variant:
    described = loaded(folder, model)
    return Variant(model=described, name="source", graph=described.graph, quantizer="none")


def operators(path: Path) -> Counter[str]:
    return Counter(node.operator for node in read_graph(path).all_nodes())


def weight_types(path: Path) -> set[str]:
    return {value.element for value in read_graph(path).values.values() if value.is_constant}


def opened(path: Path, entries: Mapping[str, str], folder: Path) -> Counter[str]:
    """The operators that run once the CPU has opened an ORT-format file with `entries`."""
    options = session_options({"session.save_model_format": "ORT", **entries})
    options.optimized_model_filepath = str(folder / "opened.ort")
    onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return operators(folder / "opened.ort")


def refusal(path: Path, entries: Mapping[str, str]) -> str:
    """What ONNX Runtime says against a file; empty when it opens it."""
    try:
        onnxruntime.InferenceSession(path, session_options(dict(entries)), providers=["CPUExecutionProvider"])
    except Exception as error:
        if not is_onnxruntime_error(error):
            raise
        return str(error)
    return ""


def test_1_the_same_model_has_the_same_bytes(tool: Tool, ours: Ours, again: Compiled) -> None:
    """The tool gives copies of one model different bytes, in one process."""
    assert len({tools.sha256_of(tool.fixed(f"copy-{number}")) for number in range(COPIES)}) > 1
    assert again.sha256 == ours("mixed").sha256


def test_2_operator_configurations_hold_no_paths(tool: Tool, ours: Ours, again: Compiled) -> None:
    """The tool writes the paths of its files into the configuration, and of files in a folder that is gone."""
    texts = [path.read_text() for path in (tool.folder / "arm").glob("*.config")]
    assert len(texts) == 2
    assert all(str(tool.folder) in text for text in texts)
    assert any(".without_runtime_opt/" in text for text in texts)
    text = operator_config([ours(name).operators for name in ("mixed", "convolutions")])
    assert "FusedConv" in text
    assert "/" not in text.split("\n", 1)[1]
    assert operator_config([again.operators, ours("convolutions").operators]) == text


def test_3_the_folder_of_the_users_model_stays_as_it_is(tmp_path: Path) -> None:
    """The tool makes and removes a folder beside the model, although told to write elsewhere."""
    variant = source(tmp_path / "source", MODELS["convolutions"])

    def is_touched(act: Callable[[], object]) -> bool:
        os.utime(tmp_path / "source", (0, 0))
        act()
        return (tmp_path / "source").stat().st_mtime != 0

    assert is_touched(lambda: run_tool(tmp_path / "source", "--output_dir", tmp_path / "tool"))
    for style in (Style.FIXED, Style.UNFUSED):
        assert not is_touched(partial(compile_variant, variant, Store(tmp_path / "store"), style=style))


def test_4_an_unfused_file_brings_the_key_that_fuses_it(tool: Tool, ours: Ours, tmp_path: Path) -> None:
    """A file of the style Runtime runs unfused by default: its records are left alone without a key."""
    assert opened(tool.runtime("convolutions"), {}, tmp_path)["com.microsoft::FusedConv"] == 0
    assert opened(tool.runtime("convolutions"), {REPLAY_ENTRY: "1"}, tmp_path)["com.microsoft::FusedConv"] == 2
    compiled = ours("convolutions", style=Style.UNFUSED)
    assert operators(compiled.path)["com.microsoft::FusedConv"] == 0
    assert opened(compiled.path, compiled.settings, tmp_path)["com.microsoft::FusedConv"] == 2


@ON_X86
def test_5_signed_8_bit_operators_are_fused(tool: Tool, ours: Ours) -> None:
    """Without --target_platform arm, the tool leaves a float Conv between conversions."""
    assert operators(tool.fixed("signed", "default")) == Counter(DequantizeLinear=2, Conv=1, QuantizeLinear=1)
    fused = Counter({"Transpose": 2, "com.microsoft::QLinearConv": 1})
    assert operators(tool.fixed("signed", "arm")) == fused
    assert operators(ours("signed").path) == fused


@ON_X86
@pytest.mark.environments
def test_6_float16_stays_float16(tool: Tool, ours: Ours) -> None:
    """On x86 the tool turns float16 weights into float32 ones, whatever the target platform."""
    have("arm64")
    assert weight_types(tool.fixed("half")) == {"float"}
    assert operators(tool.fixed("half"))["Cast"] == 2
    compiled = ours("half", processor=FP16)
    assert weight_types(compiled.path) == {"float16"}
    assert operators(compiled.path) == Counter(MatMul=1, Relu=1)
    assert compiled.size_bytes < 0.6 * tool.fixed("half").stat().st_size


def test_7_no_file_is_written_that_does_not_load(tool: Tool, ours: Ours) -> None:
    """The tool writes 4-bit weights into a file of the style Runtime, and no runtime reads them there."""
    assert tool.runtime("int4").stat().st_size > 0
    assert "Unsupported tensor data type" in refusal(tool.runtime("int4"), {})
    with pytest.raises(ModelError, match="4-bit weights that ORT format cannot hold") as error:
        ours("int4", style=Style.UNFUSED)
    assert "ship it as ONNX" in error.value.hint
    assert refusal(ours("int4").path, {}) == ""  # fused, its weights are bytes


def test_8_over_the_limit_the_model_ships_as_onnx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tool's half was measured by hand, with 2.2 GB: `Failed to save ORT format model` after 21 s and 6.5 GB of
    memory, and a file of 0 bytes. That mobpack refuses such a file for format = "ort" unread is in test_opsets.py."""
    variant = source(tmp_path, linear(columns=300))
    monkeypatch.setattr(opsets, "ORT_FORMAT_LIMIT_BYTES", variant.model.size_bytes - 1)
    store = Store(tmp_path / "store")
    made = plan.make(variant, AndroidTarget(providers=("xnnpack",)), store, lambda what: None)
    assert {choice.compiled.format for choice in made.choices} == {Format.ONNX}
    assert "ORT format cannot hold it" in made.choices[-1].reason
    assert not list((tmp_path / "store").rglob("*.ort"))
    assert refusal(made.cpu.path, {}) == ""
    with pytest.raises(ModelError, match="more than the ORT format can hold"):
        plan.make(variant, AndroidTarget(format="ort"), store, lambda what: None)


def test_9_a_node_without_a_kernel_is_named(tmp_path: Path) -> None:
    """The tool stops at the first such model of a folder; with --allow_conversion_failures it exits with 0.

    Neither converts it: what no provider takes is the CPU's, on the phone too. Ours says so, and of which node.
    """
    saved(tmp_path / "source" / "a.onnx", onnx_model(BFLOAT))
    saved(tmp_path / "source" / "b.onnx", linear())
    with pytest.raises(subprocess.CalledProcessError):
        run_tool(tmp_path / "source", "--output_dir", tmp_path / "tool", "--optimization_style", "Fixed")
    assert not list((tmp_path / "tool").iterdir())
    said = run_tool(tmp_path / "source", "--output_dir", tmp_path / "tool", "--allow_conversion_failures")
    assert "Converted 1/2 models successfully." in said
    with pytest.raises(ModelError, match=r"Relu\(14\) node with name 'middle'"):
        compile_variant(source(tmp_path / "ours", onnx_model(BFLOAT)), Store(tmp_path / "store"))


def test_10_a_newer_declaration_is_lowered_or_refused_in_words(tmp_path: Path) -> None:
    """What onnx.helper.make_model declares by default, the tool cannot read."""
    newest_ir, newest_opset = onnx.IR_VERSION, onnx.defs.onnx_opset_version()
    ir = declared(ir_version=newest_ir, opset=17)
    opset = declared(ir_version=opsets.max_ir_version(), opset=newest_opset)
    for name, model in (("ir", ir), ("opset", opset)):
        saved(tmp_path / "source" / f"{name}.onnx", model)
    said = run_tool(tmp_path / "source", "--output_dir", tmp_path / "tool", "--allow_conversion_failures")
    assert f"Unsupported model IR version: {newest_ir}" in said
    assert f"Opset {newest_opset} is under development" in said
    assert not list((tmp_path / "tool").glob("*.ort"))

    variant = source(tmp_path / "ours", ir)
    assert refusal(compile_variant(variant, Store(tmp_path / "store")).path, {}) == ""
    assert variant.model.notes == (
        f"IR version lowered from {newest_ir} to {opsets.max_ir_version()}: the model uses nothing newer",
    )
    with pytest.raises(ModelError, match=f"opset {newest_opset} is newer than the runtime knows") as error:
        models.refuse_blocked(source(tmp_path / "ours", opset).model)
    assert f"opset_version={opsets.max_opset()} or lower" in error.value.hint


def test_11_functions_branches_loops_strings_and_metadata_survive(tool: Tool, ours: Ours) -> None:
    """No trap: both keep all of them."""
    feed = {
        "c": numpy.array(True),
        "x": numpy.array([1, 2], numpy.float32),
        "words": numpy.array(["ä", ""], object),
    }
    for path in (tool.fixed("branches"), tool.runtime("branches"), ours("branches").path):
        running = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        y, words, sums = running.run(None, feed)
        assert (list(y), list(words), list(sums)) == ([-2, -4], ["ä", ""], [0, 1, 3]), path
        assert running.get_modelmeta().custom_metadata_map == {"author": "ä"}


@pytest.mark.environments
def test_12_a_file_is_opened_in_the_runtime_that_ships(tool: Tool, ours: Ours, tmp_path: Path) -> None:
    """The tool converts an operator that is newer than the runtime of the app, and says nothing."""
    have("runtime")
    assert refusal(tool.fixed("new"), {}) == ""
    mixed, new = refusals(ENVIRONMENTS["runtime"](), [(tool.fixed("mixed"), {}), (tool.fixed("new"), {})])
    assert mixed == ""
    assert "ScaledSiLU(1) is not a registered function/op" in new
    with pytest.raises(ModelError, match=r"which the package ships: .*ScaledSiLU"):
        kernels.prove(ours("new"), tmp_path)


LOADS = """
import json, sys
import onnxruntime
said = []
for path, entries in json.loads(sys.argv[1]):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    try:
        onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        said.append(str(error))
    else:
        said.append("")
print(json.dumps(said))
"""


def refusals(
    environment: Environment, files: Sequence[tuple[Path, Mapping[str, str]]]
) -> list[str]:
    """What the ONNX Runtime of `environment` says against each file with its entries; empty where it opens it."""
    asked = json.dumps([(str(path), dict(entries)) for path, entries in files])
    variables = {**environment.variables(), **tools.QUIET}
    said = tools.run([*environment.command(), "-c", LOADS, asked], what="opening files", environment=variables)
    found: list[str] = json.loads(said)
    return found


def test_13_a_provider_that_is_not_there_is_never_replaced_by_the_cpu(tool: Tool, tmp_path: Path) -> None:
    """ONNX Runtime's Python warns that there is no such provider, and runs the model on the CPU."""
    path = tool.fixed("convolutions")
    with pytest.warns(UserWarning, match="not in available provider names"):
        running = onnxruntime.InferenceSession(path, providers=["CoreMLExecutionProvider", "CPUExecutionProvider"])
    assert running.get_providers() == ["CPUExecutionProvider"]
    answer = tools.run_job([CHILD], job(path, "coreml"), tmp_path, crash="", hint="")
    assert answer["error"] == "this ONNX Runtime has no provider CoreMLExecutionProvider"


def job(path: Path, provider: str, entries: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Has `assign.py` open a model."""
    options = {"provider": provider, "provider_options": {}, "entries": dict(entries or {})}
    return {"task": "load", "model": str(path), "data_folder": None, "optimize": True, **options}


@ON_X86
def test_14_no_layout_of_x86_is_in_a_file(tool: Tool, ours: Ours) -> None:
    """With --target_platform amd64 (an emulator is one) the tool writes nodes of a layout that x86 alone has."""
    assert operators(tool.fixed("convolutions", "amd64"))["com.microsoft.nchwc::Conv"] == 3
    for compiled in (ours("convolutions"), ours("convolutions", style=Style.UNFUSED)):
        assert not [name for name in operators(compiled.path) if "nchwc" in name]


@ON_X86
@pytest.mark.environments
def test_14_a_file_with_the_layout_of_x86_does_not_load_on_arm(tool: Tool, ours: Ours) -> None:
    """What the tool made for x86 has no kernels there; what mobpack makes is for both."""
    have("arm64")
    theirs, mine = refusals(PHONE, [(tool.fixed("convolutions", "amd64"), {}), (ours("convolutions").path, {})])
    assert "nchwc" in theirs
    assert mine == ""


@pytest.fixture(scope="module")
def android() -> Android:
    have("android")
    return Android()


@pytest.mark.android
@pytest.mark.environments
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
    assert [tools.sha256_of(file) for file in xnnpack.compiled.data_files] == [cpu_choice.compiled.sha256]
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


@pytest.mark.environments
def test_16_the_runtime_that_ships_replays_them_whether_asked_to_or_not(tool: Tool, ours: Ours) -> None:
    """The tool's file is of no use to apps."""
    have("runtime")
    compiled = ours("matmul", style=Style.UNFUSED)
    files = [(tool.runtime("matmul"), {}), (compiled.path, {}), (compiled.path, compiled.settings)]
    theirs, *mine = refusals(ENVIRONMENTS["runtime"](), files)
    assert "Not enough produced nodes" in theirs
    assert mine == ["", ""]


@pytest.fixture(scope="module")
def old_x86(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Starts a program on an x86 core without instructions for 8-bit products: Intel's Haswell, of 2013."""
    folder = tmp_path_factory.mktemp("qemu")
    member = "./usr/bin/qemu-x86_64"
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", fetched("arm64-qemu")], stdout=subprocess.PIPE) as package:
        subprocess.run(["tar", "-x", "-C", folder, member], stdin=package.stdout, check=True)
    return (str(folder / member), "-cpu", "Haswell-v4")


@ON_X86
@pytest.mark.environments
def test_17_an_int8_model_runs_on_old_x86(
    old_x86: Sequence[str], ours: Ours, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With both keys for numbers as on ARM, ONNX Runtime rewrites an int8 ONNX model into what it has no kernel for.

    The tool sets no such key, nor checks any numbers. Our runner leaves the key away for ONNX that is optimized when
    it is loaded, and sets it for .ort, whose operators are final.
    """
    model = saved(tmp_path / "m.onnx", MODELS["signed"])
    command = (*old_x86, sys.executable, "-P")
    asked = job(model, "cpu", cpu.SESSION_ENTRIES)
    answer = tools.run_job([CHILD], asked, tmp_path, crash="", hint="", command=command)
    assert "Failed to find kernel for com.microsoft.QLinearConv" in answer["error"]

    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {" ".join(old_x86)} "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    fused = ours("signed").path
    sample = tmp_path / "sample.npz"
    numpy.savez(sample, x=numpy.random.default_rng(1).integers(-128, 127, (1, 3, 16, 16)).astype("int8"))
    monkeypatch.setattr(sys, "executable", str(python))
    results = []
    for path in (model, fused):
        (outcome,) = cpu.Cpu().run(Runnable(path=path), (sample,), tmp_path)
        assert outcome.outputs is not None, outcome.error
        results.append(numpy.load(outcome.outputs)["0"])
    assert numpy.array_equal(*results)


@pytest.mark.environments
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
    answer = tools.run_job(program, asked, tmp_path, crash="", hint="", environment=variables, command=core.command())
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
from packager.ortformat.compile import compile_variant
from packager.ortformat.reader import read_graph
from packager.store import Store
from packager.values import Variant
model = models.hashed(models.load(Path(sys.argv[1]), "m"))
variant = Variant(model=model, name="source", graph=model.graph, quantizer="none")
read_graph(compile_variant(variant, Store(Path(sys.argv[2]))).path)
"""


def home(folder: Path) -> dict[str, str]:
    """The environment of a user whose home, cache and temporary folder are new, and who never heard of telemetry."""
    places = {name: folder / name for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR")}
    for place in places.values():
        place.mkdir(parents=True)
    kept = {name: value for name, value in os.environ.items() if name not in tools.QUIET}
    return {**kept, **{name: str(place) for name, place in places.items()}}


def left_behind(folder: Path) -> list[str]:
    """Files in the folders of `home`, without mobpack's own."""
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


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it has other ways")
@pytest.mark.environments
def test_19_no_part_of_mobpack_check_keeps_events(tmp_path: Path) -> None:
    """It starts ONNX Runtime of both versions, to convert, to compare and to prove."""
    have("runtime")
    model = saved(tmp_path / "source" / "m.onnx", linear())
    variables = home(tmp_path / "ours")
    empty_cache(Path(variables["XDG_CACHE_HOME"]))
    command = [sys.executable, "-m", "packager.cli", "check", str(model), "--target", "android"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=variables)
    assert "all 1 nodes have kernels" in done.stderr + done.stdout
    assert left_behind(tmp_path / "ours") == []


@pytest.mark.android
@pytest.mark.environments
def test_20_xnnpack_takes_every_convolution(android: Android, tool: Tool, tmp_path: Path) -> None:
    """The tool's fused nodes are not XNNPACK's: two of three convolutions stay on the CPU."""
    assert convolutions_of_xnnpack(android, tool.fixed("convolutions")) == 1
    variant = source(tmp_path, MODELS["convolutions"])
    store = Store(tmp_path / "store")
    unfused = compile_unfused(variant, store, compile_variant(variant, store))
    assert convolutions_of_xnnpack(android, unfused.path) == 3


@pytest.mark.android
@pytest.mark.environments
def test_20_xnnpack_takes_every_convolution_of_a_real_model(android: Android, tmp_path: Path) -> None:
    """Of the page orientation model's 32 it leaves 4 in the tool's file."""
    fetched("model-orientation")
    model = onnx.load(real.orientation())
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 1
    variant = source(tmp_path, model)
    run_tool(variant.model.path, "--optimization_style", "Fixed", "--target_platform", "arm")
    fixed = variant.model.path.with_suffix(".ort")
    store = Store(tmp_path / "store")
    unfused = compile_unfused(variant, store, compile_variant(variant, store))
    assert convolutions_of_xnnpack(android, fixed) == 28
    assert convolutions_of_xnnpack(android, unfused.path) == 32
