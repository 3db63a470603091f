"""Runners in their isolated environments compute what the CPU computes, on small models and on real ones."""

import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import numpy.typing
import onnx
import pytest

from packager.core.errors import ModelError, ToolError
from packager.engines.environments.runtime import shipped_version
from packager.engines.runners import RUNNERS, Outcome, Runnable, Runner
from packager.engines.runners.arm64 import Arm64
from packager.engines.runners.cpu import Cpu
from tests.cases.assign import convolutions as two_convolutions
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.engines.test_assign import ort_format
from tests.nights import at_night
from tests.toolchain import models
from tests.toolchain.environments import have
from tests.toolchain.require import fetched

Array = numpy.typing.NDArray[Any]

ENVIRONMENT = {"xnnpack": "android"}
"""Of the runners whose environment has another name."""
CONVOLUTION = "(float[1,3,8,8] x) => (float[1,4,8,8] y) { c = Conv <pads = [1,1,1,1]> (x, k) y = Relu (c) }"
SATURATING = """(uint8[1,64] x) => (float[1,16] y) {
    d = DequantizeLinear (x, s, z)
    f = DequantizeLinear (w, s, c)
    m = MatMul (d, f)
    q = QuantizeLinear (m, t, z)
    y = DequantizeLinear (q, t, z)
}"""
"""Products of the largest uint8 and int8 numbers: the sum of two exceeds 16 bits, in which AVX2 adds them."""

on_x86 = pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux", reason="emulates x86_64 on x86_64"
)


@dataclass(frozen=True, kw_only=True)
class Ran:
    outcome: Outcome
    outputs: list[Array]
    about: str
    placed: int | None
    node_count: int | None


def ready(name: str) -> tuple[Runner, ...]:
    """The runners called `name`, their environments installed."""
    have(ENVIRONMENT.get(name, name))
    runners = RUNNERS[name]("")
    assert [runner.missing() for runner in runners] == [""] * len(runners)
    return runners


def run(runner: Runner, model: Path | Runnable, folder: Path, feed: Mapping[str, Array]) -> Ran:
    scratch = folder / f"{runner.label()} {len(list(folder.iterdir()))}"
    (scratch / "outputs").mkdir(parents=True)
    numpy.savez(scratch / "sample.npz", allow_pickle=False, **feed)
    runnable = model if isinstance(model, Runnable) else Runnable(path=model)
    with runner.open(runnable, scratch) as session:
        outcome = session.run(scratch / "sample.npz", scratch / "outputs")
        count = len(list((scratch / "outputs").iterdir()))
        outputs = [numpy.load(scratch / "outputs" / f"{index}.npy") for index in range(count)]
        return Ran(
            outcome=outcome, outputs=outputs, about=session.about, placed=session.placed, node_count=session.node_count
        )


def worst(actual: Ran, expected: Ran) -> float:
    """Largest error of any output, as a share of its largest value."""
    assert len(actual.outputs) == len(expected.outputs) > 0
    return max(
        float(numpy.abs(a.astype(float) - e.astype(float)).max() / numpy.abs(e).max())
        for a, e in zip(actual.outputs, expected.outputs, strict=True)
    )


def convolution(folder: Path) -> Path:
    return saved(folder / "conv.onnx", onnx_model(CONVOLUTION, weights={"k": weight(4, 3, 3, 3)}))


PICTURE = {"x": weight(1, 3, 8, 8, seed=1)}
WORDS = {
    "arm64": f"ONNX Runtime {shipped_version()} on an emulated cortex-a53",
    "qnn": "ONNX Runtime 1.31.1, QNN 2.7.0 on the HTP simulator",
    "webgpu": "ONNX Runtime 1.31.1, WebGPU 0.4.0 on Mesa's lavapipe",
    "x86_64": f"ONNX Runtime {shipped_version()} on an emulated Haswell",
    "xnnpack": f"ONNX Runtime {shipped_version()} for Android on x86_64, XNNPACK",
}
PLACED = {"arm64": (None, None), "qnn": (4, 4), "webgpu": (2, 2), "x86_64": (None, None), "xnnpack": (2, 4)}


