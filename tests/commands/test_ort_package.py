"""ONNX Runtime itself opens the package, and refuses invalid ones."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest

from packager.compile.compile import FP16
from packager.compile.ep_context import COMPATIBILITY
from packager.core.errors import ConfigError, ToolError
from packager.core.values import Choice, Compiled, Plan, Style
from packager.distribution.release.ort_package import (
    PackagedModel,
    PackageVariant,
    component,
    validate,
    write_ort_package,
)
from packager.distribution.release.ort_package_check import (
    RUNTIME,
    RefusedError,
    Runtime,
    directory_digest,
    examine,
    find_library,
    require_known_version,
    words,
)
from packager.files.hashes import sha256_of
from tests.cases.onnx_text import compiled, linear, onnx_model, saved

QNN, XNNPACK, CPU = "QNNExecutionProvider", "XnnpackExecutionProvider", "CPUExecutionProvider"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An .ort file."""
    return compiled(tmp_path_factory.mktemp("plain"), linear()).path


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another .ort file."""
    model = onnx_model("(float[2] in) => (float[2] out) { out = Relu (in) }")
    return compiled(tmp_path_factory.mktemp("other"), model).path


@pytest.fixture(scope="module")
def package(plain: Path, other: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package as an Android build writes it: one file for QNN, one for both XNNPACK and the CPU."""
    folder = tmp_path_factory.mktemp("package") / "models ä"
    write_ort_package(folder, [three_variants(plain, other)])
    return folder


@pytest.fixture(scope="module")
def runtime() -> Runtime:
    """ONNX Runtime in this process: the check's own process takes longer to start than all its work."""
    return Runtime(find_library())


def three_variants(plain: Path, other: Path) -> PackagedModel:
    return PackagedModel(
        name="classifier",
        variants=(
            variant("qnn", QNN, other, provider_options={"backend_path": "libQnnHtp.so"}, device="npu"),
            variant("xnnpack", XNNPACK, plain, session_options={"session.intra_op.allow_spinning": "0"}),
            variant("cpu", CPU, plain, device="cpu"),
        ),
    )


def variant(name: str, provider: str, *files: Path, **more: Any) -> PackageVariant:
    return PackageVariant(
        name=name, provider=provider, files=files, **{"session_options": {}, "provider_options": {}, **more}
    )


def of_one(*variants: PackageVariant) -> list[PackagedModel]:
    return [PackagedModel(name="main", variants=variants)]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def edit(path: Path, change: Callable[[Any], None]) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def test_onnx_runtime_lists_the_variants_and_opens_the_one_for_the_cpu(package: Path) -> None:
    found = validate(package)
    (component,) = found.components
    assert (found.runtime, found.schema) == (RUNTIME, 1)
    assert (component.name, component.selected) == ("classifier", "cpu")
    assert component.providers == {"qnn": QNN, "xnnpack": XNNPACK, "cpu": CPU}
    assert (component.inputs, component.outputs) == (("x",), ("y",))


def test_a_file_of_two_variants_is_stored_once_under_its_digest(package: Path, plain: Path, other: Path) -> None:
    (asset,) = (package / "shared_assets").iterdir()
    assert asset.name == f"sha256-{directory_digest(asset)}"
    assert sha256_of(asset / "model.ort") == sha256_of(plain)
    assert sorted(contents(package)) == [
        "classifier/component.json",
        "classifier/qnn/model.ort",
        "manifest.json",
        f"shared_assets/{asset.name}/model.ort",
    ]
    assert sha256_of(package / "classifier/qnn/model.ort") == sha256_of(other)


def test_component_json_has_sorted_keys_no_empty_ones_and_no_device_for_the_cpu(package: Path) -> None:
    (asset,) = (path.name.replace("-", ":") for path in (package / "shared_assets").iterdir())
    text = (package / "classifier/component.json").read_text(encoding="utf-8")
    assert json.loads(text)["variants"] == {
        "qnn": {
            "device": "npu",
            "ep": QNN,
            "executor_info": {"ort": {"model_file": "model.ort", "provider_options": {"backend_path": "libQnnHtp.so"}}},
            "variant_directory": "qnn",
        },
        "xnnpack": {
            "ep": XNNPACK,
            "executor_info": {
                "ort": {"model_file": f"{asset}/model.ort", "session_options": {"session.intra_op.allow_spinning": "0"}}
            },
        },
        "cpu": {"ep": CPU, "executor_info": {"ort": {"model_file": f"{asset}/model.ort"}}},
    }
    assert text.index('"device"') < text.index('"ep"') < text.index('"executor_info"')
    assert text.endswith("}\n")


def test_the_same_input_gives_the_same_bytes(package: Path, plain: Path, other: Path, tmp_path: Path) -> None:
    written = write_ort_package(tmp_path / "again", [three_variants(plain, other)])
    assert contents(tmp_path / "again") == contents(package)
    assert written == sorted(path for path in (tmp_path / "again").rglob("*") if path.is_file())


