"""Measured partitions: every node of a file is accounted for under its name in the file."""

from collections.abc import Mapping
from pathlib import Path

import numpy
import onnx
import onnxruntime
import pytest

from packager.core.errors import ModelError, ToolError
from packager.core.parsing import Json
from packager.engines.environments import CHILD, ENVIRONMENTS
from packager.files.processes import commands, downloads
from packager.verification.partition.measured import OfferedNodes, measure
from tests.cases.assign import convolutions
from tests.cases.onnx_text import onnx_model, saved
from tests.toolchain.environments import have
from tests.toolchain.require import fetched, require

NAMES = {"cpu": "CPUExecutionProvider", "qnn": "QNNExecutionProvider", "webgpu": "WebGpuExecutionProvider"}

NODES = ("first", "r", "second", "y")

QUANTIZED = """(float[1,3,16,16] x) => (float[1,4,16,16] y) {
    xq = QuantizeLinear (x, s, z)
    xd = DequantizeLinear (xq, s, z)
    wd = DequantizeLinear (wq, s, z)
    [conv] c = Conv <pads = [1,1,1,1]> (xd, wd)
    cq = QuantizeLinear (c, s, z)
    cd = DequantizeLinear (cq, s, z)
    r = Relu (cd)
    rq = QuantizeLinear (r, s, z)
    y = DequantizeLinear (rq, s, z)
}"""


def quantized(folder: Path, element: str = "uint8") -> Path:
    weights = {
        "s": numpy.array(0.05, numpy.float32),
        "z": numpy.array(128 if element == "uint8" else 0, element),
        "wq": (numpy.arange(108) % 100).reshape(4, 3, 3, 3).astype(element),
    }
    return saved(folder / "quantized.onnx", onnx_model(QUANTIZED, weights=weights))


def ort_format(model: Path, *, is_fused: bool) -> Path:
    """`model` as it ships: fully optimized (`Fixed`), or with only the optimizations that any provider understands."""
    output = model.with_name(f"{model.stem}-{'fused' if is_fused else 'plain'}.ort")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if is_fused else levels.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(output)
    options.add_session_config_entry("session.save_model_format", "ORT")
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    if not is_fused:
        options.add_session_config_entry("optimization.minimal_build_optimizations", "save")
    onnxruntime.InferenceSession(
        str(model), options, providers=["CPUExecutionProvider"], disabled_optimizers=["NchwcTransformer"]
    )
    return output


def accounted_for(assignment: OfferedNodes) -> bool:
    """Every name of the file is taken by some provider or reported as removed, and there is no other name."""
    taken = frozenset[str]().union(*(assignment.taken(each.provider) for each in assignment.subgraphs))
    return taken | set(assignment.gone) == set(assignment.names) and not taken & set(assignment.gone)


def run(job: Mapping[str, object], folder: Path, *, name: str = "runtime") -> Json:
    environment = ENVIRONMENTS[name]()
    full = {"provider_options": {}, "entries": {}, "data_folder": None, "optimize": True, **job}
    return commands.run_job(
        [CHILD], full, folder, crash="", hint="", environment=environment.variables(), command=environment.command()
    )


