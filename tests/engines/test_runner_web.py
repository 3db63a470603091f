"""The runner `web` computes in WebAssembly what the CPU computes, and refuses in words what it cannot."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy
import onnx
import pytest

from packager.compile.compile import compile_plain, compile_unfused, compile_variant
from packager.config import Config
from packager.core.console import Console
from packager.core.errors import ModelError, ToolError
from packager.core.values import Choice, Compiled, Plan, baseline
from packager.engines.environments import SHIPPED, web
from packager.engines.environments.runtime import Runtime
from packager.engines.environments.web import Web as Environment
from packager.engines.environments.web import WebWithGpu
from packager.engines.runners import RUNNERS, Outcome, Pace, Runnable
from packager.engines.runners.cpu import Cpu
from packager.engines.runners.web import Web
from packager.files.store import Step, Store, closure
from packager.files.user_cache import cache_folder
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.web import Web as WebTarget
from packager.verification.evidence import KERNELS, prove_in_all
from packager.verification.numbers import PARITY
from packager.verification.partition.kernels import prove
from tests.cases.onnx_text import linear, loaded, onnx_model, saved, weight
from tests.engines.test_runners_isolated import REAL, Array, run, worst
from tests.toolchain import models
from tests.toolchain.environments import have
from tests.toolchain.require import fetched


def test_without_its_environment_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert Web().missing() == "not installed: run `mobpack doctor --install web`"
    monkeypatch.setattr(web, "node", lambda: "")
    assert Web().missing() == f"Node.js not found: {web.NO_NODE}"


def test_node_is_the_program_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that pip installs is a Python program, which hides the signal of a crash."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert Path(web.node()).read_bytes()[:2] != b"#!"


def test_its_results_are_kept_for_the_same_files_of_onnx_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Web().identity()
    assert str(web.runtime_file("binary")) in before
    monkeypatch.setattr(web, "_folder", lambda: Path("/elsewhere"))
    assert Web().identity() != before


def test_a_file_for_16_bits_is_not_for_the_web() -> None:
    assert Web().cannot_open(Runnable(path=Path("m.ort"), needs_fp16=True)).startswith("the file computes in 16 bits")
    assert RUNNERS["web"]("") == (Web(),)


@pytest.mark.parametrize("step", [KERNELS, PARITY], ids=lambda step: step.name)
def test_stored_results_depend_on_its_program(step: Step) -> None:
    assert web.CHILD in closure.closure(closure.INSTALLED, step.computed_by)


def test_every_target_names_the_runtime_of_its_packages() -> None:
    tables = (Android(), Ios(), WebTarget(), WebTarget(runtime="webgpu"))
    assert {each.environment for each in tables} == SHIPPED.keys()


WORDS = f"ONNX Runtime {web.version()} for the web"


NUMPY = {"float": "float32", "double": "float64"}
"""Types with other names in ONNX text."""


TYPES = "float double float16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()


def identity(kind: str, shape: str) -> onnx.ModelProto:
    return onnx_model(f"({kind}{shape} x) => ({kind}{shape} y) {{ y = Identity (x) }}")


def every_type(shape: str) -> onnx.ModelProto:
    """A model that returns an input of each of TYPES."""
    inputs = ", ".join(f"{kind}{shape} {kind}_in" for kind in TYPES)
    outputs = ", ".join(f"{kind}{shape} {kind}_out" for kind in TYPES)
    nodes = " ".join(f"{kind}_out = Identity ({kind}_in)" for kind in TYPES)
    return onnx_model(f"({inputs}) => ({outputs}) {{ {nodes} }}")


def outputs_of(path: Path, folder: Path, *feeds: Mapping[str, Array]) -> Iterator[list[Array]]:
    """The outputs for each of the `feeds`, all in one session of the runner."""
    with Web().open(Runnable(path=path), folder) as session:
        for index, feed in enumerate(feeds):
            place = folder / f"outputs {index}"
            place.mkdir()
            numpy.savez(folder / "sample.npz", allow_pickle=False, **feed)
            assert session.run(folder / "sample.npz", place) == Outcome(outputs=place)
            yield [numpy.load(place / f"{number}.npy") for number in range(len(list(place.iterdir())))]


@pytest.fixture
def installed() -> None:
    have("web")


@pytest.mark.usefixtures("installed")
class TestArrays:
    """Samples and outputs keep their type, shape and values."""

    def test_every_type(self, tmp_path: Path) -> None:
        values = (numpy.arange(24) - 3).reshape(2, 3, 4)
        given = {kind: values.astype(NUMPY.get(kind, kind)) for kind in TYPES}
        for array in given.values():
            array.flat[-1] = numpy.finfo(array.dtype).max if array.dtype.kind == "f" else array.flat[-1]
        feeds = [
            {f"{kind}_in": numpy.asarray(array, order=order) for kind, array in given.items()} for order in ("C", "F")
        ]
        for found in outputs_of(saved(tmp_path / "m.onnx", every_type("[2,3,4]")), tmp_path, *feeds):
            for array, expected in zip(found, given.values(), strict=True):
                numpy.testing.assert_array_equal(array, expected, strict=True)

    def test_whole_numbers_of_64_bits_are_exact(self, tmp_path: Path) -> None:
        model = onnx_model(
            "(int64[3] a, uint64[3] b) => (int64[3] c, uint64[3] d) { c = Identity (a) d = Identity (b) }"
        )
        signed, unsigned = [-(2**63), 2**63 - 1, 2**63 - 2], [0, 2**64 - 1, 2**64 - 2]
        feed = {"a": numpy.array(signed, "int64"), "b": numpy.array(unsigned, "uint64")}
        [found] = outputs_of(saved(tmp_path / "m.onnx", model), tmp_path, feed)
        assert [each.tolist() for each in found] == [signed, unsigned]

    def test_strings(self, tmp_path: Path) -> None:
        texts = numpy.array([["a", "", "żółć"], ["𝄞 clef", "日本", "x" * 70]])
        path = saved(tmp_path / "m.onnx", identity("string", "[2,3]"))
        given = (texts, numpy.zeros((2, 3), "U1"))
        for [found], expected in zip(outputs_of(path, tmp_path, *({"x": each} for each in given)), given, strict=True):
            numpy.testing.assert_array_equal(found, expected)

    def test_scalars_and_arrays_without_elements(self, tmp_path: Path) -> None:
        model = onnx_model("(float s, float[a,b] x) => (float t, float[a,b] y) { t = Identity (s) y = Identity (x) }")
        feeds = [
            {"s": numpy.full((), 2.5, "float32"), "x": numpy.full(shape, 2.5, "float32")} for shape in ((0, 3), (1, 1))
        ]
        for found, feed in zip(outputs_of(saved(tmp_path / "m.onnx", model), tmp_path, *feeds), feeds, strict=True):
            for array, expected in zip(found, feed.values(), strict=True):
                numpy.testing.assert_array_equal(array, expected, strict=True)

    def test_a_compressed_sample_is_read_too(self, tmp_path: Path) -> None:
        values = numpy.zeros((40, 50), "float32")
        numpy.savez_compressed(tmp_path / "sample.npz", x=values)
        assert (tmp_path / "sample.npz").stat().st_size < values.nbytes / 4
        path = saved(tmp_path / "m.onnx", identity("float", "[40,50]"))
        with Web().open(Runnable(path=path), tmp_path) as session:
            assert session.run(tmp_path / "sample.npz", tmp_path) == Outcome(outputs=tmp_path)
        numpy.testing.assert_array_equal(numpy.load(tmp_path / "0.npy"), values)

    def test_a_type_that_it_has_not_is_refused_in_words(self, tmp_path: Path) -> None:
        with Web().open(Runnable(path=saved(tmp_path / "m.onnx", identity("float", "[2]"))), tmp_path) as session:
            for dtype in (">f4", "complex64", "S3"):
                numpy.savez(tmp_path / "sample.npz", x=numpy.zeros(2, dtype))
                outcome = session.run(tmp_path / "sample.npz", tmp_path)
                assert outcome.outputs is None, dtype
                assert outcome.error.startswith("input 'x' has numpy's type "), dtype
                assert outcome.error.endswith(", which ONNX Runtime for the web does not take"), dtype

    def test_outputs_are_in_the_order_of_the_model(self, tmp_path: Path) -> None:
        model = onnx_model("(float[2] x) => (float[2] z, float[2] a) { a = Neg (x) z = Abs (x) }")
        feed = {"x": numpy.array([-1, 2], "float32")}
        z, a = run(Web(), saved(tmp_path / "m.onnx", model), tmp_path, feed).outputs
        assert (z.tolist(), a.tolist()) == ([1, 2], [1, -2])


@pytest.mark.usefixtures("installed")
class TestRefusals:
    """Models and samples that ONNX Runtime refuses, and a program that dies."""

    def test_a_model_without_a_kernel(self, tmp_path: Path) -> None:
        path = saved(
            tmp_path / "m.onnx", onnx_model("(bfloat16[2] x) => (float[2] y) { r = Relu (x) y = Cast <to = 1> (r) }")
        )
        with pytest.raises(ModelError, match="cannot load the model: Could not find an implementation for Relu"):
            Web().open(Runnable(path=path), tmp_path)

    def test_a_sample_that_does_not_fit_and_the_next_one_runs(self, tmp_path: Path) -> None:
        numpy.savez(tmp_path / "wrong.npz", x=numpy.zeros(7, "float32"))
        numpy.savez(tmp_path / "other.npz", z=numpy.zeros(2, "float32"))
        numpy.savez(tmp_path / "right.npz", x=numpy.zeros(2, "float32"))
        (tmp_path / "outputs").mkdir()
        with Web().open(Runnable(path=saved(tmp_path / "m.onnx", identity("float", "[2]"))), tmp_path) as session:
            assert session.about == WORDS
            wrong = session.run(tmp_path / "wrong.npz", tmp_path / "outputs")
            assert "Got: 7 Expected: 2" in wrong.error
            assert "ERROR_CODE" not in wrong.error
            assert "'x' is missing" in session.run(tmp_path / "other.npz", tmp_path / "outputs").error
            assert list((tmp_path / "outputs").iterdir()) == []
            right = session.run(tmp_path / "right.npz", tmp_path / "outputs")
        assert right == Outcome(outputs=tmp_path / "outputs")

    def test_webassembly_that_traps_is_a_crash_of_the_model(self, tmp_path: Path) -> None:
        """It traps on the division of the lowest integer by -1, as x86 does."""
        model = onnx_model(
            "(int32[1] x) => (int32[1] y) { low = Constant <value = int32[1] {-2147483648}> () y = Div (low, x) }"
        )
        numpy.savez(tmp_path / "sample.npz", x=numpy.array([-1], "int32"))
        with (
            Web().open(Runnable(path=saved(tmp_path / "m.onnx", model)), tmp_path) as session,
            pytest.raises(ModelError, match=r"^the runtime crashed while running the model \(SIGABRT\)$"),
        ):
            session.run(tmp_path / "sample.npz", tmp_path)

    def test_an_environment_whose_webassembly_is_damaged(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "damaged.wasm").write_bytes(web.runtime_file("binary").read_bytes()[:1000])
        variables = {**Environment().variables(), "MOBPACK_WEB_BINARY": str(tmp_path / "damaged.wasm")}
        monkeypatch.setattr(Environment, "variables", lambda self: variables)
        with pytest.raises(ToolError, match=r"^the environment web does not work: ") as error:
            Web().open(Runnable(path=saved(tmp_path / "m.onnx", identity("float", "[2]"))), tmp_path)
        assert error.value.hint.endswith("then run: mobpack doctor --install web")


@pytest.mark.usefixtures("installed")
class TestSessions:
    """The session is opened as the job says."""

    def test_runs_are_timed_in_the_process(self, tmp_path: Path) -> None:
        runnable = Runnable(path=saved(tmp_path / "m.onnx", linear()), threads=4)
        numpy.savez(tmp_path / "sample.npz", x=weight(1, 64))
        numpy.savez(tmp_path / "wrong.npz", x=weight(1, 3))
        with Web().open(runnable, tmp_path) as session:
            found = session.time(tmp_path / "sample.npz", Pace(warm_up_seconds=0, seconds=60, runs=9))
            assert (found.error, len(found.warm_up_ns), len(found.times_ns)) == ("", 1, 9)
            assert min(found.times_ns) > 0
            assert session.time(tmp_path / "wrong.npz", Pace()).error != ""
            loading = session.loading
        assert loading.threads == 1
        assert loading.seconds
        assert found.peak_bytes
        assert loading.base_bytes
        assert found.peak_bytes > loading.base_bytes

    def test_weights_in_other_files_are_found(self, tmp_path: Path) -> None:
        model = onnx_model(
            "(float[4] x) => (float[4] y) { s = Add (x, v) y = Mul (s, w) }",
            weights={"v": weight(4), "w": weight(4, seed=1)},
        )
        weights = tmp_path / "elsewhere"
        weights.mkdir()
        for tensor in model.graph.initializer:
            content = onnx.numpy_helper.to_array(tensor).tobytes()
            (weights / f"{tensor.name}.bin").write_bytes(b"\0" * 8 + content)
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (("location", f"{tensor.name}.bin"), ("offset", "8"), ("length", "16")):
                tensor.external_data.add(key=key, value=value)
        runnable = Runnable(path=saved(tmp_path / "m.onnx", model), data_folder=weights)
        feed: Mapping[str, Array] = {"x": numpy.ones(4, "float32")}
        (found,) = run(Web(), runnable, tmp_path, feed).outputs
        v, w = (each.astype("float32") for each in (weight(4), weight(4, seed=1)))
        numpy.testing.assert_allclose(found.astype("float32"), (1 + v) * w, rtol=1e-6)
        (weights / "w.bin").unlink()
        with pytest.raises(ModelError, match=r"its weights are missing: w\.bin"):
            Web().open(runnable, tmp_path)
        (weights / "v.bin").rename(tmp_path / "v.bin")
        model.graph.initializer[0].external_data[0].value = "../v.bin"
        outside = Runnable(path=saved(tmp_path / "outside.onnx", model), data_folder=weights)
        with pytest.raises(ModelError, match=r"its weights are outside of its folder: \.\./v\.bin"):
            Web().open(outside, tmp_path)

    def test_settings_and_optimization_reach_the_session(self, tmp_path: Path) -> None:
        path = saved(tmp_path / "m.onnx", linear())
        with pytest.raises(ModelError, match="cannot load the model"):
            Web().open(Runnable(path=path, settings={"session.load_model_format": "ORT"}), tmp_path)
        constant = onnx_model(
            """(int32[1] x) => (int32[1] y) {
                low = Constant <value = int32[1] {-2147483648}> ()
                one = Constant <value = int32[1] {-1}> ()
                d = Div (low, one)
                y = Add (x, d)
            }"""
        )
        traps = Runnable(path=saved(tmp_path / "constant.onnx", constant))
        with pytest.raises(ModelError, match="crashed while opening the model"):  # it is computed once, by an optimizer
            Web().open(traps, tmp_path)
        with Web().open(replace(traps, is_optimized=False), tmp_path):
            pass


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        ("orientation", 1e-6),
        ("silero-vad", 1e-4),  # a small probability: ONNX Runtime's Sigmoid is off by 3e-8, and not by the same on x86
        ("minilm", 2e-6),
    ],
)
def test_real_models_are_as_close_to_the_original_as_measured(model: str, limit: float, tmp_path: Path) -> None:
    have("web")
    fetched(REAL[model].pin)
    feed = REAL[model].feed()
    expected = run(Cpu(), Runnable(path=REAL[model].path(), is_optimized=False), tmp_path, feed)
    assert worst(run(Web(), REAL[model].path(), tmp_path, feed), expected) < limit


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> tuple[Compiled, ...]:
    """One model in every style that the runtime can open."""
    folder = tmp_path_factory.mktemp("line")
    variant, store = baseline(loaded(folder, linear())), Store(folder / "store")
    fixed = compile_variant(variant, store)
    return fixed, compile_unfused(variant, store, fixed), compile_plain(variant, store)


@pytest.mark.usefixtures("installed")
class TestKernels:
    """The kernel proof of a plan whose packages contain this ONNX Runtime."""

    @pytest.mark.parametrize(("index", "nodes"), [(0, 1), (1, 1), (2, 2)], ids=["fixed", "unfused", "plain"])
    def test_a_file_whose_nodes_all_have_kernels_is_proven_by_opening_it(
        self, index: int, nodes: int, line: tuple[Compiled, ...], tmp_path: Path
    ) -> None:
        proof = prove(line[index], Environment(), tmp_path)
        assert (proof.by, proof.skipped, proof.node_count) == (f"loaded in {WORDS}", "", nodes)
        assert proof.runtime == f"onnxruntime-web {web.version()}"

    def test_a_real_model_is_proven(self, tmp_path: Path) -> None:
        fetched("model-silero-vad")
        variant, store = baseline(loaded(tmp_path, onnx.load(models.silero_vad()))), Store(cache_folder() / "store")
        assert prove(compile_variant(variant, store), Environment(), tmp_path).by == f"loaded in {WORDS}"

    def test_a_file_is_proven_in_the_runtime_of_every_target(self, line: tuple[Compiled, ...], tmp_path: Path) -> None:
        """Also one that two targets share."""
        plans = [
            Plan(
                model=line[0].variant.model,
                target=target,
                environment=environment,
                choices=(Choice(provider="cpu", compiled=each, reason=""),),
            )
            for target, environment, each in (
                ("android", "runtime", line[0]),
                ("web", "web", line[0]),
                ("web", "web", line[2]),
                ("web", "web-webgpu", line[2]),
            )
        ]
        config = Config.model_validate({"package": {"name": "p"}, "model": {"m": {"path": Path("m.onnx")}}})
        store = Store(tmp_path / "store")
        for _ in range(2):  # the second time from the store
            proofs = list(prove_in_all(plans, config, store, Console()))
            assert [(each.sha256, each.by.partition("loaded in ")[2]) for each in proofs] == [
                (line[0].sha256, Runtime().display_name),
                (line[0].sha256, WORDS),
                (line[2].sha256, WORDS),
                (line[2].sha256, f"{WORDS}, with WebGPU"),
            ]

    def test_a_node_without_a_kernel_is_named(self, tmp_path: Path) -> None:
        graph = "(bfloat16[2] x) => (bfloat16[2] y) { [only] y = Relu (x) }"
        compiled = compile_plain(baseline(loaded(tmp_path, onnx_model(graph))), Store(tmp_path / "store"))
        with pytest.raises(ModelError) as error:
            prove(compiled, Environment(), tmp_path)
        assert error.value.message == (
            f"model 'm' (source, plain) does not load in {WORDS}, which the package ships: "
            "no kernel for node 'only', Relu-14(bfloat16) -> bfloat16"
        )

    def test_the_webgpu_build_has_no_64_bits(self, tmp_path: Path) -> None:
        graph = "(float[2] x) => (float[2] y) { [wide] d = Cast <to = 11> (x) y = Cast <to = 1> (d) }"
        compiled = compile_plain(baseline(loaded(tmp_path, onnx_model(graph))), Store(tmp_path / "store"))
        assert prove(compiled, Environment(), tmp_path).by == f"loaded in {WORDS}"
        with pytest.raises(ModelError, match="no kernel for node 'wide', Cast-13"):
            prove(compiled, WebWithGpu(), tmp_path)

    def test_what_phones_open_and_the_web_does_not_is_no_proof(self, tmp_path: Path) -> None:
        """JavaScript has no tensors of that type; the kernels are there."""
        graph = "(float[2] x, float s, float8e4m3fn z) => (float8e4m3fn[2] y) { y = QuantizeLinear (x, s, z) }"
        described = loaded(tmp_path, onnx_model(graph, opsets={"": 19}))
        compiled = compile_plain(baseline(described), Store(tmp_path / "store"))
        assert prove(compiled, Runtime(), tmp_path).runtime.startswith("onnxruntime 1")
        with pytest.raises(ModelError, match="for the web, which the package ships: unsupported data type: 17"):
            prove(compiled, Environment(), tmp_path)
