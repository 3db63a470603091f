"""Android: generated files equal the reviewed ones, and models that Kotlin cannot represent are refused."""

import re
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from packager.compile.compile import REPLAY
from packager.compile.plan import NO_PACKING
from packager.core.class_names import RESERVED
from packager.core.errors import ModelError, SettingError
from packager.core.findings import Report
from packager.core.values import Choice, ElementType, Package, Signature, Style
from packager.files.hashes import sha256_of
from packager.files.installed import templates_folder
from packager.render.templates import kdoc_code, kotlin_string
from packager.targets.android import Android
from packager.targets.kotlin import tensors
from packager.targets.kotlin.view import FileView
from tests.golden.cases import PLAIN_FILE, WEIGHTS, choice, plan, reshaped, specs

PACKAGE = Package(name="vision", version="1.0.0", license="")
FLOAT = specs("input", ("x", ElementType.FLOAT, (1, 2)))


@pytest.mark.parametrize("element", [ElementType.UINT16, ElementType.UINT32, ElementType.UINT64, ElementType.OTHER])
def test_input_that_the_java_api_cannot_make_is_refused_with_a_way_out(element: ElementType) -> None:
    inputs = specs("input", ("ids", element, (1,)))
    with pytest.raises(ModelError, match="input 'ids'") as caught:
        Android().view(PACKAGE, (plan("m", Signature(inputs=inputs, outputs=FLOAT)),), Report(parities=()))
    assert "Cast" in caught.value.hint


def test_java_copies_what_it_lacks_and_refuses_what_it_cannot_hold() -> None:
    with pytest.raises(ModelError, match="output 'y'"):
        tensors.refuse_unsupported((), specs("output", ("y", ElementType.OTHER, ())), model="m")
    tensors.refuse_unsupported((), specs("output", ("y", ElementType.UINT16, ())), model="m")
    model = plan("m", Signature(inputs=FLOAT, outputs=specs("output", ("y", ElementType.FLOAT, (1, 4)))))
    assert not Android().view(PACKAGE, (model,), Report(parities=())).models[0].copied_outputs
    assert not Android().view(PACKAGE, (model,), reshaped("m", "y")).models[0].pinned_outputs
    with pytest.raises(ModelError, match="2 GiB"):
        tensors.refuse_unsupported(specs("input", ("x", ElementType.FLOAT, (1 << 29,))), (), model="m")
    inputs = specs("input", *((f"past_{number}", ElementType.FLOAT, (1,)) for number in range(241)))
    with pytest.raises(ModelError, match="241 inputs"):
        Android().view(PACKAGE, (plan("m", Signature(inputs=inputs, outputs=FLOAT)),), Report(parities=()))


def test_sizes_are_parameters_that_hide_neither_inputs_nor_types() -> None:
    inputs = specs(
        "input", ("ids", ElementType.INT64, ("batch", "seq len")), ("mask", ElementType.INT64, ("batch", "seq len"))
    )
    model = plan("m", Signature(inputs=inputs, outputs=FLOAT))
    view = Android().view(PACKAGE, (model,), Report(parities=())).models[0]
    assert [each.identifier for each in view.dimensions] == ["batch", "seqLen"]
    inputs = specs("input", ("batch", ElementType.INT64, ("batch",)))
    model = plan("m", Signature(inputs=inputs, outputs=FLOAT))
    view = Android().view(PACKAGE, (model,), Report(parities=())).models[0]
    assert [each.identifier for each in view.dimensions] == ["batch2"]
    words: set[str] = set()
    for path in templates_folder().glob("android/*/*.kt.j2"):
        code = re.sub(r"//.*|/?\*.*|\"[^\"]*\"|\{\{.*?\}\}|\{%.*?%\}", "", path.read_text(encoding="utf-8"))
        words |= set(re.findall(r"(?<![A-Za-z.])[A-Z][A-Za-z]*[a-z][A-Za-z]*\b", code))
    assert len(words) > 200
    assert {word for word in words if word.lower() not in RESERVED} == set()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"providers": ("xnpack",)}, "unknown provider 'xnpack'|did you mean 'xnnpack'?"),
        ({"providers": ("cpu",)}, "unknown provider 'cpu'|leave it out: the CPU is always tried last"),
        ({"providers": ("qnn", "qnn")}, "listed twice"),
        ({"group": "com.Example"}, "not a package name"),
        ({"group": "com.new"}, "not a package name"),
        ({"group": ""}, "not a package name"),
        ({"min_sdk": 21}, "min-sdk 21 is too old"),
    ],
)
def test_impossible_values_are_refused_in_words(fields: dict[str, object], message: str) -> None:
    said, _, hint = message.partition("|")
    with pytest.raises(SettingError) as caught:
        Android(**fields)  # type: ignore[arg-type]
    assert said in str(caught.value)
    assert hint in caught.value.hint


