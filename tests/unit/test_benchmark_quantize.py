"""The arithmetic and the goals of `benchmarks.quantize`, and its models."""

import math
from pathlib import Path

import numpy
import pytest

from benchmarks import models, quantize, quantize_ours, quantize_theirs, unet
from benchmarks.measure import Cost
from benchmarks.quantize_rows import Comparison, Goal, Outcome, Stage, comparison_table, judged, stage_table


def cost(*, cpu_s: float = 1.0, wall_s: float = 1.0, peak: int = 100_000_000) -> Cost:
    """Half of the CPU time in the kernel."""
    return Cost(
        user_s=cpu_s / 2,
        system_s=cpu_s / 2,
        wall_s=wall_s,
        largest_process_bytes=peak,
        all_processes_bytes=peak,
    )


def compared(ours: Outcome, theirs: Outcome, goal: Goal) -> Comparison:
    return Comparison(work="dynamic", model="net", other="quantize_dynamic", ours=ours, theirs=theirs, goal=goal)


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def cells_by_title(lines: list[str]) -> dict[str, list[str]]:
    """Title -> its cells of the first row; titles come twice, for ours and theirs or for whole and above."""
    titles, row = cells(lines[0]), cells(lines[2])
    assert len(titles) == len(row) == len(cells(lines[1]))
    return {title: [cell for name, cell in zip(titles, row, strict=True) if name == title] for title in titles}


def test_ratios_are_of_the_whole_and_of_what_lies_above_next_to_nothing() -> None:
    row = compared(
        Outcome(cost=cost(cpu_s=0.6, peak=100), base=cost(cpu_s=0.5, peak=80)),
        Outcome(cost=cost(cpu_s=1.5, peak=400), base=cost(cpu_s=0.5, peak=200)),
        Goal(),
    )
    assert row.cpu_ratio == pytest.approx(0.4)
    assert row.cpu_above == pytest.approx(0.1)
    assert row.user_ratio == pytest.approx(0.4)
    assert row.memory_ratio == pytest.approx(0.25)
    assert row.memory_above == pytest.approx(0.1)


def test_less_than_the_base_is_nothing_and_cannot_be_divided_by() -> None:
    base = cost(cpu_s=0.5)
    slow, quick = Outcome(cost=cost(cpu_s=2), base=base), Outcome(cost=cost(cpu_s=0.4), base=base)
    assert compared(quick, slow, Goal()).cpu_above == 0
    assert compared(slow, quick, Goal()).cpu_above is None
    barely = Outcome(cost=cost(cpu_s=0.54), base=base)
    assert compared(slow, barely, Goal()).cpu_above is None
    assert compared(slow, Outcome(cost=cost(cpu_s=0.6), base=base), Goal()).cpu_above == pytest.approx(15)


@pytest.mark.parametrize(
    ("value", "goal", "said"),
    [
        (0.25, 0.25, "0.25 (goal 0.25: met)"),
        (0.251, 0.25, "0.25 (goal 0.25: missed)"),
        (0.3, None, "0.30"),
        (None, 0.25, "-"),
        (math.inf, 0.25, "- (goal 0.25: missed)"),
    ],
)
def test_a_goal_is_met_up_to_its_number(value: float | None, goal: float | None, said: str) -> None:
    assert judged(value, goal) == said


def test_work_of_ours_that_failed_has_missed_its_goal() -> None:
    row = compared(Outcome(error="ModelError: no"), Outcome(cost=cost()), Goal(cpu=0.25, memory=0.5))
    found = cells_by_title(list(comparison_table([row])))
    assert found["CPU s (user + system)"] == ["ModelError: no"]
    assert found["CPU ratio"] == ["- (goal 0.25: missed)"]
    assert found["memory ratio"] == ["- (goal 0.5: missed)"]


def test_work_of_theirs_that_failed_shows_its_error_and_judges_nothing() -> None:
    row = compared(Outcome(cost=cost(), noise_db=33.0), Outcome(error="ShapeInferenceError: a | b"), Goal(cpu=0.25))
    found = cells_by_title(list(comparison_table([row])))
    assert found["theirs"][0] == "ShapeInferenceError: a / b"
    assert found["CPU ratio"] == ["-"]
    assert found["SQNR dB"] == ["33.0"]


def test_both_goals_of_a_comparison_are_judged_each_on_its_own() -> None:
    base = Outcome(cost=cost(cpu_s=4, peak=200_000_000))
    row = compared(Outcome(cost=cost(cpu_s=1, peak=150_000_000)), base, Goal(cpu=0.25, memory=0.5))
    found = cells_by_title(list(comparison_table([row])))
    assert found["CPU ratio"] == ["0.25 (goal 0.25: met)"]
    assert found["memory ratio"] == ["0.75 (goal 0.5: missed)"]
    assert found["peak MB"] == ["150"]


def test_memory_is_judged_by_what_is_more_than_the_other_side_has() -> None:
    for peak, said in ((900_000_000, "300 (goal 300: met)"), (902_000_000, "302 (goal 300: missed)")):
        row = compared(
            Outcome(cost=cost(peak=peak)), Outcome(cost=cost(peak=600_000_000)), Goal(more_bytes=300_000_000)
        )
        assert cells_by_title(list(comparison_table([row])))["MB more"] == [said]
    failed = compared(Outcome(error="no"), Outcome(cost=cost()), Goal(more_bytes=300_000_000))
    assert cells_by_title(list(comparison_table([failed])))["MB more"] == ["- (goal 300: missed)"]


