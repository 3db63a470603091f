"""Cases of the NNAPI rules, and the prediction for each."""

from packager.models.graphs import read_graph
from packager.verification.partition.nnapi import predict
from packager.verification.partition.rules import Prediction
from tests.cases.nnapi_cases import CONTRIBUTED, QUANTIZED, SINGLE, Case

CASES = [*SINGLE, *QUANTIZED, *CONTRIBUTED]

QUANTIZERS = ("QuantizeLinear", "DequantizeLinear")


def prediction(each: Case) -> Prediction:
    graph = read_graph(each.model().SerializeToString())
    return predict(graph, feature_level=each.level, use_nchw=each.use_nchw)
