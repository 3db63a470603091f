"""Every node that ships has a kernel in the runtime that ships, or the message names the node that has none."""

from dataclasses import replace
from pathlib import Path

import numpy
import onnx
import pytest

from packager.compile.compile import FP16, compile_plain, compile_unfused, compile_variant
from packager.core.errors import ModelError, ToolError
from packager.core.values import Compiled, Style, Variant, baseline
from packager.engines.environments.runtime import Runtime, shipped_version
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.models.graphs import read_graph
from packager.verification.partition import kernels
from packager.verification.partition.kernels import explained, graph_of, prove
from tests.onnx_text import linear, loaded, onnx_model, weight
from tests.toolchain.environments import have
from tests.toolchain.forks import forked

__all__ = ["forked"]
pytestmark = pytest.mark.by_content

NO_KERNEL = "(float16[2] x, float16[2] s) => (float16[2] y) { [first] r = Neg (x) [second] y = Gelu (r) }"
BFLOAT16 = "(bfloat16[2] x) => (bfloat16[2] y) { [only] y = Relu (x) }"


def variant_of(folder: Path, model: onnx.ModelProto) -> Variant:
    described = loaded(folder, model)
    return baseline(described)


def plain(folder: Path, graph: str, opset: int = 20) -> Compiled:
    """An ONNX file of `graph`, without conversion."""
    return compile_plain(variant_of(folder, onnx_model(graph, opsets={"": opset})), Store(folder / "store"))


def test_a_runtime_that_cannot_be_had_says_how_to_do_without_its_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = plain(tmp_path, "(float[2] x) => (float[2] y) { y = Relu (x) }")
    (tmp_path / "cache" / "mobpack").mkdir(parents=True)
    (tmp_path / "cache" / "mobpack" / "environments").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(ToolError, match="cannot make") as error:
        prove(compiled, Runtime(), tmp_path)
    assert error.value.hint.endswith('; kernels = "skip" in [check] does without this proof')


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


def test_a_node_that_the_runtime_made_itself_is_named_by_its_operator(gelu: Compiled) -> None:
    refusal = "Could not find an implementation for com.microsoft.BiasGelu(1) node with name 'fused'"
    assert explained(refusal, graph_of(gelu)) == f"no kernel for BiasGelu: {refusal}"


def test_another_refusal_is_told_as_it_is(gelu: Compiled) -> None:
    assert explained("Protobuf parsing failed.", graph_of(gelu)) == "Protobuf parsing failed."


def test_what_was_not_looked_for_is_not_proven(gelu: Compiled) -> None:
    proof = kernels.skipped(gelu, "nobody asked", runtime="onnxruntime 1.2.3")
    assert (proof.model, proof.variant, proof.sha256) == ("m", "source", gelu.sha256)
    assert (proof.skipped, proof.by, proof.node_count) == ("nobody asked", "", 0)
    assert proof.runtime == "onnxruntime 1.2.3"


def test_a_binary_for_one_chip_is_not_opened_here(
    gelu: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    proof = prove(replace(gelu, style=Style.CONTEXT), Runtime(), tmp_path)
    assert proof.skipped == "a binary for one chip: only its own provider opens it, on that chip"
    assert not (tmp_path / "cache").exists(), "nothing was installed for it"


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> tuple[Compiled, ...]:
    """One model in every style that the runtime can open."""
    folder = tmp_path_factory.mktemp("line")
    variant, store = variant_of(folder, linear()), Store(folder / "store")
    fixed = compile_variant(variant, store)
    return fixed, compile_unfused(variant, store, fixed), compile_plain(variant, store)


@pytest.mark.environments
class TestRuntime:
    """The ONNX Runtime that packages depend on."""

    @pytest.fixture(autouse=True)
    def installed(self) -> None:
        have("runtime")

    @pytest.mark.parametrize(("index", "nodes"), [(0, 1), (1, 1), (2, 2)], ids=["fixed", "unfused", "plain"])
    def test_a_file_whose_nodes_all_have_kernels_is_proven_by_opening_it(
        self, index: int, nodes: int, line: tuple[Compiled, ...], tmp_path: Path
    ) -> None:
        proof = prove(line[index], Runtime(), tmp_path)
        assert (proof.skipped, proof.by) == ("", f"loaded in ONNX Runtime {shipped_version()}")
        assert (proof.node_count, proof.sha256) == (nodes, line[index].sha256)

    def test_a_node_without_a_kernel_is_a_model_error_that_names_it_and_a_way_out(self, tmp_path: Path) -> None:
        compiled = plain(tmp_path, BFLOAT16)
        with pytest.raises(ModelError) as error:
            prove(compiled, Runtime(), tmp_path)
        assert error.value.message == (
            f"model 'm' (source, plain) does not load in ONNX Runtime {shipped_version()}, which the package ships: "
            "no kernel for node 'only', Relu-14(bfloat16) -> bfloat16"
        )
        assert error.value.hint.startswith("export with a lower opset, replace the operator, or ")
        assert error.value.hint.endswith("mobpack runtime recipe")

    def test_a_file_that_is_damaged_is_refused_in_the_runtimes_words(
        self, line: tuple[Compiled, ...], tmp_path: Path
    ) -> None:
        fixed = line[0]
        damaged = tmp_path / "model.ort"
        damaged.write_bytes(fixed.path.read_bytes().replace(b"Gemm", b"Germ"))
        with pytest.raises(ModelError, match=r"\(source, fixed\) does not load in ONNX Runtime .*Germ"):
            prove(replace(fixed, path=damaged, sha256=sha256_of(damaged)), Runtime(), tmp_path)

    def test_the_settings_of_a_file_are_those_it_is_opened_with(
        self, line: tuple[Compiled, ...], tmp_path: Path
    ) -> None:
        contradiction = {"session.load_model_format": "ONNX"}
        with pytest.raises(ModelError, match="does not load"):
            prove(replace(line[0], settings=contradiction), Runtime(), tmp_path)


@pytest.mark.environments
def test_what_computes_in_16_bits_is_opened_on_an_arm_core_that_does(tmp_path: Path) -> None:
    have("arm64")
    model = onnx_model(
        "(float16[1,64] x) => (float16[1,32] y) { a = MatMul (x, w) y = Relu (a) }",
        weights={"w": weight(64, 32).astype(numpy.float16)},
    )
    compiled = compile_variant(variant_of(tmp_path, model), Store(tmp_path / "store"), processor=FP16)
    proof = prove(compiled, Runtime(), tmp_path)
    assert proof.by == f"loaded in ONNX Runtime {shipped_version()} on an emulated ARM core with FP16"
    assert proof.node_count == 2
