"""The file that each provider of a target opens, and the reason: the graph suits the hardware."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest

from packager.compile import files, plan
from packager.compile.compile import REPLAY
from packager.compile.plan import NO_PACKING
from packager.compile.reader import read_graph
from packager.contract.attachment import attach
from packager.core.decision import GraphForm
from packager.core.errors import ConfigError, ModelError, SettingError, ToolError
from packager.core.values import Precision, Style, Variant, baseline
from packager.files.store import Store
from packager.graph import traversal
from packager.models import hashed
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.target import Planned
from packager.targets.web import Web
from tests.cases.onnx_text import loaded, onnx_model, weight
from tests.cases.plan import FIXED, ONNX, ORT, PLAIN, UNFUSED, Kind, Row, quiet, row, rows, store, variant
from tests.cases.tokenizer_graphs import bert, changed
from tests.unit.test_attachment import tables

__all__ = ["store", "variant"]


ALL_ANDROID = ("qnn", "nnapi", "xnnpack", "webgpu")


@pytest.fixture
def without_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that cannot convert for ARM."""
    monkeypatch.setattr("platform.machine", lambda: "riscv64")


WHY = {
    "qnn": "it takes QuantizeLinear and DequantizeLinear in pairs",
    "nnapi": "it builds its own graph and knows none of the fused nodes",
    "xnnpack": "it takes Conv, not the FusedConv that the CPU's file holds",
    "webgpu": "the CPU's fused nodes have no kernels on a graphics processor",
    "coreml": "it knows few of the fused nodes and none of the quantized ones",
    "cpu": "every fusion that its ARM kernels know is in the file",
}


def test_providers_share_a_graph_and_are_tried_in_order(variant: Kind, store: Store) -> None:
    made = plan.make(variant("float"), Android(providers=ALL_ANDROID), store, quiet)
    unfused = [Row(name, UNFUSED, ONNX, {}, WHY[name]) for name in ALL_ANDROID]
    assert rows(made) == [*unfused, Row("cpu", FIXED, ORT, {}, WHY["cpu"])]
    assert (made.model, made.target) == (variant("float").model, "android")
    assert [file.style for file in made.files] == [UNFUSED, FIXED]
    shared, fixed = made.files
    assert made.cpu is fixed
    assert [file.read_bytes() for file in shared.data_files] == [fixed.path.read_bytes()]
    assert shared.size_bytes == shared.path.stat().st_size, "what both use is counted once"
    made = plan.make(variant("float"), Android(providers=("xnnpack", "qnn")), store, quiet)
    assert [choice.provider for choice in made.choices] == ["xnnpack", "qnn", "cpu"]
    made = plan.make(variant("float"), Android(providers=()), store, quiet)
    assert rows(made) == [Row("cpu", FIXED, ORT, {}, WHY["cpu"])]
    parts: list[str] = []
    plan.make(variant("float"), Android(providers=("xnnpack",)), store, parts.append)
    assert list(dict.fromkeys(parts)) == ["convert m (source, fixed)", "write m (source, unfused)"]
    parts.clear()
    plan.make(variant("float"), Android(providers=(), format="onnx"), store, parts.append)
    assert parts == ["write m (source) as ONNX"]


@pytest.mark.parametrize("provider", ["qnn", "nnapi"])
def test_providers_of_unsigned_numbers_get_int8_activations(provider: str, variant: Kind, store: Store) -> None:
    first, cpu = plan.make(variant("qdq-int8"), Android(providers=(provider,)), store, quiet).choices
    unsigned = f"{WHY[provider]}; int8 activations re-encoded as uint8 (identical values)"
    assert row(first) == Row(provider, UNFUSED, ONNX, {}, unsigned)
    assert (first.compiled.variant.quantizer, cpu.compiled.variant.quantizer) == ("unsigned", "none")
    assert [file.read_bytes() for file in first.compiled.data_files] == [cpu.compiled.path.read_bytes()]


