"""The file that each provider of a target opens, and the reason: the graph suits the hardware."""

from pathlib import Path

import numpy
import onnx
import pytest

from packager.compile import plan
from packager.compile.compile import FP16, FP16_SETTINGS
from packager.compile.reader import read_graph
from packager.core.values import Style, baseline
from packager.engines.environments.arm64 import Arm64
from packager.files.store import Store
from packager.targets.android import Android
from packager.targets.ios import Ios
from tests.cases.onnx_text import loaded, onnx_model, weight
from tests.cases.plan import FIXED, ONNX, ORT, UNFUSED, Kind, quiet, rows, store, variant
from tests.toolchain.environments import have

__all__ = ["store", "variant"]


def test_files_for_chips_go_before_the_one_for_all_phones(variant: Kind, store: Store) -> None:
    have("qnn")
    target = Android(providers=("qnn",), soc_models=("SM8650", "SM8550"))
    made = plan.make(variant("qdq-uint8"), target, store, quiet)

    found = [(choice.provider, choice.soc_models, choice.compiled.style) for choice in made.choices]
    assert found == [
        ("qnn", ("SM8650",), Style.CONTEXT),
        ("qnn", ("SM8550",), Style.CONTEXT),
        ("qnn", (), UNFUSED),
        ("cpu", (), FIXED),
    ]
    assert made.choices[0].reason == "compiled ahead of time: nothing is left to compile when the app starts"
    assert len({file.sha256 for file in made.files}) == 4
    assert "EPContext" in {node.op_type for node in onnx.load(made.files[0].path).graph.node}


class TestFloat16OnArm:
    """Conversion on an emulated ARM core with 16-bit arithmetic."""

    @pytest.fixture(autouse=True)
    def installed(self) -> None:
        have("arm64")

    def test_phones_with_16_bit_arithmetic_get_a_file_and_all_others_another(self, variant: Kind, store: Store) -> None:
        made = plan.make(variant("float16"), Android(providers=("webgpu",)), store, quiet)

        found = [(each.provider, each.style, each.format) for each in rows(made)]
        assert found == [("webgpu", UNFUSED, ONNX), ("cpu", FIXED, ORT), ("cpu", UNFUSED, ONNX)]
        webgpu, native, others = made.choices
        assert native.reason == "computes in 16 bits, on ARMv8.2 cores with FP16: phones since about 2018"
        assert native.compiled.processor == FP16
        assert native.compiled.settings == FP16_SETTINGS
        assert others.reason == "phones without 16-bit arithmetic: the runtime computes in 32 bits there"
        assert others.compiled.processor == ""
        assert webgpu.compiled == others.compiled
        assert made.notes == ()

    def test_the_cpus_file_that_others_open_too_is_the_same_with_format_ort(self, variant: Kind, store: Store) -> None:
        target = Android(providers=("xnnpack",), format="ort")
        xnnpack, cpu = plan.make(variant("float16"), target, store, quiet).choices
        assert Arm64().unsupported() == ""
        assert xnnpack.compiled.sha256 == cpu.compiled.sha256
        assert xnnpack.compiled.settings == cpu.compiled.settings == FP16_SETTINGS

    def test_providers_get_a_graph_without_the_casts_that_the_cpu_needs(self, store: Store, tmp_path: Path) -> None:
        graph = "(float16[1,64] x) => (float16[1,32] y) { a = MatMul (x, w) y = HardSigmoid (a) }"
        model = loaded(tmp_path, onnx_model(graph, weights={"w": weight(64, 32).astype(numpy.float16)}))
        coreml, native, others = plan.make(baseline(model, "source"), Ios(), store, quiet).choices

        assert (coreml.provider, coreml.compiled.data_files, coreml.compiled.processor) == ("coreml", (), "")
        for unfused in (coreml, others):
            nodes = onnx.load(unfused.compiled.path, load_external_data=False).graph.node
            assert [node.op_type for node in nodes] == ["MatMul", "HardSigmoid"]
        assert [node.op for node in read_graph(native.compiled.path).nodes].count("Cast") == 2
