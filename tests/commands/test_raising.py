"""Models of old opsets compute the same in newer ones, whatever ONNX's converter makes of them."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest
from onnx import defs

from packager.core.console import Console
from packager.core.errors import ModelError
from packager.core.values import Model
from packager.files.store import Store
from packager.graph.traversal import all_nodes
from packager.models.raising import opset_of, raised
from packager.models.shapes import infer_shapes
from packager.quantization.raising import own
from packager.quantization.raising import raised as raised_for_quantizers
from packager.quantization.variants import build_variant
from packager.quantizers import Auto, Calibration, StaticQdq
from packager.quantizers.dynamic import Dynamic
from packager.workflows import importing, quantize
from tests.cases.onnx_text import loaded, onnx_model, saved, session, weight
from tests.cases.raising_cases import CASES

SCAN = (
    "(float[2, 4] i, float[2, 3, 4] x) => (float[2, 4] y) { y = Scan <num_scan_inputs = 1, body = b "
    '(float[4] s, float[4] e) => (float[4] t) { t = Add (s, e) }> ("", i, x) }'
)
"""Its first version, in opset 8."""


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


def test_an_operator_of_an_old_opset_computes_the_same_in_a_newer_one() -> None:
    for name in CASES:
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


def test_functions_and_files_are_raised_with_the_model(tmp_path: Path) -> None:
    function = '<opset_import: ["" : 11], domain: "own"> chosen (a) => (b) { b = Hardmax (a) }'
    old = onnx_model(
        "(float[2, 4, 3] x) => (float[2, 4, 3] y) { y = own.chosen (x) }", opsets={"": 11, "own": 1}, functions=function
    )
    assert numpy.array_equal(outputs(raised(old, 13), 0)[0], outputs(old, 0)[0])
    old = onnx_model("(float[2, 64] x) => (float[2, 64] y) { h = MatMul (x, w) y = Hardmax (h) }", opsets={"": 11})
    weight = old.graph.initializer.add(name="w", data_type=1, dims=[64, 64], data_location=onnx.TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="w.data")
    old.metadata_props.add(key="author", value="someone")
    new = raised(old, 13)
    assert list(new.graph.initializer) == list(old.graph.initializer)
    assert list(new.metadata_props) == list(old.metadata_props)
    model = loaded(tmp_path, onnx_model(SCAN, opsets={"": 8}))
    assert raised_for_quantizers(model, Store(tmp_path / "store")) is model


ENLARGING = """(float[1, 3, 8, 8] x) => (float[1, 4, 16, 16] y) <float[4] s = {1, 1, 2, 2}> {
    c = Conv <pads = [1, 1, 1, 1]> (x, w)
    r = Relu (c)
    u = Resize <mode = "linear"> (r, s)
    y = Conv <pads = [1, 1, 1, 1]> (u, v)
}"""


CHOOSING = "(float[2, 5, 16] x) => (float[2, 5, 16] y) { h = MatMul (x, w) y = Hardmax (h) }"


@pytest.fixture
def enlarging(tmp_path: Path) -> Model:
    weights = {"w": weight(8, 3, 3, 3), "v": weight(4, 8, 3, 3, seed=1)}
    return loaded(tmp_path, onnx_model(ENLARGING, weights=weights, opsets={"": 10}))


@pytest.mark.parametrize("quantizer", ["static-qdq", "auto"])
def test_a_variant_is_measured_against_the_users_graph(enlarging: Model, tmp_path: Path, quantizer: str) -> None:
    samples = numpy.random.default_rng(0).standard_normal((8, 1, 3, 8, 8)).astype(numpy.float32)
    numpy.savez(tmp_path / "samples.npz", x=samples)
    calibration = Calibration(samples=str(tmp_path / "samples.npz"))
    recipe = (
        Auto(calibration=calibration, metric="sqnr", max_drop=60.0)
        if quantizer == "auto"
        else StaticQdq(calibration=calibration)
    )
    store = Store(tmp_path / "store")
    request = quantize.QuantizeRequest(model=enlarging, recipe=recipe, output=tmp_path / "q.onnx", metric="sqnr")
    made, measured = quantize.made_and_measured(request, store, Console(quiet=True))
    assert opset_of(onnx.ModelProto.FromString(made.variant.graph)) == 13
    quantize.write(made.variant, tmp_path / "q.onnx", store)
    user, quantized = (session(path, is_optimized=False) for path in (enlarging.path, tmp_path / "q.onnx"))
    pairs = [(user.run(None, {"x": each})[0], quantized.run(None, {"x": each})[0]) for each in samples]
    signal, noise = (
        sum((part**2).sum() for part in parts) for parts in zip(*((a, a - b) for a, b in pairs), strict=True)
    )
    assert 10 * numpy.log10(signal / noise) > 30
    assert measured.score
    assert measured.score.value == pytest.approx(10 * numpy.log10(signal / noise), abs=0.5)


def test_a_raised_graph_is_measured_against_the_users(enlarging: Model, tmp_path: Path) -> None:
    newer = raised_for_quantizers(enlarging, Store(tmp_path / "store"))
    assert newer.graph != enlarging.graph
    assert own(enlarging, newer.graph) == enlarging.graph
    assert own(newer, newer.graph) == newer.graph


def test_dynamic_keeps_the_ones_of_an_old_hardmax(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model(CHOOSING, weights={"w": numpy.eye(16, dtype="f")}, opsets={"": 11}))
    made = build_variant(model, "int8", Dynamic(), Store(tmp_path / "store"), Console(quiet=True)).variant
    quantize.write(made, tmp_path / "q.onnx", Store(tmp_path / "store"))
    x = numpy.random.default_rng(0).standard_normal((2, 5, 16)).astype(numpy.float32)
    x[0, 2, 7] = x[1, 4, 9] = 9
    found, expected = (session(path).run(None, {"x": x})[0] for path in (tmp_path / "q.onnx", model.path))
    assert found.sum() == 2
    assert numpy.array_equal(found, expected)


@pytest.mark.parametrize("name", ["Upsample linear@9", "Resize nearest 0.75 2.5@10", "Hardmax 1@11", "ImageScaler@7"])
def test_an_import_raises_what_onnx_converts_wrongly(tmp_path: Path, name: str) -> None:
    saved(tmp_path / "old.onnx", onnx_model(CASES[name], opsets={"": int(name.rpartition("@")[2])}))
    request = importing.ImportRequest(source="old.onnx", folder=tmp_path, output=tmp_path / "new.onnx")
    importing.run(request, Store(tmp_path / "store"), Console(quiet=True))
    assert opset_of(onnx.load(tmp_path / "new.onnx")) == 18
