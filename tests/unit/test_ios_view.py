"""iOS: a model's names in Swift, and models that Swift cannot represent."""

import re
from pathlib import Path, PurePosixPath
from typing import Literal

import pytest

from packager.core.class_names import RESERVED
from packager.core.errors import ConfigError, ModelError, SettingError
from packager.core.findings import Report
from packager.core.values import ElementType, Package, Signature, TensorSpec
from packager.files.installed import templates_folder
from packager.targets.ios import Ios, swift
from packager.targets.ios.runtime import runtime_view
from packager.targets.ios.tensors import SWIFT_TYPES, refuse_unsupported
from packager.targets.ios.view import ModelView
from packager.targets.xcframework.packaged import PackagedFramework
from packager.vectors import NO_VECTORS, Golden
from tests.golden.cases import plan, reshaped, specs, vectors

PACKAGE = Package(name="vision", version="1.0.0", license="")
FLOAT = specs("input", ("x", ElementType.FLOAT, (1, 2)))
NOTHING = Report(parities=())


def model_of(
    inputs: tuple[TensorSpec, ...],
    outputs: tuple[TensorSpec, ...] = FLOAT,
    report: Report = NOTHING,
    golden: Golden = NO_VECTORS,
) -> ModelView:
    made = plan("net", Signature(inputs=inputs, outputs=outputs))
    return Ios().view(PACKAGE, (made,), report, golden=golden).models[0]


def text_of(inputs: tuple[TensorSpec, ...], outputs: tuple[TensorSpec, ...] = FLOAT) -> str:
    view = Ios().view(PACKAGE, (plan("net", Signature(inputs=inputs, outputs=outputs)),), NOTHING)
    return Ios().render(view).texts[PurePosixPath("Sources/VisionModels/Net.swift")]


def test_every_type_that_onnx_runtime_carries_is_an_array_of_its_own_swift_type() -> None:
    for element in [each for each in ElementType if each is not ElementType.OTHER]:
        text = text_of(specs("input", ("t", element, (2,))), specs("output", ("y", element, (2,))))
        assert re.findall(r"var [ty]: \[(\w+)\]", text) == [SWIFT_TYPES[element]] * 2
        assert list(SWIFT_TYPES.values()).count(SWIFT_TYPES[element]) == 1


@pytest.mark.parametrize("kind", ["input", "output"])
def test_type_that_swift_has_no_numbers_for_is_refused_with_a_way_out(kind: str) -> None:
    strange = specs(kind, ("ids", ElementType.OTHER, (1,)))
    inputs, outputs = (strange, FLOAT) if kind == "input" else (FLOAT, strange)
    with pytest.raises(ModelError, match=f"{kind} 'ids'.*iOS") as caught:
        refuse_unsupported(inputs, outputs, model="net")
    assert "Cast" in caught.value.hint


def test_output_of_a_fixed_shape_is_pinned_unless_it_has_another_one_or_holds_strings() -> None:
    outputs = specs(
        "output",
        ("fixed", ElementType.UINT64, (1, 4)),
        ("words", ElementType.STRING, (2,)),
        ("free", ElementType.FLOAT, ("batch",)),
    )
    view = model_of(FLOAT, outputs)
    assert [each.identifier for each in view.pinned_outputs] == ["fixed"]
    assert [each.identifier for each in view.copied_outputs] == ["words", "free"]
    assert not model_of(FLOAT, outputs, reshaped("net", "fixed")).pinned_outputs


def test_sizes_are_parameters_that_hide_no_input() -> None:
    shape = ("batch", "seq len")
    inputs = specs("input", ("ids", ElementType.INT64, shape), ("mask", ElementType.INT64, shape))
    view = model_of(inputs)
    assert [(each.identifier, each.default) for each in view.dimensions] == [("batch", " = 1"), ("seqLen", "")]
    assert not view.has_default_input
    assert view.inputs[1].sizes == ("batch", "seqLen")
    assert view.inputs[1].run_sizes == ("self.batch", "self.seqLen")
    view = model_of(specs("input", ("batch", ElementType.INT64, ("batch",))))
    assert [each.identifier for each in view.dimensions] == ["batch2"]


