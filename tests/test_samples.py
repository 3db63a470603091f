"""The inputs of the parity check: the user's own when they fit, else random ones the model can take."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest

from packager.errors import ConfigError, ModelError
from packager.parity import ParitySettings, sample_files
from packager.parity.samples import given, index_limits, random_candidates
from packager.values import Model
from tests.onnx_text import loaded, onnx_model, weight

SETTINGS = ParitySettings(runners=("cpu",), require=("cpu",), samples=None, random_samples=3, seed=0, tolerance=1e-3)
TWO_INPUTS = "(float[2] x, float[2] file) => (float[2] y) { y = Add (x, file) }"


def arrays(path: Path) -> dict[str, Any]:
    with numpy.load(path) as content:
        return {name: content[name] for name in content.files}


def first(model: Model, folder: Path, settings: ParitySettings = SETTINGS) -> list[dict[str, Any]]:
    folder.mkdir(exist_ok=True)
    return [arrays(path) for path in next(random_candidates(model, settings, folder)).paths]


@pytest.mark.parametrize(
    ("element", "kind"),
    [
        ("float", "float32"),
        ("double", "float64"),
        ("float16", "float16"),
        ("int8", "int8"),
        ("int16", "int16"),
        ("int32", "int32"),
        ("int64", "int64"),
        ("uint8", "uint8"),
        ("uint16", "uint16"),
        ("uint32", "uint32"),
        ("uint64", "uint64"),
        ("bool", "bool"),
    ],
)
@pytest.mark.parametrize("shape", ["", "[2, 3]", "[1, 0]"])
def test_numbers_have_the_type_and_shape_the_model_declares(
    tmp_path: Path, element: str, kind: str, shape: str
) -> None:
    model = loaded(tmp_path, onnx_model(f"({element}{shape} x) => ({element}{shape} y) {{ y = Identity (x) }}"))
    for sample in first(model, tmp_path):
        assert (sample["x"].dtype, sample["x"].shape) == (numpy.dtype(kind), model.signature.inputs[0].shape)


def test_strings_are_words(tmp_path: Path) -> None:
    model = loaded(
        tmp_path,
        onnx_model("(string[2, 2] x, string s) => (string[2, 2] y, string t) { y = Identity (x) t = Identity (s) }"),
    )
    sample = first(model, tmp_path)[0]
    assert (sample["x"].dtype.kind, sample["x"].shape, sample["s"].shape) == ("U", (2, 2), ())


def test_element_types_that_a_desktop_cannot_feed_are_refused_with_a_remedy(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model("(bfloat16[2] x) => (bfloat16[2] y) { y = Identity (x) }"))
    with pytest.raises(ModelError, match="input 'x' is bfloat16") as error:
        first(model, tmp_path)
    assert "cast it inside the graph" in error.value.hint


def test_samples_are_the_same_every_time_and_differ_from_each_other(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model(TWO_INPUTS))
    one, two = first(model, tmp_path / "1"), first(model, tmp_path / "2")
    assert [sample["x"].tobytes() for sample in one] == [sample["x"].tobytes() for sample in two]
    assert len({array.tobytes() for sample in one for array in sample.values()}) == 6


def test_another_seed_gives_other_samples(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model(TWO_INPUTS))
    one, two = first(model, tmp_path / "1"), first(model, tmp_path / "2", replace(SETTINGS, seed=1))
    assert one[0]["x"].tobytes() != two[0]["x"].tobytes()


@pytest.mark.parametrize(
    ("graph", "limit"),
    [
        ("{ y = Gather (small, i) }", 3),
        ("{ a = Cast <to = 7> (i) b = Identity (a) y = Gather (small, b) }", 3),
        ("{ y = Gather <axis = 1> (wide, i) }", 2),
        ("{ y = Gather <axis = -1> (wide, i) }", 2),
        ("{ a = Gather (wide, i) y = Gather (small, i) }", 3),
        ("{ a = Gather (small, i) y = Gather (wide, i) }", 3),
        ("{ k = Constant <value = float[4] {1.0, 2.0, 3.0, 4.0}> () y = Gather (k, i) }", 4),
        ("{ s = Constant <value = float {0.5}> () f = Mul (small, s) y = Gather (f, i) }", 3),
    ],
    ids=[
        "table",
        "passed on",
        "axis",
        "negative axis",
        "smallest of two",
        "smallest first",
        "constant node",
        "computed table",
    ],
)
def test_indices_stay_within_the_table_they_pick_from(tmp_path: Path, graph: str, limit: int) -> None:
    model = loaded(
        tmp_path,
        onnx_model(f"(int32[500] i) => (float[?] y) {graph}", weights={"small": weight(3), "wide": weight(9, 2)}),
    )
    assert index_limits(model) == {"i": limit}
    assert set(first(model, tmp_path)[0]["i"].tolist()) == set(range(limit))


def test_indices_into_a_large_table_fit_the_type_of_the_input(tmp_path: Path) -> None:
    model = loaded(
        tmp_path,
        onnx_model(
            "(int8[200] i) => (float[200] y) { a = Cast <to = 7> (i) y = Gather (w, a) }", weights={"w": weight(5000)}
        ),
    )
    assert first(model, tmp_path)[0]["i"].min() >= 0


def test_a_mask_always_lets_something_through(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model("(int64[2, 4] mask) => (int64[2, 4] y) { y = Identity (mask) }"))
    assert all(
        sample["mask"][:, 0].tolist() == [1, 1]
        for sample in first(model, tmp_path, replace(SETTINGS, random_samples=8))
    )


def test_a_batch_is_one_and_other_dynamic_dimensions_are_tried_in_several_sizes(tmp_path: Path) -> None:
    model = loaded(
        tmp_path, onnx_model("(float[batch, 3, h, w] x, float[?, T] z) => (float[batch, 3, h, w] y) { y = Relu (x) }")
    )
    candidates = [(arrays(each.paths[0]), each.description) for each in random_candidates(model, SETTINGS, tmp_path)]
    shapes = [(content["x"].shape, content["z"].shape) for content, _ in candidates]
    assert shapes[0] == ((1, 3, 64, 64), (1, 64))
    assert ((1, 3, 1, 16), (1, 16)) in shapes
    assert len(set(shapes)) == len(shapes)
    assert candidates[0][1] == "3 random, seed 0, x 1x3x64x64, z 1x64"


def test_fixed_shapes_leave_one_candidate(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model(TWO_INPUTS))
    assert [each.description for each in random_candidates(model, SETTINGS, tmp_path)] == ["3 random, seed 0"]


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return loaded(tmp_path, onnx_model(TWO_INPUTS))


def with_samples(path: Path) -> ParitySettings:
    return replace(SETTINGS, samples=path)


def test_given_samples_are_read_in_order_and_must_name_the_inputs(tmp_path: Path, model: Model) -> None:
    folder = tmp_path / "samples"
    (folder / "deep").mkdir(parents=True)
    for name in ("b", "a", "deep/c"):
        numpy.savez(folder / f"{name}.npz", x=numpy.zeros(2, "f4"), extra=numpy.zeros(1))
    with pytest.raises(ConfigError, match=r"a.npz: holds extra, x; the model takes file, x"):
        given(model, with_samples(folder))
    assert [path.name for path in sample_files(folder)] == ["a.npz", "b.npz", "c.npz"]
    assert sample_files(folder / "a.npz") == (folder / "a.npz",)


def test_each_model_takes_its_own_folder_of_samples(tmp_path: Path) -> None:
    one = loaded(tmp_path, onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }"), "one")
    (tmp_path / "samples" / "one").mkdir(parents=True)
    (tmp_path / "samples" / "two").mkdir()
    numpy.savez(tmp_path / "samples" / "one" / "a.npz", x=numpy.zeros(2, "f4"))
    numpy.savez(tmp_path / "samples" / "two" / "a.npz", other=numpy.zeros(2, "f4"))
    chosen = given(one, with_samples(tmp_path / "samples"))
    assert (chosen.paths, chosen.description) == ((tmp_path / "samples" / "one" / "a.npz",), "1 given")


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
        given(model, with_samples(path))
    assert error.value.hint == "save it with numpy.savez(file, input_name=array)"


def test_samples_that_are_not_there_are_refused(tmp_path: Path, model: Model) -> None:
    with pytest.raises(ConfigError, match=r"samples: not found: .*absent"):
        given(model, with_samples(tmp_path / "absent"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"no .npz files in .*empty"):
        given(model, with_samples(tmp_path / "empty"))


def test_without_samples_no_file_is_named() -> None:
    assert sample_files(None) == ()
