"""React Native: an npm package has the very files of the Android and iOS packages, and always the same bytes."""

import json
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from packager.config import Config, from_document
from packager.core.errors import ConfigError, ModelError
from packager.core.findings import Report
from packager.core.values import ElementType, Signature, Style
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.targets import WRAPPERS, included
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.react_native import ReactNative, headers, texts
from packager.targets.typescript import model as typescript
from packager.targets.typescript import storage
from packager.targets.typescript.view import FileView, TensorView
from packager.workflows.options import options_of
from packager.workflows.requested import requested_targets
from tests.cases.ios_target import on_disk
from tests.cases.react_native_target import unpacked
from tests.golden.cases import REACT_NATIVE_CASES, Case, Wrapped, choice, model, on_ios, plan, specs
from tests.unit.test_ios_files import file, named

VISION = REACT_NATIVE_CASES["image_classifier"]

EVERYTHING = REACT_NATIVE_CASES["everything"]


def there(case: Wrapped, folder: Path) -> Wrapped:
    """The case with files on disk."""
    return replace(case, android=on_disk(case.android, folder / "android"), ios=on_disk(case.ios, folder / "ios"))


def packed(case: Wrapped, store: Path) -> dict[PurePosixPath, bytes]:
    """Files of the assembled package, by path."""
    view = case.view()
    (artifact,) = case.target.assemble(view, case.target.render(view), Store(store))
    return unpacked(artifact.path)


def opened(case: Wrapped, platform: str, number: int = 0) -> tuple[FileView, ...]:
    """The files of one model on one platform."""
    return next(each.files for each in case.view().names.models[number].platforms if each.name == platform)


def test_the_package_has_the_very_bytes_of_the_libraries_for_android_and_ios(tmp_path: Path) -> None:
    case = there(VISION, tmp_path / "files")
    inside = packed(case, tmp_path / "store")
    folder = "mobpack/VisionModels"
    for platform, other in (("android", case.android), ("ios", case.ios)):
        places = (PurePosixPath("models", each, folder) for each in ("both", platform))
        mine = {content for place in places for path, content in inside.items() if path.is_relative_to(place)}
        theirs = {
            path.read_bytes() for name, path in other.sources().files.items() if {"assets", "Models"} & set(name.parts)
        }
        assert mine == theirs, platform
        assert len(mine) == 3, "two files of the model, one of golden vectors"


def test_files_are_in_the_package_once_under_unique_names(tmp_path: Path) -> None:
    placed = EVERYTHING.view().files
    sums = [each.content.sha256 for each in placed]
    assert len(set(sums)) == len(sums)
    folders = {each.content.path: each.folder for each in placed}
    assert folders["every-thing_v2-sm8650.onnx.tflite"] == "android"
    assert folders["every-thing_v2.ort.tflite"] == folders["every-thing_v2-unfused.ort.tflite"] == "both"
    assert folders["options-model-1.weights.tflite"] == "both"
    assert folders["every-thing_v2-golden.safetensors"] == "both"
    one = file(tmp_path, "model.ort", "one", style=Style.FIXED)
    two = file(tmp_path, "model.ort", "two", style=Style.UNFUSED)
    three = file(tmp_path, "model.ort", "three", style=Style.FIXED)
    nothing = Signature(inputs=(), outputs=specs("output", ("y", ElementType.FLOAT, (1,))))
    plans = (
        plan("net", nothing, replace(choice("xnnpack"), compiled=two), replace(choice("cpu"), compiled=one)),
        plan("Net-UNFUSED", nothing, replace(choice("cpu"), compiled=three)),
    )
    android = replace(VISION.android, plans=plans, golden={})
    ios = replace(VISION.ios, plans=tuple(on_ios(each, *each.choices) for each in plans), golden={})
    names = [each.content.path for each in replace(VISION, android=android, ios=ios).view().files]
    assert names == ["Net-UNFUSED-2.ort.tflite", "net-unfused.ort.tflite", "net.ort.tflite"]
    base = file(tmp_path, "model.ort", "weights")
    rest = named(tmp_path, "fixed.weights", "the rest")
    fused = file(tmp_path, "fixed.onnx", "graph", base.path, rest, style=Style.FIXED)
    choices = (replace(choice("coreml"), compiled=base), replace(choice("cpu"), compiled=fused))
    ios = replace(VISION.ios, plans=(on_ios(VISION.ios.plans[0], *choices),), golden={})
    android = replace(VISION.android, plans=(plan("classifier", VISION.android.plans[0].model.signature),), golden={})
    coreml, cpu = opened(replace(VISION, android=android, ios=ios), "ios")
    assert (coreml.path, coreml.weights) == ("classifier-unfused.ort", ())
    assert (cpu.path, cpu.size_bytes) == ("classifier.onnx", len("graph"))
    assert [(each.name, each.path) for each in cpu.weights] == [
        ("model.ort", "classifier-unfused.ort"),
        ("fixed.weights", "classifier-fixed.weights"),
    ]
    assert [each.sha256 for each in cpu.weights] == [sha256_of(base.path), sha256_of(rest)]


