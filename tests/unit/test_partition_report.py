"""The report on a provider: its partitions, its share of the work, the nodes it leaves and why, and the gates."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from packager.core.errors import GateError
from packager.core.findings import CpuFallback, Partition, Report
from packager.core.values import Compiled, Format, Style
from packager.engines.environments import android
from packager.verification.partition.report import (
    Gates,
    contradictions,
    counted,
    enforce_partition_gates,
    judged,
    measured,
    partitions,
)
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.cases.partition_report import plain, plan_of, unknown, written

__all__ = ["plain"]


FIRST, SECOND = 16 * 64 * 27, 16 * 64 * 144
"""MACs of the convolutions: outputs x kernel x input channels."""


@pytest.fixture
def no_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No environment is installed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_what_a_provider_takes_and_leaves_is_counted(plain: Compiled, no_environments: None, tmp_path: Path) -> None:
    found = partitions(plan_of(plain, "webgpu", "nnapi", "coreml"))
    assert [each.provider for each in found] == ["webgpu", "nnapi", "coreml"]
    assert {(each.model, each.target, each.sha256) for each in found} == {("net", "android", plain.sha256)}
    assert {each.node_count for each in found} == {6}
    (only,) = partitions(plan_of(plain, "coreml", target="ios"))
    assert (only.taken_count, only.node_count, only.partition_count) == (3, 6, 2)
    assert only.share == 1.0
    assert (only.is_measured, only.skipped) == (False, "")
    assert only.by.startswith("CoreML provider ")
    (only,) = partitions(plan_of(plain, "coreml", target="ios"))
    assert [(left.operator, left.count, left.example) for left in only.left] == [
        ("Einsum", 2, "odd"),
        ("RandomNormalLike", 1, "random"),
    ]
    assert all("operator not supported" in left.reason for left in only.left)
    assert sum(left.count for left in only.left) == only.node_count - only.taken_count


def test_a_plan_knows_how_many_nodes_with_work_its_providers_take(plain: Compiled) -> None:
    """Neither Relu between the convolutions, nor what is not predicted, nor the CPU counts."""
    plan = plan_of(plain, "webgpu", "coreml", target="ios")
    found = counted(plan, partitions(plan))
    assert {each.provider: each.nodes for each in found.choices} == {"webgpu": 0, "coreml": 2, "cpu": 0}


def test_the_share_is_of_the_multiply_adds(plain: Compiled, tmp_path: Path) -> None:
    context = context_file(plain, tmp_path, left="[second] y = Conv <pads = [1,1,1,1]> (c, v)")
    (found,) = partitions(plan_of(context, "qnn"))
    assert found.share == pytest.approx(FIRST / (FIRST + SECOND))
    assert found.taken_count / found.node_count == 0.5
    compiled = written(tmp_path, "(float[2] x) => (float[2] y) { y = Relu (x) }")
    (found,) = partitions(plan_of(compiled, "coreml", target="ios"))
    assert (found.taken_count, found.share) == (1, None)


def context_file(compiled: Compiled, folder: Path, left: str) -> Compiled:
    """A file of Qualcomm's compiler: a node with a program, and a node that it left."""
    graph = f"(float[1,3,8,8] x) => (float[1,16,8,8] y) {{ [ctx] c = com.microsoft.EPContext (x) {left} }}"
    model = onnx_model(graph, weights={"v": weight(16, 16, 3, 3)}, opsets={"": 17, "com.microsoft": 1})
    path = saved(folder / "context.onnx", model)
    return replace(compiled, path=path, style=Style.CONTEXT, data_files=())