def test_the_example_in_the_documentation_uses_the_models_own_names() -> None:
    view = model_of(specs("input", ("my text", ElementType.STRING, ("batch", "seq"))))
    assert view.example == (
        "let model = try await Net.load()",
        "var input = Net.Input(batch: 1, seq: 128)",
        'input.myText[0] = "text"',
        "let output = try await model.run(input)",
        "print(output.x[0])",
    )


def test_names_cannot_leave_their_string_and_outputs_keep_their_order() -> None:
    text = text_of(specs("input", ('a"\\(evil())`*/\nlet b = 1', ElementType.FLOAT, (1,))))
    assert r'tensors.add("a\"\\(evil())`*/\nlet b = 1", &self.aEvilLetB1, [1])' in text
    assert not re.search(r"^let b", text, re.MULTILINE)
    outputs = specs("output", ("free", ElementType.FLOAT, ("n",)), ("fixed", ElementType.FLOAT, (1,)))
    text = text_of(FLOAT, outputs)
    assert 'outputs: [Declared("fixed", Float.type, [1]), Declared("free", Float.type, nil)],' in text
    assert text.index('tensors.fixed("fixed", ') < text.index('tensors.open("free", &self.free, &self.freeShape)')


def test_a_model_with_golden_vectors_tests_itself_and_one_without_does_not() -> None:
    made = plan("net", Signature(inputs=FLOAT, outputs=FLOAT))
    golden = vectors(made, tolerance=1e-3)
    view = Ios().view(PACKAGE, (made,), NOTHING, golden=golden)
    [tested] = view.models[0].golden
    assert tested.resource.path == "net/golden.safetensors"
    assert [(each.paths, each.tolerances[0].rtol, each.tolerances[0].atol) for each in tested.tested] == [
        (('paths: ["net/model.ort"],',), 0.001, 1e-05)
    ]
    text = Ios().render(view).texts[PurePosixPath("Sources/VisionModels/Net.swift")]
    assert "class Net: TypedModel, SelfTestingModel {" in text
    assert "SelfTest" not in text_of(FLOAT)


@pytest.mark.parametrize(
    ("package", "given", "module"),
    [
        ("page-orientation", "", "PageOrientationKit"),
        ("paper-kit-2", "", "PaperKit2Kit"),
        ("acme-kit", "", "AcmeKit"),
        ("vision", "Seeing", "Seeing"),
    ],
)
def test_module_is_named_after_the_package_or_as_asked(package: str, given: str, module: str) -> None:
    assert swift.module_name(package, given) == module


@pytest.mark.parametrize(
    ("package", "module"),
    [("vision", "VisionModels"), ("crypto-kit", "CryptoModels"), ("ui-kit", "UiModels"), ("web", "WebModels")],
)
def test_module_never_has_the_name_of_a_framework_of_apples(package: str, module: str) -> None:
    assert swift.module_name(package) == module


def test_module_that_swift_could_not_import_is_refused_in_words() -> None:
    for given in [
        "seeing",
        "See-ing",
        "1See",
        "Foundation",
        "Options",
        "String",
        "Sé",
        "Vision",
        "VisionKit",
        "UiKit",
        "SPEECH",
    ]:
        with pytest.raises(SettingError, match=rf"^module '{given}' ") as caught:
            swift.module_name("vision", given)
        assert caught.value.hint


def test_class_with_the_name_of_its_module_is_refused_in_words() -> None:
    swift.refuse_classes("AcmeKit", ["net", "acme"], ["acme"])
    with pytest.raises(ConfigError, match="'AcmeKit' is the class of model 'acme-kit', too") as caught:
        swift.refuse_classes("AcmeKit", ["net", "acme-kit"], [])
    with pytest.raises(ConfigError, match="'AcmeKit' is the class of pipeline 'acme-kit', too"):
        swift.refuse_classes("AcmeKit", ["net"], ["acme-kit"])
    assert caught.value.hint == 'for example: module = "AcmeModels"'


