"""LSTMs with integer weights: every direction, with states and peepholes."""

import numpy
import onnx
import pytest

from packager.core.errors import ModelError
from packager.quantizers.dynamic import Dynamic
from tests.cases.rewriting_cases import outcome, samples_for, weight
from tests.cases.rewriting_recurrent import CASES, UNITS, lstm


@pytest.mark.parametrize("case", CASES)
def test_an_lstm_with_integer_weights_computes_nearly_the_same(case: str) -> None:
    model = lstm(**CASES[case])
    samples = samples_for(model)
    made = outcome(model, Dynamic(), samples)
    assert made.operators == ["DynamicQuantizeLSTM"]
    assert made.left == ()
    assert min(made.decibels(each) for each in samples) > 33


def test_one_with_the_batch_first_stays() -> None:
    model = lstm(settings=", layout = 1")
    with pytest.raises(ModelError, match="LSTM: its layout is batch first"):
        outcome(onnx_model_with_linear(model), Dynamic(operators=("LSTM",)))


def onnx_model_with_linear(model: onnx.ModelProto) -> onnx.ModelProto:
    """Without output types, which depend on the layout."""
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return model


def test_an_lstm_that_is_excluded_is_noted() -> None:
    model = lstm()
    made = outcome(model, Dynamic(exclude=("y",)))
    assert made.operators == ["LSTM"]
    assert made.reasons == {"y": "excluded by the configuration"}


def test_a_weight_that_is_not_finite_is_refused_by_name() -> None:
    model = lstm()
    broken = weight(1, 4 * UNITS, UNITS)
    broken[0, 5, 5] = numpy.inf
    model.graph.initializer[1].CopyFrom(onnx.numpy_helper.from_array(broken, "r"))
    with pytest.raises(ModelError, match="'r'"):
        outcome(model, Dynamic())
