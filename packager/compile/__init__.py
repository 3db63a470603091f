"""From an ONNX graph to canonical ORT-format bytes and the operators they need.

Nothing is imported here: the converter starts in a process of its own, where every import is paid again.
"""
