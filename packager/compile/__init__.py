"""Compiles an ONNX graph to canonical ORT-format bytes, with the operators they need.

Imports nothing here: the converter is a child process, in which every import costs time again.
"""
