"""The MACs of each node in the files that ship, as ONNX Runtime gives them to an app."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
import onnxruntime
import pytest

from packager import models
from packager.compile import plan
from packager.compile.recorded_macs import ENTRY, name_nodes
from packager.contract import attachment
from packager.core.values import Choice, Compiled, Variant, baseline
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.target import Planned
from tests.cases.onnx_text import loaded, onnx_model, weight
from tests.toolchain import models as real
from tests.unit.test_attachment import tables

NET = """(float[1,3,8,8] x) => (float[1,10] y) {
    [conv] c = Conv <pads = [1,1,1,1]> (x, w)
    [relu] r = Relu (c)
    [pool] p = GlobalAveragePool (r)
    [flat] f = Flatten (p)
    [dense] y = Gemm (f, v)
}"""

WEIGHTS = {"w": weight(16, 3, 3, 3), "v": weight(16, 10)}

COUNTS = {"conv": 16 * 8 * 8 * 27, "dense": 160}

TARGETS = (Android(providers=("xnnpack",)), Ios(providers=("coreml",)), Android(format="onnx"))


def net(folder: Path, graph: str = NET, **metadata: str) -> Variant:
    model = onnx_model(graph, weights=WEIGHTS)
    onnx.helper.set_model_props(model, metadata)
    return baseline(loaded(folder, model), "source")


def choices(variant: Variant, target: Planned, folder: Path) -> tuple[Choice, ...]:
    """The files for a target; results are kept in `folder`."""
    return plan.make(variant, target, Store(folder / "store"), lambda part: None).choices


def session(compiled: Compiled) -> Any:
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    for key, value in compiled.settings.items():
        options.add_session_config_entry(key, value)
    return onnxruntime.InferenceSession(str(compiled.path), options, providers=["CPUExecutionProvider"])


def recorded(opened: Any) -> Mapping[str, int]:
    """The entry as an app reads it."""
    text = opened.get_modelmeta().custom_metadata_map[ENTRY]
    return {name: int(count) for count, name in (line.split(" ", 1) for line in text.split("\n") if line)}


def assigned(opened: Any) -> list[str]:
    """The nodes that ONNX Runtime reports to an app."""
    return [node.name for each in opened.get_provider_graph_assignment_info() for node in each.get_nodes()]


@pytest.mark.parametrize("target", TARGETS, ids=["android", "ios", "onnx"])
def test_every_file_has_the_macs_of_its_nodes(target: Planned, tmp_path: Path) -> None:
    files = [choice.compiled for choice in choices(net(tmp_path), target, tmp_path)]
    assert [dict(recorded(session(each))) for each in files] == [COUNTS] * 2


def test_the_files_are_of_both_formats_and_one_has_its_weights_in_the_other(tmp_path: Path) -> None:
    files = [each.compiled for target in TARGETS[:2] for each in choices(net(tmp_path), target, tmp_path)]
    assert [str(each.format) for each in files] == ["onnx", "ort", "ort", "onnx"]
    assert all(each.data_files[0].suffix == ".ort" for each in files if each.format == "onnx")


@pytest.mark.parametrize("target", TARGETS[:2], ids=["unfused", "fused"])
def test_the_runtime_reports_the_nodes_of_onnx_files_by_the_names_of_the_entry(target: Planned, tmp_path: Path) -> None:
    (compiled,) = [each.compiled for each in choices(net(tmp_path), target, tmp_path) if each.compiled.format == "onnx"]
    opened = session(compiled)
    assert set(recorded(opened)) <= set(assigned(opened))


def test_the_runtime_reports_no_node_of_a_file_in_ort_format(tmp_path: Path) -> None:
    (compiled,) = [
        each.compiled for each in choices(net(tmp_path), TARGETS[0], tmp_path) if each.compiled.format == "ort"
    ]
    assert assigned(session(compiled)) == []


@pytest.mark.parametrize("name", ["orientation", "silero_vad", "minilm"])
def test_all_macs_of_real_models_are_of_nodes_that_the_runtime_reports(name: str) -> None:
    shapes = {"batch": 1, "sequence": 576} if name == "silero_vad" else {}
    model = models.hashed(models.load(getattr(real, name)(), name.replace("_", "-"), fixed=shapes))
    for target in TARGETS[:2]:
        for each in choices(baseline(model, "source"), target, cache_folder()):
            opened = session(each.compiled)
            assert recorded(opened)
            assert each.compiled.format == "ort" or set(recorded(opened)) <= set(assigned(opened))


def test_the_nodes_of_a_contract_count_too(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model(NET, weights=WEIGHTS))
    attached = attachment.attach(model, tables({"x": {"kind": "image", "size": (8, 8)}}, {})).model
    for each in choices(baseline(models.hashed(attached), "source"), TARGETS[0], tmp_path):
        counts = recorded(session(each.compiled))
        assert {name: counts[name] for name in COUNTS} == COUNTS


def test_nodes_without_names_get_some_in_onnx_files(tmp_path: Path) -> None:
    variant = net(tmp_path, NET.replace("[conv] ", "").replace("[dense] ", ""))
    unfused, _ = choices(variant, TARGETS[0], tmp_path)
    opened = session(unfused.compiled)
    assert recorded(opened) == {"c": COUNTS["conv"], "y": COUNTS["dense"]}
    assert set(recorded(opened)) <= set(assigned(opened))


def test_a_name_that_another_node_has_is_not_given(tmp_path: Path) -> None:
    model = onnx_model(NET.replace("[conv] ", "").replace("[relu]", "[c]"), weights=WEIGHTS)
    assert name_nodes(model)
    assert [node.name for node in model.graph.node] == ["c_2", "c", "pool", "flat", "dense"]
    assert not name_nodes(model)


def test_an_entry_that_the_model_brings_is_replaced_and_others_stay(tmp_path: Path) -> None:
    variant = net(tmp_path, **{ENTRY: "7 conv", "author": "me"})
    for each in choices(variant, TARGETS[0], tmp_path):
        opened = session(each.compiled)
        assert recorded(opened) == COUNTS
        assert opened.get_modelmeta().custom_metadata_map["author"] == "me"


def test_names_of_other_scripts_and_with_spaces_are_kept(tmp_path: Path) -> None:
    model = onnx_model(NET, weights=WEIGHTS)
    model.graph.node[0].name = "畳み込み 1"
    files = choices(baseline(loaded(tmp_path, model), "source"), TARGETS[0], tmp_path)
    assert [recorded(session(each.compiled))["畳み込み 1"] for each in files] == [COUNTS["conv"]] * 2
