"""Times two graphs alternately: `python timing.py JOB.json`. Needs numpy and onnxruntime, nothing of mobpack.

It is started by path, so that other interpreters (another processor) can run it too. Prints one JSON line:
`{"times_ms": [[...], [...]]}`, or `{"error": text}` for a graph that ONNX Runtime refuses.

The job: `graphs` (two of `graph`, `data_folder`), `sample` (.npz with the inputs), `runs` and `seconds` (each graph
stops at the one it reaches first), `least_runs`.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy
import onnxruntime


def load(graph: dict[str, str]) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", graph["data_folder"])
    content = Path(graph["graph"]).read_bytes()
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def timed(sessions: list[Any], feeds: dict[str, Any], job: dict[str, Any]) -> list[list[float]]:
    """Milliseconds of every run of every session. They alternate, so that whatever slows the machine slows all."""
    for session in sessions:
        session.run(None, feeds)
    times: list[list[float]] = [[] for _ in sessions]
    while not all(has_enough(each, job) for each in times):
        for session, own in zip(sessions, times, strict=True):
            start = time.perf_counter_ns()
            session.run(None, feeds)
            own.append((time.perf_counter_ns() - start) / 1e6)
    return times


def has_enough(times: list[float], job: dict[str, Any]) -> bool:
    is_long = sum(times) >= 1000 * job["seconds"] and len(times) >= job["least_runs"]
    return is_long or len(times) >= int(job["runs"])


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with numpy.load(job["sample"]) as arrays:
        feeds = {
            name: arrays[name].astype(object) if arrays[name].dtype.kind == "U" else arrays[name]
            for name in arrays.files
        }
    try:
        times = timed([load(graph) for graph in job["graphs"]], feeds, job)
    except Exception as error:  # onnxruntime's own exceptions share no base class but their module
        if not type(error).__module__.startswith("onnxruntime") and not isinstance(error, ValueError | RuntimeError):
            raise
        sys.stdout.write(json.dumps({"error": " ".join(str(error).split())}) + "\n")
        return 0
    sys.stdout.write(json.dumps({"times_ms": times}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
