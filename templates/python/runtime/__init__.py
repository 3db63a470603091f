"""Modules that the models of this package share."""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
"""ONNX Runtime reads it when it is imported, and otherwise writes a device id into the user's folder for caches"""