class TestCpu:
    """The CPU provider, the fallback of every other one, in the version that ships."""

    @pytest.fixture(autouse=True)
    def environment(self) -> None:
        have("runtime")

    def test_every_node_of_an_ort_file_is_named_as_in_the_file(self, tmp_path: Path) -> None:
        found = measure(ort_format(convolutions(tmp_path), is_fused=False), None, "cpu", {}, tmp_path)
        assert found.names == NODES
        assert found.taken(NAMES["cpu"]) == set(NODES)
        assert (found.gone, found.refusal) == ((), "")
        assert found.by == "ONNX Runtime " + str(downloads.pins()["android"]["onnxruntime"]).rpartition(":")[2]

    def test_nodes_that_are_merged_before_any_provider_is_asked_are_gone(self, tmp_path: Path) -> None:
        graph = "(float[2] x) => (float[2] y) { [same] i = Identity (x) [kept] y = Relu (i) }"
        found = measure(saved(tmp_path / "m.onnx", onnx_model(graph)), None, "cpu", {}, tmp_path)
        assert found.taken(NAMES["cpu"]) == {"kept"}
        assert found.gone == ("same",)

    def test_nodes_in_branches_are_named_too(self, tmp_path: Path) -> None:
        graph = """(bool c, float[2] x) => (float[2] y) {
            [choice] y = If (c) <
                then_branch = t () => (float[2] a) { [yes] a = Relu (x) },
                else_branch = e () => (float[2] b) { [no] b = Neg (x) }
            >
        }"""
        found = measure(saved(tmp_path / "m.onnx", onnx_model(graph)), None, "cpu", {}, tmp_path)
        assert set(found.names) == {"choice", "yes", "no"}
        assert found.taken(NAMES["cpu"]) == {"choice", "yes", "no"}

    def test_weights_may_lie_in_another_folder(self, tmp_path: Path) -> None:
        model = onnx.load(convolutions(tmp_path))
        (tmp_path / "data").mkdir()
        onnx.save(model, tmp_path / "data" / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
        graph = tmp_path / "elsewhere" / "graph.onnx"
        saved(graph, onnx.load(tmp_path / "data" / "m.onnx", load_external_data=False))
        found = measure(graph, tmp_path / "data", "cpu", {}, tmp_path)
        assert found.taken(NAMES["cpu"]) == set(NODES)

    def test_a_file_that_is_no_model_is_a_model_error(self, tmp_path: Path) -> None:
        (tmp_path / "m.ort").write_bytes(b"not a model")
        with pytest.raises(ModelError, match="ONNX Runtime cannot open the ORT-format file"):
            measure(tmp_path / "m.ort", None, "cpu", {}, tmp_path)

    def test_a_provider_that_this_onnxruntime_lacks_is_refused_not_replaced_by_the_cpu(self, tmp_path: Path) -> None:
        answer = run(
            {"task": "assign", "model": str(convolutions(tmp_path)), "provider": "CoreMLExecutionProvider"}, tmp_path
        )
        assert answer["error"] == "this ONNX Runtime has no provider CoreMLExecutionProvider"
        assert not answer["is_usable"]


class TestQnn:
    """Qualcomm's provider, on its simulator."""

    @pytest.fixture(autouse=True)
    def environment(self) -> None:
        have("qnn")

    @pytest.mark.parametrize("is_fused", [None, False], ids=["onnx", "plain ort"])
    def test_it_takes_the_whole_of_a_graph_nothing_was_fused_in(self, is_fused: bool | None, tmp_path: Path) -> None:
        model = convolutions(tmp_path)
        path = model if is_fused is None else ort_format(model, is_fused=is_fused)
        found = measure(path, None, "qnn", {}, tmp_path)
        assert found.taken(NAMES["qnn"]) == set(NODES)
        assert [each.provider for each in found.subgraphs] == [NAMES["qnn"]]
        assert found.refusal == ""
        added = [node.op for node in found.subgraphs[0].nodes if not node.names]
        assert added == ["Transpose", "Transpose"], "it computes in another layout: into it and out of it"
        assert found.by == f"ONNX Runtime {onnxruntime.__version__}, QNN 2.7.0 on the HTP simulator"

    def test_it_leaves_what_was_fused_for_the_cpu_and_refuses_the_file(self, tmp_path: Path) -> None:
        found = measure(ort_format(convolutions(tmp_path), is_fused=True), None, "qnn", {}, tmp_path)
        left = {node.op for each in found.subgraphs if each.provider == NAMES["cpu"] for node in each.nodes}
        assert left == {"FusedConv"}
        assert accounted_for(found)

    @pytest.mark.parametrize("element", ["uint8", "int8"])
    def test_conversions_that_a_layout_change_renames_are_counted_with_what_they_serve(
        self, element: str, tmp_path: Path
    ) -> None:
        found = measure(ort_format(quantized(tmp_path, element), is_fused=False), None, "qnn", {}, tmp_path)
        assert accounted_for(found)
        assert found.gone == ()
        assert found.taken(NAMES["qnn"]) >= {"conv", "wd", "cq", "cd", "r"}

    def test_a_provider_that_does_not_work_is_not_one_that_takes_nothing(self, tmp_path: Path) -> None:
        """The plug-in logs that it cannot load its library, and leaves every node to the CPU."""
        with pytest.raises(ToolError, match=r"qnn opens no model on this machine: .*takes no Relu"):
            measure(convolutions(tmp_path), None, "qnn", {"backend_type": "cpu"}, tmp_path)

    def test_a_graph_that_it_takes_nothing_of_is_measured_as_such(self, tmp_path: Path) -> None:
        graph = "(double[2] x) => (double[2] y) { [only] y = Relu (x) }"
        found = measure(saved(tmp_path / "m.onnx", onnx_model(graph)), None, "qnn", {}, tmp_path)
        assert found.taken(NAMES["qnn"]) == set()
        assert found.taken(NAMES["cpu"]) == {"only"}

    def test_onnxruntime_records_nothing_for_ort_format_which_is_why_the_graph_is_exported(
        self, tmp_path: Path
    ) -> None:
        path = ort_format(convolutions(tmp_path), is_fused=False)
        options = {"backend_type": "htp", "soc_model": "57"}
        job = {"task": "assign", "model": str(path), "provider": "qnn", "provider_options": options}
        assert run(job, tmp_path, name="qnn")["subgraphs"] == []


class TestWebGpu:
    """The WebGPU provider, computing on the processor."""

    @pytest.fixture(autouse=True)
    def environment(self) -> None:
        have("webgpu")

    def test_it_takes_nodes_one_by_one_and_leaves_what_it_has_no_kernel_for(self, tmp_path: Path) -> None:
        graph = "(float[2] x) => (bool[2] n) { [kept] r = Relu (x) [left] n = IsNaN (r) }"
        found = measure(saved(tmp_path / "m.onnx", onnx_model(graph)), None, "webgpu", {}, tmp_path)
        assert found.taken(NAMES["webgpu"]) == {"kept"}
        assert found.taken(NAMES["cpu"]) == {"left"}
        assert found.by == f"ONNX Runtime {onnxruntime.__version__}, WebGPU 0.4.0 on Mesa's lavapipe"

    def test_it_leaves_the_nodes_that_a_setting_names(self, tmp_path: Path) -> None:
        settings = {"ep.webgpuexecutionprovider.forceCpuNodeNames": "second\ny"}
        found = measure(convolutions(tmp_path), None, "webgpu", {}, tmp_path, settings)
        assert found.taken(NAMES["webgpu"]) >= {"first", "r"}
        assert found.taken(NAMES["cpu"]) == {"second", "y"}

    def test_an_ort_file_with_cpu_fusions_does_not_open_on_it(self, tmp_path: Path) -> None:
        found = measure(ort_format(convolutions(tmp_path), is_fused=True), None, "webgpu", {}, tmp_path)
        assert "com.ms.internal.nhwc" in found.refusal
        assert measure(ort_format(convolutions(tmp_path), is_fused=False), None, "webgpu", {}, tmp_path).refusal == ""

    def test_without_a_graphics_processor_it_fails_and_does_not_compute_on_the_cpu(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        variables = {**ENVIRONMENTS["webgpu"]().variables(), "VK_DRIVER_FILES": "none", "VK_ICD_FILENAMES": "none"}
        monkeypatch.setattr(ENVIRONMENTS["webgpu"], "variables", lambda self: variables)
        with pytest.raises(ToolError, match=r"webgpu opens no model on this machine: .*adapter"):
            measure(convolutions(tmp_path), None, "webgpu", {}, tmp_path)


def test_a_real_model_is_measured_to_the_last_node(tmp_path: Path) -> None:
    from tests.toolchain import models

    have("qnn")
    fetched("model-orientation")
    model = onnx.load(models.orientation())
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 1
    path = saved(tmp_path / "orientation.onnx", model)
    require(len(model.graph.node) == 115, "another model than the one that was counted")
    whole = measure(path, None, "qnn", {}, tmp_path)
    assert (len(whole.taken(NAMES["qnn"])), len(whole.gone), len(whole.subgraphs)) == (73, 42, 1)
    plain = measure(ort_format(path, is_fused=False), None, "qnn", {}, tmp_path)
    assert (len(plain.taken(NAMES["qnn"])), len(plain.names), len(plain.subgraphs)) == (101, 101, 1)
    fused = measure(ort_format(path, is_fused=True), None, "qnn", {}, tmp_path)
    assert (len(fused.taken(NAMES["qnn"])), len(fused.names)) == (93, 97)
    assert "GetCapability" in fused.refusal, "the plug-in opens ORT-format files in one piece only"


BRANCHES = """(bool c, float[2] x) => (float[2] y) {
    y = If (c) <
        then_branch = up () => (float[2] a) { a = Abs (x) },
        else_branch = down () => (float[2] b) { b = Neg (x) }
    >
}"""


def test_a_model_with_branches_can_be_asked_about_in_ort_format(tmp_path: Path) -> None:
    """ORT format does not keep the names of branches, which ONNX requires."""
    have("runtime")
    model = saved(tmp_path / "branches.onnx", onnx_model(BRANCHES))
    found = measure(ort_format(model, is_fused=True), None, "cpu", {}, tmp_path)
    assert found.refusal == ""
    assert accounted_for(found)
    assert {node.op for subgraph in found.subgraphs for node in subgraph.nodes} == {"If", "Abs", "Neg"}
