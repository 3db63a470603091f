"""Scores of graphs: equal to onnxruntime and numpy in any order of requests, with errors that concern one graph."""

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy
import onnxruntime
import pytest

from packager.core.errors import ConfigError, ModelError
from packager.engines.session.exact import opening
from packager.files.processes.channel import Channel
from packager.quantization.measurement import Evaluator, MeasuredGraph, Samples, as_measured
from packager.quantization.measurement.child import ScoringJob, prepared, serve
from packager.samples.recorded import OUTPUTS, record, recorded
from tests.cases.measurement_cases import classifier, inputs, quantized, samples, subject
from tests.cases.onnx_text import onnx_model, weight

ROOT = Path(__file__).parents[2]
CASES = "tests.cases.measurement_cases"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[MeasuredGraph, MeasuredGraph]:
    """A float graph, and its quantized form as this machine runs it."""
    original, found = subject(classifier(), tmp_path), quantized(classifier(), tmp_path)
    return original, MeasuredGraph(graph=as_measured(found.graph, tmp_path), data_folder=tmp_path)


def job(
    original: MeasuredGraph, metric: str, folder: Path, told: Samples | None = None, *, threads: int = 1
) -> ScoringJob:
    told = told or samples()
    folder.mkdir(exist_ok=True)
    return ScoringJob(
        original=str(original.written(folder / "original.onnx")),
        data_folder=str(original.data_folder),
        metric=metric,
        code_folder=str(ROOT),
        reader=told.reader,
        description=dict(told.description),
        count=told.count,
        folder=str(folder),
        reference=str(folder / "reference"),
        threads=threads,
    )


def answers(told: ScoringJob, *graphs: MeasuredGraph) -> list[dict[str, Any]]:
    """Answers of the child's code, without the process."""
    folder = Path(told.folder)
    requests = [
        {"graph": str(each.written(folder / f"{number}.onnx")), "data_folder": str(each.data_folder)}
        for number, each in enumerate(graphs)
    ]
    channel = Channel(io.StringIO("\n".join(map(json.dumps, requests))), io.StringIO())
    measure, ready = prepared(told, channel)
    channel.say(ready)
    serve(measure, channel)
    assert isinstance(channel.answers, io.StringIO)
    return [json.loads(line) for line in channel.answers.getvalue().splitlines()]


def outputs(graph: MeasuredGraph) -> list[Any]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph.graph, options)
    return [session.run(None, each)[0].astype(numpy.float64) for each in inputs(4)]


def expected(metric: str, one: list[Any], other: list[Any]) -> float:
    if metric == "sqnr":
        noise = sum(((x - y) ** 2).sum() for x, y in zip(one, other, strict=True))
        return float(10 * numpy.log10(sum((x**2).sum() for x in one) / noise))
    if metric == "cosine":
        pairs = [(x.ravel(), y.ravel()) for x, y in zip(one, other, strict=True)]
        return float(numpy.mean([x @ y / numpy.sqrt((x @ x) * (y @ y)) for x, y in pairs]))
    agreeing = numpy.concatenate([x.argmax(-1) == y.argmax(-1) for x, y in zip(one, other, strict=True)])
    return float(agreeing.mean())


@pytest.mark.parametrize("metric", ["sqnr", "cosine", "top1"])
def test_scores_are_those_of_formulas(tmp_path: Path, pair: tuple[MeasuredGraph, MeasuredGraph], metric: str) -> None:
    original, found = pair
    *done, ready, own, score = answers(job(original, metric, tmp_path / "files"), original, found)
    best = math.inf if metric == "sqnr" else 1.0
    assert done == [{"done": number} for number in (1, 2, 3, 4)]
    assert ready == {"original": best}
    assert own["score"] == pytest.approx(best)
    one, other = outputs(original), outputs(found)
    assert score["score"] == pytest.approx(expected(metric, one, other), rel=1e-6)
    alone = [expected(metric, [x], [y]) for x, y in zip(one, other, strict=True)]
    assert len(alone) == 4
    assert score["worst"] == {
        "samples": 4,
        "worst_sample": alone.index(min(alone)),
        "worst_value": pytest.approx(min(alone), rel=1e-6),
    }
    assert any((x != y).any() for x, y in zip(one, other, strict=True))


