"""From an ONNX graph to canonical ORT-format bytes and the operators they need."""

from packager.ortformat.compile import compile_variant
from packager.ortformat.operators import merged_config, operator_config

__all__ = ["compile_variant", "merged_config", "operator_config"]
