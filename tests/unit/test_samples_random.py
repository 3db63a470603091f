"""Random inputs that a model accepts."""

from pathlib import Path
from typing import Any

import numpy
import pytest

from packager.core.errors import ModelError
from packager.core.values import Model
from packager.samples import FoundInputs, find
from packager.samples.flow import index_limits
from tests.cases.onnx_text import loaded, onnx_model, weight

TWO_INPUTS = "(float[2] x, float[2] file) => (float[2] y) { y = Add (x, file) }"


def arrays(path: Path) -> dict[str, Any]:
    with numpy.load(path) as content:
        return {name: content[name] for name in content.files}


def first(model: Model, folder: Path, *, count: int = 3, seed: int = 0) -> list[dict[str, Any]]:
    return [arrays(path) for path in accepted(model, folder, count=count, seed=seed).samples.paths]


def accepted(model: Model, folder: Path, *, count: int = 3, seed: int = 0) -> FoundInputs:
    """Inputs of a model that accepts everything."""
    folder.mkdir(exist_ok=True)
    return find(model, model.graph, lambda path, number: "", folder, count=count, seed=seed)


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


def test_samples_are_the_same_every_time_for_a_seed(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model(TWO_INPUTS))
    one, two = first(model, tmp_path / "1"), first(model, tmp_path / "2")
    assert [sample["x"].tobytes() for sample in one] == [sample["x"].tobytes() for sample in two]
    assert len({array.tobytes() for sample in one for array in sample.values()}) == 6
    one, two = first(model, tmp_path / "1"), first(model, tmp_path / "2", seed=1)
    assert one[0]["x"].tobytes() != two[0]["x"].tobytes()
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


def test_masks_indices_and_shapes_fit_the_model(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model("(int64[2, 4] mask) => (int64[2, 4] y) { y = Identity (mask) }"))
    assert all(sample["mask"][:, 0].tolist() == [1, 1] for sample in first(model, tmp_path, count=8))
    model = loaded(
        tmp_path,
        onnx_model(
            "(int8[200] i) => (float[200] y) { a = Cast <to = 7> (i) y = Gather (w, a) }", weights={"w": weight(5000)}
        ),
    )
    assert first(model, tmp_path)[0]["i"].min() >= 0
    model = loaded(tmp_path, onnx_model(TWO_INPUTS))
    assert accepted(model, tmp_path).samples.description == "3 random, seed 0"
    with pytest.raises(ModelError, match="runs on none of the random inputs that were tried: no"):
        find(model, model.graph, lambda path, number: "no", tmp_path, count=3, seed=0)


def test_a_batch_is_one_and_other_dynamic_dimensions_are_tried_in_several_sizes(tmp_path: Path) -> None:
    model = loaded(
        tmp_path, onnx_model("(float[batch, 3, h, w] x, float[?, T] z) => (float[batch, 3, h, w] y) { y = Relu (x) }")
    )
    tried: list[tuple[Any, Any]] = []

    def refuse(path: Path, number: int) -> str:
        content = arrays(path)
        tried.append((content["x"].shape, content["z"].shape))
        return "no"

    with pytest.raises(ModelError, match="runs on none of the random inputs that were tried: no"):
        find(model, model.graph, refuse, tmp_path, count=3, seed=0)
    assert tried[0] == ((1, 3, 64, 64), (1, 64))
    assert ((1, 3, 1, 16), (1, 16)) in tried
    assert len(set(tried)) == len(tried)
    assert accepted(model, tmp_path).samples.description == "3 random, seed 0, x 1x3x64x64, z 1x64"
