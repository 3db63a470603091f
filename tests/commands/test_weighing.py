"""Providers that nobody named stand before the CPU only where what was found says so."""

from dataclasses import replace
from pathlib import Path

import pytest

from packager import config
from packager.compile import plan
from packager.config import Config
from packager.core.console import Console
from packager.core.cost import Estimate, LayerKind
from packager.core.decision import Weighed
from packager.core.errors import GateError
from packager.core.findings import Partition
from packager.core.values import Choice, Plan, Style, baseline
from packager.files.store import Store
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.target import DefaultProviders
from packager.verification.partition.report import Gates, enforce_partition_gates, partitions
from packager.verification.partition.weighing import weigh
from packager.workflows.packages import narrowed
from packager.workflows.planning import plan_all
from packager.workflows.shared_builds import left_out
from tests.cases.onnx_text import linear, loaded, onnx_model, saved, weight

FASTER = Estimate(cpu_ms=10, work_ms=10, own_ms=5, calls_ms=0, copies_ms=0)
MEASURED = Partition(
    model="m", target="android", provider="xnnpack", sha256="b", taken_count=36, node_count=100, partition_count=31,
    share=1.0, is_measured=True, estimate=FASTER,
)  # fmt: skip
CALLED = Estimate(cpu_ms=2, work_ms=1.9, own_ms=0.7, calls_ms=0.5, copies_ms=0.01)
PREDICTED = replace(
    MEASURED, target="ios", provider="coreml", taken_count=18, node_count=19, partition_count=1, is_measured=False,
    estimate=CALLED,
)  # fmt: skip


