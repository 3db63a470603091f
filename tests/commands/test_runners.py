"""Runners open every file that they can, and report clearly the files that they cannot open and missing parts."""

import os
import platform
import sys
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest

from packager.core.errors import ModelError, ToolError
from packager.engines.environments import ENVIRONMENTS
from packager.engines.runners import GRAPH, Outcome, Runnable, Runner
from packager.engines.runners.reference import OnnxReference
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.cases.runners import ISOLATED, RELU, no_environments

__all__ = ["no_environments"]


def given(folder: Path, **arrays: Any) -> Path:
    numpy.savez(folder / "sample.npz", **arrays)
    return folder / "sample.npz"


def run(runner: Runner, model: Runnable, folder: Path, sample: Path) -> tuple[Outcome, "list[numpy.ndarray[Any, Any]]"]:
    outputs = folder / "outputs"
    outputs.mkdir()
    with runner.open(model, folder) as session:
        outcome = session.run(sample, outputs)
    return outcome, [numpy.load(outputs / f"{index}.npy") for index in range(len(list(outputs.iterdir())))]


@pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux", reason="the folders are for x86_64 Linux"
)
@pytest.mark.parametrize(
    ("name", "what"), [("arm64", "qemu-aarch64"), ("qnn", "onnxruntime"), ("webgpu", "onnxruntime")]
)
def test_an_environment_that_lost_its_files_is_a_tool_error_that_says_how_to_make_it_again(
    name: str, what: str, no_environments: Path, tmp_path: Path
) -> None:
    runner = ISOLATED[name]
    variables = {**ENVIRONMENTS[name]().variables()}
    inside = next(Path(value.split(":")[0]) for value in variables.values() if str(no_environments) in value)
    inside.mkdir(parents=True)
    assert runner.missing() == ""
    with pytest.raises(ToolError, match=rf"^the environment {name} does not work: .*{what}") as error:
        runner.open(Runnable(path=saved(tmp_path / "m.onnx", onnx_model(RELU))), tmp_path)
    assert error.value.hint.endswith(f"then run: mobpack doctor --install {name}")


