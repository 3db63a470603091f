"""CoreML's key for its compiled model, in the file: present, long enough, and different for a different model."""

import hashlib
import re
from pathlib import Path

import numpy
import onnx
import onnxruntime
import pytest

from packager.compile import plan
from packager.compile.cache_key import ENTRY, ROOM, has_room, with_room
from packager.core.values import Compiled, Plan, Variant, baseline
from packager.files.store import Store
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.target import Planned
from tests.cases.onnx_text import loaded, onnx_model, weight

NET = """(float[1,3,8,8] x) => (float[1,16,8,8] y) {
    [conv] c = Conv <pads = [1,1,1,1]> (x, w)
    [relu] y = Relu (c)
}"""
HALF = "(float16[1,64] x) => (float16[1,32] y) { a = MatMul (x, w) y = Relu (a) }"


def quiet(part: str) -> None:
    """A console without output."""


def net(folder: Path, *, seed: int = 0, **metadata: str) -> Variant:
    folder.mkdir(parents=True, exist_ok=True)
    model = onnx_model(NET, weights={"w": weight(16, 3, 3, 3, seed=seed)})
    onnx.helper.set_model_props(model, metadata)
    return baseline(loaded(folder, model), "source")


def planned(variant: Variant, target: Planned, folder: Path) -> Plan:
    return plan.make(variant, target, Store(folder / "store"), quiet)


def metadata(compiled: Compiled) -> dict[str, str]:
    """The metadata that a session finds, where the provider looks."""
    session = onnxruntime.InferenceSession(str(compiled.path), providers=["CPUExecutionProvider"])
    return dict(session.get_modelmeta().custom_metadata_map)


def key_of(compiled: Compiled) -> str:
    return metadata(compiled).get(ENTRY, "")


@pytest.mark.parametrize("form", ["auto", "ort", "onnx"])
def test_the_file_that_coreml_opens_has_a_key(form: str, tmp_path: Path) -> None:
    coreml = planned(net(tmp_path), Ios(format=form), tmp_path).choices[0]  # type: ignore[arg-type]
    assert coreml.provider == "coreml"
    assert re.fullmatch("[0-9a-f]{64}", key_of(coreml.compiled))
    assert key_of(coreml.compiled) != ROOM


def test_a_file_with_weights_inside_has_a_key(tmp_path: Path) -> None:
    model = onnx_model(HALF, weights={"w": weight(64, 32).astype(numpy.float16)})
    variant = baseline(loaded(tmp_path, model), "source")
    coreml = planned(variant, Ios(float16="float32"), tmp_path).choices[0]
    assert (coreml.compiled.path.suffix, coreml.compiled.data_files) == (".onnx", ())
    assert re.fullmatch("[0-9a-f]{64}", key_of(coreml.compiled))


def test_keys_are_those_of_the_file_wherever_it_lies(tmp_path: Path) -> None:
    compiled = planned(net(tmp_path), Ios(), tmp_path).choices[0].compiled
    content = compiled.path.read_bytes()
    assert content.count(key_of(compiled).encode()) == 1
    assert hashlib.sha256(content.replace(key_of(compiled).encode(), ROOM.encode())).hexdigest() == key_of(compiled)
    first = planned(net(tmp_path / "one"), Ios(), tmp_path / "one")
    second = planned(net(tmp_path / "elsewhere"), Ios(), tmp_path / "elsewhere")
    other = planned(net(tmp_path / "other", seed=1), Ios(), tmp_path / "other")
    assert first.choices[0].compiled.sha256 == second.choices[0].compiled.sha256
    assert key_of(first.choices[0].compiled) != key_of(other.choices[0].compiled)
    target = Ios(format="onnx")
    one = planned(net(tmp_path / "one", seed=0), target, tmp_path / "one").choices[0].compiled
    two = planned(net(tmp_path / "two", seed=1), target, tmp_path / "two").choices[0].compiled
    graphs = [onnx.load(each.path, load_external_data=False) for each in (one, two)]
    for graph in graphs:
        del graph.metadata_props[:]
    assert graphs[0] == graphs[1], "all that differs lies beside them"
    assert key_of(one) != key_of(two)


@pytest.mark.parametrize("form", ["auto", "onnx"])
def test_a_model_with_a_key_of_its_own_gets_ours_and_keeps_what_else_it_says(form: str, tmp_path: Path) -> None:
    variant = net(tmp_path, COREML_CACHE_KEY="mine", author="me")
    compiled = planned(variant, Ios(format=form), tmp_path).choices[0].compiled  # type: ignore[arg-type]
    assert len(key_of(compiled)) == 64
    assert metadata(compiled)["author"] == "me"
    if form == "onnx":
        names = [entry.key for entry in onnx.load(compiled.path, load_external_data=False).metadata_props]
        assert names.count(ENTRY) == 1


def test_only_planned_files_of_coreml_have_keys(tmp_path: Path) -> None:
    variant = net(tmp_path)
    android = planned(variant, Android(), tmp_path)
    ios = planned(variant, Ios(), tmp_path)
    without = [*(choice.compiled for choice in android.choices), ios.cpu]
    assert [key_of(each) for each in without] == ["", "", ""]
    assert has_room(with_room(variant.graph))
    assert [choice.compiled.variant for choice in planned(variant, Ios(), tmp_path).choices] == [variant, variant]
    proto = onnx.ModelProto.FromString(with_room(b""))
    assert [(entry.key, entry.value) for entry in proto.metadata_props] == [(ENTRY, ROOM)]
    assert proto.SerializeToString() == with_room(b"")


def test_the_cpus_graph_finds_its_weights_in_the_file_with_the_key(tmp_path: Path) -> None:
    variant = net(tmp_path)
    coreml, cpu = planned(variant, Ios(), tmp_path).choices
    assert cpu.compiled.data_files[0].read_bytes() == coreml.compiled.path.read_bytes()
    sample = {"x": weight(1, 3, 8, 8, seed=5)}
    results = [
        onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, sample)[0]
        for path in (variant.model.path, cpu.compiled.path, coreml.compiled.path)
    ]
    assert numpy.allclose(results[0], results[1], atol=1e-6)
    assert numpy.allclose(results[0], results[2], atol=1e-6)
