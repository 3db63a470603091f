"""A plan for a package that takes a range of ONNX Runtimes."""

from pathlib import Path

from packager.compile import plan
from packager.core.values import Plan, baseline
from packager.files.processes.downloads import pins
from packager.files.store import Store
from packager.targets.android import Android
from packager.targets.ios import Ios
from tests.cases.onnx_text import loaded, onnx_model

RELU = "(float[1, 64] x) => (float[1, 64] y) { y = Relu (x) }"

PREFERRED = pins()["android"]["onnxruntime"].rpartition(":")[2]


def planned(folder: Path, target: Android | Ios, opset: int) -> Plan:
    model = onnx_model(RELU, opsets={"": opset}, ir_version=10)
    return plan.make(baseline(loaded(folder, model)), target, Store(folder / "store"), lambda part: None)