@on_x86
@pytest.mark.parametrize("name", WORDS)
def test_a_convolution_is_the_same_everywhere_after_a_sample_that_is_refused(name: str, tmp_path: Path) -> None:
    runner = ready(name)[0]
    numpy.savez(tmp_path / "wrong.npz", x=numpy.zeros((1, 3, 8, 7), "float32"))
    numpy.savez(tmp_path / "right.npz", allow_pickle=False, **PICTURE)
    (tmp_path / "outputs").mkdir()
    model = convolution(tmp_path)
    with runner.open(Runnable(path=model), tmp_path) as session:
        refused = session.run(tmp_path / "wrong.npz", tmp_path / "outputs")
        assert (refused.outputs, list((tmp_path / "outputs").iterdir())) == (None, [])
        assert "7" in refused.error
        assert "8" in refused.error
        assert session.run(tmp_path / "right.npz", tmp_path / "outputs") == Outcome(outputs=tmp_path / "outputs")
        assert (session.about, session.placed, session.node_count) == (WORDS[name], *PLACED[name])
    assert [path.name for path in (tmp_path / "outputs").iterdir()] == ["0.npy"]
    (wanted,) = run(Cpu(), model, tmp_path, PICTURE).outputs
    found = numpy.load(tmp_path / "outputs" / "0.npy")
    assert numpy.abs(found - wanted).max() / numpy.abs(wanted).max() < (1e-2 if name == "qnn" else 1e-6)


def saturating(folder: Path) -> tuple[Path, dict[str, Array], Array]:
    """A model, the input that saturates it, and the exact output."""
    weights: dict[str, Array] = {
        "w": numpy.full((64, 16), 127, "int8"),
        "s": numpy.array(0.02, "float32"),
        "t": numpy.array(4, "float32"),
        "z": numpy.array(0, "uint8"),
        "c": numpy.array(0, "int8"),
    }
    exact = numpy.full((1, 16), numpy.round(64 * 255 * 127 * 0.02 * 0.02 / 4) * 4, "float32")
    path = saved(folder / "saturating.onnx", onnx_model(SATURATING, weights=weights))
    return path, {"x": numpy.full((1, 64), 255, "uint8")}, exact


def test_arm_cores_compute_8_bit_numbers_exactly(tmp_path: Path) -> None:
    model, feed, exact = saturating(tmp_path)
    for runner in (ready("arm64")[0], *at_night(*ready("arm64")[1:])):
        (output,) = run(runner, model, tmp_path, feed).outputs
        numpy.testing.assert_array_equal(output, exact, err_msg=runner.label())


@dataclass(frozen=True, kw_only=True)
class Real:
    """A real model and one input."""

    pin: str
    path: Callable[[], Path]
    feed: Callable[[], Mapping[str, Array]]
    sizes: Mapping[str, int]
    """the value of each free dimension"""


def numbers(*shape: int) -> Array:
    return numpy.random.default_rng(0).random(shape, numpy.float32)


def tokens() -> Mapping[str, Array]:
    ones = numpy.ones((1, 16), numpy.int64)
    words = numpy.random.default_rng(0).integers(0, 1000, (1, 16))
    return {"input_ids": words, "attention_mask": ones, "token_type_ids": 0 * ones}


def speech() -> Mapping[str, Array]:
    return {
        "input": numbers(1, 576) - 0.5,
        "state": numpy.zeros((2, 1, 128), numpy.float32),
        "sr": numpy.array(16000, numpy.int64),
    }


