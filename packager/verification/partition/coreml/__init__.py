"""Predicts which nodes of a graph ONNX Runtime's CoreML provider takes, by the rules of its source code.

Sources: core/providers/coreml/coreml_execution_provider.cc and builders/ of ONNX Runtime 1.29; its operators, limits
and messages are those of 1.31 too.
"""

from packager.verification.partition.coreml.predict import predict

__all__ = ["predict"]
