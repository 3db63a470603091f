"""Predicts which nodes of a graph ONNX Runtime's NNAPI provider takes, by the rules of its source code."""

from packager.verification.partition.nnapi.prediction import predict
from packager.verification.partition.nnapi.view import DOES_NOT_LOAD

__all__ = ["DOES_NOT_LOAD", "predict"]