def test_nothing_is_measured_without_a_runtime_or_for_a_chip(
    plain: Compiled, no_environments: None, tmp_path: Path
) -> None:
    assert measured(plan_of(plain, "qnn", "webgpu", "nnapi", "xnnpack"), tmp_path) == ()
    context = context_file(plain, tmp_path, left="[second] y = Conv <pads = [1,1,1,1]> (c, v)")
    (found,) = partitions(plan_of(context, "qnn"))
    assert (found.taken_count, found.node_count, found.partition_count) == (1, 2, 1)
    assert found.left == (CpuFallback(operator="Conv", count=1, reason="", example="second"),)
    assert (found.is_measured, found.by) == (True, "Qualcomm's compiler, ahead of time")


@pytest.mark.parametrize("provider", ["qnn", "webgpu"])
def test_a_provider_without_rules_is_skipped_with_the_way_to_measure_it(provider: str, plain: Compiled) -> None:
    (found,) = partitions(plan_of(plain, provider))
    assert f"`mobpack doctor --install {provider}`" in found.skipped
    assert (found.taken_count, found.share, found.left, found.by) == (0, None, (), "")


@pytest.mark.parametrize("provider", ["nnapi", "xnnpack"])
def test_rules_decide_whether_or_not_androids_library_is_installed(
    provider: str, plain: Compiled, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = partitions(plan_of(plain, provider))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert partitions(plan_of(plain, provider)) == here
    assert (here[0].skipped, here[0].is_measured) == ("", False)
    assert f"{provider.upper()} provider of ONNX Runtime 1.29" in here[0].by


def test_nodes_that_nnapi_leaves_for_dynamic_shapes_are_one_kind(no_environments: None, tmp_path: Path) -> None:
    graph = "(float[N,8] x, float[N,4] y) => (float[N,8] a, float[N,4] b) { a = Relu (x) b = Relu (y) }"
    compiled = written(tmp_path, graph)
    (found,) = partitions(plan_of(compiled, "nnapi"))
    assert [(left.operator, left.count, left.reason) for left in found.left] == [
        ("Relu", 2, "Relu: input 0 must have a static shape")
    ]


def test_xnnpack_takes_the_same_nodes_for_every_target(plain: Compiled) -> None:
    android, ios = (partitions(plan_of(plain, "xnnpack", target=target))[0] for target in ("android", "ios"))
    assert replace(ios, target="android") == android
    assert (android.taken_count, android.partition_count, android.share) == (2, 2, 1.0)
    assert [(left.operator, left.reason) for left in android.left] == [
        ("Einsum", "Einsum: no kernel for it"),
        ("RandomNormalLike", "RandomNormalLike: no kernel for it"),
        ("Relu", "Relu: no kernel for it"),
    ]


def test_files_in_ort_format_are_judged_by_rules_alone(
    ort: Compiled, no_environments: None, tmp_path: Path, plain: Compiled
) -> None:
    # The graph of such a file cannot be marked; the rules read it.
    android._folder().mkdir(parents=True)
    assert measured(plan_of(ort, "nnapi", "xnnpack"), tmp_path) == ()
    nnapi, xnnpack = partitions(plan_of(ort, "nnapi", "xnnpack"))
    assert (nnapi.skipped, nnapi.refusal, nnapi.is_measured, nnapi.taken_count) == ("", "", False, 1)
    assert (xnnpack.skipped, xnnpack.refusal, xnnpack.is_measured, xnnpack.taken_count) == ("", "", False, 0)
    (found,) = partitions(plan_of(ort, "coreml", target="ios"))
    assert (found.taken_count, found.node_count, found.partition_count) == (1, 1, 1)
    (found,) = partitions(plan_of(unknown(plain, tmp_path), "coreml", target="ios"))
    assert (found.taken_count, found.node_count, found.partition_count) == (0, 1, 0)
    assert found.left[0].operator == "Frobnicate"


@pytest.fixture(scope="module")
def ort(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """A file in ORT format, converted in this process."""
    from packager.compile.converter import ConversionJob, convert

    folder = tmp_path_factory.mktemp("ort")
    plain = written(folder, "(float[2] x) => (float[2] y) { y = Relu (x) }")
    job = ConversionJob(
        graph=str(plain.path),
        data_folder=str(folder),
        output=str(folder / "model.ort"),
        scratch=str(folder),
        source_bytes=plain.size_bytes,
    )
    convert(job)
    return replace(plain, path=folder / "model.ort", style=Style.FIXED, format=Format.ORT)


def one(**facts: Any) -> Partition:
    about: dict[str, Any] = {"model": "net", "target": "android", "provider": "qnn", "sha256": ""}
    return Partition(**{**about, "taken_count": 5, "node_count": 10, "partition_count": 3, "share": 0.5, **facts})


def test_gates_judge_every_provider_and_every_measurement() -> None:
    for gates in [Gates(), Gates(max_partitions=3), Gates(min_share=0.5), Gates(max_partitions=100, min_share=0.0)]:
        enforce_partition_gates((one(),), gates)
        assert one().share == 0.5
    with pytest.raises(GateError, match="model 'net' on android, nnapi: 9 partitions"):
        enforce_partition_gates((one(), one(provider="nnapi", partition_count=9)), Gates(max_partitions=3))
    with pytest.raises(GateError, match=r"runs 0\.0% of the MACs, less than 1\.0%"):
        enforce_partition_gates((one(share=None),), Gates(min_share=0.01))
    skipped = one(skipped="not installed: run `mobpack doctor --install qnn`")
    enforce_partition_gates((skipped,), Gates())
    for gates in (Gates(max_partitions=100), Gates(min_share=0.0)):
        with pytest.raises(GateError, match="no result for the gate: not installed") as error:
            enforce_partition_gates((skipped,), gates)
        assert error.value.hint == "install what is missing, or drop the gate"
    refused = one(refusal="No Op registered", taken_count=0, partition_count=0)
    enforce_partition_gates((refused,), Gates())
    with pytest.raises(GateError, match="qnn: cannot run its file: No Op registered"):
        enforce_partition_gates((refused,), Gates(max_partitions=100))


@pytest.mark.parametrize(
    ("gates", "message", "hint"),
    [
        (
            Gates(max_partitions=2),
            "model 'net' on android, qnn: 3 partitions, at most 2 are allowed",
            "mobpack check names the nodes that split the graph",
        ),
        (
            Gates(min_share=0.501),
            "model 'net' on android, qnn: runs 50.0% of the MACs, less than 50.1%",
            "mobpack check names the nodes it leaves to the CPU",
        ),
    ],
    ids=str,
)
def test_a_partition_beyond_a_gate_is_an_error_that_says_by_how_much(gates: Gates, message: str, hint: str) -> None:
    with pytest.raises(GateError) as error:
        enforce_partition_gates((one(),), gates)
    assert (error.value.message, error.value.hint) == (message, hint)
    assert error.value.EXIT_CODE == 6


def test_gates_judge_what_a_provider_without_rules_says_itself() -> None:
    skipped, said = one(skipped="not predicted"), one(is_measured=True, share=0.9)
    assert judged(Report(parities=(), partitions=(skipped,))) == (skipped,)
    assert judged(Report(parities=(), partitions=(skipped,), measured=(said,))) == (said,)
    predicted = one(provider="xnnpack", share=0.1)
    other = one(provider="xnnpack", share=1.0, is_measured=True)
    assert judged(Report(parities=(), partitions=(predicted,), measured=(other,))) == (predicted,)


def test_a_measurement_that_contradicts_the_rules_is_put_into_words() -> None:
    predicted = one(provider="xnnpack", by="the source")
    assert list(contradictions([predicted], [replace(predicted, is_measured=True)])) == []
    other = replace(predicted, is_measured=True, taken_count=6, partition_count=4, by="the library")
    assert list(contradictions([predicted], [other])) == [
        "xnnpack on android takes another part of model 'net' than its rules say: 6 of 10 nodes in 4 by the library, "
        "5 of 10 nodes in 3 by the rules, which decide"
    ]
