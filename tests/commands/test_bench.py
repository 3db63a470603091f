"""`mobpack bench`: rounds, gates, baselines, refusals, and what an interrupted run leaves."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from packager.core.errors import ConfigError
from packager.engines import runners
from packager.engines.runners import RUNNERS
from packager.engines.runners.arm64 import Arm64
from packager.engines.runners.cpu import Cpu
from packager.files.installed import PACKAGE
from packager.measuring.bench import comparing, gates, page, rounds, words, writing
from packager.measuring.bench.document import BenchDocument
from packager.workflows import reference
from tests.cases.bench_cases import Scripted, add, jittered, results, row
from tests.cases.cli import Answer, Mobpack, mobpack
from tests.cases.onnx_text import linear, onnx_model, saved, weight
from tests.cases.schemas import jsonschema

__all__ = ["mobpack"]

SCHEMA = Path(__file__).parents[2] / "docs" / "bench.schema.json"
COPY = "(float[batch, 4] x) => (float[batch, 4] y) { y = Identity (x) }"
MS = 1_000_000


@pytest.fixture
def net(tmp_path: Path) -> Path:
    return saved(tmp_path / "net.onnx", onnx_model(COPY))


def errors(text: str) -> list[str]:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return [each.message for each in jsonschema.Draft202012Validator(schema).iter_errors(json.loads(text))]


def quick(mobpack: Mobpack, *arguments: str | Path) -> Answer:
    return mobpack("bench", *arguments, "--rounds", "2", "--seconds", "0.01")


def test_the_schema_is_up_to_date() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == reference.bench_schema()


def test_a_model_is_timed_on_the_cpu_and_a_batch_counts_its_items(mobpack: Mobpack, net: Path) -> None:
    # Rounds take 0.1 s: a clock of processors may count in ticks of 0.01 s.
    answer = mobpack("bench", net, "--rounds", "2", "--seconds", "0.1", "--against", "cpu", "--json")
    assert answer.code == 0, answer.err
    assert errors(answer.out) == []
    found = json.loads(answer.out)
    assert (found["is-partial"], found["skipped"], found["method"]["rounds-done"]) == (False, [], 2)
    (only,) = found["rows"]
    assert (only["file"], only["runner"], only["is-original"], only["error"]) == ("graph", "cpu", True, 0.0)
    assert 0 < only["p50-ms"] <= only["p90-ms"] <= only["slowest-ms"]
    assert only["runs"] == sum(len(each["times-ns"]) for each in only["rounds"]) >= 10
    assert only["load-ms"] > 0
    assert only["cpu-ms"] > 0
    assert only["peak-bytes"] > only["base-bytes"] > 1 << 20
    answer = quick(mobpack, net, "--against", "cpu", "--shape", "batch=8", "--json")
    found = json.loads(answer.out)
    assert found["inputs"] == [{"batch": 8, "model": "net", "samples": "random, seed 0", "shapes": ["x: 8 x 4"]}]
    assert found["rows"][0]["items-per-second"] == pytest.approx(8000 / found["rows"][0]["p50-ms"])


def test_variants_and_files_are_side_by_side_with_the_original(mobpack: Mobpack, tmp_path: Path) -> None:
    net = saved(tmp_path / "net.onnx", linear())
    answer = quick(mobpack, net, "-t", "android", "--variant", "dynamic", "--against", "cpu", "--json")
    assert answer.code == 0, answer.err
    listed = [
        (each["variant"], each["file"].rpartition(" ")[0], each["ships-for"]) for each in json.loads(answer.out)["rows"]
    ]
    assert listed == [("source", "", []), ("dynamic", "", []), ("source", "fixed .ort", ["cpu on android"])]


def test_a_project_needs_no_model(mobpack: Mobpack, net: Path, tmp_path: Path) -> None:
    text = f'[package]\nname = "net"\n[model.net]\npath = "{net.name}"\n[target.android]\nproviders = []\n'
    (tmp_path / "mobpack.toml").write_text(text, encoding="utf-8", newline="\n")
    answer = quick(mobpack, "--against", "cpu", "--report", "bench.html")
    assert answer.code == 0, answer.err
    assert "ships for cpu on android" in answer.out
    assert errors((tmp_path / "bench.json").read_text(encoding="utf-8")) == []
    assert "<h1>Times: net</h1>" in (tmp_path / "bench.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (("--against", "moon"), "--against: unknown runner 'moon'", f"known: {', '.join(sorted(RUNNERS))}"),
        (("--threads", "4096"), "--threads 4096: this machine has", "give fewer"),
        (("--variant", "int3"), "--variant int3: no such variant or quantizer", "known: static-qdq"),
        (("--fail-on", "p95=1ms"), "unknown gate 'p95'", "did you mean 'p9"),
        (("--fail-on", "p90=12"), "expected a number with a unit (ns, us, ms, s)", "p90@cpu=12ms"),
        (("--fail-on", "memory=12ms"), "expected a number with a unit (B, kB, MB, GB)", "memory=200MB"),
        (("--fail-on", "slower"), "nothing to compare with", "--baseline FILE"),
        (("--baseline", "none.json"), "--baseline none.json: cannot read it", "mobpack bench --json"),
        (("--baseline", "net.onnx"), "it holds no results of mobpack bench: it is not JSON", "mobpack bench --json"),
    ],
)
def test_refusals_come_first(mobpack: Mobpack, net: Path, options: tuple[str, ...], message: str, hint: str) -> None:
    answer = quick(mobpack, net, *options)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert hint in answer.err


def test_what_is_not_there_or_refused_is_told_and_the_rest_is_timed(
    mobpack: Mobpack, net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "not installed: run `mobpack doctor --install moon`"
    add(monkeypatch, Scripted(folder=tmp_path, name="moon", lacks=why))
    answer = quick(mobpack, net, "--against", "moon")
    assert answer.code == 0, answer.err
    assert f"skipped: moon: {why}" in answer.out
    add(monkeypatch, Scripted(folder=tmp_path, refuses=True))
    answer = quick(mobpack, net, "--against", "scripted")
    assert answer.code == 0, answer.err
    assert "skipped: scripted (net, source, graph): no room for the sample" in answer.out
    assert " cpu " in answer.out


def test_a_runner_that_sleeps_is_slower_and_a_noisy_one_is_called_noisy(
    mobpack: Mobpack, net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(monkeypatch, Scripted(folder=tmp_path, name="steady"), Scripted(folder=tmp_path, name="sleepy", sleeps=0.02))
    found = json.loads(quick(mobpack, net, "--against", "steady,sleepy", "--json").out)
    by_runner = {each["runner"]: each for each in found["rows"]}
    assert by_runner["sleepy"]["p50-ms"] >= 20
    assert by_runner["steady"]["p50-ms"] == 1
    assert by_runner["sleepy"]["cpu-ms"] < by_runner["sleepy"]["p50-ms"]
    lists = ((MS,) * 20, (2 * MS,) * 20)
    add(monkeypatch, Scripted(folder=tmp_path, name="steady"), Scripted(folder=tmp_path, name="noisy", rounds=lists))
    answer = quick(mobpack, net, "--against", "steady,noisy")
    assert "#3 is noisy: medians of its rounds are 1.00 to 2.00 ms" in answer.err
    assert "#2 is noisy" not in answer.err
    assert "3 of 4 nodes, the rest on the CPU" in answer.out
    halves = ((1.0,) * 20, (3.0,) * 20)
    rows = [row(each, rounds=halves, is_noisy=True, cpu_ms=0.5) for each in range(1, 6)]
    first, second = words.noise(rows)
    assert first == "5 of 5 rows are noisy: medians of rounds differ by up to 3.00 times"
    assert "had their core for 25% of the time" in second


def test_a_fast_runner_that_computes_something_else_is_told(
    mobpack: Mobpack, net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(monkeypatch, Scripted(folder=tmp_path, factor=3.0))
    answer = quick(mobpack, net, "--against", "scripted")
    assert "#2 computes something other than the original: an error of 200% of the scale" in answer.err


def test_a_gate_not_met_ends_with_6(
    mobpack: Mobpack, net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(monkeypatch, Scripted(folder=tmp_path))
    assert quick(mobpack, net, "--against", "scripted", "--fail-on", "p90@scripted=1ms").code == 0
    answer = quick(mobpack, net, "--against", "scripted", "--fail-on", "p90@scripted=999us", "--json")
    assert answer.code == 6
    assert "p90@scripted=999us: 1.00 ms for model 'net' (source, graph) on scripted" in answer.err
    found = json.loads(answer.out)
    assert found["error"]["exit-code"] == 6
    assert len(found["failed-gates"]) == 1
    assert len(found["rows"]) == 2


def test_a_run_that_is_slower_than_before_fails_the_gate(
    mobpack: Mobpack, net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lists(middle: float, seed: int) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(map(int, jittered(middle, seed=seed + each))) for each in range(3))

    def judged(middle: float, seed: int, *more: str | Path) -> Answer:
        add(monkeypatch, Scripted(folder=tmp_path, rounds=lists(middle, seed)))
        return quick(mobpack, net, "--against", "scripted", "--rounds", "3", *more)

    (tmp_path / "before.json").write_text(judged(10 * MS, 1, "--json").out, encoding="utf-8")
    gate = ("--baseline", "before.json", "--fail-on", "slower@scripted")
    same = judged(10 * MS, 7, *gate)
    assert (same.code, "no difference" in same.out) == (0, True)
    slower = judged(12 * MS, 7, *gate)
    assert slower.code == 6
    assert "takes 1.20 times as long as before (1." in slower.err
    faster = judged(8 * MS, 7, *gate)
    assert (faster.code, "faster" in faster.out) == (0, True)


def test_an_interrupt_shows_what_is_done_and_writes_nothing(
    mobpack: Mobpack, net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = rounds.take_round
    taken: list[int] = []

    def interrupted(*arguments: Any) -> None:
        taken.append(1)
        if len(taken) > 3:
            raise KeyboardInterrupt
        take(*arguments)

    monkeypatch.setattr(rounds, "take_round", interrupted)
    add(monkeypatch, Scripted(folder=tmp_path))
    answer = quick(mobpack, net, "--against", "scripted", "--report", "bench.html", "--fail-on", "p50=1ns")
    assert answer.code == 130
    assert "partial: interrupted when 1 of 2 rounds were complete" in answer.out
    assert "1 of 2 rounds were complete; no file was written" in answer.err
    assert not list(tmp_path.glob("bench.*"))
    taken.clear()
    answer = quick(mobpack, net, "--against", "scripted", "--json")
    found = json.loads(answer.out)
    assert (answer.code, found["is-partial"], errors(answer.out)) == (130, True, [])
    assert [len(each["rounds"]) for each in found["rows"]] == [2, 1]


def test_emulators_and_16_bit_files_are_never_timed_here() -> None:
    assert "emulates" in Arm64(cpu="cortex-a53").cannot_time()
    assert Arm64().cannot_time() == ""
    for name in ("x86_64", "qnn", "webgpu", "reference", "recorded"):
        assert all(each.cannot_time() for each in RUNNERS[name]("")), name
    assert Cpu().cannot_time() == ""
    half = runners.Runnable(path=Path("m.ort"), needs_fp16=True)
    assert Cpu().cannot_open(half) == ""
    assert "16 bits" in Cpu().cannot_open(replace(half, threads=1))


def test_a_session_is_timed_as_the_runtime_runs_it_and_answers_when_it_refuses(tmp_path: Path) -> None:
    # Sessions for results rewrite graphs for the same numbers everywhere; timed ones do not.
    model = runners.Runnable(path=saved(tmp_path / "net.onnx", onnx_model(COPY)), threads=2)
    assert runners.runner.job(model, "cpu", {})["threads"] == 2
    with Cpu().open(model, tmp_path) as session:
        assert session.loading.seconds is not None
    job = json.loads((tmp_path / "job.json").read_text(encoding="utf-8"))
    assert (job["entries"], job["threads"]) == ({}, 2)
    import numpy

    model = runners.Runnable(path=saved(tmp_path / "net.onnx", linear(columns=2)), threads=1)
    numpy.savez(tmp_path / "sample.npz", x=weight(1, 3))
    with Cpu().open(model, tmp_path) as session:
        assert "nvalid" in session.time(tmp_path / "sample.npz", runners.Pace(seconds=0.01)).error
    assert "import packager" not in (PACKAGE / "engines" / "session" / "timing.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("p50=2ms", []),
        ("p50=2000us", []),
        ("p50=900us", ["p50=900us: 1.00 ms for model 'net' (int8, graph) on cpu"]),
        ("p99=5ms", ["p99=5ms: unknown for model 'net' (int8, graph) on cpu: it needs 100 runs"]),
        ("memory=1MB", ["memory=1MB: 80.0 MB for model 'net' (int8, graph) on cpu"]),
        ("memory@web=1MB", ["memory@web=1MB: nothing was timed on web"]),
        ("load=1s", []),
        ("cpu@cpu=1us", ["cpu@cpu=1us: 1.00 ms for model 'net' (int8, graph) on cpu"]),
    ],
)
def test_gates_judge_what_was_made_of_the_original(text: str, failed: list[str]) -> None:
    rows = [row(1, rounds=((9.0,) * 50,)), row(2, variant="int8", is_original=False, p99_ms=None)]
    found = list(gates.failures(gates.parse([text], has_baseline=False), rows, ()))
    assert [each.startswith(start) for each, start in zip(found, failed, strict=True)] == [True] * len(failed), found


def test_the_original_is_judged_where_nothing_else_is() -> None:
    gate = gates.parse(["p50=1us"], has_baseline=False)
    assert len(list(gates.failures(gate, [row(1), row(2, runner="web")], ()))) == 2


def test_rows_are_compared_by_name_with_results_of_this_machine_and_version(tmp_path: Path) -> None:
    before = comparing.Baseline(name="old.json", document=results(row()))
    known = {"processor": "A processor", "threads": 1, "inputs": before.document.inputs}
    comparing.refuse_other(before, **known)  # type: ignore[arg-type]
    others: list[dict[str, Any]] = [
        {"processor": "Another"},
        {"threads": 2},
        {"inputs": (replace(before.document.inputs[0], shapes=("x: 8 x 3",)),)},
    ]
    for other in others:
        with pytest.raises(ConfigError, match=r"old\.json was measured (on|with) "):
            comparing.refuse_other(before, **{**known, **other})

    def released(sha: str, middle: float) -> BenchDocument:
        times = [list(jittered(middle, seed=each)) for each in range(5)]
        return results(row(1, file=f"fixed .ort {sha}", is_original=False, rounds=times), row(2, runner="web"))

    path = tmp_path / "before.json"
    path.write_text(writing.as_text(released("11111111", 2.0)), encoding="utf-8")
    before = comparing.read(path)
    assert asdict(before.document)["rows"] == asdict(released("11111111", 2.0))["rows"]
    found = list(comparing.compared(released("22222222", 3.0).rows, before))
    assert [(each.number, each.verdict) for each in found] == [(1, "slower"), (2, "no difference")]
    assert found[0].ratio == pytest.approx(1.5, rel=0.02)
    path = tmp_path / "new.json"
    path.write_text('{"schema-version": 2}', encoding="utf-8")
    with pytest.raises(ConfigError, match="schema-version 2, where 1 is known"):
        comparing.read(path)


def test_durations_have_three_digits() -> None:
    shown = [words.duration(each) for each in (0.000_012, 0.003_456, 0.87, 3.214, 45.67, 999.6, 1234.5)]
    assert shown == ["12.0 ns", "3.46 µs", "870 µs", "3.21 ms", "45.7 ms", "1,000 ms", "1.23 s"]
    assert words.between(0.9, 1.25) == "0.90 to 1.25 ms"


def test_the_page_has_every_row_and_is_the_same_for_the_same_results() -> None:
    rows = (row(1), row(2, runner="web", is_noisy=True, rounds=((2.0,) * 90 + (50.0,) * 10,), outliers=10))
    text = page.page(results(*rows, failed_gates=("p50=1ms: <too> slow",)))
    assert text == page.page(results(*rows, failed_gates=("p50=1ms: <too> slow",)))
    assert "#2 original on web" in text
    assert "p50=1ms: &lt;too&gt; slow" in text
    assert 'class="poor" x=' in text, "outliers are drawn"
    assert text.count('role="img"') == 2 + 2 + 1