REAL = {
    "orientation": Real(
        pin="model-orientation",
        path=models.orientation,
        feed=lambda: {"x": numbers(1, 3, 224, 224)},
        sizes={"DynamicDimension.0": 1},
    ),
    "silero-vad": Real(pin="model-silero-vad", path=models.silero_vad, feed=speech, sizes={}),
    "minilm": Real(pin="model-minilm", path=models.minilm, feed=tokens, sizes={}),
}


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Mapping[str, Array], Ran]]:
    """A real model by its name: its file, an input, and what the CPU makes of it node by node."""
    known: dict[str, tuple[Path, Mapping[str, Array], Ran]] = {}

    def get(name: str) -> tuple[Path, Mapping[str, Array], Ran]:
        if name not in known:
            folder = tmp_path_factory.mktemp(name)
            fetched(REAL[name].pin)
            model = onnx.load(REAL[name].path())
            for value in (*model.graph.input, *model.graph.output):
                for dimension in value.type.tensor_type.shape.dim:
                    if dimension.dim_param in REAL[name].sizes:
                        dimension.dim_value = REAL[name].sizes[dimension.dim_param]
            path = saved(folder / "model.onnx", model)
            feed = REAL[name].feed()
            known[name] = path, feed, run(Cpu(), Runnable(path=path, is_optimized=False), folder, feed)
        return known[name]

    return get


@on_x86
@pytest.mark.parametrize(
    ("runner", "model", "limit"),
    [
        *at_night(("arm64", "orientation", 1e-6)),
        ("arm64", "silero-vad", 1e-6),
        *at_night(("arm64", "minilm", 2e-6)),
        ("qnn", "orientation", 3e-2),  # in 16 bits
        ("qnn", "silero-vad", 1e-6),
        ("qnn", "minilm", 1e-6),
        *at_night(("webgpu", "orientation", 1e-6)),
        ("webgpu", "minilm", 2e-6),
        ("webgpu", "silero-vad", 1e-4),
        *at_night(("x86_64", "orientation", 1e-6)),
        ("x86_64", "silero-vad", 1e-6),
        *at_night(("x86_64", "minilm", 2e-6)),
        ("xnnpack", "orientation", 2e-6),
        ("xnnpack", "minilm", 2e-6),
    ],
)
def test_real_models_are_as_close_to_the_original_as_measured(
    runner: str, model: str, limit: float, real: Callable[[str], tuple[Path, Mapping[str, Array], Ran]], tmp_path: Path
) -> None:
    path, feed, expected = real(model)
    runners = ready(runner)
    for each in runners if model == "orientation" else runners[-1:]:
        found = run(each, path, tmp_path, feed)
        assert worst(found, expected) < limit, each.label()
        assert found.placed is None or 0 < found.placed <= (found.node_count or 0)


@on_x86
def test_webgpu_computes_a_convolution_of_any_channels(tmp_path: Path) -> None:
    """In one dimension with 129 channels it does not in the layout NHWC: trap 21 of test_provider_traps.py."""
    graph = """(float[1,128,4] a, float[1,129,4] b) => (float[1,128,4] c, float[1,128,4] d) {
        c = Conv <pads = [1,1]> (a, k)
        d = Conv <pads = [1,1]> (b, l)
    }"""
    weights = {"k": weight(128, 128, 3), "l": weight(128, 129, 3)}
    model = saved(tmp_path / "m.onnx", onnx_model(graph, weights=weights))
    feed = {"a": weight(1, 128, 4, seed=1), "b": weight(1, 129, 4, seed=1)}
    (runner,) = ready("webgpu")
    assert worst(run(runner, model, tmp_path, feed), run(Cpu(), model, tmp_path, feed)) < 1e-6


def only_in_double(folder: Path) -> Path:
    """A model of which no provider takes a node."""
    return saved(folder / "double.onnx", onnx_model("(double[2] x) => (double[2] y) { y = Relu (x) }"))


