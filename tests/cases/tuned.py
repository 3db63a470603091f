"""A project with settings for one chip."""

from pathlib import Path

import numpy

from tests.cases.onnx_text import onnx_model, saved, weight

CHAIN = "(float[8, 64] x) => (float[8, 64] y) { h = MatMul (x, w) y = Relu (h) }"

PROJECT = """\
[package]
name = "models"

[model.chain]
path = "chain.onnx"

[model.plain]
path = "plain.onnx"

[variant.int8]
quantizer = "static-qdq"
calibration = "samples.npz"

[check]
gain = "skip"
"""


def project(folder: Path, target: str) -> Path:
    saved(folder / "chain.onnx", onnx_model(CHAIN, weights={"w": weight(64, 64)}))
    saved(folder / "plain.onnx", onnx_model(CHAIN, weights={"w": weight(64, 64, seed=1)}))
    numpy.savez(folder / "samples.npz", x=weight(16, 8, 64, seed=2))
    (folder / "mobpack.toml").write_text(PROJECT + target)
    return folder