def test_coreml_gets_a_graph_that_the_quantization_is_taken_out_of(variant: Kind, store: Store) -> None:
    coreml, cpu = plan.make(variant("qdq-int8"), Ios(), store, quiet).choices

    reason = f"{WHY['coreml']}; the quantization is taken out of the model for it"
    assert row(coreml) == Row("coreml", UNFUSED, ORT, REPLAY, reason)
    assert row(cpu) == Row("cpu", FIXED, ORT, {}, WHY["cpu"])
    found = read_graph(coreml.compiled.path)
    assert [node.op for node in found.nodes] == ["Conv"]
    assert {value.element for value in found.values.values()} == {"float"}
    assert (coreml.compiled.variant.name, coreml.compiled.variant.quantizer) == ("source-float", "dequantized")
    assert cpu.compiled.variant == variant("qdq-int8")


def test_coreml_gets_its_weights_in_one_file_and_others_find_theirs_there(variant: Kind, store: Store) -> None:
    target = Ios(providers=("coreml", "xnnpack"))
    coreml, xnnpack, cpu = plan.make(variant("float"), target, store, quiet).choices
    assert row(coreml) == Row("coreml", UNFUSED, ORT, REPLAY, WHY["coreml"])
    assert coreml.compiled.data_files == ()
    assert coreml.compiled.size_bytes == coreml.compiled.path.stat().st_size
    assert row(xnnpack) == Row("xnnpack", UNFUSED, ONNX, {}, WHY["xnnpack"])
    assert row(cpu) == Row("cpu", FIXED, ONNX, {}, f"{WHY['cpu']}, the weights in the one for coreml")
    for other in (xnnpack, cpu):
        (data,) = other.compiled.data_files
        assert data.read_bytes() == coreml.compiled.path.read_bytes()


def test_with_format_ort_the_cpu_has_a_file_of_its_own_beside_coremls(variant: Kind, store: Store) -> None:
    coreml, cpu = plan.make(variant("float"), Ios(format="ort"), store, quiet).choices
    assert [(each.compiled.style, each.compiled.format) for each in (coreml, cpu)] == [(UNFUSED, ORT), (FIXED, ORT)]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("qdq-int8", "source-float"),
        ("weight-only", "source-float"),
        ("float", "source"),
        ("operators", "source"),  # nothing knows how to make a float graph of these
    ],
)
def test_coreml_gets_another_variant_where_the_quantization_can_be_taken_out(
    kind: str, name: str, variant: Kind, store: Store
) -> None:
    coreml, cpu = plan.make(variant(kind), Ios(format="onnx"), store, quiet).choices
    assert (coreml.compiled.variant.name, cpu.compiled.variant.name) == (name, "source")
    assert (coreml.compiled.sha256 == cpu.compiled.sha256) == (name == "source")


def test_with_format_ort_nothing_but_ort_ships_and_saved_fusions_are_replayed(variant: Kind, store: Store) -> None:
    made = plan.make(variant("float"), Android(providers=("webgpu", "xnnpack"), format="ort"), store, quiet)

    reason = (
        'the CPU\'s file, because format = "ort" and it fuses nodes itself, '
        "which ONNX Runtime does not let it do in an ORT-format file"
    )
    assert rows(made) == [
        Row("webgpu", UNFUSED, ORT, REPLAY, WHY["webgpu"]),
        Row("xnnpack", FIXED, ORT, {}, reason),
        Row("cpu", FIXED, ORT, {}, WHY["cpu"]),
    ]
    assert made.choices[1].compiled.sha256 == made.cpu.sha256
    assert len(made.files) == 2


