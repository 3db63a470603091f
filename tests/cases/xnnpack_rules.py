"""Cases of the XNNPACK rules, and the prediction for each."""

import onnx

from packager.models.graphs import read_graph
from packager.verification.partition.rules import Prediction
from packager.verification.partition.xnnpack import predict
from tests.cases.xnnpack_cases import BORDERS, FLOATS, GROUPS

SOUND = [*FLOATS, *GROUPS, *BORDERS]

SEEDS = 150


def prediction(model: onnx.ModelProto) -> Prediction:
    return predict(read_graph(model.SerializeToString()))