@pytest.mark.parametrize(("name", "part"), [("page-orientation", "pageorientation"), ("object", "objectmodel")])
def test_kotlin_package_is_legal_for_every_package_name(name: str, part: str) -> None:
    package = Package(name=name, version="1", license="")
    model = plan("m", Signature(inputs=FLOAT, outputs=FLOAT))
    assert Android().view(package, (model,), Report(parities=())).namespace == f"com.example.{part}"


def test_qnn_has_its_runtime_and_weights_keep_their_names() -> None:
    assert "-qnn:" in Android(providers=("qnn",)).published_runtime()
    assert "-qnn:" not in Android().published_runtime()
    (file,) = files_of(choice("cpu", Style.PLAIN, path=PLAIN_FILE, data_files=WEIGHTS))
    assert (file.asset.path, file.asset.size_bytes) == ("mobpack/vision/net.onnx.tflite", PLAIN_FILE.stat().st_size)
    assert [(each.name, each.asset.path) for each in file.weights] == [
        ("model-1.weights", "mobpack/vision/net/model-1.weights.tflite"),
        ("model-2.weights", "mobpack/vision/net/model-2.weights.tflite"),
    ]
    assert [each.asset.sha256 for each in file.weights] == [sha256_of(path) for path in WEIGHTS]


def test_no_text_leaves_its_string_and_no_model_its_limits() -> None:
    assert kotlin_string('a"$b\\f\f\n') == r'"a\"\$b\\f\u000c\n"'
    assert kdoc_code("a*/b/*c*/*`d`\n") == "a* /b/ *c* / *'d' "
    signature = Signature(inputs=FLOAT, outputs=FLOAT)
    plans = tuple(plan(name, signature, choice("cpu", size_bytes=2**31 - 1)) for name in ("one", "two", "three"))
    with pytest.raises(ModelError, match="6,442,450,941 bytes together"):
        Android().view(PACKAGE, plans, Report(parities=()))
    with pytest.raises(ModelError, match=r"net\.ort\.tflite has 2,147,483,648 bytes") as caught:
        files_of(choice("cpu", size_bytes=2**31))
    assert 'format = "onnx"' in caught.value.hint


def files_of(*choices: Choice, name: str = "net") -> tuple[FileView, ...]:
    """The file table in a model's class, for `choices`."""
    made = plan(name, Signature(inputs=FLOAT, outputs=FLOAT), *choices)
    return Android().view(PACKAGE, (made,), Report(parities=())).models[0].files


