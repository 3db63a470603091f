"""Saves a graph after ONNX Runtime's rewrites: `python session.py JOB.json`. Needs onnxruntime, nothing of mobpack.

It is started by path, so that other interpreters (another onnxruntime, another processor) can run it too: which
optimizers take effect depends on the kernels that onnxruntime has for the processor at hand. Prints one JSON line:
`{"ok": {}}`, or `{"error": text}` for a graph that ONNX Runtime refuses.

The job: `graph` (file with the serialized ModelProto), `data_folder` (of its external data), `output` (path of the
result), `entries` (session configuration), `level` ("basic" or "all"), `disabled_optimizers`, `provider`.
"""

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

import onnxruntime

LEVELS = {
    "basic": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
}


def save(job: dict[str, Any]) -> None:
    """Writes `output`. Raises ONNX Runtime's exceptions, and OSError if the disk is full."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = LEVELS[job["level"]]
    options.optimized_model_filepath = job["output"]
    for key, value in job["entries"].items():
        options.add_session_config_entry(key, value)
    if job["data_folder"]:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", job["data_folder"])
    session = onnxruntime.InferenceSession(
        Path(job["graph"]).read_bytes(),
        options,
        providers=[job["provider"]],
        disabled_optimizers=job["disabled_optimizers"],
    )
    del session
    _check_written(Path(job["output"]))


def _check_written(output: Path) -> None:
    """Raises OSError for an empty file: ONNX Runtime reports no error on some full disks."""
    if output.stat().st_size == 0:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    try:
        save(job)
    except Exception as error:  # onnxruntime's own exceptions share no base class but their module
        if not type(error).__module__.startswith("onnxruntime") and not isinstance(error, ValueError | RuntimeError):
            raise
        sys.stdout.write(json.dumps({"error": str(error)}) + "\n")
        return 0
    sys.stdout.write(json.dumps({"ok": {}}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
