"""Graphs compiled for one SoC: self-contained, the same bytes every time, and computing what the graph computes."""

import shutil
from pathlib import Path

import numpy
import onnx
import onnxruntime
import pytest

from packager.compile.ep_context import compile_context
from packager.core.errors import ModelError
from packager.engines.environments import ENVIRONMENTS
from packager.files.hashes import sha256_of
from packager.files.processes import commands
from tests.cases.assign import convolutions
from tests.cases.onnx_text import onnx_model, saved
from tests.engines.test_assign import quantized
from tests.toolchain.environments import have

RUN = """
import json, sys, numpy, onnxruntime, onnxruntime_qnn as qnn
job = json.load(open(sys.argv[1]))
onnxruntime.register_execution_provider_library(qnn.get_ep_name(), qnn.get_library_path())
options = onnxruntime.SessionOptions()
options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
device = [each for each in onnxruntime.get_ep_devices() if each.ep_name == qnn.get_ep_name()][:1]
options.add_provider_for_devices(device, {"backend_type": "htp", "soc_model": job["soc"]})
session = onnxruntime.InferenceSession(job["model"], options, enable_fallback=0)
numpy.save(job["output"], session.run(None, {"x": numpy.load(job["input"])})[0])
taken = [node.op_type for each in session.get_provider_graph_assignment_info() for node in each.get_nodes()
         if each.ep_name == qnn.get_ep_name()]
print(json.dumps({"taken": taken}))
"""


class TestCompiled:
    @pytest.fixture(autouse=True)
    def environment(self) -> None:
        have("qnn")

    def test_it_holds_the_program_and_says_where_it_runs(self, tmp_path: Path) -> None:
        info = compile_context(quantized(tmp_path), None, "57", tmp_path / "out.onnx", tmp_path)
        proto = onnx.load(info.path)
        (context,) = [node for node in proto.graph.node if node.op_type == "EPContext"]
        attributes = {each.name: onnx.helper.get_attribute_value(each) for each in context.attribute}
        assert (attributes["embed_mode"], attributes["main_context"]) == (1, 1)
        assert len(attributes["ep_cache_context"]) > 10_000
        assert info.compatibility.split(":")[5] == "57"
        assert info.sdk_version.startswith("2.51.0.")
        assert info.sha256 == sha256_of(info.path)
        assert (info.context_count, dict(info.left)) == (1, {"DequantizeLinear": 1, "QuantizeLinear": 1})
        assert {each.domain for each in proto.opset_import} == {"", "com.microsoft"}
        assert not any(each.external_data for each in proto.graph.initializer)

    def test_the_same_graph_gives_the_same_bytes_in_any_folder_under_any_name(self, tmp_path: Path) -> None:
        model = quantized(tmp_path)
        found = set()
        for name in ("one", "another-folder/two", "three"):
            scratch = tmp_path / name
            scratch.mkdir(parents=True)
            graph = shutil.copy(model, scratch / f"{scratch.name}-secret.onnx")
            info = compile_context(Path(graph), None, "57", scratch / f"out-{scratch.name}.onnx", scratch)
            found.add(info.sha256)
            assert b"secret" not in info.path.read_bytes()
            assert str(tmp_path).encode() not in info.path.read_bytes()
        assert len(found) == 1

    def test_it_is_for_one_soc(self, tmp_path: Path) -> None:
        found = {
            soc: compile_context(quantized(tmp_path), None, soc, tmp_path / f"{soc}.onnx", tmp_path)
            for soc in ("43", "69", "87")
        }
        assert [info.compatibility.split(":")[5] for info in found.values()] == ["43", "69", "87"]
        assert len({info.sha256 for info in found.values()}) == 3

    def test_it_runs_on_the_simulator_and_computes_what_the_graph_computes(self, tmp_path: Path) -> None:
        model = quantized(tmp_path)
        info = compile_context(model, None, "57", tmp_path / "out.onnx", tmp_path)
        sample = numpy.random.default_rng(0).standard_normal((1, 3, 16, 16)).astype(numpy.float32)
        numpy.save(tmp_path / "x.npy", sample)
        (tmp_path / "run.py").write_text(RUN)
        environment = ENVIRONMENTS["qnn"]()
        job = {"model": str(info.path), "soc": "57", "input": str(tmp_path / "x.npy"), "output": f"{tmp_path}/y.npy"}
        answer = commands.run_job(
            [tmp_path / "run.py"],
            job,
            tmp_path,
            crash="",
            hint="",
            environment=environment.variables(),
            command=environment.command(),
        )
        assert answer == {"taken": ["EPContext"]}
        expected = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"]).run(None, {"x": sample})
        step = 0.05
        difference = numpy.abs(numpy.load(tmp_path / "y.npy") - expected[0]).max()
        assert 0 <= difference <= 1.01 * step, "one step of its last quantization at most"
        assert numpy.ptp(expected[0]) > 20 * step, "the outputs must differ from each other for that to mean something"

    def test_weights_may_lie_in_another_folder(self, tmp_path: Path) -> None:
        alone = compile_context(quantized(tmp_path), None, "57", tmp_path / "one.onnx", tmp_path)
        (tmp_path / "data").mkdir()
        model = onnx.load(quantized(tmp_path))
        onnx.save(model, tmp_path / "data" / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
        graph = saved(tmp_path / "graph.bin", onnx.load(tmp_path / "data" / "m.onnx", load_external_data=False))
        apart = compile_context(graph, tmp_path / "data", "57", tmp_path / "two.onnx", tmp_path)
        assert (apart.context_count, apart.left) == (alone.context_count, alone.left)
        assert not any(each.external_data for each in onnx.load(apart.path).graph.initializer)

    def test_float_models_compile_too(self, tmp_path: Path) -> None:
        info = compile_context(convolutions(tmp_path), None, "57", tmp_path / "out.onnx", tmp_path)
        assert (info.context_count, dict(info.left)) == (1, {})

    def test_a_graph_that_it_takes_nothing_of_is_refused_and_leaves_no_file(self, tmp_path: Path) -> None:
        graph = "(double[4] x) => (double[4] y) { y = Relu (x) }"
        with pytest.raises(ModelError, match=r"QNN takes no node|QNN cannot compile"):
            compile_context(saved(tmp_path / "m.onnx", onnx_model(graph)), None, "57", tmp_path / "out.onnx", tmp_path)
        assert not (tmp_path / "out.onnx").exists()

    def test_a_graph_that_onnxruntime_does_not_know_is_refused_in_words(self, tmp_path: Path) -> None:
        unknown = onnx_model("(float[2] x) => (float[2] y) { y = Frobnicate (x) }")
        with pytest.raises(ModelError, match=r"QNN cannot compile the model: .*Frobnicate"):
            compile_context(saved(tmp_path / "m.onnx", unknown), None, "57", tmp_path / "out.onnx", tmp_path)
        assert not (tmp_path / "out.onnx").exists()
