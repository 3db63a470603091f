"""A contract changes nothing about a provider: nine small nets are judged with and without one."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from packager.compile import plan
from packager.core.contract import ADDED
from packager.core.findings import Partition
from packager.core.values import Plan, baseline
from packager.files.store import Store
from packager.graph.macs import macs
from packager.graph.view import Graph
from packager.models.graphs import read_graph
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.target import Target
from packager.verification.partition import coreml, nnapi, xnnpack
from packager.verification.partition.kernels import graph_of
from packager.verification.partition.own import border_of
from packager.verification.partition.report import Gates, enforce_partition_gates, partitions
from packager.verification.partition.rules import Prediction
from packager.verification.partition.weighing import weigh
from tests.cases.contract_nets import NETS, model
from tests.cases.onnx_text import onnx_model
from tests.nights import spread

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
           "detector": True, "segmenter, classes last": False, "audio": False}  # fmt: skip
"""By Core ML: those with more than 120 million MACs in each call."""
PAIRS = pytest.mark.parametrize(("name", "provider"), spread([*product(NETS, RULES)], 4))
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
def asked(planned: Planned) -> Asked:
    """The partition of the provider for it."""

    @cache
    def found(name: str, provider: str, has_contract: bool) -> Partition:
        (only,) = partitions(planned(name, provider, has_contract))
        return only

    return found


def first(made: Plan) -> Graph:
    return graph_of(made.choices[0].compiled)


def own_part(made: Plan) -> Graph:
    """The model in the file of the first provider."""
    return border_of(read_graph(made.model.graph)).own_part(first(made))


@PAIRS
def test_the_verdict_is_the_same_without_a_contract(name: str, provider: str, planned: Planned, asked: Asked) -> None:
    alone, found = asked(name, provider, False), asked(name, provider, True)
    assert (alone.skipped, alone.refusal) == ("", "")
    assert (alone.added_count, found.added_count > 50) == (0, True)
    assert replace(found, sha256="", added_count=0, added_taken_count=0) == replace(alone, sha256="")
    verdicts = [weigh(planned(name, provider, has), [asked(name, provider, has)]) for has in (False, True)]
    assert verdicts[0] == verdicts[1]
    if provider == "coreml":
        assert verdicts[1][0].is_worth is SHIPPED[name]


@pytest.mark.parametrize("name", spread([*NETS], 3))
def test_a_contract_neither_passes_nor_fails_a_gate(name: str, asked: Asked) -> None:
    """Of the detector Core ML takes 9 of 9 nodes, and leaves more than 300 of the contract."""
    found = asked(name, "coreml", True)
    assert sum(each.count for each in found.left) == found.node_count - found.taken_count
    assert not any(ADDED in each.example for each in found.left)
    if found.share == 1:
        enforce_partition_gates((found,), Gates(max_partitions=found.partition_count, min_share=1.0))


@PAIRS
def test_the_border_between_contract_and_model_is_one_on_each_side(name: str, provider: str, planned: Planned) -> None:
    """The model in the file has the same nodes, inputs and outputs as alone; nodes of the contract that a provider
    takes join its partitions and part none."""
    graph = first(planned(name, provider, True))
    alone = first(planned(name, provider, False))
    model_alone = own_part(planned(name, provider, True))
    assert [node.name for node in model_alone.nodes] == [node.name for node in alone.nodes]
    assert set(model_alone.inputs) == set(alone.inputs)
    assert set(model_alone.outputs) == set(alone.outputs)
    own = {node.name for node in model_alone.nodes}
    pieces = RULES[provider](graph).partitions
    kept = [frozenset(names) & own for names in pieces if own & set(names)]
    assert kept == [frozenset(names) for names in RULES[provider](alone).partitions]


BEFORE = """(float[1,4] p) => (float[1,4] q) {
    ["mobpack/x/1"] c = Mul (p, p) ["mobpack/x/2"] x = Neg (c) [first] y = Cast <to = 1> (x) [last] z = Relu (y)
    ["mobpack/z/3"] k = Cast <to = 1> (x) ["mobpack/z/4"] q = Add (z, k)
}"""


def view(graph: str) -> Graph:
    return read_graph(onnx_model(graph).SerializeToString())


@pytest.mark.parametrize(
    ("rewritten", "own"),
    [
        ('["mobpack/x/1"] c = Mul (p, p) ["mobpack/x/2/Fusion"] x = Neg (c) [first] y = Cast <to = 1> (x)', "first"),
        ('["mobpack/x/2"] x = Neg (p) [first] y = Cast <to = 1> (x)', "first"),
        ('["mobpack/x/1"] c = Mul (p, p) ["mobpack/x/2"] y = Cast <to = 1> (c)', "mobpack/x/2"),
        ('["mobpack/x/2"] x = Neg (p) ["mobpack/z/3"] k = Cast <to = 1> (x)', "mobpack/z/3"),
    ],
    ids=["a fusion within the contract", "fewer nodes of it", "two casts in a row", "the same cast of one value"],
)
def test_what_a_runtime_makes_of_contract_and_model_stays_with_each(rewritten: str, own: str) -> None:
    border = border_of(view(BEFORE))
    value = "k" if " k = " in rewritten else "y"
    after = view(
        f"(float[1,4] p) => (float[1,4] q) {{ {rewritten} [last] z = Relu ({value}) "
        f'["mobpack/z/4"] q = Add (z, {value}) }}'
    )
    kept = border.own_part(after)
    assert [node.name for node in kept.nodes] == [own, "last"]
    assert kept.inputs == ("c" if "Cast <to = 1> (c)" in rewritten else "x",)
    assert set(kept.outputs) == {value, "z"}


def test_nodes_of_the_contract_in_branches_are_not_the_models() -> None:
    graph = view("""(bool c, float[2,3] p, float[3,5] w) => (float[2,5] q) {
        [choice] q = If (c) <
            then_branch = t () => (float[2,5] a) { ["mobpack/x/1"] x = MatMul (p, w) [one] a = Relu (x) },
            else_branch = e () => (float[2,5] b) { [other] b = MatMul (p, w) }
        >
    }""")
    (node,) = border_of(graph).own_part(graph).nodes
    assert [[each.name for each in subgraph.nodes] for subgraph in node.subgraphs] == [["one"], ["other"]]
    assert macs(border_of(graph).own_part(graph)) == {"choice": 30}
