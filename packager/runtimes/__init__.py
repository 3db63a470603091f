"""ONNX Runtimes of the user's own: what a reduced one must hold, how it is built, what of it goes into a package."""