def test_a_score_depends_on_neither_threads_nor_history(
    tmp_path: Path, pair: tuple[MeasuredGraph, MeasuredGraph]
) -> None:
    original, found = pair
    worse = quantized(classifier(), tmp_path, widest=3.0)
    seen = {
        json.dumps(answers(job(original, "sqnr", tmp_path / f"{threads}", threads=threads), *before, found)[-1])
        for threads in (1, 3)
        for before in ([], [worse, original])
    }
    assert len(seen) == 1
    assert answers(job(original, "sqnr", tmp_path / "1"), worse)[-1] != json.loads(seen.pop())


def test_the_float_model_runs_once_onto_disk(tmp_path: Path, pair: tuple[MeasuredGraph, MeasuredGraph]) -> None:
    original, found = pair
    told = job(original, "cosine", tmp_path / "files", samples(log=str(tmp_path)))
    first, again = answers(told, found), answers(told, found)
    assert again == first[-2:]  # without a word on samples done
    assert (tmp_path / "read.log").read_text() == "read\n"
    assert len(list((tmp_path / "files" / "reference").glob("*-out-0.npy"))) == 4


def test_recorded_outputs_are_not_computed_again(tmp_path: Path, pair: tuple[MeasuredGraph, MeasuredGraph]) -> None:
    original, found = pair
    whole = answers(job(original, "sqnr", tmp_path / "whole"), found)[-1]
    told = job(original, "sqnr", tmp_path / "half")
    half, ready = Path(told.reference), tmp_path / "whole" / "reference"
    half.mkdir()
    for number in (1, 3):
        record(half, number, OUTPUTS, recorded(ready, number, OUTPUTS, 1))
    assert answers(told, found)[-1] == whole
    false = job(original, "sqnr", tmp_path / "false")
    Path(false.reference).mkdir()
    record(Path(false.reference), 2, OUTPUTS, [9 * each for each in recorded(ready, 2, OUTPUTS, 1)])
    judged = answers(false, found)[-1]
    assert judged["score"] < whole["score"]
    assert judged["worst"]["worst_sample"] == 2


def test_a_wrong_graph_leaves_the_next_alone(tmp_path: Path, pair: tuple[MeasuredGraph, MeasuredGraph]) -> None:
    original, found = pair
    bad = [
        subject(onnx_model("(float[n, 16] x) => (float[n, 8] y) { y = NoSuchThing (x) }"), tmp_path),
        subject(onnx_model("(float[n, 16] x) => (float[n, 16] y) { y = Relu (x) }"), tmp_path),
        subject(onnx_model("(float[2, 16] x) => (float[2, 16] y) { y = Relu (x) }"), tmp_path),
        MeasuredGraph(graph=b"no graph", data_folder=tmp_path),
    ]
    *failures, last = answers(job(original, "sqnr", tmp_path / "files"), *bad, found)[-5:]
    words = ["NoSuchThing", "shape [1, 16], and [1, 8]", "Got: 1 Expected: 2", "refuses the graph"]
    for failure, word in zip(failures, words, strict=True):
        assert failure["failed"] == "ModelError"
        assert word in failure["message"]
    assert last["score"] > 10


@pytest.mark.parametrize("also", [-1, 1])
def test_other_samples_than_expected_are_refused(tmp_path: Path, also: int) -> None:
    told = job(subject(classifier(), tmp_path), "sqnr", tmp_path / "files", samples(also=also))
    with pytest.raises(ConfigError, match=f"{4 + also} samples could be read, 4 were expected"):
        answers(told)


def test_modules_and_samples_that_are_missing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no samples to measure 'top1' on"):
        answers(job(subject(classifier(), tmp_path), "top1", tmp_path / "files", samples(0)))
    fixed = subject(onnx_model("(float[2, 16] x) => (float[2, 16] y) { y = Relu (x) }"), tmp_path)
    with pytest.raises(ModelError, match="sample 0: ONNX Runtime cannot run"):
        answers(job(fixed, "top1", tmp_path / "other"))
    with pytest.raises(ConfigError, match="metric 'sqnr' needs samples"):
        Evaluator(fixed, "sqnr", tmp_path)
    with pytest.raises(ConfigError, match="no module 'no_such_module'"):
        answers(job(subject(classifier(), tmp_path), "no_such_module:score", tmp_path / "files"))


