"""The gates before conversion: models that cannot ship are refused with a remedy."""

from pathlib import Path

import onnx
import pytest

from packager import models
from packager.core.errors import ModelError
from packager.models.opsets import max_ir_version, max_opset
from tests.cases.onnx_text import linear, loaded, onnx_model, saved

IDENTITY = "(float[2] x) => (float[2] y) { y = Identity (x) }"


def test_the_pinned_limits_are_those_of_the_converter_in_use() -> None:
    """ONNX Runtime must accept models at the limits and refuse them above, or the pins are out of date."""
    import onnxruntime

    def accepts(**versions: int) -> bool:
        model = onnx_model(IDENTITY, opsets={"": versions.get("opset", 17)}, ir_version=versions.get("ir", 8))
        try:
            onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        except Exception:  # onnxruntime's exceptions share no base but this
            return False
        return True

    assert accepts(ir=max_ir_version())
    assert not accepts(ir=max_ir_version() + 1)
    assert accepts(opset=max_opset())
    assert not accepts(opset=max_opset() + 1)


def test_ir_versions_are_lowered_where_nothing_needs_them(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model(IDENTITY, ir_version=max_ir_version() + 1))
    assert model.ir_version == max_ir_version()
    assert onnx.ModelProto.FromString(model.graph).ir_version == max_ir_version()
    assert model.notes == (
        f"IR version lowered from {max_ir_version() + 1} to {max_ir_version()}: the model uses nothing newer",
    )
    assert models.blockers(model) == ()
    model = loaded(tmp_path, onnx_model(IDENTITY, ir_version=max_ir_version()))
    assert (model.ir_version, model.notes) == (max_ir_version(), ())
    model = onnx_model("(float[2] x) => (float[2] y) { y = Identity (x) }", ir_version=14, opsets={"": 26})
    model.graph.initializer.append(onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT6E2M3, dims=[0]))
    with pytest.raises(ModelError, match=r"IR version 14 is newer than the runtime reads \(13\)") as error:
        models.refuse_blocked(loaded(tmp_path, model))
    assert "export without them" in error.value.hint


@pytest.mark.parametrize("above", [1, 2])
def test_an_opset_the_runtime_does_not_know_is_refused_with_one_it_knows(tmp_path: Path, above: int) -> None:
    opset = max_opset() + above
    with pytest.raises(ModelError, match=f"opset {opset} is newer than the runtime knows") as error:
        models.refuse_blocked(loaded(tmp_path, onnx_model(IDENTITY, opsets={"": opset})))
    assert f"opset_version={max_opset()}" in error.value.hint


def test_an_opset_nobody_knows_is_refused_and_an_ordinary_model_is_not(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as error:
        models.refuse_blocked(loaded(tmp_path, onnx_model(IDENTITY, opsets={"": 99})))
    assert "lower" in error.value.hint
    described = loaded(tmp_path, linear())
    assert models.blockers(described) == ()
    models.refuse_blocked(described)


def test_domains_without_nodes_are_no_obstacle_and_other_operators_are_refused(tmp_path: Path) -> None:
    opsets = {"": 17, "Paddle": 1, "com.ms.internal.nhwc": 17, "org.pytorch.aten": 1}
    model = loaded(tmp_path, onnx_model(IDENTITY, opsets=opsets))
    assert dict(model.opsets) == opsets
    assert models.blockers(model) == ()
    model = onnx_model(
        "(float[2] x) => (float[2] y) { z = acme.Magic (x) y = other.Trick (z) }",
        opsets={"": 17, "acme": 1, "other": 1},
    )
    with pytest.raises(ModelError, match="operators of acme, other are not in ONNX Runtime's mobile packages"):
        models.refuse_blocked(loaded(tmp_path, model))
    model = onnx_model(
        "(float[1, 2] x) => (seq(map(int64, float)) y) { y = ai.onnx.ml.ZipMap <classlabels_int64s = [0, 1]> (x) }",
        opsets={"": 17, "ai.onnx.ml": 3},
    )
    with pytest.raises(ModelError) as error:
        models.refuse_blocked(loaded(tmp_path, model))
    assert "ZipMap" in error.value.hint
    model = onnx_model(
        "(float[2] x) => (seq(float[2]) y) { z = acme.Magic (x) y = SequenceConstruct (z) }",
        opsets={"": max_opset() + 1, "acme": 1},
    )
    described = loaded(tmp_path, model)
    assert len(models.blockers(described)) == 3
    with pytest.raises(ModelError, match=r"opset 27 .* \(and 2 more: mobpack inspect\)"):
        models.refuse_blocked(described)


@pytest.mark.parametrize(
    "graph",
    [
        "(float[2] x) => (seq(float[2]) y) { y = SequenceConstruct (x) }",
        "(float[2] x) => (optional(float[2]) y) { y = Optional (x) }",
        "(complex64[2] x) => (complex64[2] y) { y = Identity (x) }",
        "(float8e5m2[2] x) => (float8e5m2[2] y) { y = Identity (x) }",
    ],
)
def test_outputs_that_mobile_apis_do_not_carry_are_refused_by_name(tmp_path: Path, graph: str) -> None:
    with pytest.raises(ModelError, match=r"'[xy]' is not a tensor of a type that mobile APIs carry") as error:
        models.refuse_blocked(loaded(tmp_path, onnx_model(graph, opsets={"": 19})))
    assert "cast it inside the graph" in error.value.hint


def test_more_than_two_gigabytes_are_refused_with_the_alternatives(tmp_path: Path) -> None:
    """2.2 GB of weights in a sparse file: none of it is on the disk, and none of it is read."""
    model = onnx_model("(float[1, 23452] x) => (float[1, 23452] y) { y = MatMul (x, w) }")
    tensor = model.graph.initializer.add(
        name="w", data_type=1, dims=[23452, 23452], data_location=onnx.TensorProto.EXTERNAL
    )
    tensor.external_data.add(key="location", value="w.data")
    with (tmp_path / "w.data").open("wb") as file:
        file.truncate(23452 * 23452 * 4)
    described = models.load(saved(tmp_path / "m.onnx", model), "m")
    with pytest.raises(ModelError, match=r"2\.2 GB is more than the ORT format can hold \(2 GiB\)") as error:
        models.refuse_too_large(described)
    assert "format" in error.value.hint
    assert models.blockers(described) == ()  # it can ship as ONNX
