"""`mobpack quantize`: its files, its output, and its refusals before anything is written."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy
import onnx
import onnxruntime
import pytest

from packager.core.errors import ModelError
from packager.core.values import baseline
from packager.files.store import Store
from packager.workflows import quantize
from tests.cases.cli import Answer, Mobpack, mobpack
from tests.cases.disks import tiny_disk
from tests.cases.onnx_text import loaded, onnx_model, saved, session, weight
from tests.toolchain import command

__all__ = ["mobpack"]

NET = """(float[1, 3, 16, 16] x) => (float[1, 2] y) {
    c = Conv <pads = [1, 1, 1, 1]> (x, w)
    r = Relu (c)
    d = Conv <pads = [1, 1, 1, 1]> (r, v)
    s = Relu (d)
    p = GlobalAveragePool (s)
    f = Flatten (p)
    y = Gemm (f, g)
}"""


def net(folder: Path) -> Path:
    weights = {"w": weight(16, 3, 3, 3), "v": weight(32, 16, 3, 3, seed=1), "g": weight(32, 2, seed=2)}
    return saved(folder / "net.onnx", onnx_model(NET, weights=weights))


def calibration(folder: Path, count: int = 9) -> Path:
    path = folder / "samples.npz"
    numpy.savez(path, x=numpy.random.default_rng(0).standard_normal((count, 3, 16, 16)).astype(numpy.float32))
    return path


def outputs(path: Path) -> numpy.ndarray:
    x = numpy.random.default_rng(9).standard_normal((1, 3, 16, 16)).astype(numpy.float32)
    result: numpy.ndarray = onnxruntime.InferenceSession(path).run(None, {"x": x})[0]
    return result


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Answer]:
    """One run of static-qdq with every option, and its folder."""
    folder = tmp_path_factory.mktemp("quantize")
    with pytest.MonkeyPatch.context() as patch:
        return folder, run(folder, patch, "-q", "static-qdq", "--calibration", calibration(folder).name)


def run(folder: Path, patch: pytest.MonkeyPatch, *options: str) -> Answer:
    """Run the command on `net` in a process of its own."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / ".cache")}
    done = command.run("quantize", net(folder), *options, folder=folder, environment=environment)
    return Answer(done.returncode, done.stdout, done.stderr)


def test_the_result_is_valid_with_the_same_signature_and_nearly_its_outputs(answered: tuple[Path, Answer]) -> None:
    folder, answer = answered
    assert answer.code == 0, answer.err
    result = folder / "net-static-qdq.onnx"
    onnx.checker.check_model(result, full_check=True)
    before, after = onnx.load(folder / "net.onnx").graph, onnx.load(result).graph
    assert list(before.input) == list(after.input)
    assert list(before.output) == list(after.output)
    assert sum(node.op_type == "QuantizeLinear" for node in after.node) == 6
    expected, found = outputs(folder / "net.onnx"), outputs(result)
    assert 0 < numpy.abs(expected - found).max() < 0.05 * numpy.abs(expected).max()


