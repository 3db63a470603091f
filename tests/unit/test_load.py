"""A model file becomes a described Model, or an error with a remedy."""

import hashlib
from pathlib import Path

import onnx
import pytest

from packager import models
from packager.core.errors import ModelError
from packager.core.values import ElementType
from tests.cases.onnx_text import linear, onnx_model, saved, weight


def test_the_signature_has_the_graphs_order_and_sizes(tmp_path: Path) -> None:
    model = onnx_model(
        "(float[2] b, float[2] a, float[2] w) => (float[2] z, float[2] y) { y = Add (a, w) z = Add (b, y) }"
    )
    model.graph.initializer.append(onnx.helper.make_tensor("w", 1, [2], [1.0, 2.0]))
    signature = models.load(saved(tmp_path / "m.onnx", model), "m").signature
    assert [spec.name for spec in signature.inputs] == ["b", "a"]
    assert [spec.name for spec in signature.outputs] == ["z", "y"]
    model = onnx_model("(float[batch, 3, ?, N] x, int64 s) => (float[batch, 3, ?, N] y) { y = Identity (x) }")
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "?"
    image, scalar = models.load(saved(tmp_path / "m.onnx", model), "m").signature.inputs
    assert (image.shape, image.is_static) == (("batch", 3, None, "N"), False)
    assert (scalar.shape, scalar.is_static, scalar.element) == ((), True, ElementType.INT64)


@pytest.mark.parametrize("element", sorted(set(ElementType) - {"other"}))
def test_every_element_type_keeps_its_name(tmp_path: Path, element: str) -> None:
    model = onnx_model(f"({element}[2] x) => ({element}[2] y) {{ y = Identity (x) }}", opsets={"": 20})
    loaded = models.load(saved(tmp_path / "m.onnx", model), "m")
    assert [spec.element for spec in (*loaded.signature.inputs, *loaded.signature.outputs)] == [element, element]


def test_operators_are_counted_in_subgraphs_and_functions_but_calls_of_functions_are_not(tmp_path: Path) -> None:
    model = onnx_model(
        """(bool c, float[2] x) => (float[2] y) {
        a = If (c) <then_branch = t () => (float[2] p) { p = Neg (x) },
                    else_branch = e () => (float[2] q) { q = Neg (x) }>
        b = own.Twice (a)
        d = com.microsoft.Gelu (b)
        y = ai.onnx.ml.Scaler <scale = [2.0], offset = [0.0]> (d)
    }""",
        opsets={"": 17, "own": 1, "com.microsoft": 1, "ai.onnx.ml": 3},
        functions='<domain: "own", opset_import: ["" : 17]> Twice (i) => (o) { o = Add (i, i) }',
    )
    loaded = models.load(saved(tmp_path / "m.onnx", model), "m")
    assert loaded.operators == {"Add": 1, "If": 1, "Neg": 2, "ai.onnx.ml::Scaler": 1, "com.microsoft::Gelu": 1}
    assert list(loaded.operators) == sorted(loaded.operators)
    assert models.blockers(loaded) == ()


def test_parameters_are_counted_wherever_exporters_keep_them(tmp_path: Path) -> None:
    model = onnx_model(
        """(bool c, float[2] x) => (float[?] y) {
        k = Constant <value = float[2] {1.0, 2.0}> ()
        xk = Add (x, k)
        y = If (c) <
            then_branch = t () => (float[2] p) <float[2] inner = {1.0, 2.0}> { p = Add (xk, inner) },
            else_branch = e () => (float[?] q) {
                r = Constant <value = float[3] {1.0, 2.0, 3.0}> ()
                q = Concat <axis = 0> (xk, r)
            }>
    }""",
        weights={"outer": weight(40, 10)},
    )
    assert models.load(saved(tmp_path / "m.onnx", model), "m").parameter_count == 2 + 2 + 3 + 400


def test_size_and_sha256_of_a_single_file_are_the_files_own(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.onnx", linear())
    loaded = models.hashed(models.load(path, "m"))
    assert (loaded.size_bytes, loaded.sha256) == (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())


def test_size_and_sha256_cover_external_data(tmp_path: Path) -> None:
    for folder, last in (("a", b"\0"), ("b", b"\1")):
        path = tmp_path / folder / "m.onnx"
        path.parent.mkdir()
        onnx.save(linear(), path, save_as_external_data=True, location="m.data")
        (path.parent / "m.data").write_bytes((path.parent / "m.data").read_bytes()[:-1] + last)
    one, two = (models.hashed(models.load(tmp_path / folder / "m.onnx", "m")) for folder in ("a", "b"))
    assert one.size_bytes == sum(file.stat().st_size for file in (tmp_path / "a").iterdir())
    assert one.data_files == (tmp_path / "a" / "m.data",)
    assert one.sha256 != two.sha256


def test_a_model_has_no_sha256_until_it_is_hashed_and_is_otherwise_the_same(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.onnx", linear())
    quick = models.load(path, "m")
    whole = models.hashed(quick)
    assert (quick.sha256, whole.sha256) == ("", hashlib.sha256(path.read_bytes()).hexdigest())
    assert (quick.graph, quick.signature) == (whole.graph, whole.signature)


def test_the_users_files_stay_and_their_folder_does_not_matter(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.onnx", linear())
    before = (path.read_bytes(), sorted(tmp_path.iterdir()))
    models.load(path, "m", fixed={})
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == before
    one, two = (models.load(saved(tmp_path / folder / "m.onnx", linear()), "m") for folder in ("a", "b c"))
    assert one.graph == two.graph
    model = linear()
    model.metadata_props.add(key="character", value="a\nb\n漢")
    graph = models.load(saved(tmp_path / "m.onnx", model), "m").graph
    assert onnx.ModelProto.FromString(graph).metadata_props == model.metadata_props
    loaded = models.load(saved(tmp_path / "Größe ü 模型" / "mein modell é.onnx", linear()), "m")
    assert loaded.parameter_count == 64 * 64 + 64


@pytest.mark.parametrize("operator", ["RandomNormalLike", "RandomUniformLike", "Bernoulli"])
def test_random_operators_are_noted(tmp_path: Path, operator: str) -> None:
    model = onnx_model(f"(float[2] x) => (float[2] y) {{ y = {operator} (x) }}")
    assert models.load(saved(tmp_path / "m.onnx", model), "m").notes == (
        f"the model draws random numbers ({operator}): its outputs differ from run to run",
    )


def test_what_is_damaged_is_a_model_error(tmp_path: Path) -> None:
    model = onnx_model("(float[2] x) => (float[2] y) { y = Relu (absent) }")
    with pytest.raises(ModelError, match=r"the ONNX checker refuses the model: .*absent") as error:
        models.load(saved(tmp_path / "m.onnx", model), "m")
    assert "\n" not in error.value.message
    path = tmp_path / "m.onnx"
    path.write_bytes(linear().SerializeToString().replace(b"xw", b"x\xff"))
    with pytest.raises(ModelError, match="not UTF-8 text"):
        models.load(path, "m")
