"""The MACs of each node in the files that ship, as ONNX Runtime gives them to an app."""

from pathlib import Path

import onnx

from packager import models
from packager.compile.compile import compile_for_chip
from packager.compile.recorded_macs import ENTRY
from packager.core.values import baseline
from packager.files.store import Store
from tests.engines.test_assign import quantized
from tests.toolchain.environments import have


def test_a_file_for_one_chip_has_the_macs_that_the_compiler_took(tmp_path: Path) -> None:
    have("qnn")
    model = models.hashed(models.load(quantized(tmp_path), "m"))
    compiled = compile_for_chip(baseline(model, "source"), "SM8650", Store(tmp_path / "store"))
    proto = onnx.load(compiled.path)
    (context,) = [node.name for node in proto.graph.node if node.op_type == "EPContext"]
    (entry,) = [each.value for each in proto.metadata_props if each.key == ENTRY]
    count, name = entry.split(" ", 1)
    assert name == context
    assert int(count) > 0