def test_packing_is_the_cpus_alone(variant: Kind, store: Store) -> None:
    target = Android(providers=("webgpu",), format="ort", prepacking="off")
    webgpu, cpu = plan.make(variant("float"), target, store, quiet).choices
    assert (webgpu.compiled.settings, cpu.compiled.settings) == (REPLAY, NO_PACKING)
    made = plan.make(variant("float"), Android(providers=("xnnpack",), format="onnx"), store, quiet)
    reason = 'format = "onnx": the runtime rewrites the graph at every load'
    assert rows(made) == [Row("xnnpack", PLAIN, ONNX, {}, reason), Row("cpu", PLAIN, ONNX, NO_PACKING, reason)]
    assert len(made.files) == 1


@pytest.mark.parametrize(
    ("form", "prepacking", "settings"),
    [
        ("auto", "auto", {}),
        ("auto", "on", {}),
        ("auto", "off", NO_PACKING),
        ("onnx", "auto", NO_PACKING),
        ("onnx", "on", {}),
        ("onnx", "off", NO_PACKING),
    ],
)
def test_packing_is_the_cpus(
    form: Any, prepacking: Any, settings: Mapping[str, str], variant: Kind, store: Store
) -> None:
    target = Android(providers=("xnnpack",), format=form, prepacking=prepacking)
    xnnpack, cpu = plan.make(variant("float"), target, store, quiet).choices
    assert xnnpack.compiled.settings == {}
    assert cpu.compiled.settings == settings
    weighed = replace(variant("float"), traits=replace(variant("float").traits, precision=Precision.WEIGHT_ONLY))
    *_, blocks = plan.make(weighed, target, store, quiet).choices
    assert blocks.compiled.settings == (NO_PACKING if prepacking == "off" else {})


def over_2_gib(variant: Variant) -> Variant:
    return replace(variant, model=replace(variant.model, size_bytes=3 << 30))


def test_a_model_over_2_gib_ships_as_onnx_or_is_refused(variant: Kind, store: Store) -> None:
    made = plan.make(over_2_gib(variant("float")), Android(providers=("webgpu",)), store, quiet)
    reason = "over 2 GiB (3.0 GiB): ORT format cannot hold it"
    assert rows(made) == [Row("webgpu", PLAIN, ONNX, {}, reason), Row("cpu", PLAIN, ONNX, NO_PACKING, reason)]
    with pytest.raises(ModelError, match="GiB"):
        plan.make(over_2_gib(variant("float")), Android(providers=(), format="ort"), store, quiet)


def notes(kind: str, providers: Sequence[str], variant: Kind) -> tuple[str, ...]:
    target: Planned = Ios() if "coreml" in providers else Android(providers=tuple(providers))
    return plan.decide(variant(kind), target).notes


@pytest.mark.parametrize(
    ("provider", "kind", "note"),
    [
        ("qnn", "float", "the Hexagon processor computes floats in 16 bits and slowly: quantize to uint8 or uint16"),
        ("qnn", "weight-only", "the Hexagon processor computes floats in 16 bits and slowly"),
        ("qnn", "operators", "QNN reads QuantizeLinear and DequantizeLinear, not QLinear operators"),
        ("nnapi", "dynamic", "NNAPI takes fixed shapes only: fix them in [model.NAME.shapes]"),
        ("xnnpack", "qdq-uint8", "XNNPACK takes few operators with uint8 activations: quantize them to int8"),
        ("xnnpack", "operators", "XNNPACK knows no QLinear operators in a model"),
        ("coreml", "weight-only", "CoreML has no DequantizeLinear"),
        ("cpu", "qdq-uint16", "the CPU has no kernels for 16-bit activations"),
    ],
)
def test_what_a_provider_will_not_do_well_is_noted(provider: str, kind: str, note: str, variant: Kind) -> None:
    (found,) = notes(kind, () if provider == "cpu" else (provider,), variant)
    target = "ios" if provider == "coreml" else "android"
    assert found.startswith(f"model 'm' on {target}: {note}")