def test_a_file_of_one_platform_alone_is_in_its_folder() -> None:
    ios = replace(
        VISION.ios, plans=(on_ios(VISION.ios.plans[0], choice("coreml", Style.PLAIN), choice("cpu")),), golden={}
    )
    case = replace(VISION, ios=ios)
    folders = {each.content.path: each.folder for each in case.view().files}
    assert folders == {
        "classifier.ort.tflite": "both",
        "classifier-unfused.ort.tflite": "android",
        "classifier-plain.ort": "ios",
    }


def test_files_are_tried_in_order_with_their_settings_and_vectors() -> None:
    android = [(each.providers, each.chips) for each in opened(EVERYTHING, "android")]
    assert android == [
        (("qnn",), ("SM8650",)),
        (("qnn",), ("SM8750", "SM8750P")),
        (("qnn", "nnapi", "xnnpack", "webgpu"), ()),
        (("cpu",), ()),
    ]
    assert [each.providers for each in opened(EVERYTHING, "ios")] == [("coreml", "xnnpack"), ("cpu",)]
    found = {each.name: [provider.name for provider in each.providers] for each in EVERYTHING.view().names.platforms}
    assert found == {"android": ["qnn", "nnapi", "xnnpack", "webgpu"], "ios": ["coreml", "xnnpack"]}
    unfused, fixed = opened(VISION, "android")
    (replay,) = VISION.android.plans[0].choices[0].compiled.settings.items()
    assert [(each.key, each.value) for each in unfused.settings] == [replay]
    assert fixed.settings == ()
    android_providers, ios_providers = VISION.view().names.platforms
    assert [(each.registered_name, each.options) for each in android_providers.providers] == [("XNNPACK", ())]
    (coreml,) = ios_providers.providers
    assert coreml.registered_name == "CoreML"
    assert {each.key: each.value for each in coreml.options}["ModelFormat"] == "MLProgram"
    (golden,) = VISION.view().names.models[0].golden
    assert {each.path for each in golden.files} == {"classifier.ort.tflite", "classifier-unfused.ort.tflite"}
    assert golden.file.path == "classifier-golden.safetensors"
    assert VISION.view().names.has_self_test


@pytest.mark.parametrize("platform", ["android", "ios"])
def test_a_file_of_either_platform_without_golden_vectors_leaves_the_model_without(platform: str) -> None:
    own = choice("cpu", Style.PLAIN)
    changed: Case = getattr(VISION, platform)
    without = replace(changed, plans=(replace(changed.plans[0], choices=(own,)),))
    case = replace(VISION, android=without) if platform == "android" else replace(VISION, ios=without)
    assert case.view().names.models[0].golden == ()
    assert not case.view().names.has_self_test


def tensors(*wanted: tuple[str, ElementType, tuple[int | str | None, ...]], reshaped: str = "") -> list[TensorView]:
    """Outputs as TypeScript sees them."""
    made = model("net", Signature(inputs=(), outputs=specs("output", *wanted)))
    view = typescript.model_view(
        made, VISION.package, npm_name="net", is_for_pages=False, platforms=(), class_name="Net", reshaped={reshaped}
    )
    return list(view.outputs)


def test_shapes_are_types_and_literals() -> None:
    fixed, batch, scalar, open_twice, text, empty = tensors(
        ("fixed", ElementType.FLOAT, (1, 4)),
        ("batch", ElementType.INT64, ("n", 4)),
        ("scalar", ElementType.BOOL, ()),
        ("open", ElementType.FLOAT16, (None, None, 3)),
        ("text", ElementType.STRING, (2,)),
        ("empty", ElementType.FLOAT, (0, None)),
    )
    assert (fixed.type, fixed.array, fixed.shape_type, fixed.sizes) == (
        "float32",
        "Float32Array",
        "readonly [1, 4]",
        ("1", "4"),
    )
    assert (batch.type, batch.array, batch.shape_type, batch.sizes) == (
        "int64",
        "BigInt64Array",
        "readonly [number, 4]",
        ("null", "4"),
    )
    assert (scalar.array, scalar.shape_type, scalar.sizes) == ("Uint8Array", "readonly []", ())
    assert [each.is_pinned for each in (fixed, batch, scalar, open_twice, text)] == [True, False, True, False, False]
    assert [each.is_inferable for each in (fixed, batch, scalar, open_twice)] == [True, True, True, False]
    assert not empty.is_inferable, "no values are no values, whatever the open size"