@on_x86
@pytest.mark.parametrize("is_ort", [False, True], ids=["onnx", "ort"])
@pytest.mark.parametrize(
    ("name", "provider"),
    [("qnn", "QNNExecutionProvider"), ("webgpu", "WebGpuExecutionProvider"), ("xnnpack", "XnnpackExecutionProvider")],
)
def test_a_provider_that_takes_no_node_is_not_taken_for_the_cpu(
    name: str, provider: str, is_ort: bool, tmp_path: Path
) -> None:
    (runner,) = ready(name)
    model = only_in_double(tmp_path)
    path = ort_format(model, is_fused=False) if is_ort else model
    with pytest.raises(ModelError, match=f"^{provider} takes no node of it$"):
        runner.open(Runnable(path=path), tmp_path)


@on_x86
@pytest.mark.parametrize("name", ["qnn", "webgpu"])
def test_files_in_ort_format_open_too(name: str, tmp_path: Path) -> None:
    (runner,) = ready(name)
    path = ort_format(convolution(tmp_path), is_fused=False)
    found = run(runner, path, tmp_path, PICTURE)
    assert worst(found, run(Cpu(), path, tmp_path, PICTURE)) < (1e-2 if name == "qnn" else 1e-6)
    assert (found.placed, found.node_count) == (None, None), "nobody says what is in a piece of an ORT-format file"


@on_x86
@pytest.mark.parametrize(("name", "words"), [("x86_64", "the runtime crashed while"), ("xnnpack", "crashed on it")])
def test_a_model_that_takes_its_process_down_is_a_model_error_with_the_signal(
    name: str, words: str, tmp_path: Path
) -> None:
    """x86 traps on the division of the lowest integer by -1."""
    graph = """(int32[1] x, float[1,3,8,8] p) => (int32[1] y, float[1,4,8,8] c) {
        lowest = Constant <value = int32[1] {-2147483648}> ()
        y = Div (lowest, x)
        c = Conv <pads = [1,1,1,1]> (p, k)
    }"""
    model = saved(tmp_path / "m.onnx", onnx_model(graph, weights={"k": weight(4, 3, 3, 3)}))
    (runner,) = ready(name)
    with pytest.raises(ModelError, match=rf"{words}.*\(SIGFPE\)$"):
        run(runner, model, tmp_path, {"x": numpy.array([-1], "int32"), "p": PICTURE["x"]})


@on_x86
def test_webgpu_without_an_adapter_does_not_work_and_does_not_compute_on_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (runner,) = ready("webgpu")
    monkeypatch.setattr("packager.engines.environments.webgpu.system_driver", lambda: None)
    monkeypatch.setattr("packager.engines.environments.webgpu._variables", without_driver)
    with pytest.raises(ToolError, match=r"the runner does not work on this machine: .*adapter"):
        runner.open(Runnable(path=convolution(tmp_path)), tmp_path)


def without_driver(folder: Path) -> Mapping[str, str]:
    from packager.engines.environments.environment import isolated_variables

    none = {"VK_DRIVER_FILES": "none", "VK_ICD_FILENAMES": "none", "ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER": "1"}
    return {**isolated_variables(folder / "site"), **none}


@on_x86
def test_qnn_refuses_an_ort_file_that_the_cpu_has_a_part_of(tmp_path: Path) -> None:
    """A limit of plug-in 2.7.0; this test fails when it is gone."""
    (runner,) = ready("qnn")
    with pytest.raises(ModelError, match="takes no node of it"):
        runner.open(Runnable(path=ort_format(two_convolutions(tmp_path), is_fused=True)), tmp_path)