def test_a_users_function_is_measured_alike(tmp_path: Path, pair: tuple[MeasuredGraph, MeasuredGraph]) -> None:
    original, found = pair
    ready, own, score, again = answers(job(original, f"{CASES}:mean_of", tmp_path / "files"), original, found, found)
    assert own["score"] == ready["original"]  # though it draws a random number
    assert score == again
    difference = numpy.abs(outputs(found)[0]).mean() - numpy.abs(outputs(original)[0]).mean()
    assert own["score"] - score["score"] == pytest.approx(difference, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "failing",
            r"metric tests.cases.measurement_cases:failing fails: KeyError: 'b' \(.*measurement_cases.py, line \d+\)",
        ),
        ("nothing", "gives no finite number for the float model"),
        ("inputs", "fails: TypeError"),
        ("meen_of", "no function 'meen_of'"),
    ],
)
def test_a_function_that_does_not_work_is_refused_with_its_place(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        answers(job(subject(classifier(), tmp_path), f"{CASES}:{name}", tmp_path / "files"))


def test_random_operators_draw_the_same_numbers_for_every_graph(tmp_path: Path) -> None:
    graph = "(float[n, 16] x) => (float[n, 16] y) { r = RandomNormalLike (x) y = Add (x, r) }"
    drawing = subject(onnx_model(graph), tmp_path)
    told = job(drawing, "sqnr", tmp_path / "files")
    assert answers(told, drawing, drawing)[-2]["score"] == math.inf
    onnxruntime.set_seed(7)  # as another process would have another one
    assert answers(told, drawing)[-1]["score"] == math.inf


SHARING = """(float[n, 16] x) => (float[n, 16] y) {
    h = MatMul (x, w)
    a = Relu (h)
    y = MatMul (a, w)
}"""


def test_graphs_of_shared_weights_score_alike_at_saturation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX Runtime's own option against saturation fails on them: `Attempt to replace the existing tensor`."""
    model = onnx_model(SHARING, weights={"w": weight(16, 16)})
    found = quantized(model, tmp_path, widest=100)
    found = MeasuredGraph(graph=as_measured(found.graph, tmp_path), data_folder=tmp_path)
    scores = []
    for does in (False, True):  # the processor at hand is one of both, and what is done for the other harms neither
        monkeypatch.setattr(opening, "saturates", lambda does=does: does)
        scores.append(answers(job(subject(model, tmp_path), "sqnr", tmp_path / str(does)), found)[-1]["score"])
    assert scores[0] == pytest.approx(scores[1], abs=1)
    assert scores[0] > 10


@pytest.fixture
def from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def test_a_process_answers_one_by_one(
    tmp_path: Path, pair: tuple[MeasuredGraph, MeasuredGraph], from_here: None
) -> None:
    original, found = pair
    graph = found.written(tmp_path / "found.onnx")
    seen: list[tuple[int, int]] = []
    (tmp_path / "files").mkdir()
    with Evaluator(
        original, "cosine", tmp_path / "files", samples=samples(), progress=lambda *each: seen.append(each)
    ) as evaluator:
        first = evaluator.score(graph, tmp_path)
        with pytest.raises(ModelError, match="refuses the graph"):
            evaluator.score(subject(onnx_model("(x) => (y) { y = Nothing (x) }"), tmp_path).written(graph), tmp_path)
        again = evaluator.score(found.written(graph), tmp_path)
    assert (first, evaluator.original) == (again, 1.0)
    assert 0.9 < first.value < 1
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_crash_concerns_one_graph_and_the_next_gets_a_new_process(tmp_path: Path, from_here: None) -> None:
    large = onnx_model("""(float[n, 16] x) => (float[n, 16] y) {
        c = Constant <value = float {1e9}> ()
        y = Mul (x, c)
    }""")
    fine = subject(classifier(), tmp_path)
    with Evaluator(fine, f"{CASES}:crashing", tmp_path, code_folder=ROOT) as evaluator:
        with pytest.raises(ModelError, match=r"crashed on large.onnx \(SIGSEGV\); other graphs"):
            evaluator.score(subject(large, tmp_path).written(tmp_path / "large.onnx"), tmp_path)
        score = evaluator.score(fine.written(tmp_path / "fine.onnx"), tmp_path)
    assert (score.value, score.drop) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("name", "hint"), [("SIGSEGV", "check that the model runs on one"), ("SIGKILL", "memory has probably run out")]
)
def test_a_crash_before_anything_was_asked_says_so(tmp_path: Path, name: str, hint: str) -> None:
    (tmp_path / "dies.py").write_text(f"import os, signal; os.kill(os.getpid(), signal.{name})")
    evaluator = Evaluator(subject(classifier(), tmp_path), "dies:score", tmp_path, code_folder=tmp_path)
    with pytest.raises(ModelError, match=rf"crashed while it ran the float model \({name}\)") as error, evaluator:
        pytest.fail("it started")
    assert error.value.hint
    assert error.value.hint.startswith(hint)
