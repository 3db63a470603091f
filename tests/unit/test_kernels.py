"""Every node that ships has a kernel in the runtime that ships, or the message names the node that has none."""

from dataclasses import replace
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.core.values import Compiled, Style
from packager.engines.environments.runtime import Runtime
from packager.models.graphs import read_graph
from packager.verification.partition import kernels
from packager.verification.partition.kernels import explained, graph_of, prove
from tests.cases.kernels import plain
from tests.cases.onnx_text import onnx_model

NO_KERNEL = "(float16[2] x, float16[2] s) => (float16[2] y) { [first] r = Neg (x) [second] y = Gelu (r) }"


def test_a_missing_runtime_says_how_to_do_without_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = plain(tmp_path, "(float[2] x) => (float[2] y) { y = Relu (x) }")
    (tmp_path / "cache" / "mobpack").mkdir(parents=True)
    (tmp_path / "cache" / "mobpack" / "environments").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(ToolError, match="cannot make") as error:
        prove(compiled, Runtime(), tmp_path)
    assert error.value.hint.endswith('; or set kernels = "skip" in [check] to ship without this proof')


@pytest.fixture(scope="module")
def gelu(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return plain(tmp_path_factory.mktemp("gelu"), NO_KERNEL)


@pytest.mark.parametrize(
    "refusal",
    [
        "[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for Gelu(20) node with name "
        "'second'",
        "[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for Gelu(20) node with name ''",
        "[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Failed to find kernel for Gelu(20) (node:'second' ep:'CPU').",
        "Failed to find kernel for ai.onnx.Gelu(20)",
    ],
)
def test_a_refusal_names_the_node_its_operator_and_its_types(refusal: str, gelu: Compiled) -> None:
    assert explained(refusal, graph_of(gelu)) == "no kernel for node 'second', Gelu-20(float16) -> float16"


def test_of_several_nodes_of_an_operator_the_one_that_is_meant_is_named() -> None:
    graph = read_graph(
        onnx_model(
            "(float[2] x, int64[2] n) => (float[2] y, int64[2] m) { [one] y = Neg (x) [two] m = Neg (n) }"
        ).SerializeToString()
    )
    refusal = "Could not find an implementation for Neg(13) node with name '{}'"
    assert explained(refusal.format("two"), graph) == "no kernel for node 'two', Neg-13(int64) -> int64"
    assert explained(refusal.format("none of them"), graph) == "no kernel for node 'one', Neg-13(float) -> float"


def test_inputs_that_are_left_out_and_types_that_nobody_knows_are_told_apart() -> None:
    model = onnx_model(
        "(float[2] x, float h) => (float[?] y) { m = acme.Magic (x) [clip] y = Clip (m, , h) }",
        opsets={"": 17, "acme": 1},
    )
    found = explained(
        "Could not find an implementation for Clip(13) node with name 'clip'", read_graph(model.SerializeToString())
    )
    assert found == "no kernel for node 'clip', Clip-13(unknown, float) -> float"
    found = explained("Could not find an implementation for acme.Magic(1)", read_graph(model.SerializeToString()))
    assert found == "no kernel for node 'm', acme::Magic(float) -> unknown"


def test_a_node_in_a_branch_is_found_too() -> None:
    model = onnx_model(
        """(bool c, float16[2] x) => (float16[2] y) {
            y = If (c) <
                then_branch = t () => (float16[2] a) { [inner] a = Selu (x) },
                else_branch = e () => (float16[2] b) { b = Neg (x) }
            >
        }"""
    )
    found = explained(
        "Could not find an implementation for Selu(6) node with name 'inner'", read_graph(model.SerializeToString())
    )
    assert found == "no kernel for node 'inner', Selu-6(float16) -> float16"


def test_other_nodes_and_refusals_are_told_as_they_are(
    gelu: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = "Could not find an implementation for com.microsoft.BiasGelu(1) node with name 'fused'"
    assert explained(refusal, graph_of(gelu)) == f"no kernel for BiasGelu: {refusal}"
    assert explained("Protobuf parsing failed.", graph_of(gelu)) == "Protobuf parsing failed."
    proof = kernels.skipped(gelu, "nobody asked", runtime="onnxruntime 1.2.3")
    assert (proof.model, proof.variant, proof.sha256) == ("m", "source", gelu.sha256)
    assert (proof.skipped, proof.by, proof.node_count) == ("nobody asked", "", 0)
    assert proof.runtime == "onnxruntime 1.2.3"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    proof = prove(replace(gelu, style=Style.CONTEXT), Runtime(), tmp_path)
    assert proof.skipped == "a binary for one chip: only its own provider opens it, on that chip"
    assert not (tmp_path / "cache").exists(), "nothing was installed for it"
