"""ONNX Runtime's own conversion tool, run on small models, and mobpack's own conversion of them, to compare."""

import json
import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest

from packager.compile.compile import FP16_CPU, compile_variant
from packager.compile.converter import session_options
from packager.compile.reader import read_graph
from packager.core.values import Compiled, Style, Variant, baseline
from packager.engines.environments import Environment
from packager.engines.environments.arm64 import Arm64
from packager.engines.session.refusals import is_onnxruntime_error
from packager.files.processes import children, commands
from packager.files.store import Store
from tests.cases.onnx_text import loaded, onnx_model, saved, weight

ON_X86 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the trap is one of x86 processors")
PHONE = Arm64(runtime="shipped", cpu=FP16_CPU)
"""The runtime that ships, on a core with 16-bit arithmetic."""

CONVOLUTIONS = """(float[1,8,16,16] x) => (float[1,8,16,16] y) {
    c = Conv <pads = [1,1,1,1]> (x, w)
    r = Relu (c)
    d = Conv <pads = [1,1,1,1]> (r, w)
    s = Sigmoid (d)
    e = Conv <pads = [1,1,1,1]> (s, w)
    y = Add (e, x)
}"""
SIGNED = """(int8[1,3,16,16] x) => (int8[1,4,16,16] y) {
    d = DequantizeLinear (x, s, z)
    f = DequantizeLinear (w, s, z)
    c = Conv <pads = [1,1,1,1]> (d, f)
    y = QuantizeLinear (c, s, z)
}"""
QUANTIZED_MATMUL = """(float[4,32] x) => (float[4,16] y) {
    q = QuantizeLinear (x, s, z)
    d = DequantizeLinear (q, s, z)
    f = DequantizeLinear (w, s, z)
    m = MatMul (d, f)
    r = QuantizeLinear (m, s, z)
    y = DequantizeLinear (r, s, z)
}"""


def integers(*shape: int) -> Mapping[str, Any]:
    """Signed 8-bit weights with their scale and zero point."""
    numbers = numpy.random.default_rng(0).integers(-127, 127, shape)
    return {"w": numbers.astype("int8"), "s": numpy.array(0.05, numpy.float32), "z": numpy.array(0, "int8")}


MODELS: Mapping[str, onnx.ModelProto] = {
    "convolutions": onnx_model(CONVOLUTIONS, weights={"w": weight(8, 8, 3, 3)}),
    "signed": onnx_model(SIGNED, weights=integers(4, 3, 3, 3)),
    "matmul": onnx_model(QUANTIZED_MATMUL, weights=integers(32, 16)),
}
TARGETS: Mapping[str, Sequence[str]] = {
    "arm": ("--target_platform", "arm"),
    "amd64": ("--target_platform", "amd64", "--optimization_style", "Fixed"),
    "default": ("--optimization_style", "Fixed"),
}
"""Name -> the tool's target platform: `arm`, `amd64`, or none for `default`."""


def run_tool(*arguments: str | Path, **variables: str) -> str:
    """Run ONNX Runtime's own converter, which must succeed: its output."""
    command = [sys.executable, "-m", "onnxruntime.tools.convert_onnx_models_to_ort", *map(str, arguments)]
    environment = {**os.environ, **children.QUIET, **variables}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


@dataclass(frozen=True)
class Tool:
    """The tool's files, in a folder for each of TARGETS."""

    folder: Path

    def fixed(self, name: str, target: str = "arm") -> Path:
        return self.folder / target / f"{name}.ort"

    def runtime(self, name: str, target: str = "arm") -> Path:
        return self.folder / target / f"{name}.with_runtime_opt.ort"


def converted(models: Mapping[str, onnx.ModelProto], folder: Path, *targets: str) -> Tool:
    """Let the tool convert `models` in `folder`, for each of `targets`."""
    for name, model in models.items():
        saved(folder / "source" / f"{name}.onnx", model)
    for target in targets:
        run_tool(folder / "source", "--output_dir", folder / target, *TARGETS[target])
    return Tool(folder)


@dataclass(frozen=True)
class Ours:
    """mobpack's files for one of `models`."""

    models: Mapping[str, onnx.ModelProto]
    folder: Path

    def __call__(self, name: str, *, style: Style = Style.FIXED, processor: str = "") -> Compiled:
        variant = source(self.folder / name, self.models[name])
        return compile_variant(variant, Store(self.folder / "store"), style=style, processor=processor)


def source(folder: Path, model: onnx.ModelProto) -> Variant:
    described = loaded(folder, model)
    return baseline(described)


def operators(path: Path) -> Counter[str]:
    return Counter(node.operator for node in read_graph(path).all_nodes())


def opened(path: Path, entries: Mapping[str, str], folder: Path) -> Counter[str]:
    """The operators that run once the CPU has opened an ORT-format file with `entries`."""
    options = session_options({"session.save_model_format": "ORT", **entries})
    options.optimized_model_filepath = str(folder / "opened.ort")
    onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return operators(folder / "opened.ort")


def refusal(path: Path, entries: Mapping[str, str]) -> str:
    """ONNX Runtime's error for a file; empty if it opens it."""
    try:
        onnxruntime.InferenceSession(path, session_options(dict(entries)), providers=["CPUExecutionProvider"])
    except Exception as error:
        if not is_onnxruntime_error(error):
            raise
        return str(error)
    return ""


LOADS = """
import json, sys
import onnxruntime
said = []
for path, entries in json.loads(sys.argv[1]):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    try:
        onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        said.append(str(error))
    else:
        said.append("")
print(json.dumps(said))
"""


def refusals(environment: Environment, files: Sequence[tuple[Path, Mapping[str, str]]]) -> list[str]:
    """Errors of the ONNX Runtime in `environment` for each file with its entries; empty where it opens it."""
    asked = json.dumps([(str(path), dict(entries)) for path, entries in files])
    variables = {**environment.variables(), **children.QUIET}
    said = commands.run([*environment.command(), "-c", LOADS, asked], what="opening files", environment=variables)
    found: list[str] = json.loads(said)
    return found


def job(path: Path, provider: str, entries: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Let `session_child.py` open a model."""
    options = {"provider": provider, "provider_options": {}, "entries": dict(entries or {})}
    return {"task": "load", "model": str(path), "data_folder": None, "optimize": True, **options}