def test_of_two_fitting_variants_the_first_is_taken(plain: Path, other: Path, runtime: Runtime, tmp_path: Path) -> None:
    write_ort_package(tmp_path / "p", of_one(variant("int8", CPU, other), variant("fp32", CPU, plain)))
    (component,) = examine(runtime, tmp_path / "p")["components"]
    assert (component["selected"], component["inputs"]) == ("int8", ["in"])


def test_a_component_without_a_variant_for_the_cpu_is_listed_and_not_opened(other: Path, tmp_path: Path) -> None:
    write_ort_package(tmp_path / "p", of_one(variant("qnn", QNN, other)))
    (component,) = validate(tmp_path / "p").components
    assert (component.providers, component.selected, component.inputs) == ({"qnn": QNN}, "", ())


def test_a_file_for_some_processors_gives_way_to_the_one_for_all(fixed: Compiled) -> None:
    """A package does not say which processor a variant is for: the first would open on every phone."""
    native = Choice(provider="cpu", compiled=replace(fixed, processor=FP16), reason="")
    (only,) = component(planned(native, Choice(provider="cpu", compiled=fixed, reason=""))).variants
    assert (only.name, only.files) == ("cpu", (fixed.path,))


def test_a_model_that_only_some_processors_run_makes_no_package(fixed: Compiled) -> None:
    native = Choice(provider="cpu", compiled=replace(fixed, processor=FP16), reason="")
    with pytest.raises(ConfigError, match="an ORT package cannot restrict a file to processors with FP16") as error:
        component(planned(native))
    assert 'float16 = "onnx"' in error.value.hint


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return compiled(tmp_path_factory.mktemp("fixed"), linear())


def planned(*choices: Choice) -> Plan:
    return Plan(model=choices[0].compiled.variant.model, target="android", environment="runtime", choices=choices)


def test_a_file_for_a_chip_says_which_one_in_its_providers_words(fixed: Compiled, tmp_path: Path) -> None:
    """Without them ONNX Runtime would open it on every phone with that provider."""
    model = onnx_model("(float[2] in) => (float[2] out) { out = Relu (in) }")
    model.metadata_props.add(key=COMPATIBILITY, value="v2:6:SM8650")
    chip = replace(fixed, path=saved(tmp_path / "model.onnx", model), style=Style.CONTEXT)
    for_chip = Choice(provider="qnn", compiled=chip, reason="", soc_models=("SM8650",))
    made = component(planned(for_chip, Choice(provider="qnn", compiled=fixed, reason="")))
    assert [(each.name, each.compatibility) for each in made.variants] == [("qnn-sm8650", "v2:6:SM8650"), ("qnn", "")]

    write_ort_package(tmp_path / "package", [made])
    document = json.loads((tmp_path / "package" / made.name / "component.json").read_text())
    assert document["variants"]["qnn-sm8650"]["compatibility_string"] == "v2:6:SM8650"
    assert "compatibility_string" not in document["variants"]["qnn"]


def test_external_data_of_two_graphs_is_stored_once_and_found(runtime: Runtime, tmp_path: Path) -> None:
    graphs = []
    for name in ("one", "two"):
        model = linear()
        model.graph.doc_string = name
        graphs.append(tmp_path / f"{name}.onnx")
        onnx.save_model(model, str(graphs[-1]), save_as_external_data=True, location="w.bin", size_threshold=100)
    data = tmp_path / "w.bin"
    variants = (variant("cpu", CPU, graphs[0], data), variant("xnnpack", XNNPACK, graphs[1], data))
    write_ort_package(tmp_path / "p", of_one(*variants))
    assert [path for path in contents(tmp_path / "p") if path.endswith("w.bin")] == [
        f"shared_assets/{asset.name}/w.bin" for asset in (tmp_path / "p/shared_assets").iterdir()
    ]
    assert examine(runtime, tmp_path / "p")["components"][0]["inputs"] == ["x"]


