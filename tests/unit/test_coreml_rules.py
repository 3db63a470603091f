"""CoreML's rules, compared with the provider's source: the nodes that it takes, and the reasons for the rest."""

import numpy
import pytest

from packager.core.errors import SettingError
from packager.core.values import Precision, Traits
from packager.graph.view import Graph
from packager.models.graphs import read_graph
from packager.providers.coreml import Coreml
from packager.verification.partition.coreml import predict
from packager.verification.partition.coreml.operators import OPERATORS
from tests.cases.coreml_cases import ALL_CASES, ROWS
from tests.cases.coreml_rules import MLPROGRAM, NEURAL_NETWORK, taken
from tests.cases.onnx_text import onnx_model


def graph_of(text: str, *, opset: int = 17, **weights: tuple[int, ...]) -> Graph:
    """The graph in `text`, with weights of these shapes."""
    model = onnx_model(
        text,
        weights={name: numpy.ones(shape, numpy.float32) for name, shape in weights.items()},
        opsets={"": opset, "com.microsoft": 1},
        ir_version=10,
    )
    return read_graph(model.SerializeToString())


def test_a_node_is_taken_or_left_for_the_reason_that_the_source_gives() -> None:
    for model_format in [MLPROGRAM, NEURAL_NETWORK]:
        for each in ALL_CASES:
            graph = graph_of(each.text, opset=each.opset, **each.weights)
            prediction = predict(graph, model_format=model_format)
            expected = each.mlprogram if model_format == MLPROGRAM else each.neural_network
            found = prediction.left.get("y", "")
            assert (expected in found) if expected else not found, each.text
            assert found or any("y" in partition for partition in prediction.partitions), each.text


# Operators that are taken as they come, one input after the other: what both formats take, and MLProgram alone.
PLAIN = ("Ceil", "Identity", "LeakyRelu", "Reciprocal", "Sigmoid", "Squeeze", "Tanh", "Transpose")

PLAIN_ML = ("Exp", "ReduceMin", "ReduceProd", "Round", "Sin")


def test_plain_operators_are_taken_and_every_one_is_met_by_a_test() -> None:
    for op in [*PLAIN, *PLAIN_ML]:
        graph = graph_of(f"{ROWS} {{ r = Relu (x) y = {op} (r) }}")
        assert "y" not in predict(graph, model_format=MLPROGRAM).left
        assert ("y" in predict(graph, model_format=NEURAL_NETWORK).left) == (op in PLAIN_ML)
    text = " ".join([*(each.text for each in ALL_CASES), *(f" {op} " for op in (*PLAIN, *PLAIN_ML))])
    unmet = {name for name in OPERATORS if f" {name} " not in text and f".{name} " not in text}
    assert unmet == {"GlobalAveragePool", "GroupNormalization", "InstanceNormalization", "Mul", "Sub"}  # same rules


def test_nodes_are_left_for_their_partition_shape_or_branch() -> None:
    text = f"{ROWS} <int64[2] s = {{3, 4}}> {{ r = Reshape (x, s) y = Transpose (r) }}"
    prediction = predict(graph_of(text))
    assert not prediction.partitions
    assert prediction.left["r"] == (
        "Reshape: its partition would only reshape, cast or copy, which is faster on the CPU"
    )
    assert taken(predict(graph_of(text.replace("Transpose (r)", "Sqrt (r)")))) == 2
    graph = graph_of("(float[N,6] x) => (float[] y) { y = Relu (x) }")
    assert taken(predict(graph)) == 1
    found = predict(graph, requires_static_shapes=True)
    assert found.left == {"y": "Relu: 'x' must have a static shape: [N, 6]"}
    found = predict(graph_of(BRANCHES))
    assert found.partitions == (("h",),)
    assert found.left == {"y": "If: control flow is not supported; EnableOnSubgraphs applies to the 2 nodes inside"}
    found = predict(graph_of(BRANCHES), enable_on_subgraphs=True)
    assert found.partitions == (("h",), ("y/t",))
    assert found.left["y/e"] == "Neg: operator not supported"


BRANCHES = """(bool c, float[2,6] x) => (float[2,6] y) {
    h = Relu (x)
    y = If (c) <then_branch = a () => (float[2,6] t) { t = Sqrt (h) },
                else_branch = b () => (float[2,6] e) { e = Neg (h) }>
}"""


def test_settings_are_known_and_the_prediction_says_whose_rules_it_follows() -> None:
    graph = graph_of(f"{ROWS} {{ y = Relu (x) }}")
    assert predict(graph, model_format=NEURAL_NETWORK).by == "CoreML provider (NeuralNetwork) of ONNX Runtime 1.29"
    with pytest.raises(ValueError, match="unknown model format 'mlprogram'"):
        predict(graph, model_format="mlprogram")
    with pytest.raises(SettingError, match=r"^unknown model-format 'MLprogram'$") as caught:
        Coreml(model_format="MLprogram")
    assert caught.value.hint == "did you mean 'MLProgram'?"
    with pytest.raises(SettingError, match=r"^unknown compute-units 'ANE'$") as caught:
        Coreml(compute_units="ANE")
    assert caught.value.hint.startswith("known: ALL, CPUOnly")
    assert Coreml().requirements(Traits(precision=Precision.QDQ)).needs_float
    assert not Coreml().requirements(Traits(precision=Precision.FLOAT16)).note
    assert "MLProgram" in Coreml(model_format=NEURAL_NETWORK).requirements(Traits(precision=Precision.FLOAT16)).note
    assert "DequantizeLinear" in Coreml().requirements(Traits(precision=Precision.WEIGHT_ONLY)).note


def test_options_are_those_of_onnx_runtime_and_follow_every_field() -> None:
    for other in [
        Coreml(model_format="NeuralNetwork"),
        Coreml(compute_units="CPUAndNeuralEngine"),
        Coreml(requires_static_shapes=True),
        Coreml(enable_on_subgraphs=True),
        Coreml(specialization="FastPrediction"),
        Coreml(profiles_compute_plan=True),
        Coreml(is_low_precision_allowed=True),
    ]:
        assert other.options() != Coreml().options()
    assert Coreml().options() == {
        "ModelFormat": "MLProgram",
        "MLComputeUnits": "ALL",
        "RequireStaticInputShapes": "0",
        "EnableOnSubgraphs": "0",
        "SpecializationStrategy": "Default",
        "ProfileComputePlan": "0",
        "AllowLowPrecisionAccumulationOnGPU": "0",
    }
