"""Samples on which the model itself is unstable are left out of the comparison; nodes with errors are still found."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy
import onnx
import pytest

from packager.compile.plan import make
from packager.config.checks import ParityTable
from packager.core.console import Console
from packager.core.errors import ModelError
from packager.core.values import Compiled, Plan, baseline
from packager.engines.runners.cpu import Cpu
from packager.files.store import Store
from packager.targets.android import Android
from packager.verification import failures, parity
from packager.verification.bisection import BisectionKind, condemned
from packager.verification.bisection.figures import ErrorLimits
from packager.verification.bisection.matching import matched
from packager.verification.bisection.scan import FIRST_ASKED
from packager.verification.bisection.subject import opened
from packager.verification.failures import Case, condemned_locally, in_words
from packager.verification.golden import golden_vectors
from packager.verification.parity import CheckedParity, OriginalOutputs, ParitySettings, Subject, Tolerance, reference
from packager.verification.parity.conditioning import MOST_ULPS, TIMES, _shifted
from packager.verification.parity.frontier import ULPS, shaken
from packager.workflows.shared_builds import equal
from tests.cases.bisection_cases import Array, Inside, bisected, side
from tests.cases.onnx_text import compiled, loaded, onnx_model, weight
from tests.cases.rewriting_cases import run

WIDTH = 32
GAIN = 1e7
"""One unit in the last place becomes more than one period of the sine."""
SETTINGS = ParitySettings(random_samples=2)


def weights(*, changed: bool = False) -> dict[str, Array]:
    found: dict[str, Array] = {"w": weight(WIDTH, WIDTH), "v": weight(WIDTH, WIDTH, seed=1)}
    return {**found, "w": found["w"] * numpy.float32(1.05)} if changed else found


def net(gain: str, *, changed: bool = False, output: str = "Sin (s)") -> onnx.ModelProto:
    """Two layers that other kernels sum in another order, with `gain` behind them."""
    text = (
        f"(float[8, {WIDTH}] x) => (float[8, {WIDTH}] y) <float big = {{{GAIN}}}, float one = {{1.0}}, "
        "int64[1] first = {0}, int64[1] last = {1}, int64[1] axis = {1}, float middle = {0.0}>"
        f"{{ [l0] a = MatMul (x, w) [r] b = Relu (a) [l1] c = MatMul (b, v) {gain}"
        f"[s] s = Mul (c, g) [y] y = {output} }}"
    )
    return onnx_model(text, weights=weights(changed=changed))


ALWAYS = "[g] g = Identity (big)"
SOMETIMES = (
    "p = Slice (x, first, last, axis) q = ReduceMean <keepdims = 0> (p) t = Greater (q, middle) g = Where (t, big, one)"
)
"""Positions at which the mean of the first column is above 0."""
NEVER = "[g] g = Identity (one)"


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Compiled]:
    """The models as they ship, and with a changed weight."""
    found = {}
    for name, gain in (("always", ALWAYS), ("sometimes", SOMETIMES), ("never", NEVER)):
        for changed in (False, True):
            folder = tmp_path_factory.mktemp(name)
            found[f"{name} wrong" if changed else name] = compiled(folder, net(gain, changed=changed))
    return found


def judged(
    right: Compiled, wrong: Compiled, folder: Path, settings: ParitySettings = SETTINGS
) -> tuple[CheckedParity, CheckedParity]:
    """Compare a file that computes `wrong` with an original that computes `right`: by outputs, and by nodes too."""
    (folder / "references").mkdir()
    references = OriginalOutputs(folder / "references")
    subject = Subject(variant=right.variant, compiled=replace(right, path=wrong.path))
    found = parity.check(subject, Cpu(), settings, folder, references)
    case = Case(subject=subject, runner=Cpu(), checked=found, settings=settings)
    return found, condemned_locally(case, references, folder)


def unfused(folder: Path) -> onnx.ModelProto:
    """The same model with a product that sums its halves separately, as other kernels do."""
    model = net(ALWAYS)
    place = next(index for index, node in enumerate(model.graph.node) if node.name == "l0")
    del model.graph.node[place]
    half = WIDTH // 2
    w = weights()["w"]
    arrays = {"w0": w[:half], "w1": w[half:]}
    model.graph.initializer.extend(onnx.numpy_helper.from_array(each, name) for name, each in arrays.items())
    sizes = onnx.numpy_helper.from_array(numpy.array([half, half]), "sizes")
    model.graph.initializer.append(sizes)
    helper = onnx.helper
    nodes = [
        helper.make_node("Split", ["x", "sizes"], ["x0", "x1"], axis=1),
        helper.make_node("MatMul", ["x0", "w0"], ["a0"]),
        helper.make_node("MatMul", ["x1", "w1"], ["a1"]),
        helper.make_node("Add", ["a0", "a1"], ["a"], name="l0"),
    ]
    others = [type(node).FromString(node.SerializeToString()) for node in model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend([*nodes, *others])
    return model


def test_a_model_that_moves_everywhere_is_judged_by_its_nodes(nets: dict[str, Compiled], tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    other = compiled(tmp_path / "model", unfused(tmp_path))
    _, checked = judged(nets["always"], other, tmp_path)
    found = checked.parity
    assert found.is_judged_locally
    assert found.over == ()
    assert len({each.sample for each in found.ill_conditioned}) == 2 * (1 + parity.REDRAWS), "every draw was tried"
    assert min(each.moves_by for each in found.ill_conditioned) > 0.1
    assert found.outputs[0].max_abs_error > 0.1, "by its numbers alone it fails"
    assert found.conditioning.startswith("ill-conditioned: the model itself moves by ")
    assert found.conditioning.endswith("; every sample is, and nodes were judged one by one")
    (line,) = equal([found])
    assert line.startswith("m (fp32, fixed) on cpu: compared node by node with the original: its outputs are ill-")
    assert "equals" not in line


def test_what_mobpack_cannot_take_apart_is_no_fault_of_the_model(
    nets: dict[str, Compiled], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*given: object, **settings: object) -> str:
        raise ModelError("a graph of ours does not load", hint="")

    (tmp_path / "model").mkdir()
    other = compiled(tmp_path / "model", unfused(tmp_path))
    monkeypatch.setattr(failures, "condemned", fails)
    _, checked = judged(nets["always"], other, tmp_path)
    found = checked.parity
    assert (found.over, found.refusal) == ((), "")
    assert found.conditioning.endswith("mobpack failed to judge nodes one by one: a graph of ours does not load")
    assert found.result.startswith("not compared: ")


def test_a_fault_in_a_model_that_moves_by_itself_everywhere_is_found(nets: dict[str, Compiled], tmp_path: Path) -> None:
    _, checked = judged(nets["always"], nets["always wrong"], tmp_path)
    subject = Subject(variant=nets["always"].variant, compiled=nets["always wrong"])
    said = in_words(Case(subject=subject, runner=Cpu(), checked=checked, settings=SETTINGS))
    assert checked.worst
    assert f" on sample {checked.worst.number}, of a new draw after 2 random, seed 0: " in said
    (output,) = checked.parity.over
    assert output.failure.startswith(
        "the model is ill-conditioned, and cpu parts from the original at node 'l0' (MatMul)"
    )
    assert output.failure.endswith(", on an ill-conditioned sample")
    assert checked.worst is checked.doubtful is not None


def test_numbers_that_are_larger_than_those_of_the_model_are_found_though_no_node_can_be_asked(
    nets: dict[str, Compiled], tmp_path: Path
) -> None:
    (tmp_path / "model").mkdir()
    louder = net(ALWAYS, output="Sin (s)")
    louder.graph.node[-1].output[0] = "z"
    louder.graph.node.append(onnx.helper.make_node("Add", ["z", "z"], ["y"]))
    by_numbers, _ = judged(nets["always"], compiled(tmp_path / "model", louder), tmp_path)
    (output,) = by_numbers.parity.over
    assert output.failure.startswith("the model is ill-conditioned on every sample, and ")


def test_samples_that_tell_nothing_are_drawn_anew(nets: dict[str, Compiled], tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    model = unfused(tmp_path)
    wanted = net(SOMETIMES)
    for node in model.graph.node:
        if node.name == "g":
            model.graph.node.remove(node)
    place = next(index for index, node in enumerate(model.graph.node) if node.name == "s")
    gains = [node for node in wanted.graph.node if node.output[0] in ("p", "q", "t", "g")]
    others = [type(node).FromString(node.SerializeToString()) for node in model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend([*others[:place], *gains, *others[place:]])
    _, checked = judged(nets["sometimes"], compiled(tmp_path / "model", model), tmp_path)
    found = checked.parity
    assert found.over == ()
    assert found.ill_conditioned
    assert not found.is_judged_locally
    assert found.outputs[0].number_count >= 2 * 8 * WIDTH, "as many samples as were asked for"
    assert found.conditioning.endswith("; others were compared")


def test_a_fault_beside_samples_that_tell_nothing_is_found(nets: dict[str, Compiled], tmp_path: Path) -> None:
    _, checked = judged(nets["sometimes"], nets["sometimes wrong"], tmp_path)
    assert checked.parity.over
    assert not checked.parity.is_judged_locally


def test_a_fault_where_nothing_moves_by_itself_has_no_excuse(nets: dict[str, Compiled], tmp_path: Path) -> None:
    _, checked = judged(nets["never"], nets["never wrong"], tmp_path)
    assert checked.parity.over
    assert checked.parity.ill_conditioned == ()
    assert checked.parity.conditioning == ""


def test_given_samples_are_left_out_and_none_is_drawn(nets: dict[str, Compiled], tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    for number, sign in enumerate((1, -1, 1)):
        numpy.savez(tmp_path / "given" / f"{number}.npz", x=sign * abs(weight(8, WIDTH, seed=9)))
    settings = ParitySettings(samples=tmp_path / "given")
    wrong = nets["sometimes wrong"]
    _, checked = judged(nets["sometimes"], wrong, tmp_path, settings)
    assert [each.sample for each in checked.parity.ill_conditioned] == [0, 2]
    (output,) = checked.parity.over
    assert (output.worst_sample, output.number_count) == (1, 8 * WIDTH)


def test_a_bisection_finds_nodes_in_ill_conditioned_models(tmp_path: Path) -> None:
    a, b = side(tmp_path, net(ALWAYS), "a"), side(tmp_path, unfused(tmp_path))
    sample = {"x": weight(8, WIDTH, seed=5)}
    found = bisected(tmp_path, a, b, sample, tolerance=1e-3)
    assert (found.kind, found.node) == (BisectionKind.CONDITIONING, None)
    assert "ill-conditioned on the sample: it moves by " in found.words
    assert "fusion" not in found.words
    a, b = side(tmp_path, net(ALWAYS), "a"), side(tmp_path, net(ALWAYS, changed=True))
    found = bisected(tmp_path, a, b, {"x": weight(8, WIDTH, seed=5)}, tolerance=1e-3)
    assert (found.kind, found.node) == (BisectionKind.NODE, "l0")
    path = tmp_path / "sample.npz"
    numpy.savez(path, x=weight(1, 8), c=numpy.array(True))
    limits = ErrorLimits(tolerance=Tolerance(max_rel_error=1e-3))
    for gain, is_condemned in ((GAIN, False), (1.0, True)):
        folder = tmp_path / str(gain)
        folder.mkdir()
        a, b = side(folder, branch(gain), "a"), side(folder, branch(gain, factor=1.01))
        words = condemned(a, b, path, folder, limits=limits)
        assert bool(words) is is_condemned, words


def branch(gain: float, *, factor: float = 1.0) -> onnx.ModelProto:
    """The whole computation is in an If, which is one node."""
    return onnx_model(
        "(float[1, 8] x, bool c) => (float[1, 8] y) { y = If (c) <then_branch = t () => (float[1, 8] p) "
        f"<float k = {{{gain}}}, float f = {{{factor}}}> {{ a = Mul (x, f) b = Mul (a, k) p = Sin (b) }},"
        "else_branch = e () => (float[1, 8] q) { q = Neg (x) }> }"
    )


def unstable_chain(layers: int, *, change: float, prefix: str) -> onnx.ModelProto:
    """Layers whose last bits become whole periods of a sine; inner values are called by `prefix`."""
    text = " ".join(
        f"{prefix}m{i} = MatMul ({f's{i - 1}' if i else 'x'}, w{i}) {prefix}a{i} = Mul ({prefix}m{i}, big)"
        f" s{i} = Sin ({prefix}a{i})"
        for i in range(layers)
    )
    known = {f"w{i}": numpy.multiply(weight(8, 8, seed=i), 1 + change, dtype="f4") for i in range(layers)}
    graph = f"(float[1, 8] x) => (float[1, 8] s{layers - 1}) {{ {text} }}"
    return onnx_model(graph, weights={**known, "big": numpy.array(1e5, numpy.float32)})


def test_nodes_that_move_by_themselves_are_measured_together(tmp_path: Path) -> None:
    sample, runner = tmp_path / "sample.npz", Inside()
    numpy.savez(sample, x=weight(1, 8))
    a = side(tmp_path, unstable_chain(60, change=0, prefix="a"), "a", runner=runner)
    b = side(tmp_path, unstable_chain(60, change=3e-7, prefix="b"))
    assert condemned(a, b, sample, tmp_path, limits=ErrorLimits(tolerance=Tolerance(max_rel_error=1e-3))) == ""
    assert len(runner.opened) < 10, "opening a model takes half a second"


def branches(factors: Sequence[float]) -> onnx.ModelProto:
    """Ifs side by side that multiply by `factors`; the first is unstable."""
    outputs = ", ".join(f"float[1, 8] y{number}" for number in range(len(factors)))
    nodes = "".join(
        f"y{number} = If (c) <then_branch = t{number} () => (float[1, 8] p{number}) <float k = "
        f"{{{1.0 if number else GAIN}}}, float f = {{{factor}}}> "
        f"{{ a{number} = Mul (x, f) b{number} = Mul (a{number}, k) p{number} = Sin (b{number}) }}, "
        f"else_branch = e{number} () => (float[1, 8] q{number}) {{ q{number} = Neg (x) }}> "
        for number, factor in enumerate(factors)
    )
    return onnx_model(f"(float[1, 8] x, bool c) => ({outputs}) {{ {nodes} }}")


def test_a_fault_far_behind_a_node_that_moves_by_itself_is_found(tmp_path: Path) -> None:
    sample = tmp_path / "sample.npz"
    numpy.savez(sample, x=weight(1, 8), c=numpy.array(True))
    limits = ErrorLimits(tolerance=Tolerance(max_rel_error=1e-3))
    count = 2 * FIRST_ASKED
    a = side(tmp_path, branches([1.0] * (count + 1)), "a")
    b = side(tmp_path, branches([*[1.0 + 2e-4] * count, 1.01]))
    words = condemned(a, b, sample, tmp_path, limits=limits)
    assert f"'y{count}'" in words


def steps(half: float) -> onnx.ModelProto:
    """Integers times `half`, rounded to integers: every other one is a tie."""
    return onnx_model(
        f"(float[8, 32] x) => (float[8, 32] y) <float s = {{0.0078125}}, int8 z = {{0}}, float h = {{{half:.10f}}}> {{"
        "q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) m = Mul (d, h) "
        "p = QuantizeLinear (m, s, z) y = DequantizeLinear (p, s, z) }"
    )


def test_what_is_quantized_is_perturbed_and_not_compared(tmp_path: Path) -> None:
    # The first QuantizeLinear hides a change in the last bits of the input, but not that of another kernel.
    files = {}
    for name, half in (("right", 0.5), ("other", 0.5 * (1 + 2**-22)), ("wrong", 0.6)):
        (tmp_path / name).mkdir()
        files[name] = compiled(tmp_path / name, steps(half))
    by_numbers, checked = judged(files["right"], files["other"], tmp_path)
    assert by_numbers.parity.outputs[0].max_abs_error == 0.0078125
    assert checked.parity.over == ()
    assert checked.parity.is_judged_locally
    (tmp_path / "again").mkdir()
    _, checked = judged(files["right"], files["wrong"], tmp_path / "again")
    assert checked.parity.over
    # A runtime may quantize it before it is moved, and give the result its name.
    text = (
        "(float[2, 8] x) => (float[8, 2] y, float[2, 8] w) <float s = {0.1}, int8 z = {0}> { a = Relu (x) "
        "b = Transpose (a) c = Identity (b) q = QuantizeLinear (c, s, z) y = DequantizeLinear (q, s, z) "
        "e = Relu (x) f = QuantizeLinear (e, s, z) g = DequantizeLinear (f, s, z) w = Add (g, e) }"
    )
    subject = opened(side(tmp_path, onnx_model(text)), tmp_path)
    assert subject.quantized == {"a", "b", "c"}
    assert set(matched(subject, subject, {"x": (2, 8)}).values) == {"q", "y", "e", "f", "g", "w"}


@pytest.mark.parametrize("element", ["float32", "float64", "float16"])
def test_the_last_bits_alone_are_perturbed_and_always_in_the_same_way(element: str) -> None:
    numbers = numpy.array([*numpy.linspace(-3, 3, 500), 0, numpy.inf, -numpy.inf, numpy.nan], element)
    numbers[0] = numpy.finfo(element).max
    for number in range(TIMES):
        moved = _shifted(numbers, number, 0)
        assert moved.dtype == numbers.dtype
        assert moved.tobytes() == _shifted(numbers, number, 0).tobytes()
        assert (numpy.isfinite(moved) == numpy.isfinite(numbers)).all()
        moves = numpy.abs(moved[1:500].astype("f8") / numbers[1:500].astype("f8") - 1)
        last = float(numpy.finfo(element).eps)
        most = 1.5 if element == "float16" else MOST_ULPS + 1
        assert last / 2 <= moves.max() <= most * last
    assert (_shifted(numpy.arange(4), 0, 0) == numpy.arange(4)).all()


TOKENS = (
    "(int64[4] ids) => (float[4, 8] y) <float big = GAIN> "
    "{ e = Gather (table, ids) m = MatMul (e, w) s = Mul (m, big) y = Sin (s) }"
)


def test_floats_are_perturbed_in_models_that_have_them() -> None:
    text = TOKENS.replace("GAIN", "{1.0}")
    model = onnx_model(text, weights={"table": weight(16, 8), "w": weight(8, 8, seed=1)})
    moved = shaken(model)
    assert moved is not None
    ids = numpy.array([1, 5, 2, 7])
    still = run(moved, {"ids": ids, ULPS: numpy.array(0, numpy.float32)})["y"]
    assert (still == run(model, {"ids": ids})["y"]).all()
    other = run(moved, {"ids": ids, ULPS: numpy.array(8, numpy.float32)})["y"]
    assert 1e-7 < numpy.abs(other - still).max() < 1e-5
    text = TOKENS.replace("GAIN", "{1.0}").replace("ids)", "ids, float[1] speed)", 1)
    text = text.replace("y = Sin (s)", "z = Sin (s) y = Mul (z, speed)")
    model = onnx_model(text, weights={"table": weight(16, 8), "w": weight(8, 8, seed=1)})
    moved = shaken(model)
    assert moved is not None
    feeds = {"ids": numpy.array([1, 5, 2, 7]), "speed": numpy.ones(1, numpy.float32)}
    still, other = (run(moved, {**feeds, ULPS: numpy.array(each, numpy.float32)})["y"] for each in (0, 8))
    assert 1e-7 < numpy.abs(other - still).max() < 1e-5
    assert shaken(onnx_model("(int64[4] x) => (int64[4] y) { y = Neg (x) }")) is None


def planned(folder: Path, proto: onnx.ModelProto) -> Plan:
    model = loaded(folder, proto, "m")
    return make(baseline(model, "source"), Android(providers=()), Store(folder / "store"), lambda text: None)


def golden(folder: Path, proto: onnx.ModelProto) -> tuple[int, list[str]]:
    """The number of samples that ship, and the user's message."""
    console = Console(quiet=True)
    plan = planned(folder, proto)
    found = golden_vectors([plan], ParityTable(), lambda subject: ParitySettings(), Store(folder / "store"), console)
    return max((len(each.golden.samples) for each in found.values()), default=0), console.warnings