@pytest.mark.parametrize(
    ("provider", "kind"),
    [
        ("qnn", "qdq-uint8"),
        ("qnn", "qdq-int8"),
        ("nnapi", "qdq-uint8"),
        ("xnnpack", "qdq-int8"),
        ("xnnpack", "dynamic"),
        ("webgpu", "float"),
        ("coreml", "qdq-int8"),
    ],
)
def test_nothing_is_noted_where_a_provider_gets_what_it_is_made_for(provider: str, kind: str, variant: Kind) -> None:
    assert notes(kind, (provider,), variant) == ()


def test_a_plan_carries_each_note_once(variant: Kind, store: Store) -> None:
    made = plan.make(variant("dynamic"), Android(providers=("nnapi",), format="onnx"), store, quiet)
    assert made.notes == ("model 'm' on android: NNAPI takes fixed shapes only: fix them in [model.NAME.shapes]",)


AS_ONNX = "ships as ONNX: each phone's runtime decides whether to compute in 16 or 32 bits"

AS_FLOAT32 = "ships in 32 bits, at twice the size"


def test_float16_is_an_error_where_arm_needs_it_converted(without_arm: None, variant: Kind, store: Store) -> None:
    # Another file on such a machine would be another package for the same project.
    with pytest.raises(ToolError, match="neither an x86_64 nor an arm64 processor: riscv64") as error:
        plan.make(variant("float16"), Android(providers=("webgpu",)), store, quiet)
    assert 'float16 = "onnx" or "float32"' in error.value.hint
    made = plan.make(variant("float16"), Android(providers=(), format="ort", float16="onnx"), store, quiet)
    assert [(each.provider, each.style, each.format) for each in rows(made)] == [("cpu", FIXED, ORT)]
    assert len(made.notes) == 1
    assert made.notes[0].endswith(f'format = "ort" leaves no ONNX file; {AS_FLOAT32}')
    made = plan.make(variant("float"), Android(providers=()), store, quiet)
    assert (made.cpu.style, made.cpu.processor, made.notes) == (FIXED, "", ())


@pytest.mark.parametrize(("how", "style", "reason"), [("onnx", PLAIN, AS_ONNX), ("float32", FIXED, AS_FLOAT32)])
def test_what_a_target_asks_for_is_not_noted(how: Any, style: Style, reason: str, variant: Kind, store: Store) -> None:
    made = plan.make(variant("float16"), Android(providers=(), float16=how), store, quiet)
    assert [(each.style, each.reason) for each in rows(made)] == [(style, reason)]
    assert made.notes == ()


def test_chips_are_qnns_and_known(variant: Kind, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="unknown chip 'SM865O' in soc-models") as error:
        plan.make(variant("qdq-uint8"), Android(providers=("qnn",), soc_models=("SM865O",)), store, quiet)
    assert error.value.hint == "did you mean 'SM8650'?"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ToolError, match="the environment qnn is missing"):
        plan.make(variant("qdq-uint8"), Android(providers=("qnn",), soc_models=("SM8650",)), store, quiet)
    with pytest.raises(SettingError, match="soc-models needs the provider qnn") as caught:
        Android(providers=("xnnpack",), soc_models=("SM8650",))
    assert caught.value.hint == 'add "qnn" to providers'


def test_coreml_may_not_find_weights_that_lie_beside_the_graph(variant: Kind, store: Store) -> None:
    coreml, cpu = plan.make(variant("float"), Ios(format="onnx"), store, quiet).choices
    assert coreml.reason.endswith("; its weights lie beside it, where this provider may not find them")
    assert cpu.reason == 'format = "onnx": the runtime rewrites the graph at every load'
    assert coreml.compiled == replace(cpu.compiled, settings={})


SEGMENTS = "(float[1,3,8,8] x) => (float[1,1,8,8] y) { c = Conv <pads = [1,1,1,1]> (x, w) y = Relu (c) }"