class TestReference:
    """onnx's own implementation, in a process of this Python."""

    def test_it_computes_what_the_standard_says(self, tmp_path: Path) -> None:
        graph = "(float[2,3] x) => (float[2,4] y, string[1] s) { y = MatMul (x, w) s = Identity (k) }"
        model = onnx_model(graph, weights={"w": weight(3, 4)})
        words = onnx.TensorProto(name="k", data_type=onnx.TensorProto.STRING, dims=[1], string_data=[b"word"])
        model.graph.initializer.append(words)
        x = weight(2, 3, seed=1)
        outcome, (y, s) = run(
            OnnxReference(), Runnable(path=saved(tmp_path / "m.onnx", model)), tmp_path, given(tmp_path, x=x)
        )
        assert outcome == Outcome(outputs=tmp_path / "outputs")
        numpy.testing.assert_allclose(y, numpy.matmul(x, weight(3, 4)), rtol=1e-6)
        assert (s.dtype.kind, s.tolist()) == ("U", ["word"])
        assert OnnxReference.OPENS == GRAPH

    def test_strings_go_in_and_come_out(self, tmp_path: Path) -> None:
        model = saved(tmp_path / "m.onnx", onnx_model("(string[2] x) => (string[2] y) { y = Identity (x) }"))
        _, (y,) = run(OnnxReference(), Runnable(path=model), tmp_path, given(tmp_path, x=numpy.array(["a", "ü"])))
        assert y.tolist() == ["a", "ü"]

    def test_weights_may_lie_beside_the_model_or_in_another_folder(self, tmp_path: Path) -> None:
        model = onnx_model("(float[1,64] x) => (float[1,8] y) { y = MatMul (x, w) }", weights={"w": weight(64, 8)})
        (tmp_path / "data").mkdir()
        beside = tmp_path / "data" / "m.onnx"
        onnx.save(model, beside, save_as_external_data=True, location="w.bin", size_threshold=0)
        x = weight(1, 64, seed=1)
        for folder, elsewhere in (("one", False), ("two", True)):
            (tmp_path / folder).mkdir()
            copy = tmp_path / folder / "graph.onnx"
            copy.write_bytes(beside.read_bytes())
            runnable = Runnable(path=copy, data_folder=tmp_path / "data") if elsewhere else Runnable(path=beside)
            _, (y,) = run(OnnxReference(), runnable, tmp_path / folder, given(tmp_path, x=x))
            numpy.testing.assert_allclose(y, numpy.matmul(x, weight(64, 8)), rtol=1e-5)

    def test_what_it_has_no_operator_for_is_refused_in_its_words(self, tmp_path: Path) -> None:
        model = onnx_model(RELU, opsets={"": 17, "ours": 1})
        model.graph.node[0].domain = "ours"
        with pytest.raises(ModelError, match=r"cannot load the model: .*ours"):
            OnnxReference().open(Runnable(path=saved(tmp_path / "m.onnx", model)), tmp_path)

    def test_a_sample_it_refuses_is_an_outcome_and_the_next_one_runs(self, tmp_path: Path) -> None:
        graph = "(float[4] x, int64[1] shape) => (float[?] y) { y = Reshape (x, shape) }"
        model = Runnable(path=saved(tmp_path / "m.onnx", onnx_model(graph)))
        for name in ("refused", "fine"):
            (tmp_path / name).mkdir()
        x = numpy.zeros(4, numpy.float32)
        with OnnxReference().open(model, tmp_path) as session:
            refused = session.run(given(tmp_path / "refused", x=x, shape=numpy.array([3])), tmp_path / "refused")
            fine = session.run(given(tmp_path / "fine", x=x, shape=numpy.array([4])), tmp_path / "fine")
            assert (session.placed, session.node_count) == (None, None)
            assert session.about.startswith(f"onnx {onnx.__version__}'s reference implementation, numpy ")
        assert refused.outputs is None
        assert "ValueError: cannot reshape" in refused.error
        assert fine == Outcome(outputs=tmp_path / "fine")

    def test_large_models_are_refused_unopened(self, tmp_path: Path) -> None:
        shape = "(float[1,2048] x) => (float[1,2048] y) { y = MatMul (x, w) }"
        large = onnx_model(shape, weights={"w": numpy.zeros((2048, 2048), numpy.float32)})
        onnx.save(large, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
        model = Runnable(path=tmp_path / "m.onnx")
        assert OnnxReference(largest_mib=16).cannot_open(model) == ""
        refusal = "too large for onnx's reference implementation: 16 MiB of weights, over 15"
        assert OnnxReference(largest_mib=15).cannot_open(model) == refusal

    def test_files_in_ort_format_are_not_for_it(self) -> None:
        assert "does not read ORT format" in OnnxReference().cannot_open(Runnable(path=Path("m.ort")))

    def test_bytes_that_are_no_model_are_refused_not_a_traceback(self, tmp_path: Path) -> None:
        (tmp_path / "m.onnx").write_bytes(b"not a model")
        model = Runnable(path=tmp_path / "m.onnx")
        assert OnnxReference().cannot_open(model) == ""
        with pytest.raises(ModelError, match="cannot load the model: DecodeError"):
            OnnxReference().open(model, tmp_path)

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems limit nothing")
    def test_a_run_that_would_take_all_memory_is_refused_in_words(self, tmp_path: Path) -> None:
        graph = "(int64[1] n) => (float[?] y) { y = ConstantOfShape (n) }"
        model = Runnable(path=saved(tmp_path / "m.onnx", onnx_model(graph)))
        outcome, arrays = run(OnnxReference(memory_mib=512), model, tmp_path, given(tmp_path, n=numpy.array([2**28])))
        assert outcome.error == "onnx's reference implementation needs more than 512 MiB of memory"
        assert arrays == []

    @pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
    @pytest.mark.parametrize("interruption", [KeyboardInterrupt, ValueError])
    def test_no_process_is_left_when_the_caller_is_interrupted(
        self, interruption: type[BaseException], tmp_path: Path
    ) -> None:
        model = Runnable(path=saved(tmp_path / "m.onnx", onnx_model(RELU)))
        before = children()

        def work() -> None:
            with OnnxReference().open(model, tmp_path):
                assert len(children() - before) == 1
                raise interruption

        with pytest.raises(interruption):
            work()
        assert children() <= before


def children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())
