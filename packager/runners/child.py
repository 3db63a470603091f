"""Runs a model on samples: `python child.py JOB.json`. Needs numpy and onnxruntime, nothing of mobpack.

It is started by path, so that other interpreters (another onnxruntime, another processor) can run it too. Prints one
JSON line: `{"outcomes": [{"outputs": file or null, "error": text}]}`, or `{"error": text}` for a model that does not
load.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy
import onnxruntime


def load(job: dict[str, Any]) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if not job["optimize"]:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    for key, value in job["entries"].items():
        options.add_session_config_entry(key, value)
    model = Path(job["model"]).read_bytes() if job["from_memory"] else job["model"]
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    session.disable_fallback()
    return session


def run_sample(session: Any, sample: Path, output: Path) -> dict[str, Any]:
    with numpy.load(sample) as arrays:
        feed = {name: _as_runtime_wants(arrays[name]) for name in arrays.files}
    try:
        results = session.run(None, feed)
    except Exception as error:
        return {"outputs": None, "error": refusal(error)}
    numpy.savez(output, **{str(index): _as_numpy_saves(result) for index, result in enumerate(results)})
    return {"outputs": str(output), "error": ""}


def _as_runtime_wants(array: Any) -> Any:
    return array.astype(object) if array.dtype.kind == "U" else array


def _as_numpy_saves(result: Any) -> Any:
    array = numpy.asarray(result)
    return array.astype(str) if array.dtype.kind == "O" else array


def refusal(error: Exception) -> str:
    """What ONNX Runtime said; raises `error` again when it is not ONNX Runtime's.

    Its own exceptions share no base class but their module; its Python wrapper raises ValueError and RuntimeError.
    """
    if not type(error).__module__.startswith("onnxruntime") and not isinstance(error, ValueError | RuntimeError):
        raise error
    return " ".join(str(error).replace("[ONNXRuntimeError] :", "").split())


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    try:
        session = load(job)
    except Exception as error:
        print(json.dumps({"error": refusal(error)}))
        return 0
    outcomes = [
        run_sample(session, Path(sample), Path(job["folder"]) / f"output-{index}.npz")
        for index, sample in enumerate(job["samples"])
    ]
    print(json.dumps({"outcomes": outcomes}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
