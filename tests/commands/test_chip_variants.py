"""A chip opens another variant of a model than the other devices: plan, names, refusals and what it costs."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import onnx
import pytest

from packager.compile import plan
from packager.compile.plan import Chips
from packager.config import Config, from_document
from packager.core.console import Console
from packager.core.decision import Decision
from packager.core.errors import ConfigError, ModelError
from packager.core.findings import Report
from packager.core.values import Compiled, Package, Plan, Style, Variant
from packager.distribution.packs.contents import PackedFile, placed, with_chips
from packager.distribution.packs.groups import Chip, DeviceGroup
from packager.distribution.release.manifest import plan_entry
from packager.distribution.release.ort_package import component
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.measuring.fleet.graph import TaskKind
from packager.measuring.fleet.projects import FleetProject
from packager.quantization.variants import BuiltVariant
from packager.quantizers.dynamic import Dynamic
from packager.reporting.added import added
from packager.signing.encryption import ModelKey
from packager.targets.android import Android
from packager.targets.target import variants_of
from packager.verification.golden import families
from packager.verification.numbers import subjects
from packager.workflows.encrypting import encrypted
from packager.workflows.fleet.expanding import Expanded, graph_of
from packager.workflows.options import options_of
from packager.workflows.packages import Contents
from packager.workflows.planning import make_variant, plan_target, refuse_alike, refuse_other_tensors
from packager.workflows.requested import BuildRequest
from packager.workflows.tune_variants import Searched, nameable, shipped_variant
from packager.workflows.varying import refuse_unvarying, say_added
from tests.cases.encryption_cases import KEY, KEY_ID
from tests.cases.onnx_text import loaded, onnx_model
from tests.cases.plan import Kind as KindOf
from tests.cases.plan import quiet, store, variant

__all__ = ["quiet", "store", "variant"]


TUNED = {
    "SM8650": {"net": {"variant": "int8", "providers": ["xnnpack"]}},
    "SM8475": {"net": {"variant": "int8", "providers": ["cpu"], "threads": 2}},
    "Tensor G3": {"net": {"threads": 2}},
}


def config(folder: Path, **package: str) -> Config:
    document = {
        "package": {"name": "nets", **package},
        "model": {"net": {"path": "net.onnx"}},
        "variant": {"int8": {"quantizer": "static-qdq", "calibration": "samples.npz"}},
        "target": {"android": {"providers": ["nnapi", "xnnpack"], "tuned": TUNED}},
    }
    return from_document(document, folder, targets=(), settings=())


@pytest.fixture(scope="module")
def whole(variant: KindOf, store: Store, tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """The plan of a float model that two chips open as int8."""
    target = config(tmp_path_factory.mktemp("net")).targets()["android"]
    own = variant("float")
    own = replace(own, model=replace(own.model, name="net"))
    int8 = replace(variant("qdq-int8"), name="int8", model=own.model, quantizer="static-qdq")
    made = {name: BuiltVariant(variant=each, graph=b"") for name, each in (("source", own), ("int8", int8))}
    return plan_target(own.model, target, made, store, quiet).whole


def decided(subject: Variant, chips: Chips) -> Decision:
    target = Android(providers=("qnn", "xnnpack"), soc_models=("SM8650", "SM8550"))
    return plan.decide(subject, target, chips=chips)


def test_files_are_for_the_providers_that_each_chip_tries(variant: KindOf) -> None:
    chips = Chips(orders={"SM8650": ("qnn",), "SM8475": ()})
    found = decided(variant("qdq-int8"), chips).selections
    assert [(each.provider, each.file.style, each.soc_models, each.variant) for each in found] == [
        ("qnn", Style.CONTEXT, ("SM8650",), "source"),
        ("qnn", Style.UNFUSED, ("SM8650",), "source"),
        ("cpu", Style.FIXED, ("SM8475", "SM8650"), "source"),
    ]
    assert all(each.reason.startswith("variant 'source': ") for each in found)


def test_every_variant_is_compared_at_a_cost(whole: Plan, capfd: pytest.CaptureFixture[str], variant: KindOf) -> None:
    assert [each.variant.name for each in subjects([whole], "cpu")] == ["source", "int8"]
    assert [each.variant.name for each in subjects([whole], "no provider")] == ["source", "int8"], "the graphs"
    assert len(subjects([whole], "any")) == 4
    assert {each.variant for each in families(whole)} >= {"source"}
    [one] = added(whole)
    files = {each.compiled.path for each in whole.choices if each.variant}
    assert (one.variant, one.chips) == ("int8", ("SM8475", "SM8650"))
    assert one.size_bytes == sum(path.stat().st_size for path in files)
    say_added([whole], Console())
    assert f"net on android: int8 for SM8475, SM8650 adds {one.size_bytes / 1000:.1f} kB" in capfd.readouterr().err
    found = decided(variant("float"), Chips(others=frozenset({"SM8650"}))).selections
    assert [each.soc_models for each in found if each.file.style is Style.CONTEXT] == [("SM8550",)]
    assert {each.variant for each in found} == {""}


def test_the_package_has_both_and_its_own_files_have_the_names_of_before(whole: Plan) -> None:
    rows = [(each.provider, each.compiled.style, each.soc_models, each.variant) for each in whole.choices]
    assert rows == [
        ("nnapi", Style.UNFUSED, (), ""),
        ("xnnpack", Style.UNFUSED, (), ""),
        ("cpu", Style.FIXED, (), ""),
        ("xnnpack", Style.UNFUSED, ("SM8650",), "int8"),
        ("cpu", Style.FIXED, ("SM8475", "SM8650"), "int8"),
    ]
    assert whole.variants == ("", "int8")
    assert (whole.cpu.variant.name, whole.cpu_of("int8").variant.name) == ("source", "int8")
    target = Android(providers=("nnapi", "xnnpack"))
    view = target.view(Package(name="nets", version="1.0.0", license=""), (whole,), Report(parities=()))
    names = {PurePosixPath(each.path).name.removesuffix(".tflite") for each in view.assets}
    assert names == {"net.ort", "net-unfused.onnx", "net-int8.ort", "net-int8-unfused.onnx"}
    assert view.runtime.has_variants
    texts = target.render(view).texts
    files = next(text for path, text in texts.items() if path.name == "Net.kt")
    assert files.count('"variant": "int8"') == 2
    assert '"chips": ["SM8475", "SM8650"]' in files


def test_packages_without_variants_have_no_code_for_them(whole: Plan) -> None:
    # Its bytes are as before.
    alone = replace(whole, choices=tuple(each for each in whole.choices if not each.variant))
    target = Android(providers=("nnapi", "xnnpack"))
    view = target.view(Package(name="nets", version="1.0.0", license=""), (alone,), Report(parities=()))
    assert not [path for path, text in target.render(view).texts.items() if "variant" in text and path.suffix == ".kt"]
    assert "variant" not in json.dumps(plan_entry(alone)["choices"])
    # It cannot say which chips open a file.
    assert [each.name for each in component(whole).variants] == ["nnapi", "xnnpack", "cpu"]


def test_unfitting_variants_are_refused(
    whole: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    chips = Chips(orders={"SM8650": ()})
    int8 = whole.cpu_of("int8").variant
    refuse_other_tensors(int8, chips)
    proto = onnx.ModelProto.FromString(int8.graph)
    proto.graph.output[0].name = "z"
    with pytest.raises(ModelError, match="the variant 'int8' for SM8650 has another output 'y'") as refused:
        refuse_other_tensors(replace(int8, graph=proto.SerializeToString()), chips)
    assert refused.value.hint
    proto.graph.output[0].name = "y"
    proto.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT16
    with pytest.raises(ModelError, match=r"has another input 'x' \(float16 in the place of float\)"):
        refuse_other_tensors(replace(int8, graph=proto.SerializeToString()), chips)
    refuse_alike(whole)
    other = tmp_path / "model.ort"
    other.write_bytes(b"other")
    own = whole.choices[0].compiled
    assert isinstance(own, Compiled)
    assert own.data_files
    like = replace(whole.choices[3], compiled=replace(own, data_files=(other,)))
    with pytest.raises(ModelError, match="the variant 'int8' has the same graph for xnnpack as that of the target"):
        refuse_alike(replace(whole, choices=(*whole.choices[:3], like, *whole.choices[4:])))
    refuse_unvarying(config(tmp_path), ("android",))
    key = tmp_path / "key.pub"
    with pytest.raises(ConfigError, match=r"variants of certain chips and package\.channel cannot") as both:
        refuse_unvarying(config(tmp_path, channel="stable", trust=str(key)), ("android",))
    assert both.value.hint
    monkeypatch.setattr(Android, "VARIES", False)
    with pytest.raises(ConfigError, match=r"the code for android cannot choose a variant by chip"):
        refuse_unvarying(config(tmp_path), ("android",))
    model = loaded(tmp_path, onnx_model("(float[2] x) => (float[2] y) { y = Relu(x) }"), "gate")
    project = config(tmp_path).model_copy(update={"variant": {"small": Dynamic()}})
    with pytest.raises(ModelError, match="model 'gate', variant 'small': nothing to quantize") as caught:
        make_variant(model, "small", project, store, Console(quiet=True))
    assert "choose another quantizer" in caught.value.hint


def test_encrypted_files_stay_with_their_chips(whole: Plan, tmp_path: Path) -> None:
    package = Package(name="nets", version="1.0.0", license="", encryption=KEY_ID)
    contents = Contents(package=package, plans=(whole,), report=Report(parities=()), golden={}, runtimes={})
    request = BuildRequest(targets=("android",), out=tmp_path / "dist", model_key=ModelKey(value=KEY))
    [sealed] = encrypted(contents, request, tmp_path).plans
    assert [(each.variant, each.soc_models) for each in sealed.choices] == [
        (each.variant, each.soc_models) for each in whole.choices
    ]
    assert not {each.sha256 for each in sealed.files} & {each.sha256 for each in whole.files}


def test_a_build_that_others_repeat_names_both(tmp_path: Path) -> None:
    """Manifest, lock and fleet: what a build reads and makes is that of all its variants."""
    opened = config(tmp_path)
    target = opened.targets()["android"]
    assert variants_of(target) == variants_of(target, "net") == ("source", "int8")
    assert variants_of(target, "other") == ("source",)
    options = options_of(opened, ("android",))
    assert isinstance(options["variant"], dict)
    assert [*options["variant"]] == ["source", "int8"]
    project = FleetProject(name="nets", file=tmp_path / "mobpack.toml", is_whole=True, document="{}")
    graph = graph_of([Expanded(project=project, config=opened, targets=("android",))], 1)
    made = [each for each in graph if each.work.kind is TaskKind.QUANTIZE]
    [planned] = [each for each in graph if each.work.kind is TaskKind.PLAN]
    assert [each.work.variant for each in made] == ["int8"]
    assert made[0].key in planned.after


def test_a_pack_gives_a_chips_files_to_its_group_and_to_all_where_no_group_has_it() -> None:
    chips = ("SM8475", "SM8650")
    file = PackedFile(sha256="0", size_bytes=1, names=("net-int8.ort",), uses=(("cpu", chips),))
    groups = with_chips((), [file])
    assert groups == (), "nothing says who made these chips"
    assert placed([file], groups) == {"": (file,)}
    named = DeviceGroup(name="both", chips=tuple(Chip(maker="QTI", model=each) for each in chips))
    assert placed([file], (named,)) == {"": (), "both": (file,)}
    one = DeviceGroup(name="one", chips=named.chips[:1])
    assert placed([file], (one,))[""] == (file,)


def searched(folder: Path, variant: str, providers: Sequence[str]) -> Searched:
    """A package in a release that ships `variant`; in none without a name."""
    path = folder / "android" / "nets.aar"
    path.parent.mkdir(parents=True)
    path.write_bytes(variant.encode())
    options = {"target": {"android": {"variant": variant}}}
    if variant:
        manifest = {"artifacts": [{"sha256": sha256_of(path)}], "options": options}
        (folder / "manifest.json").write_text(json.dumps(manifest))
    found = shipped_variant(path, sha256_of(path), "android")
    return Searched(name=str(path), variant=found, providers=providers)


@pytest.mark.parametrize(
    ("text", "tried", "named"),
    [
        ("[variant.int8]\n[target.android]", ["cpu", "xnnpack"], ["int8"]),
        ('[variant.int8]\n[target.android]\nvariant = "int8"', ["cpu"], []),
        ("[variant.int4]", ["cpu"], []),
        ("[variant.int8]", ["cpu", "qnn"], []),
        ("[variant.int8", ["cpu"], []),
    ],
    ids=["known", "the project ships it", "unknown", "its providers are unknown", "no TOML"],
)
def test_tune_names_variants_that_packages_can_have(
    text: str, tried: list[str], named: list[str], tmp_path: Path
) -> None:
    project = tmp_path / "mobpack.toml"
    project.write_text(text)
    packages = [searched(tmp_path / "dist", "source", ["cpu", "xnnpack"])]
    packages += [searched(tmp_path / name, each, tried) for name, each in (("8", "int8"), ("none", ""))]
    assert [*nameable(project, "android", packages).values()] == named
    assert nameable(tmp_path / "none.toml", "android", packages) == {}