class TestXnnpack:
    """In ONNX Runtime's Android library: each sample is passed as raw files."""

    @pytest.fixture(autouse=True)
    def environment(self) -> None:
        (self.runner,) = ready("xnnpack")

    def test_every_element_type_and_shape_comes_through(self, tmp_path: Path) -> None:
        kinds = ("float32", "float64", "uint8", "int8", "uint16", "int16", "int32", "int64", "bool", "float16")
        inputs = [f"{onnx_name(kind)}[2,n] x{index}" for index, kind in enumerate(kinds)]
        outputs = [f"{onnx_name(kind)}[2,n] y{index}" for index, kind in enumerate(kinds)]
        body = " ".join(f"y{index} = Identity (x{index})" for index in range(len(kinds)))
        values = (
            f"(float[1,3,8,8] p, float s, {', '.join(inputs)}) => (float[1,4,8,8] c, float t, {', '.join(outputs)})"
        )
        graph = f"""{values} {{
            c = Conv <pads = [1,1,1,1]> (p, k)
            t = Identity (s)
            {body}
        }}"""
        model = saved(tmp_path / "m.onnx", onnx_model(graph, weights={"k": weight(4, 3, 3, 3)}))
        for columns in (3, 0):
            feed: dict[str, Array] = {"p": PICTURE["x"], "s": numpy.array(2.5, "float32")}
            feed |= {f"x{index}": numpy.ones((2, columns), kind) for index, kind in enumerate(kinds)}
            found = run(self.runner, model, tmp_path, feed)
            assert found.outcome.error == ""
            assert (found.outputs[1].shape, float(found.outputs[1])) == ((), 2.5)
            for index, kind in enumerate(kinds):
                numpy.testing.assert_array_equal(found.outputs[index + 2], feed[f"x{index}"], strict=True, err_msg=kind)

    def test_strings_are_refused_in_words(self, tmp_path: Path) -> None:
        graph = """(string[1] w, float[1,3,8,8] p) => (string[1] v, float[1,4,8,8] c) {
            v = Identity (w)
            c = Conv <pads = [1,1,1,1]> (p, k)
        }"""
        model = saved(tmp_path / "m.onnx", onnx_model(graph, weights={"k": weight(4, 3, 3, 3)}))
        found = run(self.runner, model, tmp_path, {"w": numpy.array(["a"]), "p": PICTURE["x"]})
        assert found.outcome == Outcome(outputs=None, error="input 'w': the runner xnnpack does not support strings")

    def test_weights_may_lie_in_another_folder(self, tmp_path: Path) -> None:
        model = convolution(tmp_path)
        expected = run(Cpu(), model, tmp_path, PICTURE)
        (tmp_path / "data").mkdir()
        beside = tmp_path / "data" / "m.onnx"
        onnx.save(onnx.load(model), beside, save_as_external_data=True, location="w.bin", size_threshold=0)
        graph = saved(tmp_path / "elsewhere" / "graph.onnx", onnx.load(beside, load_external_data=False))
        found = run(self.runner, Runnable(path=graph, data_folder=tmp_path / "data"), tmp_path, PICTURE)
        assert worst(found, expected) < 1e-6


def onnx_name(kind: str) -> str:
    """Name in ONNX's text of a numpy element type."""
    return {"float32": "float", "float64": "double"}.get(kind, kind)


def test_a_file_that_computes_in_16_bits_runs_on_the_cores_that_can(tmp_path: Path) -> None:
    cores = [runner for runner in ready("arm64") if isinstance(runner, Arm64)]
    graph = "(float16[1,64] x) => (float16[1,8] y) { y = MatMul (x, w) }"
    weights = {"w": weight(64, 8).astype("float16")}
    model = Runnable(path=saved(tmp_path / "m.onnx", onnx_model(graph, weights=weights)), needs_fp16=True)
    feed = {"x": weight(1, 64, seed=1).astype("float16")}
    exact = feed["x"].astype(float) @ weights["w"].astype(float)
    able = [core for core in cores if not core.cannot_open(model)]
    assert len(able) > 0
    (output,) = run(able[0], model, tmp_path, feed).outputs
    assert output.dtype == numpy.float16
    assert numpy.abs(output - exact).max() < 0.02 * numpy.abs(exact).max()
