"""Exports a PyTorch module: `python -m packager.workflows.export.child JOB.json`.

A process of its own, because PyTorch and users' modules use much memory, print freely and may crash. It prints JSON
lines: `{"warn": text}` for each warning, then the result of `export`, or `{"failed": class in packager.core.errors,
"message", "hint"}`. The job's folder receives `graph.onnx`, with its weights beside it, and `samples` and `recorded`,
with one file per sample.
"""

import contextlib
import json
import logging
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from packager.core.errors import ToolError
from packager.files.processes.channel import Channel
from packager.workflows.export import sampling, tracing
from packager.workflows.export.factory import given
from packager.workflows.export.preparing import Warn, prepared
from packager.workflows.export.request import ExportJob

GRAPH = "graph.onnx"


def export(job: ExportJob, warn: Warn) -> dict[str, Any]:
    """Runs every step that needs PyTorch; `steps.Exported` documents the keys. Raises MobpackError."""
    import_torch()
    made = given(job.factory, Path(job.code_folder))
    made = made.renamed(job.input_names) if job.input_names else made
    ready = prepared(made, job, warn)
    axes = sampling.axes_of(ready.given, job.dynamic)
    sizes, shapes = sampling.record(ready, axes, job, warn)
    program = tracing.traced(ready, axes, sampling.enlarged(ready.given, axes), job)
    program.save(Path(job.folder) / GRAPH, external_data=True)
    return {
        "inputs": list(ready.given.inputs),
        "outputs": list(ready.outputs),
        "axes": [asdict(each) for each in axes],
        "sizes": sizes,
        "shapes": shapes,
        "torch": import_torch(),
        "weight_bytes": weight_bytes(ready.given.module),
        "shared": shared_weights(ready.given.module),
    }


def import_torch() -> str:
    """Imports PyTorch and returns its version. Raises ToolError if the import fails."""
    try:
        import torch
    except (ImportError, OSError) as error:
        raise ToolError(
            f"PyTorch cannot be imported: {str(error).splitlines()[0]}", hint='install it again: pip install "torch"'
        ) from error
    return str(torch.__version__)


def weight_bytes(module: Any) -> int:
    """Size of parameters and buffers; shared ones count once."""
    tensors = {each.data_ptr(): each for each in (*module.parameters(), *module.buffers())}
    return sum(each.numel() * each.element_size() for each in tensors.values())


def shared_weights(module: Any) -> list[str]:
    """Parameters shared by several layers, by their first name."""
    first: dict[int, str] = {}
    found: dict[str, None] = {}
    for name, each in module.named_parameters(remove_duplicate=False):
        if id(each) in first:
            found[first[id(each)]] = None
        first.setdefault(id(each), name)
    return list(found)


def main() -> int:
    job = ExportJob.read(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    channel = Channel.taken_over()
    warnings.simplefilter("ignore")  # PyTorch's warnings concern its internals
    logging.disable(logging.WARNING)
    with contextlib.chdir(job.folder):  # files that PyTorch writes into the current folder stay out of the user's
        channel.answer(lambda: export(job, lambda text: channel.say({"warn": text})))
    return 0


if __name__ == "__main__":
    sys.exit(main())