def test_it_prints_sizes_the_metric_latency_and_the_files(answered: tuple[Path, Answer]) -> None:
    folder, answer = answered
    assert re.search(r"size +\S+ kB +\S+ kB +0\.\d\d x", answer.out)
    assert re.search(r"sqnr +\d\d\.\d dB", answer.out)
    assert re.search(r"latency, \w+, 1 thread +\S+ ms +\S+ ms +\S+ x", answer.out)
    assert answer.out.count("latency") == 1  # no emulated processor, whose times would read as a phone's
    assert answer.out.split()[-2:] == ["net-static-qdq.onnx", "net-static-qdq.html"]
    assert "calibrate net (minmax)" in answer.err
    page = (folder / "net-static-qdq.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_the_same_again_gives_the_same_bytes(answered: tuple[Path, Answer], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = answered
    options = ("-q", "static-qdq", "--calibration", "samples.npz", "--no-report", "--json", "-o", "again.onnx")
    answer = run(folder, monkeypatch, *options)
    assert answer.code == 0, answer.err
    assert (folder / "again.onnx").read_bytes() == (folder / "net-static-qdq.onnx").read_bytes()
    document = json.loads(answer.out)
    assert document["quantized"]["size-bytes"] == (folder / "again.onnx").stat().st_size
    assert document["settings"]["activations"] == "int8"
    assert not (folder / "again.html").exists()


def test_a_failed_search_writes_nothing(answered: tuple[Path, Answer], monkeypatch: pytest.MonkeyPatch) -> None:
    """The metric is the user's own, and rejects everything."""
    folder, _ = answered
    (folder / "mine.py").write_text(
        "calls = 0\ndef score(predict):\n    global calls\n    calls += 1\n    return 1.0 - (calls > 1)\n"
    )
    options = ("-q", "auto", "--calibration", "samples.npz", "--max-drop", "0.5", "--metric", "mine:score")
    answer = run(folder, monkeypatch, *options)
    assert answer.code == 3, answer.err
    assert "with every layer in float the metric drops by 1: the budget is 0.5" in answer.err
    assert not list(folder.glob("*auto*"))


def test_a_search_says_what_it_tried_and_why(answered: tuple[Path, Answer], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = answered
    options = ("-q", "auto", "--calibration", "samples.npz", "--max-drop", "2e-5", "--json", "--force")
    answer = run(folder, monkeypatch, *options)
    assert answer.code == 0, answer.err
    document = json.loads(answer.out)
    assert document["score"]["drop"] <= 2e-5
    assert document["search"]["bound"] == 4 + 3 + 2 + 2 * 2 + 8
    schemes = {each["layer"]: each["scheme"] for each in document["search"]["choices"]}
    assert len(schemes) == 3
    assert set(schemes.values()) > {"integers"} or "integers" not in schemes.values()
    reasons = [each["reason"] for each in document["left"]]
    assert reasons
    assert all("alone in integers it brings the output to" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("-q", "static-qdq"), 2, "quantizer 'static-qdq': 'calibration' is missing"),
        (("-q", "static-qdq"), 2, "hint: give samples: --calibration SAMPLES"),
        (("-q", "statik"), 2, "unknown quantizer 'statik'"),
        (("-q", "dynamic", "--set", "operator=1"), 2, "unknown key 'operator'"),
        (("-q", "static-qdq", "--calibration", "nowhere"), 2, "samples not found: "),
        (("-q", "auto", "--calibration", "x", "--max-drop", "-1"), 2, "max-drop -1 is negative"),
        (("-q", "auto", "--calibration", "x", "--max-drop", "1", "--metric", "best"), 2, "metric 'best' is unknown"),
        (("-q", "float16", "-o", "net.onnx"), 2, "is the input model"),
        (("-q", "float16", "-o", "out.tflite"), 2, "the output must be an .onnx file"),
        (("-q", "dynamic", "--set", 'exclude=["nothing"]'), 2, "no node 'nothing'"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_do(
    mobpack: Mobpack, tmp_path: Path, options: tuple[str, ...], code: int, message: str
) -> None:
    net(tmp_path)
    answer = mobpack("quantize", "net.onnx", *options)
    assert answer.code == code
    assert message in answer.err
    assert "hint:" in answer.err
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == ["net.onnx"]


def test_a_variant_neither_smaller_nor_faster_is_refused_unless_forced(mobpack: Mobpack, tmp_path: Path) -> None:
    """Dynamic quantization applies to its one small matrix alone."""
    net(tmp_path)
    refused = mobpack("quantize", "net.onnx", "-q", "dynamic", "--no-report")
    assert refused.code == 6
    assert "neither smaller" in refused.err
    assert not (tmp_path / "net-dynamic.onnx").exists()
    forced = mobpack("quantize", "net.onnx", "-q", "dynamic", "--no-report", "--force")
    assert forced.code == 0
    assert "because it was forced" in forced.err
    assert (tmp_path / "net-dynamic.onnx").exists()


def test_a_folder_without_access_is_refused_before_measuring(mobpack: Mobpack, tmp_path: Path) -> None:
    net(tmp_path)
    (tmp_path / "file").write_text("")
    answer = mobpack("quantize", "net.onnx", "-q", "float16", "-o", "file/out.onnx")
    assert answer.code == 4
    assert "cannot write" in answer.err


def test_inputs_and_outputs_are_integers_where_anything_is_quantized(
    answered: tuple[Path, Answer], monkeypatch: pytest.MonkeyPatch, mobpack: Mobpack, tmp_path: Path
) -> None:
    folder, _ = answered
    options = ("-q", "static-qdq", "--calibration", "samples.npz", "--no-report", "--integer-io", "-o", "integers.onnx")
    answer = run(folder, monkeypatch, *options)
    assert answer.code == 0, answer.err
    assert "integer inputs and outputs: x, y; the scales are in the model's metadata" in answer.err
    session = onnxruntime.InferenceSession(folder / "integers.onnx")
    assert [each.type for each in (*session.get_inputs(), *session.get_outputs())] == ["tensor(int8)", "tensor(int8)"]
    assert set(session.get_modelmeta().custom_metadata_map) == {"quantization.x", "quantization.y"}
    net(tmp_path)
    answer = mobpack("quantize", "net.onnx", "-q", "float16", "--no-report", "--integer-io")
    assert answer.code == 2
    assert "quantizes no input or output, so none can be an integer" in answer.err
    assert not (tmp_path / "net-float16.onnx").exists()


def test_weights_of_2_gib_lie_beside_the_result(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net(tmp_path)
    monkeypatch.setattr(quantize, "LARGEST_BYTES", 1000)
    answer = mobpack("quantize", "net.onnx", "-q", "float16", "--no-report", "-o", "out/halves.onnx")
    assert answer.code == 0, answer.err
    assert answer.out.split()[-2:] == ["out/halves.onnx", "out/halves.onnx.data"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["halves.onnx", "halves.onnx.data"]
    whole = outputs(tmp_path / "net.onnx")
    assert numpy.abs(outputs(tmp_path / "out" / "halves.onnx") - whole).max() < 0.01 * numpy.abs(whole).max()


@pytest.mark.parametrize("limit_bytes", [1000, 2**31], ids=["two files", "one file"])
def test_a_file_that_does_not_open_is_not_written_and_its_node_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit_bytes: int
) -> None:
    model = loaded(
        tmp_path, onnx_model("(float[4] x) => (float[4] y) { [scaled] y = Mul (x, w) }", weights={"w": weight(4)})
    )
    broken = onnx.load_from_string(model.graph)
    broken.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weight(4).astype(numpy.float16), "w"))
    monkeypatch.setattr(quantize, "LARGEST_BYTES", limit_bytes)
    variant = replace(baseline(model, "float16"), graph=broken.SerializeToString())
    with pytest.raises(ModelError, match=r"out.onnx was not written: .*Mul.*in node \(scaled\)"):
        quantize.write(variant, tmp_path / "out" / "out.onnx", Store(tmp_path / "store"))
    assert list((tmp_path / "out").iterdir()) == []


LOUD = """(float[1, 3, 16, 16] x) => (float[1, 16, 16, 16] y) {
    c = Conv <pads = [1, 1, 1, 1]> (x, w)
    s = Mul (c, c)
    m = Where (b, s, i)
    y = Div (s, k)
}"""


@pytest.mark.parametrize("factor", [100, 1])
def test_numbers_beyond_float16_are_counted_and_named(mobpack: Mobpack, tmp_path: Path, factor: int) -> None:
    """This CPU computes most of them in 32 bits, so that the outputs do not show it. Infinity is a mark."""
    constants = {"b": numpy.array([False]), "i": numpy.array(numpy.inf, numpy.float32)}
    filters = (weight(16, 3, 3, 3) * factor).astype(numpy.float32)
    model = onnx_model(LOUD, weights={"w": filters, "k": numpy.array(50_000, numpy.float32), **constants})
    saved(tmp_path / "net.onnx", model)
    calibration(tmp_path, 3)
    answer = mobpack("quantize", "net.onnx", "-q", "float16", "--calibration", "samples.npz", "--force")
    assert answer.code == 0, answer.err
    model.graph.output.append(onnx.helper.make_empty_tensor_value_info("s"))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    squares = [session.run(["s"], {"x": each})[0] for each in numpy.load(tmp_path / "samples.npz")["x"][:, None]]
    count = int((numpy.array(squares) > 65504).sum())
    assert ("float16" in answer.err and "values exceed 65,504" in answer.err) == (factor == 100)
    assert (f": 's' ({count:,} numbers);" in answer.err) == (count > 0) == (factor == 100)


@pytest.mark.parametrize("limit_bytes", [1000, 2**31], ids=["two files", "one file"])
def test_a_full_disk_is_clean(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit_bytes: int
) -> None:
    weights = {"w": weight(64, 3, 3, 3), "v": weight(128, 64, 3, 3, seed=1), "g": weight(128, 2, seed=2)}
    saved(tmp_path / "net.onnx", onnx_model(NET, weights=weights))  # 148 kB in 16 bits
    monkeypatch.setattr(quantize, "LARGEST_BYTES", limit_bytes)
    disk = tmp_path / "disk"
    disk.mkdir()
    with tiny_disk(disk):
        answer = mobpack("quantize", "net.onnx", "-q", "float16", "--no-report", "-o", "disk/halves.onnx")
        assert list(disk.iterdir()) == []
    assert answer.code == 4
    assert "cannot write" in answer.err
    assert "No space left" in answer.err


def drowned(folder: Path) -> None:
    """A model whose output is lost if a scale has to serve all of its first weight: one column is 100,000 times larger
    than the others, and the output ignores it."""
    large, kept = numpy.ones(64, numpy.float32), numpy.ones(64, numpy.float32)
    large[0], kept[0] = 1e5, 0
    first = numpy.asarray(weight(16, 64), numpy.float32) * large
    text = "(float[1, 16] x) => (float[1, 8] y) { h = MatMul (x, first) k = Mul (h, kept) y = MatMul (k, last) }"
    weights = {"first": first, "kept": kept, "last": weight(64, 8, seed=1)}
    saved(folder / "net.onnx", onnx_model(text, weights=weights))
    numpy.savez(folder / "x.npz", x=weight(12, 16, seed=2))


LOST = ("-q", "static-qdq", "--calibration", "x.npz", "--set", "per-channel=false", "--force")


def test_a_variant_that_lost_its_outputs_is_warned_of_and_refused_where_warnings_or_a_budget_count(
    mobpack: Mobpack, tmp_path: Path
) -> None:
    drowned(tmp_path)
    answer = mobpack("quantize", "net.onnx", *LOST)
    assert answer.code == 0
    found = re.search(r"warning: sqnr is (\S+) dB on the samples \(12 given\)(.*): below 10 dB the outputs", answer.err)
    assert found
    assert -1 < float(found[1]) < 1  # nothing is left of the output: the noise is the signal
    (tmp_path / "net-static-qdq.onnx").unlink()
    assert mobpack("quantize", "net.onnx", *LOST, "--strict").code == 3
    refused = mobpack("quantize", "net.onnx", *LOST[:-1], "--max-drop", "0.1")
    assert refused.code == 6
    assert "sqnr drops by" in refused.err
    assert "the budget is 0.1" in refused.err
    assert not (tmp_path / "net-static-qdq.onnx").exists()
    needed = mobpack("quantize", "net.onnx", *LOST, "--max-drop", "0.1", "--no-report")
    assert (needed.code, "--max-drop needs the measurement" in needed.err) == (2, True)


NOTHING = {
    "NaN": "a = MatMul (x, w) b = Abs (a) c = Neg (b) y = Sqrt (c)",
    "infinite": "a = MatMul (x, w) b = Abs (a) y = Div (b, zero)",
    "empty": "a = MatMul (x, w) y = Slice (a, from, from, from)",
}
OF_NOTHING = {"w": weight(64, 64), "zero": numpy.array(0, numpy.float32), "from": numpy.array([0])}


@pytest.mark.parametrize("body", NOTHING.values(), ids=NOTHING)
@pytest.mark.parametrize(
    "options", [("dynamic",), ("auto", "--calibration", "x.npz", "--max-drop", "0.1"), ("dynamic", "--metric", "top1")]
)
def test_outputs_without_numbers_are_not_compared_and_no_success(
    mobpack: Mobpack, tmp_path: Path, body: str, options: tuple[str, ...]
) -> None:
    weights = {name: each for name, each in OF_NOTHING.items() if name in body}
    saved(tmp_path / "net.onnx", onnx_model(f"(float[1, 64] x) => (float[n, 64] y) {{ {body} }}", weights=weights))
    numpy.savez(tmp_path / "x.npz", x=weight(8, 64, seed=2))
    answer = mobpack("quantize", "net.onnx", "-q", *options, "--force")
    assert answer.code == 3
    assert "not compared: output 'y' is empty, NaN or infinite on every sample" in answer.err
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["net.onnx", "x.npz"]


def test_an_output_without_numbers_beside_others_is_named(mobpack: Mobpack, tmp_path: Path) -> None:
    text = f"(float[1, 64] x) => (float[1, 64] y, float[1, 64] z) {{ {NOTHING['NaN']} z = MatMul (x, w) }}"
    saved(tmp_path / "net.onnx", onnx_model(text, weights={"w": weight(64, 64)}))
    answer = mobpack("quantize", "net.onnx", "-q", "dynamic", "--force", "--json")
    assert answer.code == 0, answer.err
    assert "output 'y' is empty, NaN or infinite on every sample: it was not compared" in answer.err
    assert 20 < json.loads(answer.out)["score"]["value"] < 60
    assert mobpack("quantize", "net.onnx", "-q", "dynamic", "--force", "--strict").code == 3


def noise(folder: Path, found: Path, x: numpy.ndarray) -> float:
    """Power of the error of the model in `found` relative to that of the output, on the samples `x`."""
    sessions = [session(path, is_optimized=False) for path in (folder / "net.onnx", found)]
    before, after = (numpy.stack([each.run(None, {"x": row[None]})[0] for row in x]) for each in sessions)
    return float(((before - after) ** 2).sum() / (before**2).sum())


def test_every_fourth_sample_judges_what_a_search_has_found_on_the_others(mobpack: Mobpack, tmp_path: Path) -> None:
    net(tmp_path)
    x = numpy.load(calibration(tmp_path, 24))["x"]
    x[3::4] *= 1.5  # some of the numbers are out of the ranges
    numpy.savez(tmp_path / "samples.npz", x=x)
    options = ("-q", "auto", "--calibration", "samples.npz", "--max-drop", "0.2", "--json", "--force")
    answer = mobpack("quantize", "net.onnx", *options)
    assert answer.code == 0, answer.err
    document = json.loads(answer.out)
    held_out = document["search"]["held-out"]
    assert (document["score"]["samples"], document["calibration"]["count"], held_out["count"]) == (18, 18, 6)
    found = tmp_path / "net-auto.onnx"
    others = numpy.arange(24) % 4 != 3
    assert held_out["drop"] == pytest.approx(noise(tmp_path, found, x[~others]), rel=0.3)
    assert document["score"]["drop"] == pytest.approx(noise(tmp_path, found, x[others]), rel=0.3)
    assert held_out["drop"] > 2 * document["score"]["drop"]


def test_a_search_over_its_budget_on_unseen_samples_is_refused(mobpack: Mobpack, tmp_path: Path) -> None:
    """Those are a hundred times as large: every range is too narrow for them."""
    net(tmp_path)
    x = numpy.load(calibration(tmp_path, 24))["x"]
    x[3::4] *= 100
    numpy.savez(tmp_path / "samples.npz", x=x)
    options = ("-q", "auto", "--calibration", "samples.npz", "--max-drop", "0.01")
    refused = mobpack("quantize", "net.onnx", *options)
    assert refused.code == 6
    assert re.search(
        r"the drop is 0\.00\d+ on the samples of the search, and 0\.9\d+ on 6 others: the budget is 0.01", refused.err
    )
    assert not (tmp_path / "net-auto.onnx").exists()
    assert mobpack("quantize", "net.onnx", *options, "--force").code == 0
    (tmp_path / "mobpack.toml").write_text(
        '[package]\nname = "nets"\n[model.net]\npath = "net.onnx"\n[target.web]\nvariant = "small"\n'
        '[variant.small]\nquantizer = "auto"\ncalibration = "samples.npz"\nmax-drop = 0.01\n'
    )
    checked = mobpack("check", "--target", "web")
    assert (checked.code, "on 6 others: the budget is 0.01" in checked.err) == (6, True)


@pytest.mark.parametrize(("count", "words"), [(1, "1 sample is"), (15, "15 samples are")])
def test_too_few_samples_to_hold_out_are_told(count: int, words: str, mobpack: Mobpack, tmp_path: Path) -> None:
    net(tmp_path)
    calibration(tmp_path, count)
    answer = mobpack(
        "quantize", "net.onnx", "-q", "auto", "--calibration", "samples.npz", "--max-drop", "0.05", "--force"
    )
    assert answer.code == 0
    assert f"{words} too few to hold some out" in answer.err
