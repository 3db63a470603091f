"""External data: found where hubs and exporters put it, refused at unsafe places."""

from pathlib import Path

import onnx
import pytest

from packager import models
from packager.core.errors import ModelError
from tests.cases.onnx_text import linear, onnx_model, saved


def external_model(**entries: str) -> onnx.ModelProto:
    """y = w[x] with `w` float[4] in a file that `entries` describe."""
    model = onnx_model("(int64[2] x) => (float[2] y) { y = Gather (w, x) }")
    tensor = model.graph.initializer.add(name="w", data_type=1, dims=[4], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    return model


def refused(folder: Path, model: onnx.ModelProto) -> ModelError:
    with pytest.raises(ModelError) as error:
        models.load(saved(folder / "m.onnx", model), "m")
    return error.value


def test_missing_data_files_are_named(tmp_path: Path) -> None:
    error = refused(tmp_path, external_model(location="weights.bin", offset="0", length="16"))
    assert error.message == f"{tmp_path / 'm.onnx'}: external data file not found: {tmp_path / 'weights.bin'}"
    assert error.hint == "copy weights.bin beside the model; tensor 'w' and maybe others are in it"
    (tmp_path / "weights.bin").mkdir()
    error = refused(tmp_path, external_model(location="weights.bin", offset="0", length="16"))
    folder = tmp_path / "weights.bin"
    assert error.message == f"{tmp_path / 'm.onnx'}: {folder} is a folder, not the data file of tensor 'w'"


@pytest.mark.parametrize(
    ("size", "entries"),
    [(20, {"offset": "8", "length": "16"}), (20, {"offset": "8"}), (15, {})],
    ids=["both", "offset", "neither"],
)
def test_a_data_file_that_is_short_is_named_with_both_sizes(tmp_path: Path, size: int, entries: dict[str, str]) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(size))
    error = refused(tmp_path, external_model(location="w.bin", **entries))
    assert error.message.startswith(f"{tmp_path / 'w.bin'}: {size} bytes, but tensor 'w' reaches to byte ")
    assert "copy it again" in error.hint


@pytest.mark.parametrize("location", ["../w.bin", "sub/../../w.bin", "/etc/passwd", "a/../b"])
def test_locations_outside_the_models_folder_are_refused(tmp_path: Path, location: str) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(16))
    error = refused(tmp_path / "model", external_model(location=location))
    assert f"points outside the model's folder: '{location}'" in error.message


def test_a_link_out_of_the_models_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "w.bin").symlink_to(tmp_path / "secret.bin")
    assert (
        "is a link out of the model's folder" in refused(tmp_path / "model", external_model(location="w.bin")).message
    )


def test_data_files_are_found_in_folders_and_through_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(16))
    saved(tmp_path / "m.onnx", external_model(location="w.bin"))
    monkeypatch.chdir(tmp_path)
    assert models.load(Path("m.onnx"), "m").data_files == (tmp_path / "w.bin",)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "w ä.bin").write_bytes(bytes(16))
    loaded = models.load(saved(tmp_path / "m.onnx", external_model(location="data/w ä.bin")), "m")
    assert loaded.data_files == (tmp_path / "data" / "w ä.bin",)
    # snapshots/REVISION/model.onnx and its data are links to files in blobs/ that are named by their hash.
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    saved(blobs / "f00d", external_model(location="model.onnx_data", offset="0", length="16"))
    (blobs / "beef").write_bytes(bytes(16))
    (snapshot / "model.onnx").symlink_to(Path("../../blobs/f00d"))
    (snapshot / "model.onnx_data").symlink_to(Path("../../blobs/beef"))
    loaded = models.load(snapshot / "model.onnx", "m")
    assert loaded.data_files == (blobs / "beef",)
    assert models.data_folder(snapshot / "model.onnx") == blobs
    saved(tmp_path / "blobs" / "f00d", linear())
    (tmp_path / "model.onnx").symlink_to(tmp_path / "blobs" / "f00d")
    graph = onnx.ModelProto.FromString(models.load(tmp_path / "model.onnx", "m").graph).graph
    assert [entry.value for entry in graph.initializer[0].external_data if entry.key == "location"] == ["f00d"]


def test_external_data_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    model = linear()
    model.graph.initializer[0].raw_data = model.graph.initializer[0].raw_data[:-4]
    error = refused(tmp_path, model)
    assert "tensor 'w' of shape [64, 64] needs 16,384 bytes, has 16,380" in error.message
    (tmp_path / "w.bin").write_bytes(bytes(99))
    assert "needs 16 bytes, has 12" in refused(tmp_path, external_model(location="w.bin", length="12")).message
    assert "is external but names no file" in refused(tmp_path, external_model(offset="0")).message


@pytest.mark.parametrize(
    ("key", "value"), [("offset", "-4"), ("offset", "abc"), ("length", ""), ("length", "1e3"), ("offset", "9" * 99)]
)
def test_offsets_and_lengths_that_are_no_numbers_are_refused(tmp_path: Path, key: str, value: str) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(16))
    assert (
        f"tensor 'w' has no usable {key}" in refused(tmp_path, external_model(location="w.bin", **{key: value})).message
    )


@pytest.mark.parametrize("length", [300, 5000])
def test_a_location_too_long_for_any_disk_is_refused(tmp_path: Path, length: int) -> None:
    assert "external data file not found" in refused(tmp_path, external_model(location="w" * length)).message


def test_external_weights_in_subgraphs_and_constant_nodes_are_checked_too(tmp_path: Path) -> None:
    model = onnx_model("""(bool c, float[1] x) => (float[1] y) {
        y = If (c) <then_branch = t () => (float[1] a) { k = Constant <value = float[1] {1.0}> () a = Mul (x, k) },
                    else_branch = e () => (float[1] b) { b = Neg (x) }>
    }""")
    tensor = model.graph.node[0].attribute[0].g.node[0].attribute[0].t
    tensor.ClearField("float_data")
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="inner.bin")
    assert "inner.bin" in refused(tmp_path, model).message
