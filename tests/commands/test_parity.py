"""No file ships whose outputs differ from the model's."""

import platform
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy
import onnx
import pytest

from packager.compile.compile import compile_variant
from packager.core.errors import ConfigError, ModelError, ToolError
from packager.core.findings import Parity
from packager.core.values import Compiled
from packager.engines.runners import ANY, Runnable, Runner, Session
from packager.engines.runners.cpu import Cpu
from packager.engines.runners.recorded import Recorded
from packager.files.store import Store
from packager.models.traits import derived
from packager.quantizers.dequantized import Dequantized
from packager.verification import parity
from packager.verification.parity import CheckedParity, OriginalOutputs, ParitySettings, Subject, Tolerance
from tests.cases.onnx_text import compiled, linear, loaded, onnx_model, quantized_by

SETTINGS = ParitySettings(random_samples=2)


def checked(
    file: Compiled,
    settings: ParitySettings,
    folder: Path,
    *,
    runner: Runner | None = None,
    references: OriginalOutputs | None = None,
) -> CheckedParity:
    """Compare `file` on a runner, by default the CPU."""
    return parity.check(Subject(variant=file.variant, compiled=file), runner or Cpu(), settings, folder, references)


def check(file: Compiled, settings: ParitySettings, folder: Path) -> Parity:
    return checked(file, settings, folder).parity


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return compiled(tmp_path_factory.mktemp("line"), linear(), "line")


