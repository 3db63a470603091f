"""The files that a variant is compiled to: the content of each style, and the store's messages."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import onnx
import onnxruntime
import pytest

from packager.compile.compile import (
    REPLAY,
    RESULT,
    SHARED,
    compile_fused,
    compile_plain,
    compile_unfused,
    compile_variant,
    converter_environment,
)
from packager.compile.reader import read_graph
from packager.core.values import Compiled, Format, Style, Variant, baseline
from packager.files.hashes import sha256_of
from packager.files.store import Store
from tests.cases.onnx_text import linear, loaded, onnx_model, weight

NET = """(float[1,3,8,8] x) => (float[1,16,8,8] y) {
    [conv] c = Conv <pads = [1,1,1,1]> (x, w)
    [relu] r = Relu (c)
    [same] y = Identity (r)
}"""
SAMPLE = {"x": weight(1, 3, 8, 8, seed=5)}


@dataclass(frozen=True, kw_only=True)
class Files:
    """One variant in every style."""

    variant: Variant
    store: Store
    fixed: Compiled
    unfused: Compiled
    """in ORT format"""
    shared: Compiled
    """as ONNX over the weights of `fixed`"""
    alone: Compiled
    """as ONNX with weights of its own"""
    fused: Compiled
    """as ONNX over the weights of `unfused`"""
    plain: Compiled


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("files")
    variant = variant_of(folder, onnx_model(NET, weights={"w": weight(16, 3, 3, 3)}))
    store = Store(folder / "store")
    fixed, unfused = compile_variant(variant, store), compile_variant(variant, store, style=Style.UNFUSED)
    return Files(
        variant=variant,
        store=store,
        fixed=fixed,
        unfused=unfused,
        shared=compile_unfused(variant, store, fixed),
        alone=compile_unfused(variant, store, None),
        fused=compile_fused(variant, store, unfused),
        plain=compile_plain(variant, store),
    )


def variant_of(folder: Path, model: onnx.ModelProto) -> Variant:
    described = loaded(folder, model)
    return baseline(described)


def nodes(compiled: Compiled) -> list[str]:
    """Operators of the file."""
    if compiled.format is Format.ORT:
        return [node.op for node in read_graph(compiled.path).nodes]
    return [node.op_type for node in onnx.load(compiled.path, load_external_data=False).graph.node]


@pytest.mark.parametrize(
    ("name", "style", "form", "found"),
    [
        ("fixed", Style.FIXED, Format.ORT, ["FusedConv"]),
        ("unfused", Style.UNFUSED, Format.ORT, ["Conv", "Relu"]),
        ("shared", Style.UNFUSED, Format.ONNX, ["Conv", "Relu"]),
        ("alone", Style.UNFUSED, Format.ONNX, ["Conv", "Relu"]),
        ("fused", Style.FIXED, Format.ONNX, ["FusedConv"]),
        ("plain", Style.PLAIN, Format.ONNX, ["Conv", "Relu", "Identity"]),
    ],
)
def test_each_style_is_rewritten_so_far(name: str, style: Style, form: Format, found: list[str], files: Files) -> None:
    compiled: Compiled = getattr(files, name)
    assert (compiled.style, compiled.format, compiled.variant) == (style, form, files.variant)
    assert nodes(compiled) == found
    assert (compiled.processor, compiled.disabled_optimizers) == ("", ())


@pytest.mark.parametrize("name", ["fixed", "unfused", "shared", "alone", "fused", "plain"])
def test_every_file_computes_what_the_model_does(name: str, files: Files) -> None:
    (expected,) = run(files.variant.model.path)
    compiled: Compiled = getattr(files, name)
    (found,) = run(compiled.path)
    assert abs(found - expected).max() < 1e-5


def run(path: Path) -> list[onnxruntime.OrtValue]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    found: list[onnxruntime.OrtValue] = onnxruntime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]
    ).run(None, SAMPLE)
    return found


def test_unfused_ort_files_are_opened_with_their_replay(files: Files) -> None:
    assert files.unfused.settings == REPLAY == {"session.enable_saved_runtime_optimizations": "1"}
    assert [each.settings for each in (files.fixed, files.shared, files.alone, files.fused, files.plain)] == [{}] * 5

    def names(compiled: Compiled) -> set[str]:
        return {key.split(";")[2] for key in compiled.operators}

    assert names(files.fixed) == {"FusedConv"}
    assert names(files.unfused) == {"Conv", "Relu", "FusedConv"}
    assert [each.operators for each in (files.shared, files.alone, files.plain)] == [{}] * 3


def test_graphs_lie_beside_the_file_whose_weights_they_use(files: Files, tmp_path: Path) -> None:
    (data,) = files.shared.data_files
    assert data == files.shared.path.with_name(SHARED)
    assert data.read_bytes() == files.fixed.path.read_bytes()
    assert files.shared.size_bytes == files.shared.path.stat().st_size < 1000
    (data,) = files.fused.data_files
    assert data.read_bytes() == files.unfused.path.read_bytes()
    assert files.fused.size_bytes == files.fused.path.stat().st_size < 1000
    (data,) = files.alone.data_files
    assert data == files.alone.path.with_name("unfused.weights")
    assert data.stat().st_size == 16 * 3 * 3 * 3 * 4
    assert files.alone.size_bytes == files.alone.path.stat().st_size + data.stat().st_size
    assert files.alone.sha256 != files.shared.sha256
    (data,) = files.plain.data_files
    assert data == files.plain.path.with_name("model-1.weights")
    assert files.plain.size_bytes == files.plain.path.stat().st_size + data.stat().st_size
    variant = variant_of(tmp_path, onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }"))
    plain = compile_plain(variant, Store(tmp_path / "store"))
    assert plain.data_files == ()
    assert plain.size_bytes == plain.path.stat().st_size


def test_styles_and_weights_lie_apart_in_any_store(files: Files, tmp_path: Path) -> None:
    other = Store(tmp_path)
    assert compile_fused(files.variant, other, files.unfused).sha256 == files.fused.sha256
    assert compile_unfused(files.variant, other, files.fixed).sha256 == files.shared.sha256
    folders = {each.path.parent for each in (files.fixed, files.unfused, files.shared, files.alone, files.plain)}
    assert len(folders) == 5
    heavier = variant_of(tmp_path, onnx_model(NET, weights={"w": weight(16, 3, 3, 3, seed=9)}))
    assert compile_plain(heavier, files.store).path.parent != files.plain.path.parent


@pytest.mark.parametrize("name", ["fixed", "unfused", "shared", "alone", "plain"])
def test_the_store_says_what_its_files_are_the_model_first(name: str, files: Files) -> None:
    compiled: Compiled = getattr(files, name)
    described = json.loads(compiled.path.with_name(RESULT).read_text(encoding="utf-8"))
    assert list(described["files"]) == [compiled.path.name, *(file.name for file in compiled.data_files)]
    assert all(sha256_of(compiled.path.with_name(file)) == sha for file, sha in described["files"].items())
    assert described["files"][compiled.path.name] == compiled.sha256
    held = {path.name for path in compiled.path.parent.iterdir()}
    assert held == {RESULT, *described["files"]}


def flip(path: Path) -> None:
    """Flip one bit, in a new file of the same name: a coarse clock may show no new time for a change in place."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.with_name("flipped").write_bytes(content)
    path.with_name("flipped").replace(path)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a bit": flip,
    "its end": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "all": Path.unlink,
}