@pytest.fixture(scope="module")
def two_files(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """A plan for XNNPACK, which takes a file of its own over the weights of the CPU's."""
    folder = tmp_path_factory.mktemp("plan")
    variant = baseline(loaded(folder, linear()))
    return plan.make(variant, Android(), Store(folder / "store"), lambda part: None)


@pytest.fixture(scope="module")
def for_ios(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder = tmp_path_factory.mktemp("ios")
    return plan.make(baseline(loaded(folder, linear())), Ios(), Store(folder / "store"), lambda part: None)


def verdict(made: Plan, partition: Partition) -> Weighed:
    (found,) = weigh(made, [replace(partition, sha256=made.choices[0].compiled.sha256)])
    return found


def sized(made: Plan, folder: Path, *, cpu: int, other: int) -> Plan:
    """`made` with two files of these sizes and nothing beside them."""

    def of(choice: Choice, size_bytes: int) -> Choice:
        path = folder / choice.provider
        path.write_bytes(choice.provider.encode().ljust(size_bytes, b"-"))
        return replace(choice, compiled=replace(choice.compiled, path=path, data_files=()))

    first, last = made.choices
    return replace(made, choices=(of(first, other), of(last, cpu)))


def test_files_are_worth_the_time_that_they_save(two_files: Plan, tmp_path: Path) -> None:
    assert verdict(two_files, MEASURED) == Weighed(
        provider="xnnpack", is_worth=True, reason="36 of 100 nodes in 31 partitions, 100.0% of the MACs (measured)"
    )
    found = verdict(sized(two_files, tmp_path, cpu=1_000_000, other=260_000), MEASURED)
    assert not found.is_worth
    assert found.reason.endswith("its files make 1.0 MB of models 1.3 MB, more than 1.25 times as much")
    assert verdict(sized(two_files, tmp_path, cpu=1_000_000, other=240_000), MEASURED).is_worth
    assert verdict(sized(two_files, tmp_path, cpu=10_000, other=30_000), MEASURED).is_worth
    variant = baseline(loaded(tmp_path, linear(columns=4096)))
    made = plan.make(variant, Ios(), Store(tmp_path / "store"), lambda part: None)
    assert made.choices[0].compiled.path.stat().st_size > 1_000_000
    partition = replace(PREDICTED, sha256=made.choices[0].compiled.sha256)
    (found,) = weigh(made, [partition])
    assert found.is_worth


@pytest.mark.parametrize(
    ("partition", "reason"),
    [
        (replace(MEASURED, share=None), "no product or convolution to speed up"),
        (replace(MEASURED, share=0.0), "it takes no product or convolution"),
        (
            replace(MEASURED, estimate=replace(FASTER, own_ms=9.1)),
            "about 9.1 ms a run with it, 10.0 ms on the CPU alone: 9.1 ms of work there",
        ),
        (
            replace(
                MEASURED,
                estimate=replace(FASTER, work_ms=9, own_ms=12, slower=LayerKind.NARROW, slower_ms=11, slower_cpu_ms=5),
            ),
            "about 13.0 ms a run with it, 10.0 ms on the CPU alone: 12.0 ms of work there "
            "(11.0 ms in convolutions with fewer than 16 outputs, 5.0 ms on the CPU), 1.0 ms on the CPU",
        ),
        (
            replace(MEASURED, estimate=Estimate(cpu_ms=0.15, work_ms=0.15, own_ms=0.06, calls_ms=0, copies_ms=0)),
            "0.15 ms of work, of which it saves 0.09 ms",
        ),
        (replace(MEASURED, refusal="no such kernel"), "no such kernel"),
        (replace(MEASURED, skipped="run mobpack doctor --install android"), "not examined: run mobpack doctor"),
    ],
)
def test_the_cpu_runs_the_others_and_the_reason_says_why(partition: Partition, reason: str, two_files: Plan) -> None:
    found = verdict(two_files, partition)
    assert not found.is_worth
    assert reason in found.reason


@pytest.mark.parametrize("node_count", [19, 1900])
def test_numbers_of_nodes_decide_nothing(node_count: int, for_ios: Plan) -> None:
    found = verdict(for_ios, replace(PREDICTED, node_count=node_count))
    assert found == Weighed(
        provider="coreml",
        is_worth=True,
        reason=f"18 of {node_count} nodes in 1 partition, 100.0% of the MACs (predicted)",
    )


@pytest.mark.parametrize(
    ("estimate", "partition_count", "reason"),
    [
        (
            Estimate(cpu_ms=0.05, work_ms=0.05, own_ms=0.02, calls_ms=0.5, copies_ms=0),
            1,
            "0.05 ms of work, 0.5 ms a call",
        ),
        (
            Estimate(cpu_ms=3, work_ms=2.5, own_ms=1, calls_ms=3, copies_ms=0.1),
            6,
            "2.5 ms of work, 6 calls of 0.5 ms each",
        ),
        (
            Estimate(cpu_ms=2, work_ms=1.9, own_ms=0.7, calls_ms=1, copies_ms=0.05),
            2,
            "about 1.9 ms a run with it, 2.0 ms on the CPU alone: 0.70 ms of work there, 0.10 ms on the CPU, "
            "2 calls of 0.5 ms each, 0.05 ms for copies",
        ),
        (
            replace(CALLED, open_value="hidden"),
            1,
            "'hidden' has sizes that only a run decides, with which it is slow: fix them in [model.m.shapes]",
        ),
    ],
)
def test_reasons_are_in_time_of_one_partition(
    estimate: Estimate, partition_count: int, reason: str, for_ios: Plan
) -> None:
    found = verdict(for_ios, replace(PREDICTED, estimate=estimate, partition_count=partition_count))
    assert not found.is_worth
    assert found.reason.endswith(f" (predicted): {reason}")
    assert ("each" in found.reason) is (partition_count > 1)


def test_plans_and_reasons_have_what_was_weighed(tmp_path: Path) -> None:
    variant = baseline(loaded(tmp_path, linear()))
    weighed = [Weighed(provider="coreml", is_worth=False, reason="too little")]
    decision = plan.decide(variant, Ios(), weighed=weighed)
    assert [each.provider for each in decision.selections] == ["cpu"]
    assert decision.selections[0].file.style is Style.FIXED
    assert "coreml: left out: too little" in str(decision)
    weighed = [Weighed(provider="xnnpack", is_worth=True, reason="9 of 9 nodes")]
    assert plan.decide(variant, Android(), weighed=weighed).selections[0].reason.endswith("; 9 of 9 nodes")
    tables = configured(tmp_path, '[target.android]\nproviders = ["xnnpack"]\n[target.ios]\n').targets()
    assert not isinstance(tables["android"].providers, DefaultProviders)
    assert isinstance(tables["ios"].providers, DefaultProviders)


def configured(folder: Path, targets: str) -> Config:
    saved(folder / "m.onnx", linear())
    path = folder / "mobpack.toml"
    path.write_text(f'[package]\nname = "p"\n[model.m]\npath = "m.onnx"\n{targets}', encoding="utf-8")
    return config.load(path)


@pytest.mark.parametrize("named", ["", 'providers = ["xnnpack"]'], ids=["default", "named"])
def test_a_provider_is_judged_without_its_environment(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    project = configured(tmp_path, f"[target.android]\n{named}")
    (made,) = plan_all(project, ["android"], Store(tmp_path / "store"), Console()).plans
    assert [each.provider for each in made.choices] == (["xnnpack", "cpu"] if named else ["cpu"])
    assert [each.reason.partition(" (predicted): ")[0] for each in made.left_out] == (
        [] if named else ["1 of 1 nodes in 1 partition, 100.0% of the MACs"]
    )
    assert "doctor --install" not in capsys.readouterr().err


WRONG = "(float[64, 1] x) => (float[1, 8] y) { y = Gemm <transA = 1> (x, w) }"
"""A product that XNNPACK computes wrong."""


@pytest.mark.parametrize("named", ["", 'providers = ["xnnpack"]'], ids=["default", "named"])
def test_a_provider_that_computes_wrong_gets_no_file_even_if_it_is_named(named: str, tmp_path: Path) -> None:
    """The next provider computes what the model means, and an app would notice nothing of wrong numbers."""
    project = configured(tmp_path, f"[target.android]\n{named}")
    saved(tmp_path / "m.onnx", onnx_model(WRONG, weights={"w": weight(64, 8)}))
    console = Console()
    planned = plan_all(project, ["android"], Store(tmp_path / "store"), console)
    (made,) = planned.plans
    assert [each.provider for each in made.choices] == ["cpu"]
    ((left),) = made.left_out
    assert left.reason.endswith("XNNPACK computes transA wrong")
    assert bool(console.warnings) is bool(named), "a project that names a provider is warned"
    assert ("ships it" in "".join(left_out(planned.plans))) is False
    gates = Gates(min_share=0.1)
    judged = partitions(made, planned.asked)
    if not named:
        enforce_partition_gates(judged, gates)
        return
    with pytest.raises(GateError, match=r"cannot run its file: Gemm '.*': XNNPACK computes transA wrong"):
        enforce_partition_gates(judged, gates)


PLAIN = "[c{0}] a{0} = Conv <pads = [1,1,1,1]> (r{1}, w) [r{0}] r{0} = Relu (a{0})"
"""A layer of 9,216 MACs at each place."""
SMALL = "18 of 19 nodes in 2 partitions, 100.0% of the MACs (predicted): 0.05 ms of work, 2 calls of 0.5 ms each"


@pytest.mark.parametrize(("size", "left_out"), [(112, []), (8, [SMALL])])
def test_a_plain_net_ships_with_coreml_if_it_pays(size: int, left_out: list[str], tmp_path: Path) -> None:
    """The second call is for the Gemm behind the Flatten, which Core ML leaves."""
    steps = " ".join(PLAIN.format(number, number - 1) for number in range(1, 9)).replace("(r0,", "(x,")
    net = onnx_model(
        f"(float[1,32,{size},{size}] x) => (float[1,10] y) "
        f"{{ {steps} p = GlobalAveragePool (r8) f = Flatten (p) y = Gemm (f, h) }}",
        weights={"w": weight(32, 32, 3, 3), "h": weight(32, 10)},
    )
    project = configured(tmp_path, "[target.ios]\n")
    saved(tmp_path / "m.onnx", net)
    (made,) = plan_all(project, ["ios"], Store(tmp_path / "store"), Console()).plans
    assert [each.provider for each in made.choices] == (["cpu"] if left_out else ["coreml", "cpu"])
    assert [each.reason for each in made.left_out] == left_out


def test_apps_do_not_see_a_provider_that_no_model_has_a_file_for(two_files: Plan) -> None:
    without = replace(two_files, choices=two_files.choices[-1:])
    assert narrowed(Android(), (without,)).providers == ()
    assert narrowed(Android(), (without, two_files)).providers == ("xnnpack",)
    assert narrowed(Android(providers=("xnnpack",)), (without, two_files)).providers == ("xnnpack",)
    assert narrowed(Android(providers=("xnnpack",)), (without,)).providers == ()
