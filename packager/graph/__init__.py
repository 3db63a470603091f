"""ONNX graphs: views, traversal, and the location of their weights."""
