"""An app in Swift that loads a small model from wherever a test says."""

import json
from pathlib import Path
from typing import Any

from tests.onnx_text import onnx_model, saved, weight
from tests.toolchain.swift_app import HOME, App
from tests.toolchain.swift_projects import build

PROJECT = """\
[package]
name = "small-nets"

[model.linear]
path = "linear.onnx"

[target.ios]
providers = ["xnnpack"]
"""


def small_nets(folder: Path) -> App:
    """The app; `folder` is where it is built."""
    model = "(float[1, 64] x) => (float[1, 64] y) { y = MatMul (x, w) }"
    saved(folder / "linear.onnx", onnx_model(model, weights={"w": weight(64, 64)}))
    (folder / "mobpack.toml").write_text(PROJECT)
    return build(folder, "SmallNetsKit", {"main.swift": HOME / "sources.swift"}, lambda package: None)


def objects(output: str) -> list[dict[str, Any]]:
    """The lines of JSON that it printed."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]