@pytest.fixture(scope="module")
def other_line(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """The same graph with other weights."""
    return compiled(tmp_path_factory.mktemp("other"), linear(seed=7), "line")


@pytest.fixture(scope="module")
def reshape(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """A model that accepts few of the inputs that its signature allows."""
    model = onnx_model("(float[4] x, int64[1] shape) => (float[?] y) { y = Reshape (x, shape) }")
    return compiled(tmp_path_factory.mktemp("reshape"), model, "reshape")


def test_a_faithful_conversion_passes_and_says_how_close_it_is(line: Compiled, tmp_path: Path) -> None:
    result = check(line, SETTINGS, tmp_path)
    assert (result.model, result.variant, result.runner, result.label) == ("line", "fp32", "cpu", "cpu")
    assert result.runs_on.startswith("ONNX Runtime 1.")
    assert (result.skipped, result.refusal, result.has_failed) == ("", "", False)
    assert (result.sample_count, result.samples, result.tolerance) == (2, "2 random, seed 0", 1e-3)
    (output,) = result.outputs
    assert (output.output, output.number_count, output.mismatch_count) == ("y", 2 * 64, 0)
    assert 0 <= output.max_abs_error < 1e-4
    assert output.cosine == pytest.approx(1, abs=1e-6)
    assert output.sqnr_db > 80
    assert (output.top1_agreement, output.top5_agreement) == (1, 1)
    assert sum(output.histogram) == 2 * 64
    assert (result.reshaped_outputs, result.unstable_outputs) == ((), ())


def test_a_compiled_model_that_computes_something_else_fails_with_output_error_and_sample(
    line: Compiled, other_line: Compiled, tmp_path: Path
) -> None:
    found = checked(replace(line, path=other_line.path), SETTINGS, tmp_path)
    (output,) = found.parity.over
    assert found.parity.has_failed
    assert output.output == "y"
    assert output.failure.startswith("max abs error ")
    assert " (its largest value); allowed is 1e-05 + 0.001 x " in output.failure
    assert found.worst_sample == output.worst_sample
    assert found.worst_outputs is not None
    kept = numpy.load(found.worst_outputs / "0.npy")
    (tmp_path / "again").mkdir()
    reference = parity.OriginalOutputs(tmp_path / "again").of(line.variant, SETTINGS)
    sample = reference.samples.paths[found.worst_sample]
    with Cpu().open(Runnable(path=other_line.path), tmp_path) as session:
        (tmp_path / "outputs").mkdir()
        session.run(sample, tmp_path / "outputs")
    assert (kept == numpy.load(tmp_path / "outputs" / "0.npy")).all(), "what is kept is what the file gave on it"


def test_outputs_have_tolerances_of_their_own(line: Compiled, other_line: Compiled, tmp_path: Path) -> None:
    result = check(replace(line, path=other_line.path), replace(SETTINGS, tolerance=10.0), tmp_path)
    assert not result.has_failed
    assert result.outputs[0].max_rel_error > 0.1
    assert result.outputs[0].worst_sample in (0, 1)
    forged = replace(line, path=other_line.path)
    tight, loose = Tolerance(min_cosine=0.9999), Tolerance(max_abs_error=1e6)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert check(forged, replace(SETTINGS, outputs={"y": loose}), tmp_path / "a").over == ()
    (output,) = check(forged, replace(SETTINGS, tolerance=10.0, outputs={"y": tight}), tmp_path / "b").over
    assert output.failure.startswith("cosine ")
    assert output.failure.endswith("the least allowed is 0.9999")


def test_the_sample_that_is_farthest_off_is_the_one_that_is_named_and_kept(tmp_path: Path) -> None:
    """NaN on one sample of many: only there it takes the square root of a negative number."""
    right = onnx_model("(float[2] x) => (float[2] y) { a = Abs (x) y = Sqrt (a) }")
    wrong = onnx_model("(float[2] x) => (float[2] y) { a = Identity (x) y = Sqrt (a) }")
    for number in range(7):
        numpy.savez(tmp_path / f"sample-{number}.npz", x=numpy.array([1, -4 if number == 5 else 4], "f4"))
    ours, theirs = (tmp_path / name for name in ("right", "wrong"))
    ours.mkdir()
    theirs.mkdir()
    forged = replace(compiled(ours, right), path=compiled(theirs, wrong).path)
    found = checked(forged, replace(SETTINGS, samples=tmp_path), tmp_path)
    (output,) = found.parity.over
    assert output.failure == "1 of 14 values are NaN or infinite in only one of the two"
    assert (output.worst_sample, output.mismatch_count, found.worst_sample) == (5, 1, 5)
    assert found.worst_outputs is not None
    assert numpy.isnan(numpy.load(found.worst_outputs / "0.npy")).sum() == 1


def test_a_compiled_model_that_refuses_says_which_sample(line: Compiled, reshape: Compiled, tmp_path: Path) -> None:
    result = check(replace(line, path=reshape.path), SETTINGS, tmp_path)
    assert result.refusal.startswith("sample 0 runs on the original, and fails here: ")
    assert "shape" in result.refusal
    assert (result.has_failed, result.outputs) == (True, ())


def test_a_file_that_does_not_load_is_refused_in_words(line: Compiled, tmp_path: Path) -> None:
    (tmp_path / "none.ort").write_bytes(b"none")
    result = check(replace(line, path=tmp_path / "none.ort"), SETTINGS, tmp_path)
    assert result.refusal.startswith("the runtime cannot load the model: ")
    assert result.has_failed


def test_given_samples_are_compared_or_refused(reshape: Compiled, tmp_path: Path, line: Compiled) -> None:
    numpy.savez(tmp_path / "one.npz", x=numpy.arange(4, dtype="f4"), shape=numpy.array([-1]))
    result = check(reshape, replace(SETTINGS, samples=tmp_path / "one.npz"), tmp_path)
    assert (result.sample_count, result.samples) == (1, "1 given")
    numpy.savez(tmp_path / "one.npz", x=numpy.zeros((1, 63), "f4"))
    with pytest.raises(ConfigError, match=r"the original model 'line' refuses them: .*Got: 63 Expected: 64"):
        check(line, replace(SETTINGS, samples=tmp_path / "one.npz"), tmp_path)
    graph = "(float[2] x) => (float y) { i = Constant <value = int64 {5}> () y = Gather (x, i) }"
    beyond = compiled(tmp_path, onnx_model(graph), "beyond")
    (tmp_path / "run").mkdir()
    with pytest.raises(
        ModelError, match=r"'beyond' runs on none of the random inputs that were tried: .*Gather"
    ) as error:
        check(beyond, SETTINGS, tmp_path / "run")
    assert error.value.hint == "provide real inputs with [parity] samples, or fix the sizes in [model.beyond.shapes]"


@pytest.fixture(scope="module")
def motley(tmp_path_factory: pytest.TempPathFactory) -> Parity:
    """The check of a model with a random output, a wrongly declared shape, and several element types."""
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
    return check(compiled(folder, model), SETTINGS, folder)


def test_what_cannot_be_compared_is_named_and_all_else_is_compared(motley: Parity, tmp_path: Path) -> None:
    assert motley.unstable_outputs == ("noise",)
    assert "noise" not in [output.output for output in motley.outputs]
    # Exporters do declare wrong shapes. Inference cannot refute this one: the number of positive values.
    assert motley.reshaped_outputs == ("places",)
    assert [output.output for output in motley.outputs] == ["places", "a", "b", "c", "d"]
    assert motley.max_abs_error == 0
    model = onnx_model(
        "(float[2] x) => (float[2] y, float[2] z) { a = Mul (x, x) b = Neg (a) y = Log (b) z = Neg (x) }"
    )
    result = check(compiled(tmp_path, model), SETTINGS, tmp_path)
    assert (result.over, result.without_numbers) == ((), ("y",))


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="only x86 traps on this division")
def test_a_crash_while_the_model_runs_is_a_model_error_that_names_the_signal(tmp_path: Path) -> None:
    model = onnx_model("""(int32[1] x) => (int32[1] y) {
        lowest = Constant <value = int32[1] {-2147483648}> ()
        y = Div (lowest, x)
    }""")
    numpy.savez(tmp_path / "one.npz", x=numpy.array([-1], "i4"))
    with pytest.raises(ModelError, match=r"crashed while running the model \(SIGFPE\)"):
        check(compiled(tmp_path, model), replace(SETTINGS, samples=tmp_path / "one.npz"), tmp_path)


@dataclass(frozen=True, kw_only=True)
class Lunar:
    """A runner that is not available here."""

    NAME: ClassVar[str] = "lunar"
    OPENS: ClassVar[str] = ANY
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "the moon"

    lacks: str = ""

    def label(self) -> str:
        return "lunar north"

    def identity(self) -> str:
        return ""

    def missing(self) -> str:
        return self.lacks

    def cannot_open(self, model: Runnable) -> str:
        return "" if model.path.suffix == ".ort" else "moon rockets take .ort alone"

    def open(self, model: Runnable, folder: Path) -> Session:
        raise ToolError("the rocket does not start", hint="fuel it")


@pytest.mark.parametrize(
    ("runner", "suffix", "reason"),
    [
        (Lunar(lacks="no moon rocket"), "ort", "no moon rocket"),
        (Lunar(), "onnx", "moon rockets take .ort alone"),
        (Lunar(), "ort", "the rocket does not start; fuel it"),
    ],
)
def test_a_runner_that_cannot_run_is_skipped_with_its_reason(
    line: Compiled, runner: Runner, suffix: str, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / f"line.{suffix}"
    path.write_bytes(line.path.read_bytes())
    result = checked(replace(line, path=path), SETTINGS, tmp_path, runner=runner).parity
    assert (result.skipped, result.outputs, result.label) == (reason, (), "lunar north")
    assert not result.has_failed


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Compiled, ParitySettings, Path]:
    """A model, samples and its recorded outputs, one number of which is wrong in sample 1."""
    folder = tmp_path_factory.mktemp("recordings")
    file = compiled(folder, onnx_model("(float[3] x) => (float[3] y, int64[3] n) { y = Neg (x) n = Cast <to=7> (x) }"))
    (folder / "samples").mkdir()
    (folder / "recorded").mkdir()
    for number in range(3):
        x = numpy.array([1, 2, 3], "f4") * (number + 1)
        numpy.savez(folder / "samples" / f"sample-{number}.npz", x=x)
        y = -x * (1 + 1e-4)
        y[2] += number == 1
        numpy.savez(folder / "recorded" / f"sample-{number}.npz", n=x.astype("i8"), y=y)
    return file, ParitySettings(samples=folder / "samples", is_recorded=True), folder / "recorded"


def test_outputs_that_were_recorded_judge_the_original_number_by_number(
    recordings: tuple[Compiled, ParitySettings, Path], tmp_path: Path
) -> None:
    file, settings, folder = recordings
    result = parity.check(Subject(variant=file.variant), Recorded(folder=str(folder)), settings, tmp_path).parity
    y, n = result.outputs
    assert (result.runner, result.runs_on) == ("recorded", "recorded outputs")
    assert y.failure == "1 of 3 numbers differ (rtol 0.001, atol 1e-05); at [2] it is -6, and should be -5.0006"
    assert y.worst_sample == 1
    assert n.failure == ""


def test_recorded_outputs_need_a_file_for_every_sample_and_every_output_in_it(
    recordings: tuple[Compiled, ParitySettings, Path], tmp_path: Path
) -> None:
    file, settings, _ = recordings
    numpy.savez(tmp_path / "sample-0.npz", y=numpy.zeros(3, "f4"))
    with pytest.raises(ConfigError, match=r"sample-0.npz has no output 'n'; it has y") as error:
        parity.check(Subject(variant=file.variant), Recorded(folder=str(tmp_path)), settings, tmp_path)
    assert "under the name of the sample" in error.value.hint
    (tmp_path / "sample-0.npz").unlink()
    (tmp_path / "again").mkdir()
    with pytest.raises(ConfigError, match=r"\[parity\] recorded: cannot read .*sample-0.npz"):
        parity.check(Subject(variant=file.variant), Recorded(folder=str(tmp_path)), settings, tmp_path / "again")


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
    variant = derived(model, name="float", graph=graph.SerializeToString(), quantizer=Dequantized.NAME)
    return compile_variant(variant, Store(folder / "store"))


def test_a_float_graph_is_compared_with_itself_and_measured_beside_the_quantized_model(tmp_path: Path) -> None:
    result = check(without_quantization(tmp_path, is_broken=False), SETTINGS, tmp_path)
    assert result.against == "the float graph in it"
    assert result.max_rel_error < 1e-6
    assert result.from_original is not None
    assert 0 < result.from_original < 0.2


def test_a_float_graph_that_lost_something_is_far_from_the_quantized_model(tmp_path: Path) -> None:
    result = check(without_quantization(tmp_path, is_broken=True), SETTINGS, tmp_path)
    assert result.max_rel_error < 1e-6, "the comparison with itself does not see it"
    assert result.from_original is not None
    assert result.from_original > 0.5


def test_other_files_have_no_distance_but_their_error(line: Compiled, tmp_path: Path) -> None:
    result = check(line, SETTINGS, tmp_path)
    assert result.from_original is None


def test_an_original_runs_once_for_all_files_that_are_compared_with_it(
    line: Compiled, other_line: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    open_session = Cpu.open

    def counted(self: Cpu, model: Runnable, folder: Path) -> Session:
        opened.append(model.path)
        return open_session(self, model, folder)

    monkeypatch.setattr(Cpu, "open", counted)
    (tmp_path / "shared").mkdir()
    references = OriginalOutputs(tmp_path / "shared")
    for name, each, settings in (
        ("first", line, SETTINGS),
        ("again", line, replace(SETTINGS, tolerance=1.0)),
        ("other", other_line, SETTINGS),
        ("seed", line, replace(SETTINGS, seed=1)),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / f"{name}-shared").mkdir()
        alone = checked(each, settings, tmp_path / name).parity
        shared = checked(each, settings, tmp_path / f"{name}-shared", references=references).parity
        assert shared == alone
    originals = [path for path in opened if path.name == "original.onnx"]
    assert len([path for path in originals if tmp_path / "shared" in path.parents]) == 3
    assert len(originals) == 4 + 3


def test_recordings_are_told_of_the_worst_sample_that_is_kept(
    line: Compiled, tmp_path: Path, recordings: tuple[Compiled, ParitySettings, Path]
) -> None:
    checked(line, replace(SETTINGS, random_samples=20), tmp_path)
    assert [path.name for path in sorted((tmp_path / "cpu").rglob("0.npy"))] == ["0.npy"]
    # Figures, sample number and kept files belong to one sample.
    file, settings, folder = recordings
    for number, off in enumerate((0.01, 0.0, 0.5)):
        with numpy.load(folder / f"sample-{number}.npz") as arrays:
            y = -numpy.array([1, 2, 3], "f4") * (number + 1) + numpy.array([off, 0, 0], "f4")
            numpy.savez(tmp_path / f"sample-{number}.npz", n=arrays["n"], y=y)
    (tmp_path / "scratch").mkdir()
    runner = Recorded(folder=str(tmp_path))
    found = parity.check(Subject(variant=file.variant), runner, settings, tmp_path / "scratch")
    y, _ = found.parity.outputs
    assert (y.worst_sample, found.worst_sample) == (2, 2)
    assert y.failure.endswith("at [0] it is -3, and should be -2.5")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn", b"none"])
def test_a_bad_recording_is_named(
    recordings: tuple[Compiled, ParitySettings, Path], content: bytes, tmp_path: Path
) -> None:
    file, settings, _ = recordings
    (tmp_path / "sample-0.npz").write_bytes(content)
    with pytest.raises(ConfigError, match=r"\[parity\] recorded: cannot read .*sample-0.npz: "):
        parity.check(Subject(variant=file.variant), Recorded(folder=str(tmp_path)), settings, tmp_path)