def test_no_golden_vector_ships_that_tells_nothing(tmp_path: Path) -> None:
    for name in ("always", "sometimes", "tokens"):
        (tmp_path / name).mkdir()
    count, warnings = golden(tmp_path / "always", net(ALWAYS))
    assert count == 0
    (warning,) = warnings
    assert warning.startswith("model 'm' has no self-test on android: on 2 random, seed 0, it is ill-conditioned: the ")
    count, warnings = golden(tmp_path / "sometimes", net(SOMETIMES))
    assert (count, warnings) in ((1, []), (2, []))
    tables = {"table": weight(16, 8), "w": weight(8, 8, seed=1)}
    count, warnings = golden(tmp_path / "tokens", onnx_model(TOKENS.replace("GAIN", f"{{{GAIN}}}"), weights=tables))
    assert (count, len(warnings)) == (0, 1)


def test_a_model_that_crashes_when_perturbed_says_so_each_time(
    nets: dict[str, Compiled], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*given: object) -> None:
        raise ModelError("it crashed", hint="")

    monkeypatch.setattr(reference, "_perturbed", crash)
    references = OriginalOutputs(tmp_path)
    for _ in range(2):
        with pytest.raises(ModelError, match="it crashed"):
            references.perturbed(nets["never"].variant, SETTINGS, 0)
