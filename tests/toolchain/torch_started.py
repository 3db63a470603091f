"""Traces a small net: forks of a process that has imported this have what PyTorch imports and makes before its first
export is written."""

from pathlib import Path

import torch
from torch.onnx._internal.exporter._registration import ONNXRegistry

from packager.workflows.export.request import OPSET
from tests.toolchain.torch import share_operators


def start() -> None:
    share_operators()
    ONNXRegistry.from_torchlib(opset_version=OPSET)
    with torch.no_grad():
        torch.export.export(torch.nn.ReLU().eval(), (torch.zeros(2, 3),), dynamic_shapes=({0: torch.export.Dim("n")},))
    threads = len(list(Path("/proc/self/task").iterdir()))
    assert threads == 1, "PyTorch has started threads, which a fork would lack"


start()
