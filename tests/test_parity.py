"""Nothing ships that computes something else than the model."""

import platform
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy
import onnx
import pytest

from packager import parity
from packager.errors import ConfigError, ModelError, ParityError
from packager.ortformat.compile import compile_variant
from packager.parity import ParitySettings
from packager.quantizers.dequantized import Dequantized
from packager.runners import RUNNERS, Outcome, Runnable
from packager.runners.cpu import Cpu
from packager.store import Store
from packager.values import Compiled, Parity, Variant
from tests.onnx_text import compiled, linear, loaded, onnx_model, quantized_by

pytestmark = pytest.mark.processes

SETTINGS = ParitySettings(runners=("cpu",), require=("cpu",), samples=None, random_samples=2, seed=0, tolerance=1e-3)


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return compiled(tmp_path_factory.mktemp("line"), linear(), "line")


@pytest.fixture(scope="module")
def other_line(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """The same graph with other weights."""
    return compiled(tmp_path_factory.mktemp("other"), linear(seed=7), "line")


@pytest.fixture(scope="module")
def reshape(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """A model that takes few of the inputs its signature allows."""
    model = onnx_model("(float[4] x, int64[1] shape) => (float[?] y) { y = Reshape (x, shape) }")
    return compiled(tmp_path_factory.mktemp("reshape"), model, "reshape")


def test_a_faithful_conversion_passes_and_says_how_close_it_is(line: Compiled, tmp_path: Path) -> None:
    (result,) = parity.check(line, SETTINGS, tmp_path)
    assert (result.model, result.variant, result.runner, result.skipped) == ("line", "fp32", "cpu", "")
    assert (result.sample_count, result.samples, result.tolerance) == (2, "2 random, seed 0", 1e-3)
    assert [output.output for output in result.outputs] == ["y"]
    assert 0 <= result.max_abs_error < 1e-4
    assert (result.reshaped_outputs, result.unstable_outputs) == ((), ())


def test_a_compiled_model_that_computes_something_else_fails_with_output_error_and_sample(
    line: Compiled, other_line: Compiled, tmp_path: Path
) -> None:
    forged = replace(line, path=other_line.path)
    with pytest.raises(ParityError) as error:
        parity.check(forged, SETTINGS, tmp_path)
    assert "model 'line' (fp32, fixed): output 'y' differs from the original on sample" in error.value.message
    assert "of 2 random, seed 0: max abs error" in error.value.message
    assert "the tolerance is 0.001" in error.value.message
    assert "[parity] tolerance" in error.value.hint


def test_a_wider_tolerance_lets_the_same_difference_pass(line: Compiled, other_line: Compiled, tmp_path: Path) -> None:
    (result,) = parity.check(replace(line, path=other_line.path), replace(SETTINGS, tolerance=10.0), tmp_path)
    assert result.outputs[0].max_rel_error > 0.1
    assert result.outputs[0].worst_sample in (0, 1)


def test_a_compiled_model_that_refuses_what_the_original_takes_fails(
    line: Compiled, reshape: Compiled, tmp_path: Path
) -> None:
    with pytest.raises(ParityError, match=r"runs on the original and fails on the compiled model: .*shape"):
        parity.check(replace(line, path=reshape.path), SETTINGS, tmp_path)


def test_an_original_that_refuses_every_random_input_asks_for_real_ones(reshape: Compiled, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"'reshape' runs on none of the random inputs tried: .*reshape") as error:
        parity.check(reshape, SETTINGS, tmp_path)
    assert error.value.hint == "give real inputs with [parity] samples, or fix the sizes in [model.reshape.shapes]"


def test_given_samples_are_what_is_compared(reshape: Compiled, tmp_path: Path) -> None:
    numpy.savez(tmp_path / "one.npz", x=numpy.arange(4, dtype="f4"), shape=numpy.array([-1]))
    (result,) = parity.check(reshape, replace(SETTINGS, samples=tmp_path / "one.npz"), tmp_path)
    assert (result.sample_count, result.samples) == (1, "1 given")


def test_given_samples_that_the_original_refuses_are_a_config_error(line: Compiled, tmp_path: Path) -> None:
    numpy.savez(tmp_path / "one.npz", x=numpy.zeros((1, 63), "f4"))
    with pytest.raises(ConfigError, match=r"the original model 'line' refuses them: .*Got: 63 Expected: 64"):
        parity.check(line, replace(SETTINGS, samples=tmp_path / "one.npz"), tmp_path)


@pytest.fixture(scope="module")
def motley(tmp_path_factory: pytest.TempPathFactory) -> Parity:
    """The check of a model with a random output, one of a wrongly declared shape, and several element types."""
    folder = tmp_path_factory.mktemp("motley")
    model = onnx_model("""(float[4] x, string[3] words, bool[3] flags, int8[3] small, uint64 count)
        => (float[4] noise, int64[1, 3] places, string[3] a, bool[3] b, int32[3] c, uint64 d) {
        noise = RandomNormalLike (x)
        zero = Constant <value = float {0.0}> ()
        positive = Greater (x, zero)
        places = NonZero (positive)
        a = Identity (words)
        b = Not (flags)
        c = Cast <to = 6> (small)
        d = Identity (count)
    }""")
    (result,) = parity.check(compiled(folder, model), SETTINGS, folder)
    return result


def test_random_outputs_are_not_compared_and_named(motley: Parity) -> None:
    assert motley.unstable_outputs == ("noise",)
    assert "noise" not in [output.output for output in motley.outputs]


def test_outputs_of_another_shape_than_declared_are_named(motley: Parity) -> None:
    """Exporters do declare wrong shapes. Here one that inference cannot refute: how many numbers are positive."""
    assert motley.reshaped_outputs == ("places",)


def test_strings_booleans_and_integers_are_compared_too(motley: Parity) -> None:
    assert [output.output for output in motley.outputs] == ["places", "a", "b", "c", "d"]
    assert motley.max_abs_error == 0


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="only x86 traps on this division")
def test_a_crash_while_the_model_runs_is_a_model_error_that_names_the_signal(tmp_path: Path) -> None:
    model = onnx_model("""(int32[1] x) => (int32[1] y) {
        lowest = Constant <value = int32[1] {-2147483648}> ()
        y = Div (lowest, x)
    }""")
    numpy.savez(tmp_path / "one.npz", x=numpy.array([-1], "i4"))
    with pytest.raises(ModelError, match=r"crashed while running the model \(SIGFPE\)"):
        parity.check(compiled(tmp_path, model), replace(SETTINGS, samples=tmp_path / "one.npz"), tmp_path)


@dataclass(frozen=True, kw_only=True)
class Lunar:
    """A runner for a machine that is not here."""

    NAME: ClassVar[str] = "lunar"

    def missing(self) -> str:
        return "no moon rocket"

    def run(self, model: Runnable, samples: tuple[Path, ...], folder: Path) -> tuple[Outcome, ...]:
        raise AssertionError("a runner that is missing something was run")


def test_a_runner_that_cannot_run_is_skipped_with_its_reason(
    line: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RUNNERS, Lunar.NAME, Lunar)
    lunar, cpu = parity.check(line, replace(SETTINGS, runners=("lunar",)), tmp_path)
    assert (lunar.skipped, lunar.outputs) == ("no moon rocket", ())
    assert (cpu.runner, cpu.skipped) == ("cpu", "")  # required, so it runs although it is not named


def test_a_runner_that_is_required_and_cannot_run_fails_the_check(
    line: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RUNNERS, Lunar.NAME, Lunar)
    with pytest.raises(ParityError, match="runner 'lunar' is required and cannot run: no moon rocket"):
        parity.check(line, replace(SETTINGS, runners=("lunar",), require=("lunar",)), tmp_path)


QUANTIZED = """(float[1, 64] x) => (float[1, 64] y)
    <float s = {0.02}, int8 z = {0}, uint8 u = {0}, float t = {0.2}, int8[64] weights = {WEIGHTS}> {
        a = QuantizeLinear (x, s, z)
        b = DequantizeLinear (a, s, z)
        w = DequantizeLinear (weights, s, z)
        c = Mul (b, w)
        d = Relu (c)
        e = QuantizeLinear (d, t, u)
        y = DequantizeLinear (e, t, u)
    }"""


def without_quantization(folder: Path, *, is_broken: bool) -> Compiled:
    weights = ", ".join(str(number % 200 - 100) for number in range(0, 64 * 37, 37))
    model = loaded(folder, onnx_model(QUANTIZED.replace("WEIGHTS", weights)))
    graph = onnx.load_model_from_string(quantized_by(Dequantized(), model.graph, folder))
    for node in graph.graph.node:
        if is_broken and node.op_type == "Relu":
            node.op_type = "Abs"
    variant = Variant(model=model, name="float", graph=graph.SerializeToString(), quantizer=Dequantized.NAME)
    return compile_variant(variant, Store(folder / "store"))


def test_a_float_graph_is_compared_with_itself_and_measured_beside_the_quantized_model(tmp_path: Path) -> None:
    (result,) = parity.check(without_quantization(tmp_path, is_broken=False), SETTINGS, tmp_path)
    assert result.against == "the float graph in it"
    assert result.max_rel_error < 1e-6
    assert result.from_original is not None
    assert 0 < result.from_original < 0.2


def test_a_float_graph_that_lost_something_is_far_from_the_quantized_model(tmp_path: Path) -> None:
    (result,) = parity.check(without_quantization(tmp_path, is_broken=True), SETTINGS, tmp_path)
    assert result.max_rel_error < 1e-6, "the comparison with itself does not see it"
    assert result.from_original is not None
    assert result.from_original > 0.5


def test_other_files_have_no_distance_but_their_error(line: Compiled, tmp_path: Path) -> None:
    (result,) = parity.check(line, SETTINGS, tmp_path)
    assert result.from_original is None


def test_an_original_runs_once_for_all_files_that_are_compared_with_it(
    line: Compiled, other_line: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[Path] = []
    run = Cpu.run

    def counted(self: Cpu, model: Runnable, samples: tuple[Path, ...], folder: Path) -> tuple[Outcome, ...]:
        runs.append(model.path)
        return run(self, model, samples, folder)

    monkeypatch.setattr(Cpu, "run", counted)
    references = parity.References(tmp_path)
    for name, each, settings in (
        ("first", line, SETTINGS),
        ("again", line, replace(SETTINGS, tolerance=1.0)),
        ("other", other_line, SETTINGS),
        ("seed", line, replace(SETTINGS, seed=1)),
    ):
        (tmp_path / name).mkdir()
        (alone,) = parity.check(each, settings, tmp_path / name)
        (shared,) = parity.check(each, settings, tmp_path / name, references)
        assert shared == alone
    originals = [path for path in runs if path.name == "original.onnx"]
    assert len([path for path in originals if path.parent.parent.parent == tmp_path]) == 3
    assert len(originals) == 4 + 3
