"""mobpack turns an ONNX model into SDK packages for mobile apps."""

__version__ = "0.1.0"
