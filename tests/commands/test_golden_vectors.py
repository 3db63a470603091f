"""Golden vectors: the file is safetensors with the same bytes every time, whole samples ship or none, random inputs
as recipes, and only values that both the reference and the shipped files can compute."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from numpy.typing import NDArray

from packager import vectors
from packager.config.checks import ParityTable
from packager.core.console import Console
from packager.core.findings import Report
from packager.core.values import Package, Plan
from packager.engines.runners import RUNNERS, Runnable
from packager.files.store import Store
from packager.targets.android import Android
from packager.vectors import Allowed, Golden, generated
from packager.verification import golden as step
from packager.verification import parity
from packager.verification.golden import golden_vectors
from packager.verification.parity import Subject
from tests.cases.golden_vectors import folder, made, one, planned, settings_of
from tests.cases.onnx_text import linear, onnx_model, weight

__all__ = ["folder", "one"]


PACKAGE = Package(name="vision", version="1.0.0", license="")


BRANCHES = "(float[1, 64] x) => (float[1, 64] y, float[1, 64] r) { y = Abs (x) r = RandomNormalLike (x) }"

PICKY = "(float[2] x) => (float y) { i = Constant <value = int64 {5}> () y = Gather (x, i) }"


def on_cpu(plan: Plan) -> Plan:
    """`plan` with the CPU's file alone."""
    return replace(plan, choices=plan.choices[-1:])


def only(golden: Golden) -> vectors.GoldenFile:
    (file,) = {each.golden.sha256: each.golden for each in golden.values()}.values()
    return file


def test_every_file_gets_two_random_samples_and_what_the_original_makes(folder: Path, one: Plan) -> None:
    golden, warnings = made(folder, one)

    assert warnings == []
    assert len(golden) == 2
    assert set(golden) == {("m", each.sha256) for each in one.files}
    file = only(golden)
    largest = max(float(abs(vectors.outputs_of(file, sample)["y"]).max()) for sample in file.samples)
    scale = float(f"{largest:.3g}")
    assert all(each.allowed == {"y": Allowed(rtol=1e-3, atol=1e-5, scale=scale)} for each in golden.values())
    w, b = (onnx.numpy_helper.to_array(each) for each in linear().graph.initializer)
    for sample in file.samples:
        x, y = vectors.inputs_of(file, sample)["x"], vectors.outputs_of(file, sample)["y"]
        assert numpy.allclose(y, x @ w + b, atol=1e-5)
        assert list(sample.recipes) == ["x"]
    seeds = [sample.recipes["x"].seed for sample in file.samples]
    assert seeds == [generated.seed_of(0, sample=number, index=0) for number in (0, 1)]
    assert file.about == {
        "model": "m",
        "model-sha256": one.model.sha256,
        "variant": "source",
        "samples": "2 random, seed 0",
        "seed": "0",
        "tolerance": json.dumps({"y": {"rtol": 1e-3, "atol": 1e-5, "scale": scale}}),
    }