def test_a_shared_graph_finds_data_that_is_its_variants_own(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        onnx.save_model(
            linear(seed=len(name)),
            str(tmp_path / name / "m.onnx"),
            save_as_external_data=True,
            location="w.bin",
            size_threshold=100,
        )
    (tmp_path / "two/w.bin").write_bytes(bytes((tmp_path / "one/w.bin").stat().st_size))
    graph = tmp_path / "one/m.onnx"
    variants = (variant("cpu", CPU, graph, tmp_path / "one/w.bin"), variant("qnn", QNN, graph, tmp_path / "two/w.bin"))
    write_ort_package(tmp_path / "p", of_one(*variants))
    assert {"main/cpu/w.bin", "main/qnn/w.bin"} < set(contents(tmp_path / "p"))


def unknown_key_in_manifest(folder: Path) -> None:
    edit(folder / "manifest.json", lambda document: document.update(author="x"))


def unknown_key_in_component(folder: Path) -> None:
    edit(folder / "classifier/component.json", lambda document: document.update(author="x"))


def unknown_key_in_variant(folder: Path) -> None:
    edit(folder / "classifier/component.json", lambda document: document["variants"]["qnn"].update(soc="x"))


def newer_schema(folder: Path) -> None:
    edit(folder / "manifest.json", lambda document: document.update(schema_version="2.0"))


def model_file_missing(folder: Path) -> None:
    (folder / "classifier/qnn/model.ort").unlink()


def asset_under_another_digest(folder: Path) -> None:
    (asset,) = (folder / "shared_assets").iterdir()
    asset.rename(asset.with_name("sha256-" + "0" * 64))


def asset_with_other_bytes(folder: Path) -> None:
    (file,) = (folder / "shared_assets").glob("*/model.ort")
    file.write_bytes(file.read_bytes() + b"\0")


def model_that_is_none(folder: Path) -> None:
    document = {"variants": {"cpu": {"ep": CPU, "executor_info": {"ort": {"model_file": "model.ort"}}}}}
    (folder / "classifier/cpu").mkdir()
    (folder / "classifier/cpu/model.ort").write_bytes(b"no model")
    (folder / "classifier/component.json").write_text(json.dumps(document), encoding="utf-8")


def device_that_the_cpu_does_not_report(folder: Path) -> None:
    """The README of ONNX Runtime says that it matches; this version does not."""
    edit(folder / "classifier/component.json", lambda document: document["variants"]["cpu"].update(device="cpu"))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (unknown_key_in_manifest, "manifest: unknown field 'author'"),
        (unknown_key_in_component, "component 'classifier': unknown field 'author'"),
        (unknown_key_in_variant, "variant 'qnn': unknown field 'soc'"),
        (newer_schema, "schema_version major 2 is not supported"),
        (model_file_missing, r"qnn/model\.ort' does not exist"),
        (asset_under_another_digest, "Failed to resolve ORT variant 'model_file'"),
        (asset_with_other_bytes, "shared asset sha256-[0-9a-f]{64} does not match its digest"),
        (model_that_is_none, "ORT model verification failed"),
        (device_that_the_cpu_does_not_report, "No suitable model variant found"),
    ],
)
def test_a_damaged_package_is_refused_in_words(
    package: Path, runtime: Runtime, tmp_path: Path, damage: Callable[[Path], None], said: str
) -> None:
    folder = shutil.copytree(package, tmp_path / "damaged")
    assert examine(runtime, folder)["components"]
    damage(folder)
    with pytest.raises(RefusedError, match=said) as error:
        examine(runtime, folder)
    assert not any(text in str(error.value) for text in (".cc:", "onnxruntime::"))


def test_a_session_option_that_would_write_files_on_the_phone_is_refused(plain: Path, tmp_path: Path) -> None:
    broken = variant("cpu", CPU, plain, session_options={"session.enable_profiling": "trace"})
    with pytest.raises(ToolError, match=r"'session\.enable_profiling' cannot be set in model package session options"):
        write_ort_package(tmp_path / "p", of_one(broken))


def test_a_folder_that_is_in_use_is_left_alone(plain: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ToolError, match="is not empty"):
        write_ort_package(tmp_path, of_one(variant("cpu", CPU, plain)))
    assert contents(tmp_path) == {"notes.txt": b"mine"}


def test_data_that_would_take_the_models_place_is_an_error(tmp_path: Path) -> None:
    graph = saved(tmp_path / "m.onnx", linear())
    with pytest.raises(ConfigError, match="two files with the same name"):
        write_ort_package(tmp_path / "p", of_one(variant("cpu", CPU, graph, tmp_path / "model.onnx")))


def test_another_version_of_onnx_runtime_is_not_called_through_unknown_tables() -> None:
    require_known_version(RUNTIME)
    with pytest.raises(RefusedError, match=r"this is ONNX Runtime 1\.32\.0"):
        require_known_version("1.32.0")


@pytest.mark.parametrize("name", ["../outside", "a/b", "", ".hidden", "shared_assets", "CPU"])
def test_a_name_that_cannot_be_a_folders_is_an_error(plain: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be the name of a folder"):
        write_ort_package(tmp_path / "p", of_one(variant("cpu", CPU, plain), variant(name, CPU, plain)))
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    "location",
    [
        "model_package_context.cc:122 ResolveVariantImpl ",
        "core/context.cc:378 onnxruntime::Context::Context(const std::filesystem::__cxx11::path&) ",
        "core/context.cc:9 onnxruntime::C::C(const path&)::<lambda(const char*, std::optional<map<char, char> >&)> ",
    ],
)
def test_source_locations_are_not_repeated(location: str) -> None:
    assert words(f"{location}manifest: unknown field 'a' (b).\n") == "manifest: unknown field 'a' (b)."