def test_every_type_that_the_templates_name_is_reserved() -> None:
    words: set[str] = set()
    for path in (*templates_folder().glob("ios/swift/*.j2"), *templates_folder().glob("ios/_*/*.swift.j2")):
        code = re.sub(r"//.*|\"[^\"]*\"|\{\{.*?\}\}|\{%.*?%\}", "", path.read_text(encoding="utf-8"))
        words |= set(re.findall(r"(?<![A-Za-z0-9._])[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*\b", code))
    calls = ("CVPixelBufferGet", "CVPixelBufferLock", "CVPixelBufferUn", "CVBufferCopy", "CFEqual")
    functions = {word for word in words if word.startswith(calls)}
    assert {word for word in words - functions if word.lower() not in RESERVED} == set()


def test_all_that_is_unsafe_is_in_files_that_one_of_them_names() -> None:
    unsafe = re.compile(
        r"Unsafe|OpaquePointer|withUnsafe|@unchecked|nonisolated\(unsafe\)|unsafeBitCast|assumingMemory"
    )
    found = {
        path.name
        for path in templates_folder().glob("ios/**/*.swift.j2")
        if unsafe.search(path.read_text(encoding="utf-8"))
    }
    text = (templates_folder() / "ios/swift/OnnxRuntime.swift.j2").read_text(encoding="utf-8")
    named = re.findall(r"(\w+\.swift)\b", text[: text.index("import")])
    assert found == {f"{name}.j2" for name in ("OnnxRuntime.swift", *named)}


def test_coreml_starts_where_it_is_asked_for_and_is_not_mentioned_elsewhere() -> None:
    view = runtime_view("VisionModels", "vision", ("coreml", "xnnpack"))
    assert (view.c_module, [each.case for each in view.providers]) == ("CVisionModels", ["coreML", "xnnpack"])
    assert view.coreml
    assert (view.coreml.model_format, view.coreml.compute_units) == (".mlProgram", ".all")
    assert runtime_view("VisionModels", "vision", ("xnnpack",)).coreml is None
    target = Ios(providers=("xnnpack",))
    whole = target.view(PACKAGE, (plan("net", Signature(inputs=FLOAT, outputs=FLOAT)),), NOTHING)
    texts = {name: text for name, text in target.render(whole).texts.items() if name.parts[0] == "Sources"}
    assert PurePosixPath("Sources/VisionModels/Options.swift") in texts
    assert not [name for name, text in texts.items() if "CoreML" in text and name.suffix != ".xcprivacy"]


def readme_with(runtime: PackagedFramework | None) -> str:
    made = plan("net", Signature(inputs=FLOAT, outputs=FLOAT))
    target = Ios()
    return target.render(target.view(PACKAGE, (made,), NOTHING, runtime)).texts[PurePosixPath("README.md")]


def slices(folder: Path, library: str, linkage: Literal["static", "dynamic"]) -> PackagedFramework:
    """A runtime in the package; `library` is the content of each slice."""
    (folder / "ios-arm64" / library).mkdir(parents=True)
    return PackagedFramework(version="1.29.0", ship="inside", folder=folder, minimum_os="15.1", linkage=linkage)


def test_the_readme_warns_of_static_frameworks_where_xcode_copies_them(tmp_path: Path) -> None:
    for runtime in (None, slices(tmp_path, "onnxruntime.framework", "static")):
        readme = readme_with(runtime)
        assert "ITMS-90208" in readme
        assert "mobpack runtime xcframework --out plain.xcframework\n" in readme
        assert "--set runtime.ios=plain.xcframework\n" in readme
        assert "has not opened" not in readme
    plain = slices(tmp_path / "plain", "Headers", "static")
    dynamic = slices(tmp_path / "dynamic", "onnxruntime.framework", "dynamic")
    for runtime in (plain, dynamic):
        assert "Before you submit" not in readme_with(runtime)
    runtime = PackagedFramework(version="", ship="url", url="https://example.com/a.xcframework.zip", checksum="a" * 64)
    readme = readme_with(runtime)
    assert "has not opened" in readme
    assert "mobpack runtime lint" in " ".join(readme.split())
    assert "--set runtime.ios" not in readme
