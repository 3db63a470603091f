"""The program that opens models in ONNX Runtime, in any interpreter. Its folder has no other modules, because an older
Python would import them first."""
