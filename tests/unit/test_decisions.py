"""Which files a variant ships as is decided before anything is opened, converted or run."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from packager.compile import plan
from packager.compile.plan import NO_PACKING
from packager.core.decision import Decision, FileSpec, GraphForm
from packager.core.errors import ModelError
from packager.core.values import Format, Model, Precision, Signature, Style, Traits, Variant, baseline
from packager.targets.android import Android
from packager.targets.ios import Ios

FLOAT = Traits(precision=Precision.FLOAT32)
HALF = Traits(precision=Precision.FLOAT16)
SIGNED = Traits(precision=Precision.QDQ, activations="int8", weights="int8")
WEIGHT_ONLY = Traits(precision=Precision.WEIGHT_ONLY, weights="int8")
OPERATORS = Traits(precision=Precision.QUANTIZED_OPERATORS, activations="uint8")

ALL_ANDROID = ("qnn", "nnapi", "xnnpack", "webgpu")


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither ONNX Runtime nor onnx can be imported, and no process can be started."""

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("a decision starts no process")

    for name in ("onnxruntime", "onnx"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(subprocess, "Popen", refused)
    for name in ("fork", "posix_spawn", "system"):
        monkeypatch.setattr(os, name, refused)


def variant(traits: Traits, *, size_bytes: int = 1000) -> Variant:
    """A variant without a graph: there is none to look at."""
    model = Model(
        name="m",
        path=Path("m.onnx"),
        graph=b"",
        signature=Signature(inputs=(), outputs=()),
        ir_version=10,
        opsets={"": 21},
        operators={},
        size_bytes=size_bytes,
        parameter_count=1,
        traits=traits,
        sha256="",
    )
    return baseline(model, "small")


def android(traits: Traits, *providers: str, **settings: Any) -> Decision:
    return plan.decide(variant(traits), Android(providers=providers, **settings))


def files(decision: Decision) -> list[tuple[str, str]]:
    """Every provider and its file, in words."""
    return [(each.provider, str(each.file)) for each in decision.selections]


def test_nothing_runs_and_the_same_question_has_the_same_answer() -> None:
    with pytest.raises(ImportError):
        import onnxruntime  # noqa: F401
    with pytest.raises(AssertionError, match="starts no process"):
        subprocess.run(["true"], check=False)
    assert android(SIGNED, *ALL_ANDROID) == android(SIGNED, *ALL_ANDROID)


OVER = "unfused .onnx of the variant, over the weights of the fixed .ort"
KEY = ", with room for a cache key"


@pytest.mark.parametrize(
    ("traits", "providers", "expected"),
    [
        (FLOAT, (), ["fixed .ort of the variant"]),
        (FLOAT, ("xnnpack", "webgpu"), [OVER, OVER, "fixed .ort of the variant"]),
        (
            SIGNED,
            ("qnn", "xnnpack"),
            [
                "unfused .onnx of the variant with uint8 activations, over the weights of the fixed .ort",
                OVER,
                "fixed .ort of the variant",
            ],
        ),
        (OPERATORS, ("qnn",), [OVER, "fixed .ort of the variant"]),
    ],
)
def test_traits_and_providers_decide_on_the_graph(
    traits: Traits, providers: tuple[str, ...], expected: list[str]
) -> None:
    found = android(traits, *providers)
    assert files(found) == list(zip((*providers, "cpu"), expected, strict=True))


def test_one_graph_follows_the_provider_that_needs_most(tmp_path: Path) -> None:
    first, second, _ = android(FLOAT, "nnapi", "xnnpack").selections
    assert first.file.inside == "parameters"
    assert second.file == first.file, "one file for both"
    (tmp_path / "weights").write_bytes(b"")
    own = replace(variant(SIGNED), weights=tmp_path / "weights")
    coreml, _ = plan.decide(own, Ios()).selections
    assert coreml.file.form is GraphForm.MODEL
    assert coreml.reason.endswith("; the float model it was made of")
    large = variant(FLOAT, size_bytes=3 << 30)
    (cpu,) = plan.decide(large, Android(providers=())).selections
    assert (cpu.file.style, cpu.reason) == (Style.PLAIN, "over 2 GiB (3.0 GiB): ORT format cannot hold it")
    with pytest.raises(ModelError, match="more than the ORT format can hold"):
        plan.decide(large, Android(providers=(), format="ort"))


@pytest.mark.parametrize("traits", [SIGNED, WEIGHT_ONLY])
def test_coreml_gets_a_float_graph_in_a_file_of_its_own(traits: Traits) -> None:
    assert files(plan.decide(variant(traits), Ios())) == [
        ("coreml", f"unfused .ort of the variant without its quantization{KEY}"),
        ("cpu", "fixed .ort of the variant"),
    ]


def test_weights_lie_where_the_provider_that_needs_them_opens_them() -> None:
    over = "over the weights of the unfused .ort"
    assert files(plan.decide(variant(FLOAT), Ios(providers=("coreml", "xnnpack")))) == [
        ("coreml", f"unfused .ort of the variant{KEY}"),
        ("xnnpack", f"unfused .onnx of the variant, {over}{KEY}"),
        ("cpu", f"fixed .onnx of the variant, {over}"),
    ]
    kept = plan.Planner(variant=variant(FLOAT), target=Ios(), providers=("coreml",), found={}).kept
    assert kept
    found = plan.decide(variant(FLOAT), Android(providers=("xnnpack",)), beside=replace(kept, provider="coreml on ios"))
    ios = plan.decide(variant(FLOAT), Ios())
    over = "over the weights of the unfused .ort"
    assert files(found) == [
        ("xnnpack", f"unfused .onnx of the variant, {over}"),
        ("cpu", f"fixed .onnx of the variant, {over}"),
    ]
    assert {each.file.over for each in found.selections} == {ios.selections[0].file}
    assert found.selections[-1].file == ios.selections[-1].file, "the CPU's file is the same on both"
    assert found.selections[-1].reason.endswith("the weights in the one for coreml on ios")


@pytest.mark.parametrize(("traits", "form"), [(FLOAT, "ort"), (FLOAT, "onnx"), (HALF, "auto"), (SIGNED, "auto")])
def test_a_graph_unlike_another_targets_keeps_its_weights(traits: Traits, form: Literal["auto", "ort", "onnx"]) -> None:
    kept = plan.Kept(provider="coreml on ios", file=plan.decide(variant(FLOAT), Ios()).selections[0].file)
    target = Android(providers=("xnnpack",), format=form)
    assert plan.decide(variant(traits), target, beside=kept) == plan.decide(variant(traits), target)


def test_files_for_chips_and_16_bits_are_added_before_those_for_all() -> None:
    found = android(SIGNED, "qnn", soc_models=("SM8650", "SM8550"))
    assert [(each.soc_models, each.file.chip, each.file.style) for each in found.selections] == [
        (("SM8650",), "SM8650", Style.CONTEXT),
        (("SM8550",), "SM8550", Style.CONTEXT),
        ((), "", Style.UNFUSED),
        ((), "", Style.FIXED),
    ]
    assert {each.file.form for each in found.selections[:3]} == {GraphForm.UNSIGNED}
    webgpu, native, others = android(HALF, "webgpu").selections
    assert (native.provider, native.file.processor, native.file.format) == ("cpu", "FP16", Format.ORT)
    assert (others.provider, others.is_companion, others.file) == ("cpu", True, webgpu.file)


def test_formats_decide_which_files_have_alternatives() -> None:
    plain = FileSpec(form=GraphForm.VARIANT, style=Style.PLAIN, format=Format.ONNX)
    for each in android(FLOAT, "xnnpack").selections:
        assert each.alternative
        assert each.alternative.file == plain
        assert each.alternative.reason("4-bit weights") == (
            "ships as ONNX: it has 4-bit weights that ORT format cannot hold"
        )
        assert each.alternative.settings == (NO_PACKING if each.provider == "cpu" else {})
    webgpu, xnnpack, cpu = android(FLOAT, "webgpu", "xnnpack", format="ort").selections
    assert webgpu.alternative
    assert webgpu.alternative.file == cpu.file
    assert webgpu.alternative.beginning == "the CPU's file: unfused, the graph has"
    assert xnnpack.file == cpu.file
    assert (xnnpack.alternative, cpu.alternative) == (None, None)
    found = android(FLOAT, *ALL_ANDROID, format="onnx").selections
    assert len({each.file for each in found}) == 1
    assert {each.alternative for each in found} == {None}


def test_a_decision_fits_on_a_page() -> None:
    found = android(SIGNED, "qnn", "xnnpack", soc_models=("SM8650",), prepacking="off")
    assert (
        str(found)
        == """\
m (small, quantize-dequantize) on android:
  qnn on SM8650: context .onnx of the variant with uint8 activations, for SM8650
    compiled ahead of time: nothing is left to compile when the app starts
  qnn: unfused .onnx of the variant with uint8 activations, over the weights of the fixed .ort
    it takes QuantizeLinear and DequantizeLinear in pairs; int8 activations re-encoded as uint8 (identical values)
    else plain .onnx of the variant with uint8 activations
    ships as ONNX: it has ... that ORT format cannot hold
  xnnpack: unfused .onnx of the variant, over the weights of the fixed .ort
    it takes Conv, not the FusedConv that the CPU's file holds
    else plain .onnx of the variant
    ships as ONNX: it has ... that ORT format cannot hold
  cpu: fixed .ort of the variant
    every fusion that its ARM kernels know is in the file
    session: session.disable_prepacking = 1
    else plain .onnx of the variant
    ships as ONNX: it has ... that ORT format cannot hold
    session: session.disable_prepacking = 1"""
    )
    everything = android(FLOAT, *ALL_ANDROID)
    assert len(str(everything).splitlines()) <= 40
    assert str(everything).splitlines()[-1].startswith("  note: model 'm' on android: the Hexagon processor")