def test_providers_share_files_and_open_each_with_settings_of_their_own() -> None:
    unfused, fixed = files_of(choice("nnapi", Style.UNFUSED), choice("xnnpack", Style.UNFUSED), choice("cpu"))
    assert (unfused.providers, unfused.asset.path) == (("NNAPI", "XNNPACK"), "mobpack/vision/net-unfused.ort.tflite")
    assert (fixed.providers, fixed.asset.path) == (("CPU",), "mobpack/vision/net.ort.tflite")
    (file,) = files_of(choice("qnn"), choice("xnnpack"), choice("cpu"))
    assert (file.providers, file.asset.path) == (("QNN", "XNNPACK", "CPU"), "mobpack/vision/net.ort.tflite")
    unfused, fixed = files_of(choice("nnapi", Style.UNFUSED, settings=REPLAY), choice("cpu"))
    assert settings_of(unfused) == dict(REPLAY)
    assert settings_of(fixed) == {}
    xnnpack, cpu = files_of(
        choice("xnnpack", Style.PLAIN, path=PLAIN_FILE, data_files=WEIGHTS),
        choice("cpu", Style.PLAIN, path=PLAIN_FILE, data_files=WEIGHTS, settings=NO_PACKING),
    )
    assert (xnnpack.providers, settings_of(xnnpack)) == (("XNNPACK",), {})
    assert (cpu.providers, settings_of(cpu)) == (("CPU",), dict(NO_PACKING))
    assert xnnpack.asset == cpu.asset


def test_a_file_for_chips_is_named_after_the_first_and_shared_with_any_chip() -> None:
    context, general = files_of(
        choice("qnn", Style.CONTEXT, soc_models=("SM8650", "SM8650P"), path=Path("context.onnx")), choice("cpu")
    )
    assert (context.asset.path, context.chips) == ("mobpack/vision/net-sm8650.onnx.tflite", ("SM8650", "SM8650P"))
    assert general.chips == ()
    shared = replace(choice("qnn"), soc_models=("SM8650",))
    view = Android().view(
        PACKAGE, (plan("net", Signature(inputs=FLOAT, outputs=FLOAT), shared, choice("cpu")),), Report(parities=())
    )
    assert [(file.providers, file.chips) for file in view.models[0].files] == [(("QNN",), ("SM8650",)), (("CPU",), ())]
    assert [asset.path for asset in view.assets] == ["mobpack/vision/net.ort.tflite"]


def settings_of(file: FileView) -> dict[str, str]:
    return {entry.key: entry.value for entry in file.settings}


def test_weights_that_are_the_cpus_file_ship_once(tmp_path: Path) -> None:
    shared = tmp_path / "model.ort"
    shared.write_bytes(b"the CPU's graph and everyone's weights")
    cpu = choice("cpu", path=shared)
    cpu = replace(cpu, compiled=replace(cpu.compiled, sha256=sha256_of(shared)))
    unfused = choice("xnnpack", Style.UNFUSED, path=PLAIN_FILE, data_files=(shared, *WEIGHTS))
    made = plan("net", Signature(inputs=FLOAT, outputs=FLOAT), unfused, cpu)
    view = Android().view(PACKAGE, (made,), Report(parities=()))
    assert [asset.path for asset in view.assets] == [
        "mobpack/vision/net-unfused.onnx.tflite",
        "mobpack/vision/net.ort.tflite",
        "mobpack/vision/net-unfused/model-1.weights.tflite",
        "mobpack/vision/net-unfused/model-2.weights.tflite",
    ]
    assert view.models[0].files[0].weights[0].name == "model.ort"
    assert view.models[0].files[0].weights[0].asset.path == "mobpack/vision/net.ort.tflite"


def test_no_two_files_of_a_package_have_the_same_name() -> None:
    signature = Signature(inputs=FLOAT, outputs=FLOAT)
    plans = (
        plan("net", signature, choice("xnnpack", Style.UNFUSED), choice("cpu")),
        plan("net-unfused", signature, choice("xnnpack", Style.UNFUSED), choice("cpu")),
    )
    paths = [asset.path for asset in Android().view(PACKAGE, plans, Report(parities=())).assets]
    assert [PurePosixPath(path).name for path in paths] == [
        "net-unfused-2.ort.tflite",
        "net.ort.tflite",
        "net-unfused-unfused.ort.tflite",
        "net-unfused.ort.tflite",
    ]
