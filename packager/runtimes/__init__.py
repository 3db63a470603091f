"""The user's own builds of ONNX Runtime: recipe of a reduced build, checks, and use in packages."""
