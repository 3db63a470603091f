"""Every node that ships has a kernel in the runtime that ships, or the message names the node that has none."""

from dataclasses import replace
from pathlib import Path

import numpy
import pytest

from packager.compile.compile import FP16, compile_plain, compile_unfused, compile_variant
from packager.core.errors import ModelError
from packager.core.values import Compiled
from packager.engines.environments.runtime import Runtime, shipped_version
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.verification.partition.kernels import prove
from tests.cases.kernels import plain, variant_of
from tests.cases.onnx_text import linear, onnx_model, weight
from tests.toolchain.environments import have

BFLOAT16 = "(bfloat16[2] x) => (bfloat16[2] y) { [only] y = Relu (x) }"


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> tuple[Compiled, ...]:
    """One model in every style that the runtime can open."""
    folder = tmp_path_factory.mktemp("line")
    variant, store = variant_of(folder, linear()), Store(folder / "store")
    fixed = compile_variant(variant, store)
    return fixed, compile_unfused(variant, store, fixed), compile_plain(variant, store)


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