def test_what_parity_has_run_is_not_run_again(one: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone, _ = made(tmp_path / "alone", one)
    (cpu,) = RUNNERS["cpu"]("")
    references = parity.OriginalOutputs(tmp_path)
    for number, each in enumerate(one.files):
        subject, scratch = Subject(variant=each.variant, compiled=each), tmp_path / str(number)
        scratch.mkdir()
        assert not parity.check(subject, cpu, settings_of(subject), scratch, references).parity.has_failed
    opened: list[Runnable] = []
    open_session = type(cpu).open

    def counted(self: Any, model: Runnable, folder: Path) -> Any:
        opened.append(model)
        return open_session(self, model, folder)

    monkeypatch.setattr(type(cpu), "open", counted)
    store = Store(tmp_path / "store")
    golden = golden_vectors([one], ParityTable(), settings_of, store, Console(quiet=True), references)
    assert len(opened) == 1, "for samples whose last bits differ, which parity needs for errors alone"
    assert not opened[0].is_optimized
    assert only(golden).path.read_bytes() == only(alone).path.read_bytes()
    assert {key: each.allowed for key, each in golden.items()} == {key: each.allowed for key, each in alone.items()}


TOKENS = """(int64[batch, seq] ids, int64[batch, seq] mask, string[7] words, int64 k) => (float[batch, seq, 3] y,
    int64[batch, seq] m, string[7] w, int64 n)
    { y = Gather (table, ids) m = Identity (mask) w = Identity (words) n = Identity (k) }"""


def test_indices_stay_below_the_table_masks_hide_nothing_first_and_words_travel(folder: Path) -> None:
    table = numpy.arange(300, dtype=numpy.float32).reshape(100, 3)
    golden, warnings = made(folder, planned(folder, onnx_model(TOKENS, weights={"table": table}), name="tokens"))

    assert warnings == []
    file = only(golden)
    for sample in file.samples:
        inputs, outputs = vectors.inputs_of(file, sample), vectors.outputs_of(file, sample)
        assert numpy.array_equal(outputs["y"], table[inputs["ids"]])
        assert (inputs["ids"].min(), inputs["ids"].max(), inputs["ids"].shape) >= (0, 50, (1, 64))
        assert inputs["mask"][0, 0] == 1
        assert set(inputs["mask"].ravel()) == {0, 1}
        assert set(inputs["words"]) <= {"", "a", "mobile", "Zürich", "two words", "0"}
        assert len(set(inputs["words"])) > 1
        assert sorted(sample.recipes) == ["ids", "mask"]
        assert all(numpy.array_equal(outputs[b], inputs[a]) for a, b in (("mask", "m"), ("words", "w"), ("k", "n")))
    assert file.about["samples"] == "2 random, seed 0, ids 1x64, mask 1x64"


NARROW = "(float[2, width] x) => (float[2, 3] y) { y = MatMul (x, w) }"


def test_open_sizes_are_the_first_that_the_model_takes(folder: Path) -> None:
    weights = {"w": weight(16, 3)}
    golden, warnings = made(folder, planned(folder, onnx_model(NARROW, weights=weights), name="narrow"))

    assert warnings == []
    shapes = {name: each.shape for name, each in only(golden).samples[0].recipes.items()}
    assert shapes == {"x": (2, 16)}
    assert only(golden).about["samples"] == "2 random, seed 0, x 2x16"


def test_vectors_are_kept_by_content_or_never_run(folder: Path, one: Plan, tmp_path: Path) -> None:
    first, _ = made(folder, on_cpu(one))
    kept = {path: path.stat().st_mtime_ns for path in (folder / "store" / "golden").iterdir()}
    again, _ = made(folder, on_cpu(one))
    assert again == first
    assert {path: path.stat().st_mtime_ns for path in (folder / "store" / "golden").iterdir()} == kept
    other, _ = made(folder, on_cpu(one), seed=1)
    assert only(other).sha256 != only(first).sha256
    assert made(tmp_path, one, golden="none") == ({}, [])
    assert not (tmp_path / "store").exists()


def test_the_users_samples_stay_at_home_unless_asked_for(folder: Path, one: Plan) -> None:
    secret = numpy.full((1, 64), 0.125, numpy.float32)
    numpy.savez(folder / "secret.npz", x=secret)

    closed, _ = made(folder, on_cpu(one), samples=folder / "secret.npz", seed=2)
    told, _ = made(folder, on_cpu(one), samples=folder / "secret.npz", golden="samples")

    assert secret.tobytes() not in only(closed).path.read_bytes()
    assert len(only(closed).samples) == 2
    assert only(told).samples[0].recipes == {}
    assert numpy.array_equal(vectors.inputs_of(only(told), only(told).samples[0])["x"], secret)
    assert (len(only(told).samples), "seed" in only(told).about) == (1, False)


def test_models_without_vectors_say_why(folder: Path) -> None:
    golden, warnings = made(folder, planned(folder, onnx_model(BRANCHES), name="branches"))
    assert [list(sample.outputs) for sample in only(golden).samples] == [["y"], ["y"]]
    assert warnings == []
    few = onnx_model("(float[1, 300] x) => (float[1, 300] y) { y = Relu (x) }")
    golden, warnings = made(folder, planned(folder, few, name="few"), golden_max_kib=1)
    assert golden == {}
    assert warnings == [
        "model 'few' has no self-test on android: no sample fits into 1 KiB with its outputs; "
        "raise golden-max-kib in [parity]"
    ]
    golden, warnings = made(folder, planned(folder, onnx_model(PICKY), name="picky"))
    assert golden == {}
    (warning,) = warnings
    assert warning.startswith(
        "model 'picky' has no self-test on android: the original model 'picky' runs on none of the random"
    )


def test_what_a_shipped_file_does_not_compute_is_no_vector(folder: Path, one: Plan) -> None:
    foreign = planned(folder, linear(seed=5), name="foreign").cpu
    wrong = replace(one.choices[-1], compiled=replace(foreign, variant=one.cpu.variant))

    golden, warnings = made(folder, replace(one, choices=(wrong,)))

    assert golden == {}
    (warning,) = warnings
    where = "model 'm' has no self-test on android: the fixed file, on 2 random, seed 0: output 'y': max abs error"
    assert warning.startswith(where)
    assert 'golden = "samples"' in warning


def test_files_that_are_compared_with_different_graphs_have_vectors_of_their_own(folder: Path, one: Plan) -> None:
    """A variant with weights of its own is compared with its own graph, a file of the float model with the model."""
    other = replace(one.cpu.variant, graph=b"another", weights=folder / "weights")
    quantized = replace(one.cpu, variant=other, sha256="0" * 64)
    both = replace(one, choices=(*one.choices[:-1], replace(one.choices[-1], compiled=quantized)))

    families = step.families(both)

    assert [each.original.graph for each in families] == [one.model.graph, b"another"]
    assert [[subject.sha256 for subject in each.subjects] for each in families] == [
        [one.choices[0].compiled.sha256],
        ["0" * 64],
    ]


def test_a_package_carries_its_vectors_as_assets_and_its_classes_know_them(folder: Path, one: Plan) -> None:
    golden, _ = made(folder, one)
    target = Android(providers=("xnnpack",))

    view = target.view(PACKAGE, (one,), Report(parities=()), golden=golden)
    sources = target.render(view)

    (asset,) = [each for each in view.assets if each.path.endswith(".safetensors")]
    assert asset.path == "mobpack/vision/m.golden.safetensors"
    assert asset.file.stat().st_size == asset.size_bytes
    (text,) = [text for path, text in sources.texts.items() if path.name == "M.kt"]
    assert asset.sha256 in text
    assert re.search(r"^public class M\b[^{]*:\s+SelfTestingModel<", text, re.MULTILINE)
    assert any(path.name == "SelfTest.kt" for path in sources.texts)
    assert any(str(path).endswith(asset.path) for path in sources.files)


def test_a_model_with_vectors_for_some_of_its_files_only_has_no_self_test(folder: Path, one: Plan) -> None:
    golden, _ = made(folder, one)
    target = Android(providers=("xnnpack",))

    view = target.view(PACKAGE, (one,), Report(parities=()), golden=dict(list(golden.items())[:1]))

    sources = target.render(view)
    assert not [each.path for each in view.assets if each.path.endswith(".safetensors")]
    assert not any("selfTest" in text or path.name == "SelfTest.kt" for path, text in sources.texts.items())


def test_outputs_without_numbers_are_in_no_vector(folder: Path) -> None:
    nan = "n = Abs (x) m = Neg (n) s = Sub (m, one) y = Log (s)"
    weights = {"one": numpy.array(1, numpy.float32)}
    both = onnx_model(f"(float[4] x) => (float[4] y, float[4] z) {{ {nan} z = Relu (x) }}", weights=weights)
    found, warnings = made(folder, planned(folder, both, name="half_nan"))
    assert [list(sample.outputs) for sample in only(found).samples] == [["z"], ["z"]]
    assert warnings == []
    alone = onnx_model(f"(float[4] x) => (float[4] y) {{ {nan} }}", weights=weights)
    found, (warning,) = made(folder, planned(folder, alone, name="all_nan"))
    assert found == {}
    assert "its outputs are NaN, infinite or empty: nothing to compare a phone with" in warning


def test_numbers_of_a_domain_travel_themselves(folder: Path) -> None:
    logarithm = onnx_model("(float[64] x, float[64] z) => (float[64] y) { a = Log (x) y = Add (a, z) }")
    found, warnings = made(folder, planned(folder, logarithm, name="logarithm"))
    assert warnings == []
    for sample in only(found).samples:
        assert list(sample.recipes) == ["z"]
        values = vectors.inputs_of(only(found), sample)["x"]
        assert values.min() > 0
        assert numpy.isfinite(vectors.outputs_of(only(found), sample)["y"]).all()


def test_rows_that_a_phone_may_swap_are_in_no_vector(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sorted_rows = """s = Mul (x, big) w = Sin (s) t = Mul (w, small) top, i = TopK (t, k) boxes = Gather (anchors, i)"""
    weights = {
        "big": numpy.array(1e7, numpy.float32),
        "small": numpy.array(1e-6, numpy.float32),
        "k": numpy.array([50]),
        "anchors": weight(200, 4),
    }
    text = f"(float[200] x) => (float[50, 4] boxes, float[50] top, float[200] z) {{ {sorted_rows} z = Relu (x) }}"
    found, warnings = made(folder, planned(folder, onnx_model(text, weights=weights), name="detector"))
    assert warnings == []
    names = [sorted(sample.outputs) for sample in only(found).samples]
    assert names == [["top", "z"]] * 2, "sorted scores stay where they are"
    text = text.replace(", float[50] top, float[200] z", "").replace(" z = Relu (x)", "")
    found, warnings = made(folder, planned(folder, onnx_model(text, weights=weights), name="only_boxes"))
    assert (found, warnings) == ({}, []), "nothing to test is not a failure"
    message = " ".join(capsys.readouterr().err.split())
    assert "has no self-test on android: its rows are sorted" in message
    assert message.endswith("a phone may give them in another order, so there is nothing to test")


def passes(expected: NDArray[Any], actual: NDArray[Any], allowed: Allowed) -> bool:
    """The rule of the self-tests of all platforms."""
    both = numpy.isfinite(expected) & numpy.isfinite(actual)
    is_same = (expected == actual) | (numpy.isnan(expected) & numpy.isnan(actual))
    error = float(abs(expected[both] - actual[both]).max(initial=0))
    return (~both & ~is_same).sum() <= allowed.mismatches and error <= allowed.atol + allowed.rtol * allowed.scale


def test_of_a_table_that_is_sorted_by_a_score_the_scores_are_compared(folder: Path) -> None:
    """The rows are boxes of hundreds of pixels, a score of thousandths, and a class."""
    nodes = """s = Mul (x, tenth) m = Mul (x, big) w = Sin (m) v = Mul (w, small) f = Add (s, v)
        top, i = TopK (f, k) boxes = Gather (anchors, i) column = Unsqueeze (top, last)
        rows = Concat <axis = 1> (boxes, column, column) y = Mul (rows, sizes)"""
    weights = {
        "big": numpy.array(1e7, numpy.float32),
        "small": numpy.array(1e-7, numpy.float32),
        "tenth": numpy.array(1e-3, numpy.float32),
        "k": numpy.array([150]),
        "last": numpy.array([1]),
        "anchors": 300 * weight(2000, 4),
        "sizes": numpy.array([1, 1, 1, 1, 1, 0], numpy.float32),
    }
    model = onnx_model(f"(float[2000] x) => (float[150, 6] y) {{ {nodes} }}", weights=weights)
    golden, warnings = made(folder, planned(folder, model, name="table"))
    assert warnings == []
    (allowed,) = {tuple(each.allowed.items()) for each in golden.values()}
    ((_, limit),) = allowed
    assert limit.mismatches == 150 * 5
    assert limit.scale < 0.01
    assert limit.atol <= limit.rtol * limit.scale
    for sample in only(golden).samples:
        expected = vectors.outputs_of(only(golden), sample)["y"]
        assert numpy.isfinite(expected[:, 4]).all()
        assert (numpy.delete(expected, 4, axis=1) == numpy.inf).all()
        right = numpy.concatenate([weight(150, 4), expected[:, 4:5], numpy.zeros((150, 1))], axis=1)
        assert passes(expected, right, limit)
        assert passes(expected, right * (1 + 1e-4), limit)
        assert not passes(expected, right * numpy.array([1, 1, 1, 1, 1.01, 1]), limit)
        assert not passes(expected, numpy.full_like(right, numpy.nan), limit)
        assert not passes(expected, numpy.zeros_like(right), limit)
