"""The samples of `[parity] samples`: they fit the model, or are refused."""

from pathlib import Path

import numpy
import pytest

from packager.core.errors import ConfigError
from packager.core.values import Model
from packager.samples import given
from packager.verification.parity import sample_files
from tests.cases.onnx_text import loaded, onnx_model

TWO_INPUTS = "(float[2] x, float[2] file) => (float[2] y) { y = Add (x, file) }"


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return loaded(tmp_path, onnx_model(TWO_INPUTS))


def test_given_samples_are_read_for_each_model_in_order(tmp_path: Path, model: Model) -> None:
    folder = tmp_path / "samples"
    (folder / "deep").mkdir(parents=True)
    for name in ("b", "a", "deep/c"):
        numpy.savez(folder / f"{name}.npz", x=numpy.zeros(2, "f4"), extra=numpy.zeros(1))
    with pytest.raises(ConfigError, match=r"a.npz: holds extra, x; the model needs file, x"):
        given(model, folder, tmp_path)
    assert [path.name for path in sample_files(folder)] == ["a.npz", "b.npz", "c.npz"]
    assert sample_files(folder / "a.npz") == (folder / "a.npz",)
    one = loaded(tmp_path, onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }"), "one")
    (tmp_path / "samples" / "one").mkdir(parents=True)
    (tmp_path / "samples" / "two").mkdir()
    numpy.savez(tmp_path / "samples" / "one" / "a.npz", x=numpy.zeros(2, "f4"))
    numpy.savez(tmp_path / "samples" / "two" / "a.npz", other=numpy.zeros(2, "f4"))
    chosen = given(one, tmp_path / "samples", tmp_path)
    assert (chosen.paths, chosen.description) == ((tmp_path / "samples" / "one" / "a.npz",), "1 given")
    with pytest.raises(ConfigError, match=r"samples: not found: .*absent"):
        given(model, tmp_path / "absent", tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"no samples in .*empty"):
        given(model, tmp_path / "empty", tmp_path)
    assert sample_files(None) == ()


@pytest.mark.parametrize(
    "content",
    [b"", b"not a zip", b"PK\x03\x04 torn", "npy", "objects"],
    ids=["empty", "text", "torn", "npy", "objects"],
)
def test_what_is_no_npz_file_is_refused_with_how_to_make_one(
    tmp_path: Path, model: Model, content: bytes | str
) -> None:
    path = tmp_path / "bad.npz"
    with path.open("wb") as file:
        if content == "npy":
            numpy.save(file, numpy.zeros(2))
        elif content == "objects":
            numpy.savez(file, x=numpy.array([{"a": 1}], dtype=object))
        else:
            file.write(content if isinstance(content, bytes) else b"")
    with pytest.raises(ConfigError, match=r"bad.npz: not an .npz file") as error:
        given(model, path, tmp_path)
    assert error.value.hint == "save it with numpy.savez(file, input_name=array)"
