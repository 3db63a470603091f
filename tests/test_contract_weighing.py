"""A contract changes nothing about a provider: eight small nets are judged with and without one."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from packager import plan
from packager.core.contract import ADDED
from packager.core.findings import Partition
from packager.core.values import Choice, Plan, baseline
from packager.files.store import Store
from packager.graph.view import Graph
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.target import Target
from packager.verification.partition import coreml, nnapi, xnnpack
from packager.verification.partition.kernels import graph_of
from packager.verification.partition.own import own_part
from packager.verification.partition.report import Gates, enforce_partition_gates, partitions
from packager.verification.partition.rules import Prediction
from packager.verification.partition.weighing import weigh
from tests.contract_nets import NETS, model
from tests.toolchain.forks import forked

__all__ = ["forked"]
pytestmark = [pytest.mark.by_content, pytest.mark.processes]

TARGETS: Mapping[str, Target] = {
    "coreml": Ios(providers=("coreml",)),
    **{n: Android(providers=(n,)) for n in ("nnapi", "xnnpack")},
}
RULES: Mapping[str, Callable[[Graph], Prediction]] = {
    "coreml": coreml.predict,
    "nnapi": nnapi.predict,
    "xnnpack": xnnpack.predict,
}
SHIPPED = {"ViT": True, "U-Net": True, "GRU": False, "siamese": False, "text": False, "classifier": False,
           "detector": True, "audio": False}  # fmt: skip
"""By Core ML: those with more than 120 million MACs in each call."""
Planned = Callable[[str, str, bool], Plan]
Asked = Callable[[str, str, bool], Partition]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nets")


@pytest.fixture(scope="module")
def planned(folder: Path) -> Planned:
    """The plan of a net for a provider, with or without its contract."""

    @cache
    def made(name: str, provider: str, has_contract: bool) -> Plan:
        variant = baseline(model(folder, name, has_contract=has_contract))
        return plan.make(variant, TARGETS[provider], Store(folder / "store"), lambda text: None)

    return made


@pytest.fixture(scope="module")
def asked(planned: Planned, folder: Path) -> Asked:
    """The partition of the provider for it."""

    @cache
    def found(name: str, provider: str, has_contract: bool) -> Partition:
        (only,) = partitions(planned(name, provider, has_contract))
        return only

    return found


def first(made: Plan) -> Graph:
    return graph_of(made.choices[0].compiled)


@pytest.mark.parametrize("provider", RULES)
@pytest.mark.parametrize("name", NETS)
def test_the_verdict_is_the_same_with_and_without_a_contract(
    name: str, provider: str, planned: Planned, asked: Asked
) -> None:
    alone, found = asked(name, provider, False), asked(name, provider, True)
    assert (alone.skipped, alone.refusal) == ("", "")
    assert (alone.added_count, found.added_count > 50) == (0, True)
    assert replace(found, sha256="", added_count=0, added_taken_count=0) == replace(alone, sha256="")
    verdicts = [weigh(planned(name, provider, has), [asked(name, provider, has)]) for has in (False, True)]
    assert verdicts[0] == verdicts[1]
    if provider == "coreml":
        assert verdicts[1][0].is_worth is SHIPPED[name]


@pytest.mark.parametrize("name", NETS)
def test_a_contract_neither_passes_nor_fails_a_gate(name: str, asked: Asked) -> None:
    """Of the detector Core ML takes 9 of 9 nodes, and leaves more than 300 of the contract."""
    found = asked(name, "coreml", True)
    assert sum(each.count for each in found.left) == found.node_count - found.taken_count
    assert not any(ADDED in each.example for each in found.left)
    if found.share == 1:
        enforce_partition_gates((found,), Gates(max_partitions=found.partition_count, min_share=1.0))


@pytest.mark.parametrize("provider", RULES)
@pytest.mark.parametrize("name", NETS)
def test_the_border_between_contract_and_model_is_one_on_each_side(name: str, provider: str, planned: Planned) -> None:
    """Nodes of the contract that a provider takes belong to the partitions of the nodes beside them: none computes
    something of the model's first or last node elsewhere, and none is in the way between two partitions."""
    graph = first(planned(name, provider, True))
    alone = first(planned(name, provider, False))
    model_alone = own_part(graph)
    assert [node.name for node in model_alone.nodes] == [node.name for node in alone.nodes]
    assert set(model_alone.inputs) == set(alone.inputs)
    assert set(model_alone.outputs) == set(alone.outputs)
    own = {node.name for node in model_alone.nodes}
    pieces = RULES[provider](graph).partitions
    kept = [frozenset(names) & own for names in pieces if own & set(names)]
    assert kept == [frozenset(names) for names in RULES[provider](alone).partitions]


def test_nodes_of_the_contract_in_branches_count_for_no_share(planned: Planned) -> None:
    graph = first(planned("classifier", "coreml", True))
    outer = replace(graph.nodes[-1], name="choice", op="If", subgraphs=(graph,))
    (kept,) = own_part(replace(graph, nodes=(outer,))).nodes
    assert not any(node.name.startswith(ADDED) for each in kept.subgraphs for node in each.nodes)
    assert kept.subgraphs[0].nodes


def test_what_a_runtime_derives_of_the_contract_stays_with_it(planned: Planned) -> None:
    made = planned("classifier", "coreml", True)
    choice: Choice = made.choices[0]
    graph = graph_of(choice.compiled)
    ends = [node for node in graph.nodes if node.name.startswith(ADDED)]
    fused = replace(ends[-1], name=f"{ends[-1].name}/MatMulAddFusion")
    nodes = tuple(fused if node is ends[-1] else node for node in graph.nodes)
    assert own_part(replace(graph, nodes=nodes)) == own_part(graph)
