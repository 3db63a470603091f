"""Models of old opsets compute the same in newer ones, whatever ONNX's converter makes of them."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest
from onnx import defs

from packager.core.errors import ModelError
from packager.graph.traversal import all_nodes
from packager.models.raising import raised
from packager.models.shapes import infer_shapes
from tests.cases.onnx_text import onnx_model
from tests.cases.raising import SCAN
from tests.cases.raising_cases import CASES

OLDEST, NEWEST = 7, 18
"""ONNX Runtime's oldest opset, and the newest that models are raised to"""


def outputs(model: onnx.ModelProto, seed: int) -> Sequence[Any]:
    """The outputs of ONNX Runtime, node by node, for random inputs."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    random = numpy.random.default_rng(seed)
    feeds = {}
    for each in session.get_inputs():
        numbers = random.normal(size=[size if isinstance(size, int) else 3 for size in each.shape])
        feeds[each.name] = numpy.array(bool(seed)) if each.type == "tensor(bool)" else numbers.astype(numpy.float32)
    found: Sequence[Any] = session.run(None, feeds)
    return found


def case_of(name: str) -> onnx.ModelProto:
    return infer_shapes(onnx_model(CASES[name], opsets={"": int(name.rpartition("@")[2])}))


@pytest.mark.parametrize("name", CASES)
def test_an_operator_of_an_old_opset_computes_the_same_in_a_newer_one(name: str) -> None:
    old = case_of(name)
    for opset in (13, 18):
        new = raised(old, opset)
        assert list(new.graph.output) == list(old.graph.output)
        for seed in (0, 1):
            for expected, found in zip(outputs(old, seed), outputs(new, seed), strict=True):
                assert found.dtype == expected.dtype
                numpy.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_every_operator_that_has_changed_is_among_them() -> None:
    """Each change of attributes, inputs or outputs, in the history of operators."""
    used = {(node.op_type, int(name.rpartition("@")[2])) for name in CASES for node in all_nodes(case_of(name))}
    history: dict[str, list[Any]] = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "":
            history.setdefault(schema.name, []).append(schema)

    def form(schema: Any) -> object:
        ports = [(each.name, str(each.option)) for each in (*schema.inputs, *schema.outputs)]
        return ports, {name: str(each.default_value) for name, each in schema.attributes.items()}

    missing = []
    for name, versions in history.items():
        versions.sort(key=lambda schema: schema.since_version)
        for before, after in itertools.pairwise(versions):
            is_covered = any((name, opset) in used for opset in range(before.since_version, after.since_version))
            if OLDEST < after.since_version <= NEWEST and form(before) != form(after) and not is_covered:
                missing.append(f"{name} {before.since_version} -> {after.since_version}")
    assert missing == ["Scan 8 -> 9"]  # is refused


@pytest.mark.parametrize(
    ("graph", "opset", "reason"),
    [
        (SCAN, 8, "operator Scan of opset 8 has no equivalent: its first version has an axis for the batch"),
        (
            "(float[4] x) => (float[4] y) { y = ThresholdedRelu <alpha = -1.0> (x) }",
            7,
            "cannot convert operator ThresholdedRelu",
        ),
    ],
)
def test_an_operator_that_no_newer_opset_has_is_refused_by_name(graph: str, opset: int, reason: str) -> None:
    with pytest.raises(ModelError, match=reason) as refused:
        raised(onnx_model(graph, opsets={"": opset}), 13)
    assert f"cannot be converted from opset {opset} to 13" in str(refused.value)
    assert "opset_version=13" in refused.value.hint


def test_functions_are_raised_with_the_model() -> None:
    function = '<opset_import: ["" : 11], domain: "own"> chosen (a) => (b) { b = Hardmax (a) }'
    old = onnx_model(
        "(float[2, 4, 3] x) => (float[2, 4, 3] y) { y = own.chosen (x) }",
        opsets={"": 11, "own": 1},
        functions=function,
    )
    assert numpy.array_equal(outputs(raised(old, 13), 0)[0], outputs(old, 0)[0])


def test_weights_in_files_and_metadata_stay_as_they_are() -> None:
    old = onnx_model("(float[2, 64] x) => (float[2, 64] y) { h = MatMul (x, w) y = Hardmax (h) }", opsets={"": 11})
    weight = old.graph.initializer.add(name="w", data_type=1, dims=[64, 64], data_location=onnx.TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="w.data")
    old.metadata_props.add(key="author", value="someone")
    new = raised(old, 13)
    assert list(new.graph.initializer) == list(old.graph.initializer)
    assert list(new.metadata_props) == list(old.metadata_props)
