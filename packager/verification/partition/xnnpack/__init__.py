"""Predicts which nodes of a graph ONNX Runtime's XNNPACK provider takes, by the rules of its source code, and which
graphs it must not get because it computes them wrong or fails."""

from packager.verification.partition.xnnpack.prediction import predict

__all__ = ["predict"]