def with_contract(folder: Path) -> Variant:
    """A mask of one class, which is interpolated."""
    net = loaded(folder, onnx_model(SEGMENTS, weights={"w": weight(1, 3, 3, 3)}, opsets={"": 18}))
    kinds = tables({"x": {"kind": "image"}}, {"y": {"kind": "mask", "activation": "sigmoid"}})
    return baseline(hashed(attach(net, kinds).model))


def test_a_contract_has_as_many_bits_as_the_runtime(tmp_path: Path, variant: Kind) -> None:
    decision = plan.decide(with_contract(tmp_path), Web(runtime="webgpu"))
    webgpu, cpu = decision.selections
    reason = "its contract in 32-bit floats: ONNX Runtime's WebGPU build has no kernels for 64 bits"
    assert (webgpu.provider, cpu.provider) == ("webgpu", "cpu")
    assert {webgpu.file.form, cpu.file.form} == {GraphForm.SINGLE}
    assert webgpu.file.over == cpu.file
    assert webgpu.reason.endswith(f"; {reason}")
    assert cpu.reason.endswith(reason)
    assert (webgpu.cpu_nodes_key, cpu.cpu_nodes_key) == ("ep.webgpuexecutionprovider.forceCpuNodeNames", "")
    assert decision.environment == "web-webgpu"
    forms = {
        selection.file.form
        for each, target in (
            (with_contract(tmp_path), Web()),
            (with_contract(tmp_path), Android(providers=("webgpu",))),
            (variant("float"), Web(runtime="webgpu")),
        )
        for selection in plan.decide(each, target).selections
    }
    assert forms == {GraphForm.VARIANT}


def test_nodes_to_leave_are_told_while_there_is_room(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    webgpu, cpu = plan.make(with_contract(tmp_path), Web(runtime="webgpu"), store, quiet).choices
    named = webgpu.compiled.settings["ep.webgpuexecutionprovider.forceCpuNodeNames"].splitlines()
    graph = onnx.ModelProto.FromString(webgpu.compiled.path.read_bytes()).graph
    in_file = {node.name for node in graph.node if node.name.startswith("mobpack/")}
    assert {name.rpartition("_")[2] for name in in_file.intersection(named)} == {"Cast", "Div", "Sub"}
    assert all(name.endswith("_Cast") for name in set(named) - in_file), "casts from 32 bits to 32 are dropped"
    assert "ep.webgpuexecutionprovider.forceCpuNodeNames" not in cpu.compiled.settings
    # On every target: not for their 64 bits, but because it takes a few here and there.
    variant = with_text(tmp_path)
    webgpu, cpu = plan.make(variant, Android(providers=("webgpu",)), store, quiet).choices
    named = webgpu.compiled.settings["ep.webgpuexecutionprovider.forceCpuNodeNames"].splitlines()
    known = {node.name: node.op_type for node in traversal.all_nodes(onnx.ModelProto.FromString(variant.graph))}
    assert all(name.startswith("mobpack/ids/") for name in named)
    assert {"And", "Cast", "Gather", "ScatterElements"} < {known[name] for name in named}
    assert any(name.count("/") > 2 for name in named), "those of loops, too"
    assert len(set(named)) == len(named) < len(known)
    assert cpu.compiled.settings.keys().isdisjoint({"ep.webgpuexecutionprovider.forceCpuNodeNames"})
    monkeypatch.setattr(files, "LONGEST_SETTING", 60)
    webgpu, _ = plan.make(with_text(tmp_path), Android(providers=("webgpu",)), store, quiet).choices
    told = webgpu.compiled.settings["ep.webgpuexecutionprovider.forceCpuNodeNames"]
    assert told.startswith("mobpack/ids/")
    assert 30 < len(told) <= 60


def with_text(folder: Path) -> Variant:
    net = loaded(folder, onnx_model("(int64[1, n] ids) => (int64[1, n] y) { y = Identity (ids) }", opsets={"": 18}))
    kinds = tables({"ids": {"kind": "text", "tokenizer": changed(bert(), folder)}}, {})
    return baseline(hashed(attach(net, kinds).model))