def test_an_output_of_another_shape_has_no_type_and_every_other_type_an_array() -> None:
    (output,) = tensors(("y", ElementType.FLOAT, (7,)), reshaped="y")
    assert (output.shape_type, output.sizes, output.is_pinned) == ("readonly number[]", ("null",), False)
    assert set(storage.STORAGE) == set(ElementType) - {ElementType.OTHER}


@pytest.mark.parametrize("platform", ["android", "ios"])
def test_shapes_that_differ_in_either_platforms_variant_are_not_promised(platform: str) -> None:
    """The report is of the variant `source`, which only the other platform ships."""
    case = replace(EVERYTHING, android=replace(EVERYTHING.android, target=Android(variant="other")))
    if platform == "android":
        case = replace(EVERYTHING, ios=replace(EVERYTHING.ios, target=Ios(variant="other")))
    found = {each.tensor: each.shape_type for each in case.view().names.models[0].outputs}
    assert found["declared_static"] == "readonly number[]"
    assert found["float$static"] == "readonly [1, 4]"


@pytest.mark.parametrize(("kind", "way"), [("input", "from float"), ("output", "to float")])
def test_a_type_without_an_array_is_refused_with_a_way_out(kind: str, way: str) -> None:
    odd, plain = specs(kind, ("z", ElementType.OTHER, (1,))), specs(kind, ("x", ElementType.FLOAT, (1,)))
    made = model("net", Signature(inputs=odd if kind == "input" else plain, outputs=odd))
    with pytest.raises(ModelError, match=f"model 'net': {kind} 'z' has a type that JavaScript cannot pass") as refused:
        typescript.refuse_unsupported(made)
    assert refused.value.hint.endswith(way)


def test_what_lies_beside_the_templates_is_in_every_package_as_it_is(tmp_path: Path) -> None:
    inside = packed(there(VISION, tmp_path / "files"), tmp_path / "store")
    copied = texts.copies(VISION.view())
    assert copied
    assert {path: inside[path] for path in copied} == {path: file.read_bytes() for path, file in copied.items()}


def test_a_package_with_hostile_words_is_still_valid_json() -> None:
    package = replace(VISION.package, description='It\'s "all" \\ ${you} #{need}\u2028*/', license="")
    view = VISION.target.view(package, VISION.built(), Report(parities=()))
    document = json.loads(VISION.target.render(view).texts[PurePosixPath("package.json")])
    assert document["description"] == package.description
    assert (document["name"], document["version"]) == ("react-native-vision", "1.0.0")
    assert document["license"] == "UNLICENSED"


@pytest.mark.parametrize("registry", ["", "https://npm.example.com/"])
def test_a_registry_for_publishing_is_named_only_where_it_is_asked_for(registry: str) -> None:
    view = VISION.target.view(replace(VISION.package, npm_registry=registry), VISION.built(), Report(parities=()))
    document = json.loads(VISION.target.render(view).texts[PurePosixPath("package.json")])
    assert document.get("publishConfig") == ({"registry": registry} if registry else None)


def test_a_package_without_a_description_lists_its_models() -> None:
    assert VISION.view().names.description == "On-device models: classifier"
    assert EVERYTHING.view().names.description == "All that a signature can hold."