def test_u2netp_has_the_layers_and_parameters_of_the_published_one() -> None:
    graph = unet.u2netp().graph
    operators = [node.op_type for node in graph.node]
    assert (operators.count("Conv"), operators.count("Relu"), operators.count("Sigmoid")) == (119, 112, 7)
    # The authors count 1,131,181 with four numbers for each channel of a BatchNorm; folded there is one, the bias.
    assert sum(math.prod(tensor.dims) for tensor in graph.initializer) > 1.1e6


def test_a_stage_is_judged_by_wall_time_beside_a_copy_and_by_its_peak() -> None:
    row = Stage(
        work="stage-dynamic",
        model="net",
        ours=Outcome(cost=cost(wall_s=1.4, peak=300_000_000), base=cost(wall_s=0.5, peak=60_000_000)),
        copy=Outcome(cost=cost(wall_s=0.5), base=cost(wall_s=0.0)),
    )
    assert row.wall_ratio == pytest.approx(2.8)
    assert row.wall_above == pytest.approx(1.8)
    found = cells_by_title(list(stage_table([row])))
    assert found["wall ratio"] == ["2.80 (goal 2: missed)"]
    assert found["above"] == ["1.80 (goal 2: met)", "240 (goal 256: met)"]
    assert found["peak MB"] == ["300 (goal 256: missed)"]


def test_only_the_models_of_a_kind_are_measured_and_every_step_is_there() -> None:
    assert set(quantize.STAGES) <= set(quantize_ours.STEPS)
    for kind, known in quantize.KINDS.items():
        assert quantize.OURS.get(kind, kind) in quantize_ours.STEPS
        if not kind.startswith("olive") and known.other != quantize.NO_REPORT:
            own = quantize.INFERENCE if known.other == quantize.INFERENCE else quantize.THEIRS.get(kind, kind)
            assert own in quantize_theirs.WORKS
        assert quantize.BEFORE.get(kind, "prepare") in quantize_ours.STEPS
        for model in known.models:
            assert model in models.MAKERS
            quantize.goal_of(kind, model)
    assert quantize.goal_of("calibrate-minmax", models.MOBILENET).cpu == 1.9
    assert quantize.goal_of("static-entropy", models.BERT) == Goal(cpu=0.3, memory=0.15)


def pinned(lock: Path) -> dict[str, int]:
    """Requirement -> number of its hashes."""
    requirements = lock.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    lines = [line for line in requirements if line and not line.startswith("#")]
    return {line.split(" --hash=")[0].strip(): line.count(" --hash=sha256:") for line in lines}


@pytest.mark.parametrize("lock", [quantize_theirs.ONNXRUNTIME, quantize_theirs.OLIVE], ids=lambda lock: lock.stem)
def test_other_tools_are_installed_by_hashes_beside_the_versions_that_mobpack_runs_on(lock: Path) -> None:
    known, own = pinned(lock), pinned(lock.parents[1] / "requirements" / "test.txt")
    assert all(known.values())
    shared = [name for name in known if name.split("==")[0] in ("onnxruntime", "onnx", "numpy")]
    assert len(shared) == 4, "numpy twice, by the version of Python"
    assert [name for name in shared if name not in own] == []


def test_noise_is_pooled_over_all_samples_and_outputs(tmp_path: Path) -> None:
    model, samples, known = tmp_path / "tiny.onnx", tmp_path / "samples", tmp_path / "known.npz"
    model.write_bytes(models.tiny().SerializeToString(deterministic=True))
    quantize_ours.write_samples(model, samples, samples)
    quantize_ours.run_float(model, samples / "fresh", known)
    quantize_ours.judge(model, samples / "fresh", known, tmp_path / "noise.txt")
    assert float((tmp_path / "noise.txt").read_text()) == math.inf
    with numpy.load(known) as arrays:
        exact = [arrays[name] for name in arrays.files]
    assert len(exact) == quantize_ours.FRESH
    power = sum(float(numpy.square(each).sum()) for each in exact)
    exact[3][0, 0] += (power / 100) ** 0.5  # one number of one sample
    with known.open("wb") as file:
        numpy.savez(file, *exact)
    quantize_ours.judge(model, samples / "fresh", known, tmp_path / "noise.txt")
    assert float((tmp_path / "noise.txt").read_text()) == pytest.approx(20, abs=1.0)


def test_resnet50_has_the_layers_and_parameters_of_the_published_one() -> None:
    graph = models.resnet50().graph
    operators = [node.op_type for node in graph.node]
    assert (operators.count("Conv"), operators.count("Relu"), operators.count("Add")) == (53, 49, 16)
    strided = [node.input[1] for node in graph.node if node.op_type == "Conv" and 2 in _ints(node, "strides")]
    assert "layer2.0.conv2.weight" in strided  # version 1 has it in conv1
    assert "layer2.0.conv1.weight" not in strided
    # torchvision counts 25,557,032; a folded BatchNorm leaves one number of two for each of 26,560 channels.
    assert sum(math.prod(tensor.dims) for tensor in graph.initializer) == 25_557_032 - 26_560


def _ints(node: object, name: str) -> list[int]:
    from onnx import NodeProto

    assert isinstance(node, NodeProto)
    return next(list(each.ints) for each in node.attribute if each.name == name)
