"""ONNX graphs: how they are seen, walked through, and where their weights lie."""
