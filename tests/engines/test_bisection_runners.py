"""Bisections with the runners that a build has: converted files, a real model, and processors that differ."""

from pathlib import Path

import onnx
import onnx.numpy_helper

from packager.engines.runners.cpu import Cpu
from packager.verification.bisection import BisectionKind
from tests.cases.bisection_cases import bisected, side
from tests.cases.bisection_runners import converted
from tests.cases.onnx_text import weight
from tests.toolchain import models


def test_a_weight_changed_in_a_real_model_is_found(tmp_path: Path) -> None:
    original = onnx.load(models.orientation())
    changed = onnx.ModelProto()
    changed.CopyFrom(original)
    convolutions = [node for node in original.graph.node if node.op_type == "Conv"]
    node = convolutions[len(convolutions) // 2]
    tensor = next(each for each in changed.graph.initializer if each.name == node.input[1])
    numbers = onnx.numpy_helper.to_array(tensor).copy()
    numbers[0] = -2 * numbers[0] + numbers.std()
    tensor.CopyFrom(onnx.numpy_helper.from_array(numbers, tensor.name))
    a = side(tmp_path, original, "the original", runner=Cpu(), is_optimized=False)
    sample = {"x": weight(1, 3, 224, 224)}
    found = bisected(tmp_path, a, converted(tmp_path, changed, "the file"), sample, tolerance=1e-3)
    assert (found.kind, found.node, found.operator) == (BisectionKind.NODE, node.name or node.output[0], "Conv")
    assert found.repro
    assert len(onnx.load(found.repro / "node.onnx").graph.node) <= 2