def test_a_models_licence_is_in_the_package(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text("Do what you like.")
    (made,) = VISION.android.plans
    android = replace(
        VISION.android, plans=(replace(made, model=replace(made.model, license_file=tmp_path / "LICENSE")),)
    )
    files = replace(VISION, android=android).sources().files
    assert files[PurePosixPath("LICENSE-classifier.txt")] == tmp_path / "LICENSE"
    assert PurePosixPath("LICENSE-classifier.txt") not in VISION.sources().files


def test_the_archive_is_what_npm_pack_makes(tmp_path: Path) -> None:
    view = there(VISION, tmp_path / "files").view()
    (artifact,) = VISION.target.assemble(view, VISION.target.render(view), Store(tmp_path / "store"))
    assert (artifact.kind, artifact.path.name) == ("npm-package", "react-native-vision-1.0.0.tgz")
    with tarfile.open(artifact.path) as archive:
        members = archive.getmembers()
    assert [each.name for each in members] == sorted(each.name for each in members)
    assert all(each.name.startswith("package/") and each.isreg() for each in members)
    assert {(each.mtime, each.mode, each.uid, each.gid, each.uname, each.gname) for each in members} == {
        (499162500, 0o644, 0, 0, "", "")
    }
    assert not [each.name for each in members if each.pax_headers]
    assert "package/package.json" in {each.name for each in members}


def test_the_archive_holds_texts_and_files_and_nothing_else(tmp_path: Path) -> None:
    case = there(VISION, tmp_path / "files")
    sources = case.sources()
    inside = packed(case, tmp_path / "store")
    assert {path: content.decode() for path, content in inside.items() if path in sources.texts} == sources.texts
    assert set(inside) == {*sources.texts, *sources.files}


def test_the_same_package_is_the_same_archive(tmp_path: Path) -> None:
    def assembled(case: Wrapped, store: Path) -> tuple[Path, str]:
        view = case.view()
        (artifact,) = case.target.assemble(view, case.target.render(view), Store(store))
        return artifact.path, artifact.sha256

    first = assembled(there(VISION, tmp_path / "one"), tmp_path / "a")
    again = assembled(there(VISION, tmp_path / "elsewhere"), tmp_path / "b")
    other = assembled(replace(there(VISION, tmp_path / "two"), target=ReactNative(module="Other")), tmp_path / "a")
    assert first[0] != again[0]
    assert first[1] == again[1]
    assert other[1] != first[1]


def test_a_release_has_the_package_and_a_project_is_the_package(tmp_path: Path) -> None:
    case = there(EVERYTHING, tmp_path / "files")
    view = case.view()
    artifacts = case.target.assemble(view, case.target.render(view), Store(tmp_path / "store"))
    (shipped,) = case.target.layout(view, artifacts, tmp_path)
    assert (shipped.path, shipped.artifact.kind) == ("npm/example-every-thing-2.1.0.tgz", "npm-package")
    assert sha256_of(tmp_path / shipped.path) == shipped.artifact.sha256
    view = VISION.view()
    sources = VISION.target.render(view)
    assert VISION.target.project(view, sources, Store(tmp_path)) == sources


def configured(target: dict[str, str], *, runtime: Mapping[str, str] = {}, **others: dict[str, object]) -> Config:
    document = {
        "package": {"name": "p"},
        "model": {"m": {"path": "m.onnx"}},
        "runtime": runtime,
        "target": {"react_native": target, **others},
    }
    return from_document(document, Path("/project"), targets=(), settings=())


def test_options_are_taken_from_file_and_command_line() -> None:
    config = configured({"package": "@example/p"}, android={"providers": ["nnapi"]})
    assert config.wrappers()["react_native"] == ReactNative(package="@example/p")
    assert config.targets()["android"].providers == ("nnapi",)
    assert config.targets()["ios"] == Ios(), "on defaults"
    assert requested_targets(config, ()) == ("android", "ios", "react_native")
    assert requested_targets(config, ("react_native",)) == ("android", "ios", "react_native")
    assert requested_targets(config, ("ios", "react_native")) == ("android", "ios", "react_native")
    assert requested_targets(config, ("ios",)) == ("ios",)
    document = {"package": {"name": "p"}, "model": {"m": {"path": "m.onnx"}}}
    config = from_document(document, Path("/project"), targets=("react_native",), settings=())
    assert (config.wrappers()["react_native"], list(config.targets())) == (ReactNative(), ["android", "ios"])
    options = options_of(configured({"module": "Pages"}), ("android", "ios", "react_native"))
    targets = options["target"]
    assert isinstance(targets, dict)
    assert list(targets) == ["android", "ios", "react_native"]
    assert targets["react_native"] == {"package": "", "module": "Pages"}
    assert options["variant"] == {"source": {"quantizer": "none"}}
    with pytest.raises(ConfigError) as refused:
        configured({"modul": "Pages"})
    assert (refused.value.message, refused.value.hint) == (
        "target.react_native: unknown key 'modul'",
        "did you mean 'module'?",
    )
    with pytest.raises(ConfigError) as refused:
        configured({"package": "Vision"})
    assert refused.value.message.startswith("target.react_native: package 'Vision' is not allowed")
    assert refused.value.hint == "try vision"


def test_what_a_target_takes_in_is_known() -> None:
    assert {name: included(wrapper, ["android"]) for name, wrapper in WRAPPERS.items()} == {
        "react_native": ("android", "ios"),
        "flutter": ("android",),
    }


def test_headers_lose_their_comments_and_nothing_else() -> None:
    header = '// Licence\n\n/** Long\n * words */\n#define A "/* kept */ // too"\n\nint f(int /* x */ a); // end\n'
    assert headers.without_comments(header) == (
        f'// Licence\n{headers.ORIGIN}#define A "/* kept */ // too"\nint f(int   a);\n'
    )