@pytest.mark.parametrize("file", ["model.onnx", "model-1.weights", RESULT])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_stored_result_that_was_damaged_is_made_again(file: str, damage: str, files: Files, tmp_path: Path) -> None:
    store = Store(tmp_path)
    whole = compile_plain(files.variant, store)
    before = {path.name: path.read_bytes() for path in whole.path.parent.iterdir()}
    DAMAGE[damage](whole.path.with_name(file))

    again = compile_plain(files.variant, store)

    assert again == whole
    assert {path.name: path.read_bytes() for path in again.path.parent.iterdir()} == before


def test_whole_results_come_from_the_store_and_damaged_ones_do_not_ship(files: Files, tmp_path: Path) -> None:
    store = Store(tmp_path)
    folder = store.root / files.fixed.path.parent.relative_to(files.store.root)
    shutil.copytree(files.fixed.path.parents[1], folder.parent)
    flip(folder / files.fixed.path.name)
    again = compile_variant(files.variant, store)
    assert again.path == folder / files.fixed.path.name
    assert again.path.read_bytes() == files.fixed.path.read_bytes()
    written = files.fixed.path.stat().st_mtime_ns
    assert compile_variant(files.variant, files.store) == files.fixed
    assert compile_unfused(files.variant, files.store, files.fixed) == files.shared
    assert files.fixed.path.stat().st_mtime_ns == written


def test_huge_pages_are_asked_for_beside_what_the_user_tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    assert converter_environment() == {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.check=1")
    assert converter_environment() == {"GLIBC_TUNABLES": "glibc.malloc.check=1:glibc.malloc.hugetlb=1"}


def test_weights_beside_the_model_are_found_wherever_it_lies(tmp_path: Path) -> None:
    folder = tmp_path / "größe x"
    folder.mkdir()
    onnx.save(linear(), folder / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    variant = variant_of_file(folder / "m.onnx")
    plain = compile_plain(variant, Store(tmp_path / "store"))
    (data,) = plain.data_files
    found = onnx.load(plain.path, load_external_data=False).graph.initializer
    assert {entry.value for entry in found[0].external_data if entry.key == "location"} == {data.name}
    assert weight(64, 64).tobytes() in data.read_bytes()


def variant_of_file(path: Path) -> Variant:
    from packager import models

    described = models.hashed(models.load(path, "m"))
    return baseline(described)
